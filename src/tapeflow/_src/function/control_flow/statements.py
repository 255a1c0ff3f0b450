"""`tf.cond`, `tf.switch_case` and `tf.while_loop` in a traced function: from the user's functions to nodes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from tapeflow._src.core import nest
from tapeflow._src.core.composites.composite import is_expandable
from tapeflow._src.core.convert import convert_to_tensor
from tapeflow._src.core.dtypes import bool_, int32
from tapeflow._src.core.errors import invalid
from tapeflow._src.core.shapes import TensorShape
from tapeflow._src.core.sizes.dims import is_dynamic, same_size, same_sizes
from tapeflow._src.core.spec import TensorSpec
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.core.variables.variable import Variable
from tapeflow._src.function.control_flow.blocks import Block, LoopBlock, current, reread
from tapeflow._src.function.control_flow.cond import conditional
from tapeflow._src.function.control_flow.loops import Loop
from tapeflow._src.function.control_flow.structures import Flat, check_branches
from tapeflow._src.function.tracing.tracer import Tracer
from tapeflow._src.ops.array.shaping import cast, reshape
from tapeflow._src.ops.control.control_flow import not_one_element
from tapeflow._src.ops.elementwise.logic import logical_and
from tapeflow._src.primitives.array import moving
from tapeflow._src.primitives.array.stack import StackShape
from tapeflow._src.primitives.indexing import picking


def switch(
    op: str, index: Tensor, functions: Sequence[Callable[[], Any]], names: Sequence[str]
) -> Any:
    """The result of one of several functions, by a number that is known only when the function runs.

    Args:
      op: for messages.
      index: a scalar: a bool, if there are two functions, of which the first one is meant by true.
      functions: the branches.
      names: what to call them in messages.
    """
    if index._array.ndim:
        if not index.dtype.is_bool or _is_never_one(index):
            raise invalid(not_one_element(op, index))
        index = reshape(index, ())
    tracer = current()
    blocks: list[Block] = []
    results: list[Flat] = []
    for name, function in zip(names, functions, strict=True):
        block = Block(name, tracer)
        results.append(block.run(lambda function=function: Flat(function())))
        blocks.append(block)
    check_branches(op, names, results)
    assigned = {key: block.met[key][0] for block in blocks for key in block.assigned}
    graph_functions = [
        block.graph_function(
            [*flat.tensors, *[block.assigned.get(key, v._now()) for key, v in assigned.items()]]
        )
        for block, flat in zip(blocks, results, strict=True)
    ]
    if index.dtype.is_bool:
        graph_functions.reverse()
    reread(blocks)
    outputs = conditional(graph_functions, index, [[]] * len(graph_functions))
    count = len(results[0].tensors)
    assign(assigned.values(), outputs[count:])
    return results[0].rebuilt(outputs[:count])


def assign(variables: Any, values: Sequence[Tensor]) -> None:
    """Puts what comes out of a block into variables."""
    for variable, value in zip(list[Variable](variables), values, strict=True):
        current().assign(variable, value)


# Loops.


def while_loop(
    condition: Callable[..., Any],
    body: Callable[..., Any],
    loop_vars: Sequence[Any],
    shape_invariants: Any,
    limit: int | Tensor | None,
    next_values: Callable[[Any], Any],
) -> Any:
    """`tf.while_loop` in a traced function.

    Args:
      condition: of the user.
      body: of the user.
      loop_vars: in the user's structure.
      shape_invariants: shapes that hold in every turn, in that structure, or None.
      limit: how many turns there are at most.
      next_values: checks what the body returns, and gives it in the structure of `loop_vars`.
    """
    if isinstance(limit, Tensor):
        return _limited(condition, body, loop_vars, shape_invariants, limit, next_values)
    start = Flat(loop_vars)
    shapes = _invariants(start, shape_invariants)
    fixed = shape_invariants is not None
    while True:  # again if a size that was thought to stay has changed
        attempt = _Attempt(condition, body, start, shapes, next_values)
        wider = attempt.wider(shapes, fixed)
        if wider is None:
            return attempt.finished(limit)
        shapes = wider


class _Attempt:
    """A loop that is traced with loop variables of certain shapes."""

    def __init__(
        self,
        condition: Callable[..., Any],
        body: Callable[..., Any],
        start: Flat,
        shapes: list[tuple[Any, ...]],
        next_values: Callable[[Any], Any],
    ) -> None:
        self.start = start
        tracer = current()
        self.test = LoopBlock("condition", tracer)
        self.body = LoopBlock("body", tracer)
        for block in (self.test, self.body):
            block.arguments = [
                block.own(shape, x.dtype) for shape, x in zip(shapes, start.tensors, strict=True)
            ]
        self.going_on = self.test.run(
            lambda: _condition(condition(*start.rebuilt(self.test.arguments)))
        )
        before = nest.flatten(start.rebuilt(start.tensors))
        self.end = self.body.run(
            lambda: Flat(
                next_values(body(*start.rebuilt(self.body.arguments))),
                lambda i, leaf: _like(leaf, before[i]),
            )
        )
        self._check()

    def _check(self) -> None:
        pairs = zip(self.start.tensors, self.end.tensors, strict=True)
        for number, (before, after) in enumerate(pairs):
            if before.dtype is not after.dtype:
                raise TypeError(
                    f"tf.while_loop: loop variable {number} enters the loop with dtype {before.dtype.name}, and has "
                    f"dtype {after.dtype.name} after one iteration. Its dtype must stay: use tf.cast in the body, or "
                    "before the loop."
                )

    def wider(self, shapes: list[tuple[Any, ...]], given: bool) -> list[tuple[Any, ...]] | None:
        """Shapes that hold before and after a turn, or None if those do that were tried."""
        result = []
        changed = False
        for number, (shape, after) in enumerate(zip(shapes, self.end.tensors, strict=True)):
            new = after._array.shape
            if isinstance(shape, StackShape):
                wide = _wider_stack(shape, new)
            else:
                wide = _wider(shape, new)
            if wide is None:
                before = self.start.tensors[number].shape
                hint = (
                    ""
                    if given
                    else (
                        " To allow the shape to vary across iterations, use the `shape_invariants` argument of "
                        "tf.while_loop to specify a less-specific shape."
                    )
                )
                raise ValueError(
                    f"tf.while_loop: loop variable {number} enters the loop with shape {before}, but has shape "
                    f"{after.shape} after one iteration.{hint}"
                )
            changed = changed or wide is not shape
            result.append(wide)
        return result if changed else None

    def finished(self, limit: int | None) -> Any:
        """The loop as a node, and the loop variables after it."""
        variables = [self.body.met[key][0] for key in self.body.assigned]
        for block in (self.test, self.body):
            block.arguments += block.settle(variables)
        values = [v._now() for v in variables]
        reread([self.test, self.body])
        outputs = [*self.end.tensors, *self.body.assigned.values()]
        count = len(self.start.tensors)
        loop = Loop(
            self.body.graph_function(outputs),
            count + len(variables),
            condition=self.test.graph_function([self.going_on]),
            cut=range(count, count + len(variables)),
            limit=limit,
        )
        results = loop.call([*self.start.tensors, *values])
        assign(variables, results[count : count + len(variables)])
        return self.end.rebuilt(results[:count])


Step = Callable[[list[Tensor], list[Tensor]], tuple[list[Tensor], list[Tensor]]]
"""From carried values and a row of each tensor to the next carried values, and results to be stacked."""


def scan(
    step: Step, carried: Sequence[Tensor], elems: Sequence[Tensor], reverse: bool = False
) -> tuple[list[Tensor], list[Tensor]]:
    """Goes over the rows of tensors. Gives the carried values in the end, and all results stacked."""
    shapes = [x._array.shape for x in carried]
    while True:  # again if a size that was thought to stay has changed
        block = LoopBlock("body", current())
        mine = [block.own(s, x.dtype) for s, x in zip(shapes, carried, strict=True)]
        rows = [block.own(x._array.shape[1:], x.dtype) for x in elems]
        after, results = block.run(partial(step, list(mine), list(rows)))
        wider = []
        for before, s, x in zip(carried, shapes, after, strict=True):
            wide = _wider(s, x._array.shape)
            if wide is None:
                raise ValueError(
                    f"the running value has shape {before.shape} in the beginning, and {x.shape} after a row"
                )
            wider.append(wide)
        if all(a is b for a, b in zip(wider, shapes, strict=True)):
            break
        shapes = wider
    variables = [block.met[key][0] for key in block.assigned]
    block.arguments = [*mine, *block.settle(variables), *rows]
    values = [v._now() for v in variables]
    reread([block])
    count, all_ = len(carried), len(carried) + len(variables)
    loop = Loop(
        block.graph_function([*after, *block.assigned.values(), *results]),
        all_,
        len(elems),
        stacked=len(results),
        cut=range(count, all_),
        reverse=reverse,
    )
    outputs = loop.call([*carried, *values], elems, turns=_rows(elems[0]))
    assign(variables, outputs[count:all_])
    return outputs[:count], outputs[all_:-1]


def _rows(x: Tensor) -> Tensor:
    size = x._array.shape[0]
    if type(size) is int:
        return convert_to_tensor(size)
    return picking.getitem(moving.shape_of(x, dtype=int32), index=(0,))


def _condition(value: Any) -> Tensor:
    tensor = convert_to_tensor(value, dtype_hint=bool_)
    if not tensor.dtype.is_bool:
        raise TypeError(
            f"tf.while_loop: cond must return a scalar of dtype bool, got {tensor!r} of dtype {tensor.dtype.name}"
        )
    if _is_never_one(tensor):
        raise invalid(f"tf.while_loop: cond must return a scalar, got shape {tensor.shape}")
    return reshape(tensor, ()) if tensor._array.ndim else tensor


def _is_never_one(x: Tensor) -> bool:
    """Whether a tensor has no element, or several, whatever the sizes are that are not known yet."""
    return any(type(size) is int and size != 1 for size in x._array.shape)


def _like(leaf: Any, before: Any) -> Tensor:
    """What the body returns as a tensor; Python numbers take the dtype of what was there before."""
    hint = before.dtype if isinstance(before, Tensor) and not isinstance(leaf, bool) else None
    return convert_to_tensor(leaf, dtype_hint=hint)


def _invariants(start: Flat, given: Any) -> list[tuple[Any, ...]]:
    """The shapes of the loop variables at the beginning of each turn, with None for sizes that change."""
    own: list[tuple[Any, ...]] = [
        StackShape(None, x._array.shape.element) if i in start.growing else x._array.shape
        for i, x in enumerate(start.tensors)
    ]
    at = 0
    for position, count in enumerate(
        start.kinds
    ):  # what the spec of a composite tensor leaves open may change
        if position in start.specs:
            own[at : at + count] = _of_components(start.specs[position], own[at : at + count])
        at += count
    if given is None:
        return own
    shapes = nest.flatten(given)
    if len(shapes) != len(start.kinds):
        raise ValueError(
            f"tf.while_loop: shape_invariants must have the structure of loop_vars: got {len(shapes)} shapes for "
            f"{len(start.kinds)} loop variables"
        )
    result: list[tuple[Any, ...]] = []
    for position, (shape, count) in enumerate(zip(shapes, start.kinds, strict=True)):
        if position in start.specs:
            mine = own[len(result) : len(result) + count]
            if is_expandable(shape):
                start.specs[position] = start.specs[position].most_specific_compatible_type(shape)
                mine = _of_components(shape, mine)
            result += mine
            continue
        for mine in own[len(result) : len(result) + count]:
            result.append(mine if isinstance(mine, StackShape) else _invariant(shape, mine))
    return result


def _of_components(spec: Any, own: Sequence[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    """The shapes of the components of a composite tensor, with None where its spec has None."""
    wide = [leaf.shape._dims for leaf in nest.flatten(spec, expand_composites=True)]
    return [
        mine
        if dims is None
        else tuple([None if d is None else m for d, m in zip(dims, mine, strict=True)])
        for dims, mine in zip(wide, own, strict=True)
    ]


def _invariant(given: Any, own: tuple[Any, ...]) -> tuple[Any, ...]:
    shape = given.shape if isinstance(given, TensorSpec) else given
    if shape is None:
        return own
    dims = TensorShape(shape)._dims
    if dims is None:
        return (None,) * len(own)
    if len(dims) != len(own) or any(
        d is not None and isinstance(o, int) and d != o for d, o in zip(dims, own, strict=True)
    ):
        raise ValueError(
            f"tf.while_loop: the shape invariant {TensorShape(shape)} is not compatible with a loop variable of shape "
            f"{TensorShape._of(tuple(d if isinstance(d, int) else None for d in own))}"
        )
    return tuple(dims)


def _wider(shape: tuple[Any, ...], new: tuple[Any, ...]) -> tuple[Any, ...] | None:
    if len(shape) != len(new):
        return None
    wide = []
    for a, b in zip(shape, new, strict=True):
        if a is None or same_size(a, b):
            wide.append(a)
        elif is_dynamic(a):  # was not known before either
            wide.append(None)
        else:
            return None
    return shape if all(x is y for x, y in zip(wide, shape, strict=True)) else tuple(wide)


def _wider_stack(shape: StackShape, new: Any) -> Any:
    length = shape[0] if shape[0] is None or same_size(shape[0], new[0]) else None
    element = shape.element
    if element is not None and new.element is not None and not same_sizes(element, new.element):
        element = None
    same = length is shape[0] and element is shape.element
    return shape if same else StackShape(length, element)


def _limited(
    condition: Callable[..., Any],
    body: Callable[..., Any],
    loop_vars: Sequence[Any],
    shape_invariants: Any,
    limit: Tensor,
    next_values: Callable[[Any], Any],
) -> Any:
    """A limit that is known only when the function runs: turns are counted by a loop variable."""
    shapes = None if shape_invariants is None else (TensorShape(()), shape_invariants)
    zero = cast(convert_to_tensor(0), limit.dtype)

    def more(done: Tensor, values: Any) -> Tensor:
        return logical_and(done < limit, _condition(condition(*values)))

    def turn(done: Tensor, values: Any) -> tuple[Tensor, Any]:
        return done + 1, next_values(body(*values))

    return while_loop(more, turn, (zero, loop_vars), shapes, None, lambda values: values)[1]


Tracer.switch = staticmethod(switch)
Tracer.while_loop = staticmethod(while_loop)
Tracer.scan = staticmethod(scan)
