"""Conditionals and loops on many examples at once, for `tf.vectorized_map` and vectorised Jacobians.

The graphs inside are traced again, with batched tensors in the place of single examples, into blocks that work on the
full tensors. A conditional whose predicate differs between examples computes all branches, and each example selects. A
loop goes on until all examples have finished.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tapeflow._src.core.context import context
from tapeflow._src.core.convert import convert_to_tensor
from tapeflow._src.core.dtypes import bool_, int32
from tapeflow._src.core.scopes import setting
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.function.control_flow.blocks import Block, LoopBlock, current, outer_tensors
from tapeflow._src.function.control_flow.examples import unsupported
from tapeflow._src.function.control_flow.primitives import outside
from tapeflow._src.function.control_flow.turns import (
    Turn,
    as_number,
    goes_on,
    may_differ,
    most,
    still,
)
from tapeflow._src.function.graph_function import GraphFunction
from tapeflow._src.function.replaying import replay
from tapeflow._src.function.tracing.tracer import Tracer, tracing_lock
from tapeflow._src.graph.graph import Graph, Value
from tapeflow._src.ops.array.creation import zeros_like
from tapeflow._src.ops.elementwise.logic import logical_not
from tapeflow._src.ops.indexing.gathering import where
from tapeflow._src.ops.reduction.reducing import reduce_any
from tapeflow._src.primitives.array import moving
from tapeflow._src.primitives.array.stack import is_stack
from tapeflow._src.primitives.batching import Batch
from tapeflow._src.primitives.elementwise import binary
from tapeflow._src.primitives.indexing import picking


def _outside(batch: Batch, inputs: Sequence[Tensor]) -> setting:
    """Within this context only those record who follow full tensors."""
    those_outside, inside = batch._sides()
    for recorder in inside:
        if not isinstance(recorder, Tracer) and any(
            x._id and recorder.follows(x._id) for x in inputs
        ):
            raise unsupported("a tape that is opened inside and differentiates each example")
    return setting(context, dispatch=(context.dispatch[0], those_outside))


def conditional_of_batch(
    batch: Batch,
    branches: Sequence[GraphFunction],
    index: Tensor,
    arguments: Sequence[Sequence[Tensor]],
) -> list[Tensor]:
    """A conditional on examples."""
    from tapeflow._src.function.control_flow.cond import conditional

    taken = [
        [*own, *outer_tensors(graph_function)]
        for graph_function, own in zip(branches, arguments, strict=True)
    ]
    if batch.holds(index):
        return _selected(branches, index, taken)
    graph_functions = []
    with _outside(batch, [x for inputs in taken for x in inputs]):
        for graph_function, inputs in zip(branches, taken, strict=True):
            block = Block(graph_function.name, current())
            full = block.run(
                lambda graph_function=graph_function, inputs=inputs: _full_outputs(
                    batch, graph_function, inputs
                )
            )
            graph_functions.append(block.graph_function(full))
        outputs = conditional(graph_functions, index, [[]] * len(graph_functions))
    return [batch.wrap(y) for y in outputs]


def _full_outputs(
    batch: Batch, graph_function: GraphFunction, inputs: Sequence[Tensor]
) -> list[Tensor]:
    inner = Batch(batch.size)  # whose tensors are interpreted before those of the block
    with inner.entered():
        values = replay(graph_function.graph, _moved(batch, inner, inputs))
        return [inner.full(values[v]) for v in graph_function.graph.outputs]


def _moved(batch: Batch, inner: Batch, tensors: Sequence[Tensor]) -> list[Tensor]:
    """Tensors with the examples of one batch as those of another."""
    return [inner.wrap(batch.data(x)) if batch.holds(x) else x for x in tensors]


def _selected(
    branches: Sequence[GraphFunction],
    index: Tensor,
    taken: Sequence[Sequence[Tensor]],
    count: int | None = None,
) -> list[Tensor]:
    """The outputs of the branch that each example chooses, followed by what comes after the first `count` of all."""
    found = []
    for graph_function, inputs in zip(branches, taken, strict=True):
        values = replay(graph_function.graph, inputs)
        found.append([values[v] for v in graph_function.graph.outputs])
    results = found[-1][:count]
    for number, outputs in enumerate(found[:-1]):
        if index.dtype.is_bool:  # of two branches the first is that for false
            chosen = logical_not(index)
        else:
            chosen = binary.equal(index, convert_to_tensor(number, index.dtype))
        results = [where(chosen, a, b) for a, b in zip(outputs[:count], results, strict=True)]
    return results if count is None else [*results, *[y for those in found for y in those[count:]]]


def loop_of_batch(
    batch: Batch,
    loop: Any,
    carried: Sequence[Tensor],
    scanned: Sequence[Tensor],
    invariants: Sequence[Tensor],
    turns: Tensor | None,
    forms: tuple[Sequence[Tensor], Sequence[Tensor]],
) -> list[Tensor]:
    """A loop on examples. Where some have more turns than others, it goes on until all have finished."""
    body = loop.body
    fixed = [*invariants, *outer_tensors(body)]
    everything = [*carried, *scanned, *fixed]
    if any(is_stack(x) and batch.holds(x) for x in everything):
        raise unsupported("lists of tensors")
    with _outside(batch, everything):
        return _LoopOfBatch(batch, loop, carried, scanned, fixed, forms, turns).call()


_DIFFERS = "a loop whose turns differ between examples"


class _LoopOfBatch:
    """A loop that is traced again, for full tensors.

    Where the condition differs between examples, there are two more carried values: which examples have the next turn,
    and how many each of them had. Where the number of turns is given and differs, there is one more: how many there
    were. It is carried because a loop around may leave out the first turns of this one for some of its own examples.
    """

    def __init__(
        self,
        batch: Batch,
        loop: Any,
        carried: Sequence[Tensor],
        scanned: Sequence[Tensor],
        fixed: Sequence[Tensor],
        forms: tuple[Sequence[Tensor], Sequence[Tensor]],
        turns: Tensor | None,
    ) -> None:
        self.batch, self.loop, self.fixed, self.forms = batch, loop, fixed, forms
        self.carried, self.scanned, self.turns = carried, scanned, turns
        self.differs = turns is not None and batch.holds(turns)
        if self.differs:
            self.total = most(batch.data(turns))
        # A carried value is batched if it is so in the beginning, or becomes so in a turn.
        self.batched = [batch.holds(x) for x in carried]
        while True:
            self.block = LoopBlock(loop.body.name, current())
            # Its tensors are interpreted before those of the block.
            self.inner = Batch(batch.size)
            outputs = self.block.run(self._turn)
            n = loop.carried
            now = [a or self.inner.holds(y) for a, y in zip(self.batched, outputs[:n], strict=True)]
            if self.differs and any(now[k] for k in loop.cut):
                raise unsupported(f"an assignment in {_DIFFERS}")
            if now != self.batched:
                self.batched = now
                continue
            self.condition = self._condition()
            if self.condition is None and loop.condition is not None:
                if not may_differ(loop.body.graph) or not may_differ(loop.condition.graph):
                    raise unsupported(f"an effect, such as printing, in {_DIFFERS}")
                self.differs = True
                continue
            break
        self.outputs = outputs

    @property
    def added(self) -> int:
        """How many carried values are added."""
        return (2 if self.turns is None else 1) if self.differs else 0

    def _own(self, symbol: Tensor, batched: bool) -> tuple[Tensor, Tensor]:
        """An argument of the new body, and what stands for it in the old one."""
        shape = outside(symbol._array.shape, current())
        own = self.block.own((self.batch.size, *shape) if batched else shape, symbol.dtype)
        return own, self.inner.wrap(own) if batched else own

    def _turn(self) -> list[Tensor]:
        loop, batch, inner, n = self.loop, self.batch, self.inner, self.loop.carried
        arguments = loop.body.arguments
        pairs = [self._own(x, b) for x, b in zip(arguments, self.batched, strict=False)]
        rows = [
            self._own(x, batch.holds(y)) for x, y in zip(arguments[n:], self.scanned, strict=False)
        ]
        full = [own for own, _ in pairs], [own for own, _ in rows]
        given = [x for _, x in (*pairs, *rows)]
        with inner.entered():
            fixed = _moved(batch, inner, self.fixed)
            if not self.differs:
                self.block.arguments = [*full[0], *full[1]]  # type: ignore[misc]
                values = replay(loop.body.graph, [*given, *fixed])
                return self._dense([values[v] for v in loop.body.graph.outputs])
            counted = self.turns is not None
            kinds: Any = [((), int32)] if counted else [((batch.size,), t) for t in (bool_, int32)]
            added: list[Any] = [self.block.own(*kind) for kind in kinds]
            self.block.arguments = [*full[0], *added, *full[1]]  # type: ignore[misc]
            if self.turns is None:
                active = added[0]
            else:
                row = self.total - 1 - added[0] if loop.reverse else added[0]
                active = binary.less(row, batch.data(self.turns))
            turn = Turn(inner, active)
            taken = [turn.given(x) for x in given]
            values = replay(loop.body.graph, [*taken, *[turn.given(x) for x in fixed]])
            outputs = self._dense([values[v] for v in loop.body.graph.outputs])
            at = n + loop.stacked
            after = list(map(turn.kept, outputs[:n], given, taken))
            sums = [turn.part(y) for y in outputs[at:]]
            if counted:
                after.append(added[0] + 1)
            else:
                test = loop.condition
                inputs = [*after, *_moved(batch, inner, outer_tensors(test))]
                next_ = still(active, goes_on(inner, test, inputs))
                after += [next_, added[1] + as_number(active)]
            return [*after, *outputs[n:at], *sums]

    def _dense(self, outputs: list[Tensor]) -> list[Tensor]:
        """Sums of rows as sums of tensors."""
        at = self.loop.carried + self.loop.stacked
        result = outputs[:at]
        for rows, like in zip(self.loop.sums, self.forms[1], strict=True):
            if rows:
                shape = self.batch.data(like)._array.shape
                shape = shape[1:] if self.batch.holds(like) else shape
                values, indices = outputs[at : at + 2]
                result.append(
                    picking.scatter_rows(values, indices, shape=shape, axis=0, batch_dims=0)
                )
            else:
                result.append(outputs[at])
            at += 2 if rows else 1
        return result

    def call(self) -> list[Tensor]:
        """The outputs of the loop."""
        from tapeflow._src.function.control_flow.loops import Loop

        loop, batch, n, turns = self.loop, self.batch, self.loop.carried, self.turns
        carried = [
            batch.full(x) if b else x for x, b in zip(self.carried, self.batched, strict=True)
        ]
        scanned = [_swapped(batch.data(x)) if batch.holds(x) else x for x in self.scanned]
        if self.differs and turns is None:
            inputs = [*self.carried, *outer_tensors(loop.condition)]
            active = goes_on(batch, loop.condition, inputs)
            carried += [active, zeros_like(as_number(active))]
        elif self.differs:
            turns = self.total
            carried.append(zeros_like(turns))
        every = n + self.added
        held = [self.inner.holds(y) for y in self.outputs[every:]]
        flags = [*self.batched, *[False] * self.added, *held]
        with self.block.tracing(), self.inner.entered():
            outputs = [
                self.inner.full(y) if b else y for y, b in zip(self.outputs, flags, strict=True)
            ]
        new = Loop(
            self.block.graph_function(outputs),
            every,
            len(scanned),
            condition=self.condition,
            stacked=loop.stacked,
            sums=[False] * len(loop.sums),
            cut=loop.cut,
            reverse=loop.reverse,
            limit=loop.limit,
        )
        first = n + loop.stacked
        flags = [*self.batched, *held]
        pairs = zip(self.forms[1], flags[first:], strict=True)
        results = new.call(
            carried,
            scanned,
            turns=turns,
            sums_like=[batch.full(x) if b else batch.data(x) for x, b in pairs],
        )
        had = self._had(results)
        results = [*results[:n], *results[every:]]
        found = []
        for i, (y, batched) in enumerate(zip(results, flags, strict=False)):
            if not batched:
                found.append(y)
            elif n <= i < first:
                found.append(batch.wrap(_swapped(y)))
            else:
                found.append(batch.wrap(y))
        return [*found, had]

    def _had(self, results: Sequence[Tensor]) -> Tensor:
        """How many turns there were."""
        if not self.differs:
            return results[-1]
        if self.turns is not None:
            return self.turns
        return self.batch.wrap(results[self.loop.carried + 1])

    def _condition(self) -> GraphFunction | None:
        """The condition for full tensors, or None if it turns out to differ between examples."""
        condition = self.loop.condition
        if condition is None:
            return None
        taken = outer_tensors(condition)
        block = LoopBlock(condition.name, current())
        inner = Batch(self.batch.size)

        def any_active() -> Tensor:
            owns = [block.own(x._array.shape, x.dtype) for x in self.block.arguments]
            block.arguments = owns[: self.loop.carried + 2]
            return reduce_any(owns[self.loop.carried])

        def run() -> Tensor:
            owns = []
            inputs = []
            for symbol, batched in zip(condition.arguments, self.batched, strict=True):
                shape = outside(symbol._array.shape, current())
                own = block.own((self.batch.size, *shape) if batched else shape, symbol.dtype)
                owns.append(own)
                inputs.append(inner.wrap(own) if batched else own)
            block.arguments = owns
            with inner.entered():
                fixed = _moved(self.batch, inner, taken)
                values = replay(condition.graph, [*inputs, *fixed])
            return values[condition.graph.outputs[0]]

        going_on = block.run(any_active if self.differs else run)
        return None if inner.holds(going_on) else block.graph_function([going_on])


def _swapped(x: Tensor) -> Tensor:
    """The examples and the rows of a tensor, in the other order."""
    return moving.transpose(x, perm=(1, 0, *range(2, x._array.ndim)))


# Nodes inside of graphs that are traced again.


class _Held:
    """A graph of a node, as a block that takes everything as arguments."""

    variables = captured = ()

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.name = graph.name
        self.arguments = [_Like(v) for v in graph.inputs]


class _Like:
    """A shape and a dtype, as tensors have them."""

    def __init__(self, value: Value) -> None:
        self._array = value
        self.dtype = value.dtype


def node_of_batch(
    name: str, batch: Any, inputs: Sequence[Tensor], attrs: dict[str, Any]
) -> list[Tensor]:
    """A conditional or loop on examples, from a node: inside of a trace, or in one that is made for it."""
    node = {"cond": _cond_node, "while": _while_node}[name]
    if context.tracer is not None:
        return node(batch, inputs, attrs)
    flags = [batch.holds(x) for x in inputs]
    full = [batch.data(x) for x in inputs]
    tracer = Tracer(f"{name} of a batch")
    with tracing_lock, tracer.whole():
        symbols = [tracer.argument_like(x) for x in full]
        inner = Batch(batch.size)
        with inner.entered():
            own = [inner.wrap(x) if b else x for x, b in zip(symbols, flags, strict=True)]
            found = node(inner, own, attrs)
            batched = [inner.holds(y) for y in found]
            outputs = [inner.data(y) for y in found]
    with _outside(batch, inputs):
        results = GraphFunction(tracer, outputs, jit_compile=False).call(full)
    return [batch.wrap(y) if b else y for y, b in zip(results, batched, strict=True)]


def _cond_node(batch: Any, inputs: Sequence[Tensor], attrs: dict[str, Any]) -> list[Tensor]:
    """A conditional on examples, from a node."""
    index, *pool = inputs
    arguments = [[pool[place] for place in own] for own in attrs["places"]]
    branches: Any = [_Held(graph) for graph in attrs["branches"]]
    if not any(attrs["kept"]):
        return conditional_of_batch(batch, branches, index, arguments)
    if attrs.get("effect"):
        raise unsupported("an effect, such as printing, in a branch that is differentiated")
    # What a branch keeps is computed in any case, and looked at if it is the one.
    count = len(attrs["shapes"]) - sum(attrs["kept"])
    return _selected(branches, index, arguments, count)


def _while_node(batch: Any, inputs: Sequence[Tensor], attrs: dict[str, Any]) -> list[Tensor]:
    """A loop on examples, from a node. What it keeps is stacked."""
    from tapeflow._src.function.control_flow.loops import Loop

    plan, graph, condition = attrs["plan"], attrs["body"], attrs.get("condition")
    n, stacked, first = plan.carried, len(plan.stacked), plan.first
    end = len(graph.outputs) - plan.kept
    order = [*graph.outputs[: n + stacked], *graph.outputs[end:], *graph.outputs[n + stacked : end]]
    body: Any = _Held(graph.with_nodes(graph.nodes, order))
    test: Any = None
    if condition is not None:
        test = _Held(condition)
        test.arguments, test.captured = test.arguments[:n], [inputs[p] for p in plan.condition]
    loop = Loop(
        body,
        n,
        plan.scanned,
        condition=test,
        stacked=stacked + plan.kept,
        sums=[rows for rows, _ in plan.sums],
        reverse=plan.reverse,
        limit=plan.limit,
    )
    found = loop_of_batch(
        batch,
        loop,
        inputs[first : first + n],
        inputs[first + n : first + n + plan.scanned],
        [inputs[p] for p in plan.body],
        inputs[0] if plan.counted else None,
        ((), [inputs[like] for _, like in plan.sums]),
    )
    kept = found[n + stacked : n + stacked + plan.kept]
    return [*found[: n + stacked], *found[n + stacked + plan.kept :], *kept]
