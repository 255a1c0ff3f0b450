"""Loops: nodes that run a graph again and again.

A loop is made of

    carried     values that each turn takes and gives to the next one;
    scanned     arrays or stacks, of which each turn takes the row with its number;
    invariants  what all turns take alike: tensors captured from outside, for the most part;
    stacked     results of the turns, put together row by row;
    sums        results of the turns, added up.

Either a condition on the carried values decides whether there is another turn, or the number of turns is given. This
form has a derivative of the same form, so that derivatives of any order follow: the backward pass of the body runs as
a loop of its own in the opposite direction. It carries the gradients of the carried values; the gradients of what was
stacked are scanned, and those of what was scanned are stacked; the gradients of what was summed are invariants, and
those of invariants are sums. What the backward pass needs of each turn is kept in stacks, which are added to the
outputs of the loop when somebody asks for its derivative.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from tapeflow._src.autodiff.backprop import Call, accumulate, dense, record_call
from tapeflow._src.core.context import recorders
from tapeflow._src.core.dtypes import int32
from tapeflow._src.core.indexed_slices import IndexedSlices
from tapeflow._src.core.sizes.guards import Variants
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.function.control_flow.blocks import current, outer_tensors
from tapeflow._src.function.control_flow.derivative import BlockGradient, record_kept, zeros_like
from tapeflow._src.function.control_flow.examples import batch_of
from tapeflow._src.function.control_flow.loop_kernel import WHILE, Plan
from tapeflow._src.function.control_flow.primitives import (
    Described,
    add_output,
    described,
    has_effect,
    outside,
)
from tapeflow._src.function.control_flow.pushforward import tangents_of_kept, tangents_of_loop
from tapeflow._src.function.control_flow.trips import known_trips
from tapeflow._src.function.graph_function import GraphFunction
from tapeflow._src.function.tracing.symbols import SymbolicTensor
from tapeflow._src.primitives.array.stack import is_stack
from tapeflow._src.primitives.indexing import picking


class Loop:
    """A body to be run again and again, and how its inputs and outputs are used.

    Args:
      body: takes carried values, rows of scanned ones, and invariants; gives carried values, stacked ones and sums.
      carried: how many carried values there are.
      scanned: how many scanned ones.
      condition: takes carried values and says whether there is another turn.
      stacked: how many stacked results.
      sums: for each sum, whether it is made of rows.
      cut: carried values through which no gradient flows from turn to turn: variables.
      reverse: whether the last row is the first turn's.
      limit: how many turns there are at most.
    """

    def __init__(
        self,
        body: GraphFunction,
        carried: int,
        scanned: int = 0,
        *,
        condition: GraphFunction | None = None,
        stacked: int = 0,
        sums: Sequence[bool] = (),
        cut: Sequence[int] = (),
        reverse: bool = False,
        limit: int | None = None,
    ) -> None:
        self.body = body
        self.carried = carried
        self.scanned = scanned
        self.condition = condition
        self.stacked = stacked
        self.sums = tuple(sums)
        self.cut = frozenset(cut)
        self.reverse = reverse
        self.limit = limit

    def call(
        self,
        carried: Sequence[Tensor],
        scanned: Sequence[Tensor] = (),
        invariants: Sequence[Tensor] = (),
        *,
        turns: Tensor | None = None,
        carried_like: Sequence[Tensor] = (),
        stacked_like: Sequence[Tensor] = (),
        sums_like: Sequence[Tensor] = (),
    ) -> list[Tensor]:
        """The carried values in the end, followed by stacked ones, sums and the number of turns.

        Args:
          carried: the carried values in the beginning.
          scanned: the scanned ones.
          invariants: what the body takes after those.
          turns: the number of turns, if there is no condition.
          carried_like: tensors that the carried values have the form of in the end, if it is another than in each turn.
          stacked_like: tensors that the stacked results have the form of, if there are any.
          sums_like: tensors that the sums have the form of.
        """
        forms = stacked_like, sums_like
        taken = [*carried, *scanned, *invariants, *outer_tensors(self.body)]
        if self.condition is not None:
            taken += outer_tensors(self.condition)
        batch = batch_of(taken)
        if batch is not None:
            from tapeflow._src.function.control_flow.batching import loop_of_batch

            return loop_of_batch(batch, self, carried, scanned, invariants, turns, forms)
        return [*LoopCall(self, carried, scanned, invariants, turns, forms, carried_like).outputs]

    def node(
        self,
        carried: Sequence[Tensor],
        scanned: Sequence[Tensor],
        *,
        turns: Tensor | None,
        carried_like: Sequence[Tensor],
        stacked_like: Sequence[Tensor],
        sums_like: Sequence[Tensor],
    ) -> LoopCall:
        """The same where none of it is an example of a batch, and what turns compute is to be kept."""
        return LoopCall(self, carried, scanned, (), turns, (stacked_like, sums_like), carried_like)


class LoopCall:
    """A loop that was called, and how to differentiate it."""

    def __init__(
        self,
        loop: Loop,
        carried: Sequence[Tensor],
        scanned: Sequence[Tensor],
        invariants: Sequence[Tensor],
        turns: Tensor | None,
        forms: tuple[Sequence[Tensor], Sequence[Tensor]],
        carried_like: Sequence[Tensor] = (),
    ) -> None:
        self.loop = loop
        self.carried_like = carried_like
        self.tracer = current()
        self.recorders = recorders()
        self.carried, self.scanned = carried, scanned
        self.first = int(turns is not None)
        self.inputs = [*([] if turns is None else [turns]), *carried, *scanned]
        self._known: dict[int, int] = {}
        self.fixed = [*invariants, *outer_tensors(loop.body)]
        self.fixed_places = self._places(self.fixed)
        condition = loop.condition
        plan = Plan(
            turns is not None,
            len(carried),
            len(scanned),
            self._places(forms[0], anywhere=True) or (None,) * loop.stacked,
            tuple(zip(loop.sums, self._places(forms[1], anywhere=True), strict=True)),
            0,
            () if condition is None else self._places(outer_tensors(condition)),
            self.fixed_places,
            loop.reverse,
            loop.limit,
        )
        if condition is not None:
            trips = known_trips(condition.graph, loop.body.graph, plan, self.inputs)
            plan = plan._replace(trips=trips)
        attrs: dict[str, Any] = {
            "body": loop.body.graph,
            "plan": plan,
            "shapes": self._shapes(plan),
        }
        effect = has_effect(loop.body.graph)
        if condition is not None:
            attrs["condition"] = condition.graph
            effect = effect or has_effect(condition.graph)
        if effect:
            attrs["effect"] = True
        self.plan = plan
        self.node, self.outputs = WHILE.node(self.inputs, attrs)
        self.turns = self.outputs[-1] if turns is None else turns
        self._kept: dict[int, Tensor] = {}
        self._backwards: dict[Any, Variants] = {}
        # What has an effect must not happen twice, so that its tangents come from what is kept of each turn.
        self._pushes = not effect
        push = partial(tangents_of_loop, self) if self._pushes else None
        custom = loop.body.has_custom_gradient
        record_call(Call("while", self.inputs, self.outputs, self.pullback, True, push, custom))

    def _places(self, tensors: Sequence[Tensor], anywhere: bool = False) -> tuple[int, ...]:
        """The positions of tensors among the inputs, where they are added if they are not there."""
        places = []
        for x in tensors:
            if anywhere and id(x) not in self._known:
                self._known.update((id(y), i) for i, y in reversed(list(enumerate(self.inputs))))
            if id(x) not in self._known:
                self._known[id(x)] = len(self.inputs)
                self.inputs.append(x)
            places.append(self._known[id(x)])
        return tuple(places)

    def _shapes(self, plan: Plan) -> tuple[Described, ...]:
        body, tracer = self.loop.body, self.tracer
        if self.carried_like:
            shapes = [described(x, tracer) for x in self.carried_like]
        else:
            pairs = zip(body.arguments[: plan.carried], body.symbols, strict=False)
            shapes = [described(y if is_stack(y) else x, tracer) for x, y in pairs]
        for like, symbol in zip(plan.stacked, body.symbols[plan.carried :], strict=False):
            if like is not None:
                shapes.append(described(self.inputs[like], tracer))
            else:
                length = self.scanned[0]._array.shape[:1] if self.scanned else (None,)
                shapes.append((outside((*length, *symbol._array.shape), tracer), symbol.dtype))
        shapes += [described(self.inputs[like], tracer) for _, like in plan.sums]
        return (*shapes, ((), int32))

    # Differentiating.

    def pullback(self, *g: Tensor | None) -> list[Any]:
        """The gradients of the inputs: another loop."""
        return self._pulled({i: part for i, part in enumerate(g) if part is not None}, [], [])

    def _pulled(
        self, g: dict[int, Tensor], kept: list[SymbolicTensor], kept_g: list[Tensor]
    ) -> list[Any]:
        given = [i for i in g if i >= self.loop.carried]
        key = (*given, *map(id, kept))
        variants = self._backwards.setdefault(key, Variants())
        backward = variants.found({})
        if backward is None:
            backward = _Backward(self, given, kept)
            variants.add(backward.loop.body.tracer.guards.values(), backward)
        return backward.call(g, kept_g)

    def keep(self, wanted: Sequence[SymbolicTensor]) -> list[Tensor]:
        """For each of some tensors in the body, the stack of what it was in each turn."""
        for symbol in wanted:
            if id(symbol) not in self._kept:
                self._kept[id(symbol)] = self._add(symbol)
        found = [self._kept[id(symbol)] for symbol in wanted]
        mine = [pair for pair in zip(wanted, found, strict=True) if pair[1].dtype.is_differentiable]
        if mine:

            def pullback(*g: Tensor | None) -> list[Any]:
                given = [(x, p) for (x, _), p in zip(mine, g, strict=True) if p is not None]
                return self._pulled({}, [x for x, _ in given], [p for _, p in given])

            outputs = [x for _, x in mine]
            push = partial(tangents_of_kept, self, [x for x, _ in mine]) if self._pushes else None
            call = Call("while", self.inputs, outputs, pullback, True, push)
            record_kept(call, self.tracer, self.recorders)
        return found

    def again(
        self,
        body: GraphFunction,
        condition: GraphFunction | None,
        carried: Sequence[Tensor],
        scanned: Sequence[Tensor],
        *,
        flowing: Sequence[int],
        stacked: Sequence[int],
        sums: Sequence[bool],
        sums_like: Sequence[Tensor],
    ) -> tuple[Loop, dict[str, Any]]:
        """A loop of as many turns, with another body, and what to call it with.

        Args:
          body: takes carried values and rows of scanned ones; gives carried values, stacked ones and sums.
          condition: takes carried values, if this loop has one.
          carried: those of this loop, and more of them.
          scanned: the scanned values.
          flowing: for each of the further carried values, the one of this loop that it has the form of.
          stacked: for each stacked result the one of this loop that it has the form of.
          sums: for each sum, whether it is made of rows.
          sums_like: tensors that the sums have the form of.
        """
        mine, n = self.loop, self.loop.carried
        loop = Loop(
            body,
            len(carried),
            len(scanned),
            condition=condition,
            stacked=len(stacked),
            sums=sums,
            cut=tuple(mine.cut),
            reverse=mine.reverse,
            limit=mine.limit,
        )
        likes = [self.plan.stacked[i - n] for i in stacked]
        like = self.carried_like and [*self.carried_like, *[self.carried_like[k] for k in flowing]]
        return loop, {
            "carried": carried,
            "scanned": scanned,
            "turns": self.inputs[0] if self.plan.counted else None,
            "carried_like": like,
            "stacked_like": [self.inputs[p] for p in likes if p is not None],
            "sums_like": sums_like,
        }

    def _add(self, symbol: SymbolicTensor) -> Tensor:
        shape: Any = symbol._array.shape
        element = None if is_stack(symbol) else outside(shape, self.tracer)
        plan = self.node.attrs["plan"]
        length = self.scanned[0]._array.shape[0] if self.scanned else plan.trips
        described_ = ("stack", length, element)
        place = len(self.node.outputs)
        output = add_output(self.tracer, self.node, place, described_, symbol.dtype)
        attrs = self.node.attrs
        body = attrs["body"]
        body = body.with_nodes(body.nodes, [*body.outputs, symbol.value])
        self.node.attrs = {**attrs, "body": body, "plan": plan._replace(kept=plan.kept + 1)}
        return output


class _Backward:
    """The backward pass of a loop.

    Args:
      forward: the loop.
      given: the outputs besides carried values whose gradients are given. Gradients of carried values are carried.
      kept_given: tensors in the body whose gradients are given for each turn, too.
    """

    def __init__(
        self, forward: LoopCall, given: Sequence[int], kept_given: Sequence[SymbolicTensor]
    ) -> None:
        self.forward = forward
        loop = forward.loop
        n, m = loop.carried, loop.scanned
        inputs = loop.body.inputs()
        self.flowing = [
            k for k in range(n) if k not in loop.cut and inputs[k].dtype.is_differentiable
        ]
        self.given_rows = [i for i in given if i < n + loop.stacked]
        self.given_fixed = [i for i in given if i >= n + loop.stacked]
        self.stacked: list[int] = []  # the scanned inputs that get a gradient
        self.sums: list[tuple[bool, int]] = []  # whether as rows, and the other inputs that get one
        symbols = loop.body.symbols
        self.targets = [*[symbols[i] for i in (*self.flowing, *self.given_rows)], *kept_given]
        forms = [*self.targets]
        forms += [forward.outputs[i] for i in self.given_fixed]
        gradient = BlockGradient(loop.body, forms, self._seeds, self._gathered)
        fixed = len(self.targets)
        # What the pass needs of the body: rows of what was scanned, or kept in stacks; or what all turns take.
        self.kept_rows: list[SymbolicTensor] = []
        self.scanned_rows: list[int] = []
        self.kept_fixed: list[int] = []
        kept_in, scanned_in, fixed_in = [], [], []
        places = {id(x): i for i, x in enumerate(inputs)}
        for x, symbol in gradient.kept:
            place = places.get(id(x), -1)
            if place < n:
                kept_in.append(symbol)
                self.kept_rows.append(x)
            elif place < n + m:
                scanned_in.append(symbol)
                self.scanned_rows.append(place - n)
            else:
                fixed_in.append(symbol)
                self.kept_fixed.append(place - n - m)
        rows_in = [*kept_in, *scanned_in]
        arguments = [*gradient.given[:fixed], *rows_in, *gradient.given[fixed:], *fixed_in]
        self.loop = Loop(
            gradient.graph_function(arguments),
            len(self.flowing),
            fixed - len(self.flowing) + len(rows_in),
            stacked=len(self.stacked),
            sums=[rows for rows, _ in self.sums],
            reverse=not loop.reverse,
        )

    def _seeds(self, g: list[Tensor]) -> list[tuple[SymbolicTensor, Tensor]]:
        loop = self.forward.loop
        symbols = loop.body.symbols
        seeds = list(zip(self.targets, g, strict=False))
        at, places = loop.carried + loop.stacked, []
        for rows in loop.sums:
            places.append(at)
            at += 2 if rows else 1
        for i, part in zip(self.given_fixed, g[len(self.targets) :], strict=True):
            number = i - loop.carried - loop.stacked
            values = symbols[places[number]]
            if loop.sums[number]:  # each turn has added its rows somewhere
                part = picking.gather(part, symbols[places[number] + 1], axis=0, batch_dims=0)
            seeds.append((values, part))
        return seeds

    def _gathered(self, found: list[Any]) -> list[Tensor]:
        loop = self.forward.loop
        n, m = loop.carried, loop.scanned
        inputs = loop.body.inputs()
        outputs = [
            zeros_like(inputs[k]) if found[k] is None else dense(found[k]) for k in self.flowing
        ]
        for k in range(m):
            if found[n + k] is not None:
                outputs.append(dense(found[n + k]))
                self.stacked.append(k)
        for place in (*loop.cut, *range(n + m, len(inputs))):
            part = found[place]
            if isinstance(part, IndexedSlices):
                outputs += [part.values, part.indices]
                self.sums.append((True, place))
            elif part is not None:
                outputs.append(part)
                self.sums.append((False, place))
        return outputs

    def call(self, g: dict[int, Tensor], kept_g: list[Tensor]) -> list[Any]:
        """The gradients of the inputs of the loop."""
        forward = self.forward
        own = [*forward.carried, *forward.scanned, *forward.fixed]
        rows = [*forward.keep(self.kept_rows), *[forward.scanned[k] for k in self.scanned_rows]]
        found = self.loop.call(
            [g[k] if k in g else zeros_like(forward.outputs[k]) for k in self.flowing],
            [*[g[i] for i in self.given_rows], *kept_g, *rows],
            [*[g[i] for i in self.given_fixed], *[forward.fixed[p] for p in self.kept_fixed]],
            turns=forward.turns,
            carried_like=[forward.carried[k] for k in self.flowing],
            stacked_like=[forward.scanned[k] for k in self.stacked],
            sums_like=[own[place] for _, place in self.sums],
        )
        first, n, m = forward.first, forward.loop.carried, forward.loop.scanned
        places = [first + k for k in self.flowing]
        places += [first + n + k for k in self.stacked]
        for _, place in self.sums:
            fixed = place - n - m
            places.append(first + place if fixed < 0 else forward.fixed_places[fixed])
        parts: list[Any] = [None] * len(forward.inputs)
        for place, part in zip(places, found, strict=False):  # the number of turns comes last
            there = parts[place]
            parts[place] = part if there is None else accumulate(there, part)
        return parts
