"""Forward mode through loops and conditionals: a loop that carries tangents along with values, a branch of tangents.

Transposing the backward pass, as forward mode does elsewhere, would keep what every turn has computed. Here a turn runs
the body once more and moves the tangents of the carried values on, in the order of the turns; nothing is kept. What
comes out is a loop like any other, so that tapes and accumulators around it find derivatives of tangents.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from tapeflow._src.autodiff.forward import ForwardAccumulator
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.function.control_flow.blocks import Block, LoopBlock, current
from tapeflow._src.function.control_flow.derivative import zeros_like
from tapeflow._src.function.control_flow.examples import batch_of, unsupported
from tapeflow._src.function.control_flow.primitives import described, spec_from
from tapeflow._src.function.graph_function import GraphFunction, symbol_of
from tapeflow._src.function.tracing.symbols import SymbolicTensor

if TYPE_CHECKING:
    from tapeflow._src.function.control_flow.cond import CondCall, Kept
    from tapeflow._src.function.control_flow.loops import LoopCall

Tangents = Sequence[Tensor | None]


def tangents_of_loop(forward: LoopCall, tangents: Tangents) -> list[Tensor | None]:
    """The tangents of the outputs of a loop from those of its inputs."""
    pushed = _Pushed(forward, tangents, [])
    found = iter(pushed.moved.call(**pushed.arguments)[forward.loop.carried :])
    results: list[Tensor | None] = [None] * len(forward.outputs)
    for place in pushed.places:
        results[place] = next(found)
    return results


def tangents_of_kept(
    forward: LoopCall, kept: Sequence[SymbolicTensor], tangents: Tangents
) -> list[Tensor | None]:
    """The same for stacks of what tensors of the body were in each turn."""
    if batch_of([t for t in tangents if t is not None]) is not None:
        raise unsupported("forward mode over a backward pass")
    pushed = _Pushed(forward, tangents, kept)
    return [*pushed.moved.node(**pushed.arguments).keep(pushed.kept)]


class _Pushed:
    """The loop that carries tangents.

    Attributes:
      moved: the loop, and `arguments` what it is called with.
      places: for each of its outputs after the values, the output of the first loop whose tangent it is.
      kept: in its body, the tangents of the tensors that are asked for.
    """

    def __init__(
        self, forward: LoopCall, tangents: Tangents, kept: Sequence[SymbolicTensor]
    ) -> None:
        self.forward, self.loop = forward, forward.loop
        loop, first = self.loop, forward.first
        n, m = loop.carried, loop.scanned
        outputs = loop.body.symbols
        self.flowing = [
            k for k in range(n) if k not in loop.cut and outputs[k].dtype.is_differentiable
        ]
        self.of_carried = tangents[first : first + n]
        self.rows = [j for j in range(m) if tangents[first + n + j] is not None]
        self.of_fixed = [tangents[p] for p in forward.fixed_places]
        stacked = [n + i for i in range(loop.stacked)]
        self.stacked = [i for i in stacked if outputs[i].dtype.is_differentiable]
        # For each sum, where its values are among what the body gives, and where their numbers are, if it has any.
        self.sums: list[tuple[int, int | None]] = []
        at, summed, sums_like = n + loop.stacked, [], []
        for i, (by_rows, (_, like)) in enumerate(zip(loop.sums, forward.plan.sums, strict=True)):
            if outputs[at].dtype.is_differentiable:
                self.sums.append((at, at + 1 if by_rows else None))
                summed.append(n + loop.stacked + i)
                sums_like.append(forward.inputs[like])
            at += 2 if by_rows else 1
        self.places = [*self.flowing, *self.stacked, *summed]
        self.body = loop.body.with_outputs(kept)
        self.kept: list[SymbolicTensor] = []
        body = self._traced_body(kept)
        self.moved, self.arguments = forward.again(
            body,
            self._traced_condition(),
            [*forward.carried, *[self._start(k) for k in self.flowing]],
            [*forward.scanned, *[tangents[first + n + j] for j in self.rows]],  # pyright: ignore[reportArgumentType]
            stacked=self.stacked,
            sums=[number is not None for _, number in self.sums],
            sums_like=sums_like,
            flowing=self.flowing,
        )

    def _start(self, k: int) -> Tensor:
        found = self.of_carried[k]
        return zeros_like(self.forward.carried[k]) if found is None else found

    def _own(self, block: LoopBlock, x: SymbolicTensor) -> SymbolicTensor:
        """An argument of the form of one of the first loop's."""
        spec = spec_from(*described(x, block.outer))  # pyright: ignore[reportArgumentType]
        return block.own(spec.shape, spec.dtype)

    def _traced_body(self, kept: Sequence[SymbolicTensor]) -> GraphFunction:
        loop, n, m = self.loop, self.loop.carried, self.loop.scanned
        block = LoopBlock("body", current())
        like = loop.body.arguments
        values = [self._own(block, x) for x in like[:n]]
        carried = [self._own(block, like[k]) for k in self.flowing]
        rows = [self._own(block, x) for x in like[n : n + m]]
        moved = [self._own(block, like[n + j]) for j in self.rows]
        block.arguments = [*values, *carried, *rows, *moved]
        invariants = self.forward.fixed[: len(like) - n - m]
        pairs: list[tuple[Tensor, Tensor | None]] = [
            *[(values[k], t) for k, t in zip(self.flowing, carried, strict=True)],
            *[(values[k], self.of_carried[k]) for k in loop.cut],
            *[(rows[j], t) for j, t in zip(self.rows, moved, strict=True)],
            *zip(self.forward.fixed, self.of_fixed, strict=True),
        ]
        unique = {id(x): (x, t) for x, t in pairs if t is not None}

        def turn() -> list[Tensor]:
            primals, moving = [x for x, _ in unique.values()], [t for _, t in unique.values()]
            with ForwardAccumulator(primals, moving) as accumulator:
                results = self.body.call([*values, *rows, *invariants])

            def tangent(i: int) -> Tensor:
                found = accumulator.jvp(results[i])
                return zeros_like(results[i]) if found is None else found

            given = [*results[:n], *[tangent(i) for i in (*self.flowing, *self.stacked)]]
            for at, number in self.sums:
                given += [tangent(at), *([] if number is None else [results[number]])]
            more = range(len(loop.body.symbols), len(results))
            return [*given, *[tangent(i) for i in more]]

        found = block.run(turn)
        count = len(found) - len(kept)
        self.kept = [symbol_of(block, x) for x in found[count:]]
        return block.graph_function(found[:count])

    def _traced_condition(self) -> GraphFunction | None:
        condition, n = self.loop.condition, self.loop.carried
        if condition is None:
            return None
        block = LoopBlock("condition", current())
        values = [self._own(block, x) for x in condition.arguments]
        tangents = [self._own(block, self.loop.body.arguments[k]) for k in self.flowing]
        block.arguments = [*values, *tangents]
        return block.graph_function(block.run(lambda: condition.call(values[:n])))


# Conditionals.


def tangents_of_cond(forward: CondCall, tangents: Tangents) -> list[Tensor | None]:
    """The tangents of the outputs of a conditional from those of its inputs."""
    moving = [i for i, x in enumerate(forward.outputs) if x.dtype.is_differentiable]
    branches = [_branch(forward, n, tangents, moving, [])[0] for n in range(len(forward.branches))]
    found = iter(forward.again(branches))
    results: list[Tensor | None] = [None] * len(forward.outputs)
    for i in moving:
        results[i] = next(found)
    return results


def tangents_of_kept_in_branches(
    forward: CondCall, kept: Sequence[Kept], tangents: Tangents
) -> list[Tensor | None]:
    """The same for tensors of branches that are kept."""
    if batch_of([t for t in tangents if t is not None]) is not None:
        return NotImplemented
    branches, wanted = [], {}
    for number in range(len(forward.branches)):
        own = [symbol for branch, symbol in kept if branch == number]
        graph_function, moved = _branch(forward, number, tangents, [], own)
        branches.append(graph_function)
        wanted.update(((number, id(x)), (number, t)) for x, t in zip(own, moved, strict=True))
    return [*forward.called(branches).keep([wanted[number, id(x)] for number, x in kept])]


def _branch(
    forward: CondCall,
    number: int,
    tangents: Tangents,
    moving: Sequence[int],
    kept: Sequence[SymbolicTensor],
) -> tuple[GraphFunction, list[SymbolicTensor]]:
    """A branch that gives tangents of outputs, and in it the tangents of tensors that are kept."""
    graph_function = forward.branches[number].with_outputs(kept)
    inputs = [forward.pool[place] for place in forward.places[number]]
    pairs = zip(inputs, [tangents[1 + place] for place in forward.places[number]], strict=True)
    unique = {id(x): (x, t) for x, t in pairs if t is not None}
    count = len(forward.branches[number].symbols)
    block = Block(graph_function.name, current())

    def run() -> list[Tensor]:
        primals, moved = [x for x, _ in unique.values()], [t for _, t in unique.values()]
        with ForwardAccumulator(primals, moved) as accumulator:
            results = graph_function.call(inputs[: len(graph_function.arguments)])
        found = [accumulator.jvp(results[i]) for i in (*moving, *range(count, len(results)))]
        return [
            zeros_like(results[i]) if t is None else t
            for i, t in zip((*moving, *range(count, len(results))), found, strict=True)
        ]

    found = block.run(run)
    own = [symbol_of(block, x) for x in found[len(moving) :]]
    return block.graph_function(found[: len(moving)]), own
