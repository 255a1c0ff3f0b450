"""The program of all replicas of a strategy: one for all, on a mesh of their devices.

What is compiled is the graph that `matching` finds, inside of `jax.shard_map`: each device computes it on the parts of
its replica, and an `all_reduce` is where the devices meet. Each keeps its own copy of every variable.

With several processes (`graph.workers`) the mesh has the devices of all of them, and each process gives and gets the
parts of its own. They begin when they have agreed on it (`agreement`).

Where the values at hand do not allow it (an unequal last batch, an index that eager mode refuses), nothing has happened
yet, or NumPy goes on from there, as in `checked_program`.
"""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Callable, Sequence
from operator import is_
from typing import Any

import jax
import jax.numpy as jnp
from jax.sharding import NamedSharding

from tapeflow._src.core.placement.device_tensor import DeviceTensor
from tapeflow._src.core.placement.remote import RemoteTensor, to_host
from tapeflow._src.core.sizes.dims import is_dynamic
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.core.variables.steps import Step
from tapeflow._src.engines.numpy.program import NumpyProgram
from tapeflow._src.engines.xla.call import REFUSED, Call
from tapeflow._src.engines.xla.checked_program import Unwatched, Watch, finishing
from tapeflow._src.engines.xla.collectives import in_words
from tapeflow._src.engines.xla.failures import translating_xla_errors
from tapeflow._src.engines.xla.lower import lower_nodes
from tapeflow._src.engines.xla.options import options
from tapeflow._src.engines.xla.program import (
    as_tensor,
    buffer_of,
    identifier,
    is_seen_by_others,
    keep_compiled_programs,
)
from tapeflow._src.engines.xla.replicas.matching import Result, Root, found_in
from tapeflow._src.engines.xla.replicas.parts import (
    Whole,
    are_equal,
    joined,
    part_of,
    shared,
)
from tapeflow._src.engines.xla.replicas.patience import TOO_RARE, Patience
from tapeflow._src.engines.xla.replicas.place import Place
from tapeflow._src.engines.xla.replicas.rows import agreed
from tapeflow._src.engines.xla.sharding import everywhere, put, turn
from tapeflow._src.graph.graph import Graph, Value
from tapeflow._src.graph.sizes import needs
from tapeflow._src.insides.jax_state import x64_enabled

_UNDECIDED = "eager mode has to decide about the values"

Held = dict[Value, Tensor]
"""The tensors of a call, by the inputs of the graph that was traced."""


class ReplicasProgram:
    """One program for all replicas in a graph. Raises `Unlike` if there is none.

    Args:
      graph: as it was traced.
      checked: whether to refuse what eager mode refuses; otherwise values are what XLA makes of them.
      place: of the replicas; by default that of those in the graph.
    """

    def __init__(self, graph: Graph, checked: bool, place: Place | None = None) -> None:
        self._graph = graph
        self._place = place = place or Place.of(graph)
        self.mesh = place.mesh
        self._translating = translating_xla_errors(graph.name)
        with x64_enabled():
            self._found = found_in(graph, len(place.devices))
        keep_compiled_programs()
        self.refusals: Counter[str] = Counter()
        self.calls = 0
        self.has_run = False  # or has begun to do what can be done but once
        self._given = [v for v in graph.inputs if v not in graph.constants]
        self._wanted = [*graph.outputs, *graph.assigned.values()]
        self._early = self._early_program()
        own = self._found.graph
        self._inputs = [v for v in own.inputs if v not in own.constants]
        self._roots = [self._found.roots[v] for v in self._inputs]
        self._families = [root for root in self._roots if len(root.values) > 1]
        self._order = {v: i for i, v in enumerate(graph.assigned)}
        copies = {v for each in graph.copies for v in each.values}
        self._of_variables = [root.values[0] in copies for root in self._roots]
        # For each output whether it is laid out by rows: a variable has a copy on each device, equal or not.
        self._new = [r for r in self._found.results[len(graph.outputs) :] if isinstance(r, Result)]
        assigned = {result.place for result in self._new}
        self._by_rows = [
            family and i not in assigned and bool(own.outputs[i].shape)
            for i, family in enumerate(self._found.is_family)
        ]
        self._watch = Watch(own.nodes, self._inputs, own.constants) if checked else Unwatched()
        self._outputs = [Value(v.shape, v.dtype) for v in own.outputs]
        self._donated = self._find_donated()
        # What was given twice in succession, as a variable is that is only read, with its array.
        self._kept: dict[tuple[Value, ...], tuple[list[Tensor], Any]] = {}
        self._last: dict[tuple[Value, ...], list[int]] = {}
        self._call = self._compiled(checked)
        self._sized = [root for root in self._roots if any(map(is_dynamic, root.values[0].shape))]
        self._patience = Patience(
            is_first=not graph.is_later,
            always=not checked or place.is_of_several or place.devices[0].platform != "cpu",
        )

    def _early_program(self) -> tuple[list[Value], list[Value], Callable[..., Any]] | None:
        """What runs on the host before: what it takes, what it gives, and the program."""
        nodes = self._found.early
        if not nodes:
            return None
        part = Graph(self._graph.name)
        part.nodes = nodes
        part.outputs = [v for node in nodes for v in node.outputs]
        used = dict.fromkeys(v for node in nodes for v in needs(node))
        constants = self._graph.constants
        part.constants = {v: constants[v] for v in used if v in constants}
        taken = [v for v in used if v not in constants and v not in set(part.outputs)]
        part.inputs = [*taken, *part.constants]
        return taken, part.outputs, NumpyProgram(part).run_arrays

    def _find_donated(self) -> dict[int, int]:
        """The inputs whose memory outputs may take: the copies of a variable, if all of them are assigned together."""
        new = dict(zip(self._graph.assigned, self._new, strict=True))
        kept = {v for v in self._found.results if isinstance(v, Value)}
        donated: dict[int, int] = {}
        for i, root in enumerate(self._roots):
            places = {new[v].place if v in new else -1 for v in root.values}
            if self._of_variables[i] and len(places) == 1 and kept.isdisjoint(root.values):
                (place,) = places
                if place >= 0 and place not in donated.values():
                    donated[i] = place
        return donated

    def _compiled(self, checked: bool) -> Call:
        own, mesh = self._found.graph, self.mesh
        function = lower_nodes(
            own.nodes, self._inputs, own.outputs, own.constants, self._watch.inside
        )
        function = self._watch.flagged(function, self._donated, agreed(mesh.axis_names))
        rows, copies = self._place.rows, everywhere(mesh)
        layouts = [rows if by_rows else copies for by_rows in self._by_rows]
        results = [layout.spec for layout in layouts]
        if self._watch.inside:
            results.append(copies.spec)
        spread = jax.shard_map(
            function,
            mesh=mesh,
            in_specs=tuple([self._layout(i).spec for i in range(len(self._roots))]),
            out_specs=tuple(results),
            check_vma=False,
        )

        def program(*arrays: Any) -> Any:
            return spread(*arrays)

        program.__name__ = identifier(self._graph.name)
        return Call(
            program,
            self._inputs,
            self._outputs,
            _Checked(self._watch),
            self._donated,
            options=options(checked),
            known_sizes=not any(is_dynamic(v.shape) for v in self._inputs),
            cold=None,
            layouts=tuple(layouts),
        )

    def _layout(self, i: int) -> NamedSharding:
        """How an input lies on the devices: by rows, or each has a copy."""
        root = self._roots[i]
        if self._of_variables[i] or not root.values[0].shape:
            return everywhere(self.mesh)
        return self._place.rows if len(root.values) > 1 else self._place.common

    # Running.

    def run(self, tensors: Sequence[Tensor], step: Step | None) -> list[Tensor] | None:
        """The outputs, followed by the new values of variables; None if these inputs do not allow it."""
        held = dict(zip(self._given, tensors, strict=True))
        why = self._misfit(held)
        if why is not None:
            self.refusals[why] += 1
            return None
        with self._translating, x64_enabled():
            if self._early is not None:
                self.run_early(held)
                why = self._misfit(held)
                if why is not None:
                    return self.in_step(held, why)
            if not self._allowed(held):
                return self.in_step(held, _UNDECIDED)
            kind = self._kind(held)
            if self._patience.lasts(kind):
                with self._patience.waiting(kind):
                    return self.in_step(held, TOO_RARE)
            with turn(everywhere(self.mesh)) as waits, self._patience.compiling(kind):
                return self.run_all(held, step, waits)

    def _kind(self, held: Held) -> tuple[Any, ...]:
        """The shapes that may be others in another call."""
        return tuple([tuple(shape_of(held[root.values[0]])) for root in self._sized])

    def run_early(self, held: Held) -> bool:
        """Runs what comes before the program, if anything does. Gives whether it has."""
        if self._early is None:
            return False
        taken, given, early = self._early
        self.has_run = self.has_run or any(node.has_effect for node in self._found.early)
        found = early([to_host(held[v])._array for v in taken])
        held.update(zip(given, map(Tensor, found), strict=True))
        return True

    def _misfit(self, held: Held) -> str | None:
        """Why replicas cannot run one program on these tensors."""
        for root in self._families:
            if root.values[-1] in held:
                tensors = [held[v] for v in root.values]
                if len({tuple(shape_of(x)) for x in tensors}) > 1:
                    return "the replicas have parts of different shapes"
                if root.is_equal and not self._are_kept(root, tensors) and not are_equal(tensors):
                    return "the copies of a variable differ, and it is read outside of the replicas"
        return None

    def _allowed(self, held: Held) -> bool:
        """Whether the checks hold that are made before the program is started, for each replica."""
        count = len(self._place.devices)
        return all(self._watch.allows(_Local(held, self._roots, i)) for i in range(count))

    def refusal(self, held: Held) -> str | None:
        """Why the program is not run on these tensors, so far as can be told before."""
        return self._misfit(held) or (None if self._allowed(held) else _UNDECIDED)

    def compile(self, held: Held) -> None:
        """Makes the program ready to be run on such tensors."""
        self._call.compile([self._array(held, i) for i in range(len(self._roots))])

    def run_all(self, held: Held, step: Step | None, waits: bool) -> list[Tensor]:
        """Runs the program, on tensors that it is not refused for.

        Args:
          held: the tensors.
          step: the change of variables that it is.
          waits: whether to wait for its end.
        """
        arrays = [self._array(held, i) for i in range(len(self._roots))]
        given = Counter(map(id, arrays))  # two variables may have been assigned one value
        for i in self._donated:
            if given[id(arrays[i])] > 1 or not self._is_private(held, self._roots[i], step):
                arrays[i] = jnp.array(arrays[i], copy=True)
        values = dict(zip(self._inputs, arrays, strict=True))
        arrays.clear()
        if step is not None:
            step.made = self._new_values(values)
        if self._call.run(values) is REFUSED:
            for i in self._donated:  # they came out as they went in
                whole = Whole(values[self._inputs[i]], False)
                held.update((v, self._part(whole, n)) for n, v in enumerate(self._roots[i].values))
            return self.in_step(held, _UNDECIDED)
        if waits:
            jax.block_until_ready([values[v] for v in self._outputs])
        self.has_run = True
        self.calls += 1
        wholes: dict[int, Whole] = {}
        return [self._result(k, values, held, wholes) for k in range(len(self._wanted))]

    def _part(self, whole: Whole, index: int) -> Tensor:
        """The tensor of one of the replicas of this process."""
        devices = self._place.devices
        if len(devices) == 1:
            return as_tensor(whole.array.addressable_data(0))
        return part_of(whole, index, devices[index])

    def _are_kept(self, root: Root, tensors: Sequence[Tensor]) -> bool:
        """Whether an input is what it was in the last calls."""
        kept = self._kept.get(root.values)
        return kept is not None and all(map(is_, kept[0], tensors))

    def _array(self, held: Held, i: int) -> Any:
        """An input of the program, on all devices."""
        root = self._roots[i]
        tensors = [held[v] for v in root.values]
        if self._are_kept(root, tensors):
            return self._kept[root.values][1]
        count = len(self._place.devices)
        if len(tensors) == count or self._place.is_of_several:
            given = tensors if len(tensors) == count else tensors * count
            found = joined(given, self._place.devices, self._layout(i))
        else:
            x = tensors[0]
            source = x._array.buffer if type(x) is RemoteTensor else buffer_of(x)
            found = put(source, everywhere(self.mesh))
        if root.values[0] not in self._graph.assigned and shared(tensors) is None:
            self._note(root, tensors, found)
        return found

    def _note(self, root: Root, tensors: list[Tensor], array: Any) -> None:
        """Keeps what seems to be given again and again. A batch comes once, and is not kept alive."""
        self._kept.pop(root.values, None)
        identities = list(map(id, tensors))
        if self._last.get(root.values) == identities:
            self._kept[root.values] = (tensors, array)
        self._last[root.values] = identities

    def _is_private(self, held: Held, root: Root, step: Step | None) -> bool:
        if step is None:
            return False
        return all(
            step.private[self._order[v]] and not is_seen_by_others(held[v]) for v in root.values
        )

    def _new_values(self, values: dict[Value, Any]) -> Callable[[int], Tensor | None]:
        """What gives the new value of a variable whose memory is given away, from the moment on that it is there."""
        given = set(self._donated.values())
        wholes: dict[int, Whole] = {}

        def made(i: int) -> Tensor | None:
            place, member = self._new[i]
            found = values.get(self._outputs[place]) if place in given else None
            if found is None:
                return None
            whole = wholes.setdefault(place, Whole(found, not self._found.is_family[place]))
            return self._part(whole, member or 0)

        return made

    def _result(
        self, k: int, values: dict[Value, Any], held: Held, wholes: dict[int, Whole]
    ) -> Tensor:
        result = self._found.results[k]
        if isinstance(result, Value):
            return held[result] if result in held else Tensor(self._graph.constants[result])
        place, member = result
        array = values[self._outputs[place]]
        if member is None or (k < len(self._graph.outputs) and member == 0):
            return as_tensor(array.addressable_data(0))
        if place not in wholes:
            wholes[place] = Whole(array, not self._found.is_family[place])
        return self._part(wholes[place], member)

    def in_step(self, held: Held, why: str) -> list[Tensor]:
        """The same by NumPy: all replicas, one after another."""
        self.refusals[why] += 1
        values = {v: to_host(x)._array for v, x in held.items()}
        self._rest(values)
        constants = self._graph.constants
        return [Tensor(values[v] if v in values else constants[v]) for v in self._wanted]

    @functools.cached_property
    def _rest(self) -> Callable[[dict[Value, Any]], None]:
        """What is left of the graph for NumPy when the early program has run."""
        early = set(map(id, self._found.early))
        left = [node for node in self._graph.nodes if id(node) not in early]
        return finishing(self._graph, left, self._wanted)

    # Telling.

    def details(self) -> list[str]:
        """What the devices tell one another in a call, and which calls were not made so."""
        with x64_enabled():
            lines = [f"{mesh}: {in_words(text)}" for mesh, text in self._call.texts()]
        lines += [f"{n} calls in step: {why}" for why, n in self.refusals.items()]
        return lines

    def texts(self) -> list[str]:
        """The programs as XLA writes them."""
        with x64_enabled():
            return [text for _, text in self._call.texts()]


class _Local(Sequence[Any]):
    """The arrays that one replica gives to the program. They are looked for when they are looked at."""

    def __init__(self, held: Held, roots: Sequence[Root], replica: int) -> None:
        self._held, self._roots, self._replica = held, roots, replica

    def __getitem__(self, i: Any) -> Any:
        values = self._roots[i].values
        return self._held[values[self._replica if len(values) > 1 else 0]]._array

    def __len__(self) -> int:
        return len(self._roots)


def shape_of(x: Tensor) -> Sequence[int]:
    """The shape of a tensor, without a look at its values."""
    return x._buffer.shape if type(x) is DeviceTensor else x._array.shape


class _Checked(Unwatched):
    """The checks inside of a program. Those before it have been made, for each replica."""

    def __init__(self, watch: Watch | Unwatched) -> None:
        self.inside = watch.inside
