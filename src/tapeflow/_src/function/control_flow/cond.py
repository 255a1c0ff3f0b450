"""Conditionals: `tf.cond` and `tf.switch_case` with a predicate that is known only when the function runs.

One node holds a graph for each branch, and runs one of them. Its derivative is another such node, whose branches are
the backward passes of its branches. What a backward pass needs from the forward pass is added to the outputs of the
node when somebody asks for the derivative; of a branch that did not run it is blank.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from tapeflow._src.autodiff.backprop import Call, accumulate, dense, record_call
from tapeflow._src.core.context import recorders
from tapeflow._src.core.sizes.dims import is_dynamic
from tapeflow._src.core.sizes.guards import Guard, Variants
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.function.control_flow.blocks import current, outer_tensors
from tapeflow._src.function.control_flow.derivative import (
    BlockGradient,
    connected,
    record_kept,
    zeros_like,
)
from tapeflow._src.function.control_flow.examples import batch_of
from tapeflow._src.function.control_flow.primitives import (
    ControlFlow,
    Described,
    add_output,
    blank,
    described,
    has_effect,
    program,
    with_user_line,
)
from tapeflow._src.function.control_flow.pushforward import (
    tangents_of_cond,
    tangents_of_kept_in_branches,
)
from tapeflow._src.function.control_flow.structures import joined
from tapeflow._src.function.graph_function import GraphFunction
from tapeflow._src.function.tracing.symbols import SymbolicTensor
from tapeflow._src.graph.graph import Graph
from tapeflow._src.primitives.array.stack import is_stack
from tapeflow._src.primitives.dispatch import KERNEL_FAILURES

Places = tuple[tuple[int, ...], ...]

Kept = tuple[int, SymbolicTensor]
"""The number of a branch, and a tensor in it."""


def _cond_kernel(
    index: Any,
    *arrays: Any,
    branches: tuple[Graph, ...],
    places: Places,
    kept: tuple[int, ...],
    shapes: tuple[Described, ...],
    effect: bool = False,
) -> tuple[Any, ...]:
    chosen = int(index)
    if not 0 <= chosen < len(branches):
        chosen = len(branches) - 1
    run = program(branches[chosen])
    try:
        results = run(*[arrays[p] for p in places[chosen]])
    except KERNEL_FAILURES as error:
        raise with_user_line(error, branches[chosen]) from error.__cause__
    if not any(kept):
        return results
    count = len(shapes) - sum(kept)
    outputs = list(results[:count])
    for number, more in enumerate(kept):
        if number == chosen:
            outputs += results[count:]
        else:
            outputs += [blank(*each) for each in shapes[len(outputs) : len(outputs) + more]]
    return tuple(outputs)


COND = ControlFlow("cond", _cond_kernel)


def conditional(
    branches: Sequence[GraphFunction], index: Tensor, arguments: Sequence[Sequence[Tensor]]
) -> list[Tensor]:
    """The results of the branch with a number.

    Args:
      branches: blocks that return as many tensors each, of the same dtypes.
      index: the number. One that is too small or too large stands for the last branch.
      arguments: for each branch, its arguments.
    """
    taken = [x for own in arguments for x in own]
    batch = batch_of(
        [index, *taken, *[x for graph_function in branches for x in outer_tensors(graph_function)]]
    )
    if batch is not None:
        from tapeflow._src.function.control_flow.batching import conditional_of_batch

        return conditional_of_batch(batch, branches, index, arguments)
    return [*CondCall(branches, index, arguments).outputs]


class CondCall:
    """A conditional that was called, and how to differentiate it."""

    def __init__(
        self,
        branches: Sequence[GraphFunction],
        index: Tensor,
        arguments: Sequence[Sequence[Tensor]],
    ) -> None:
        self.branches = branches
        self.index = index
        self.tracer = current()
        self.recorders = recorders()
        self.pool: list[Tensor] = []  # what the branches take
        known: dict[int, int] = {}
        places = []
        for graph_function, own in zip(branches, arguments, strict=True):
            for x in (inputs := [*own, *outer_tensors(graph_function)]):
                if id(x) not in known:
                    known[id(x)] = len(self.pool)
                    self.pool.append(x)
            places.append(tuple([known[id(x)] for x in inputs]))
        self.places: Places = tuple(places)
        attrs: dict[str, Any] = {
            "branches": tuple([graph_function.graph for graph_function in branches]),
            "places": self.places,
            "kept": (0,) * len(branches),
            "shapes": tuple(
                [
                    joined(same, self.tracer)
                    for same in zip(
                        *[graph_function.symbols for graph_function in branches], strict=True
                    )
                ]
            ),
        }
        if any(has_effect(graph_function.graph) for graph_function in branches):
            attrs["effect"] = True
        self.node, self.outputs = COND.node([index, *self.pool], attrs)
        self.count = len(self.outputs)
        self._kept: dict[tuple[int, int], Tensor] = {}
        self._backwards: dict[Any, Variants] = {}
        self.inputs = [index, *self.pool]
        # What has an effect must not happen twice: then its tangents come from what is kept.
        self._pushes = "effect" not in attrs
        push = partial(tangents_of_cond, self) if self._pushes else None
        custom = any(graph_function.has_custom_gradient for graph_function in branches)
        record_call(Call("cond", self.inputs, self.outputs, self.pullback, True, push, custom))

    def pullback(self, *g: Tensor | None) -> list[Any]:
        """The gradients of the inputs: another conditional."""
        return self._pulled({i: part for i, part in enumerate(g) if part is not None}, [], [])

    def _pulled(self, g: dict[int, Tensor], kept: list[Kept], kept_g: list[Any]) -> list[Any]:
        key = (*g, *[(number, id(x)) for number, x in kept])
        variants = self._backwards.setdefault(key, Variants())
        backward = variants.found({})
        if backward is None:
            backward = _Backward(self, list(g), kept)
            variants.add(backward.guards, backward)
        parts: list[Any] = [None] * (1 + len(self.pool))
        if not backward.wanted:
            return parts
        needed = iter(self.keep([(b, x) for b, those in enumerate(backward.kept) for x in those]))
        arguments = []
        for number, those in enumerate(backward.kept):
            own = [part for (b, _), part in zip(kept, kept_g, strict=True) if b == number]
            likes = [self.pool[place] for place in backward.likes[number]]
            arguments.append([*g.values(), *own, *likes, *[next(needed) for _ in those]])
        found = conditional(backward.branches, self.index, arguments)
        for place, part in zip(backward.wanted, found, strict=True):
            parts[1 + place] = part
        return parts

    # What backward passes need of the branches.

    def keep(self, wanted: Sequence[Kept]) -> list[Tensor]:
        """Tensors of branches, outside: blank if the branch did not run."""
        found = [self._outside(number, symbol) for number, symbol in wanted]
        mine = [
            (each, x)
            for each, x in zip(wanted, found, strict=True)
            if (each[0], id(each[1])) in self._kept and x.dtype.is_differentiable
        ]
        if mine:

            def pullback(*g: Tensor | None) -> list[Any]:
                given = [(each, p) for (each, _), p in zip(mine, g, strict=True) if p is not None]
                return self._pulled({}, [each for each, _ in given], [p for _, p in given])

            outputs = [x for _, x in mine]
            wanted = [each for each, _ in mine]
            push = partial(tangents_of_kept_in_branches, self, wanted) if self._pushes else None
            call = Call("cond", self.inputs, outputs, pullback, True, push)
            record_kept(call, self.tracer, self.recorders)
        return found

    def again(self, branches: Sequence[GraphFunction]) -> list[Tensor]:
        """The results of other branches by the same number."""
        return conditional(branches, self.index, [[]] * len(branches))

    def called(self, branches: Sequence[GraphFunction]) -> CondCall:
        """The same where none of it is an example of a batch, and what branches compute is to be kept."""
        return CondCall(branches, self.index, [[]] * len(branches))

    def _outside(self, number: int, symbol: SymbolicTensor) -> Tensor:
        graph_function = self.branches[number]
        for place, x in zip(self.places[number], graph_function.inputs(), strict=True):
            if x is symbol:
                return self.pool[place]
        for output, x in zip(self.outputs, graph_function.symbols, strict=True):
            if x is symbol:
                return output
        key = (number, id(symbol))
        if key not in self._kept:
            self._kept[key] = self._add(number, symbol)
        return self._kept[key]

    def _add(self, number: int, symbol: SymbolicTensor) -> Tensor:
        branches, kept = list(self.node.attrs["branches"]), list(self.node.attrs["kept"])
        graph = branches[number]
        branches[number] = graph.with_nodes(graph.nodes, [*graph.outputs, symbol.value])
        position = self.count + sum(kept[: number + 1])
        kept[number] += 1
        shape, dtype = described(symbol, self.tracer)
        output = add_output(self.tracer, self.node, position, shape, dtype)
        self.node.attrs = {**self.node.attrs, "branches": tuple(branches), "kept": tuple(kept)}
        return output


class _Backward:
    """The backward passes of the branches.

    Args:
      call: the conditional.
      given: the outputs whose gradients are given.
      kept_given: tensors in branches whose gradients are given, too.

    Attributes:
      wanted: the places of the inputs that get a gradient.
      branches: the passes.
      kept: for each branch, the tensors in it that its pass needs.
      likes: for each branch, the places of inputs that its pass takes to make zeros of their form.
      guards: what was guessed of sizes.
    """

    def __init__(self, call: CondCall, given: Sequence[int], kept_given: Sequence[Kept]) -> None:
        self.call = call
        targets = [
            [
                *[graph_function.symbols[i] for i in given],
                *[x for b, x in kept_given if b == number],
            ]
            for number, graph_function in enumerate(call.branches)
        ]
        self.wanted = [
            place
            for place, x in enumerate(call.pool)
            if x.dtype.is_differentiable
            and any(
                at == place and connected(graph_function, symbol, those)
                for graph_function, own, those in zip(
                    call.branches, call.places, targets, strict=True
                )
                for at, symbol in zip(own, graph_function.inputs(), strict=True)
            )
        ]
        self.branches: list[GraphFunction] = []
        self.kept: list[list[SymbolicTensor]] = []
        self.likes: list[list[int]] = [[] for _ in call.branches]
        self.guards: list[Guard] = []
        for number, graph_function in enumerate(call.branches):
            gradient = BlockGradient(
                graph_function,
                targets[number],
                lambda g, number=number: list(zip(targets[number], g, strict=True)),
                lambda found, number=number: self._gathered(number, found),
            )
            self.kept.append([x for x, _ in gradient.kept])
            self.guards += gradient.tracer.guards.values()
            arguments = [*gradient.given, *[symbol for _, symbol in gradient.kept]]
            self.branches.append(gradient.graph_function(arguments))

    def _gathered(self, number: int, found: list[Any]) -> list[Tensor]:
        """The gradients of the inputs of the conditional from those of a branch: zeros for what it does not use."""
        totals: dict[int, Any] = {}
        for place, part in zip(self.call.places[number], found, strict=True):
            if part is not None:
                there = totals.get(place)
                totals[place] = part if there is None else accumulate(there, part)
        return [
            dense(totals[place]) if place in totals else self._zeros(number, place)
            for place in self.wanted
        ]

    def _zeros(self, number: int, place: int) -> Tensor:
        x = self.call.pool[place]
        if not is_stack(x) and not is_dynamic(x._array.shape):
            return zeros_like(x)
        self.likes[number].append(place)  # a pass of its own may not see the input itself
        return zeros_like(current().argument_like(x))
