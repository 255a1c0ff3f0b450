"""A program of jax that gives the memory of some arguments to its results, and cannot lose them.

Once jax has begun, memory that is given away is gone, and the results must not be lost, whatever happens. Python looks
for signals between its own instructions: were a result handed from one to the next, an interruption in between would
lose it. So the call itself is made by an iterator that is written in C, and the results go from jax to the table where
they stay within one instruction. That holds where jax has called the program on arguments of these kinds before, and
runs no Python on the way. The first time it gets copies of what is to be given away.
"""

from __future__ import annotations

import copy
import gc
from collections.abc import Callable, Iterable, Sequence
from itertools import chain, starmap
from threading import get_ident
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from tapeflow._src.core.system.timeline import span
from tapeflow._src.engines.xla.checked_program import Unwatched, Watch
from tapeflow._src.engines.xla.sharding import turn
from tapeflow._src.graph.graph import Value
from tapeflow._src.insides.jax_state import BY_HAND, call_within_one_instruction
from tapeflow._src.primitives.array.stack import Stack

REFUSED = object()
"""What a stage gives that has met values about which NumPy has to decide."""

_OK = Value((), None)  # type: ignore[arg-type]  # stands in a table of values for what the checks say


class Call:
    """A function compiled by XLA, from some values of a table to others.

    Args:
      function: of arrays, to be traced by jax. What its checks say comes last, if it has any.
      inputs: what it takes.
      outputs: what it gives.
      watch: its checks.
      donated: for each place of an argument whose memory a result may take, the place of that result.
      options: for the compiler.
      known_sizes: whether only the types of arguments can differ from call to call.
      cold: wraps the compiled function for the calls in which jax compiles.
      layouts: on a mesh, for each output how it lies, or None where XLA decides.

    Attributes:
      outputs: what it gives, with what its checks say.
      donated: as it was given.
    """

    def __init__(
        self,
        function: Callable[..., Any],
        inputs: Sequence[Value],
        outputs: Sequence[Value],
        watch: Watch | Unwatched,
        donated: dict[int, int],
        *,
        options: dict[str, Any] | None,
        known_sizes: bool,
        cold: Callable[[Callable[..., Any]], Callable[..., Any]] | None,
        layouts: tuple[Any, ...] | None = None,
    ) -> None:
        self._inputs = inputs
        self._has_strings = any(v.dtype.np_dtype.kind == "O" for v in inputs)
        self.outputs = [*outputs, _OK] if watch.inside else outputs
        self._watch = watch
        self.donated = donated
        self._known_sizes = known_sizes
        self._is_on_mesh = layouts is not None
        self._home = next((x for x in layouts or () if x is not None), None)
        if layouts is not None and watch.inside:
            layouts = (*layouts, None)
        self._name = function.__name__
        self._program = jax.jit(
            function, donate_argnums=list(donated), compiler_options=options, out_shardings=layouts
        )
        self._cold = self._program if cold is None else cold(self._program)
        self._warm: set[Any] = set()
        # Where memory is given away, and the device counts it: the device, and the bytes that a call takes.
        self._needs: dict[Any, tuple[Any, int]] = {}
        self._compiling: set[int] = set()  # the threads that are at it
        # On a mesh: what it was called with.
        self._described: dict[Any, list[Any]] = {}

    def on(
        self, inputs: Sequence[Value], outputs: Sequence[Value], watch: Watch | Unwatched
    ) -> Call:
        """The same program from other values to others, with checks of their own."""
        other = copy.copy(self)  # what it knows of compiling is theirs together
        other._inputs = inputs
        other.outputs = [*outputs, _OK] if watch.inside else outputs
        other._watch = watch
        return other

    def run(self, values: dict[Value, Any]) -> Any:
        """Adds the outputs to the values; or gives `REFUSED`, and the inputs are there as they were."""
        if get_ident() in self._compiling:  # a signal handler, and jax cannot be entered again
            return REFUSED
        try:
            arrays = [_plain(values[v]) for v in self._inputs]
        except _UnevenStackError:
            return REFUSED
        if self._has_strings:
            arrays = [_size_alone(x) if x.dtype.kind == "O" else x for x in arrays]
        if not self._watch.allows(arrays):
            return REFUSED
        results = zip(self.outputs, chain.from_iterable(self._lazily(arrays)))  # noqa: B905
        # If it is off, whoever has turned it off, another thread perhaps, turns it on again.
        collecting = gc.isenabled()
        try:
            if collecting:
                # It may call Python, and so signal handlers, from the middle of what must be one instruction.
                gc.disable()
            values.update(results)
        finally:
            if collecting:
                gc.enable()
        if self._watch.inside and not values.pop(_OK):
            self._take_back(values, arrays)
            return REFUSED
        return None

    @property
    def takes(self) -> int:
        """How many arrays it takes."""
        return len(self._inputs)

    @property
    def has_short_way(self) -> bool:
        """Whether `at_once` may be asked."""
        return BY_HAND and not (self._watch.inside or self._is_on_mesh or self._has_strings)

    def at_once(self, arrays: list[Any], made: list[Any]) -> bool:
        """The same with lists, quicker: the results are to be found in `made`, at `RESULTS`.

        It says whether it was called. Where there is more to do, it was not, and nothing has happened.
        """
        if self._needs or self._kind(arrays) not in self._warm:
            return False
        if self._compiling and get_ident() in self._compiling:
            return False
        if self._watch.looks_before and not self._watch.allows(arrays):
            return False
        call_within_one_instruction(made, self._program, arrays)
        return True

    def _kind(self, arrays: Sequence[Any]) -> Any:
        """What arrays have in common for which jax has one program."""
        kind = tuple(map(type, arrays))
        return kind if self._known_sizes else (kind, tuple([a.shape for a in arrays]))

    def _lazily(self, arrays: Sequence[Any]) -> Iterable[Sequence[Any]]:
        """An iterable of one item, the results, which are computed when it is taken."""
        kind = self._kind(arrays)
        if self._is_on_mesh:
            kind = (kind, tuple([getattr(a, "sharding", None) for a in arrays]))
            if kind not in self._described:
                self._described[kind] = [_description(a) for a in arrays]
        if kind in self._warm and (not self._needs or self._fits(kind)):
            return starmap(self._program, (arrays,))
        given = list(arrays)
        for i in self.donated:
            # The memory of an array of NumPy's is not given away.
            if isinstance(given[i], jax.Array):
                given[i] = jnp.array(given[i], copy=True)
        self._compiling.add(get_ident())
        try:
            # Waited for: if there is no memory for it, nobody has lost anything yet.
            with span("compile", f"compile {self._name}, and run it once"):
                results = jax.block_until_ready(self._cold(*given))
        finally:
            self._compiling.discard(get_ident())
        if self.donated and kind not in self._warm:
            self._note_needs(kind, arrays)
        self._warm.add(kind)
        return (results,)

    def compile(self, arrays: Sequence[Any]) -> None:
        """Compiles it for such arrays, without a call."""
        self._program.lower(*map(_description, arrays)).compile()

    def _note_needs(self, kind: Any, arrays: Sequence[Any]) -> None:
        """Finds out how many bytes a call takes besides its arguments, if the device counts its memory."""
        device = _counting_device(arrays)
        if device is None:
            return
        told = self._program.lower(*arrays).compile().memory_analysis()  # it is compiled already
        if told is not None:
            need = told.output_size_in_bytes + told.temp_size_in_bytes - told.alias_size_in_bytes
            self._needs[kind] = device, need

    def _fits(self, kind: Any) -> bool:
        """Whether there is memory for a call, as far as is known: what is given to one that fails is gone."""
        if kind not in self._needs:
            return True
        device, need = self._needs[kind]
        told = device.memory_stats()
        return need <= told["bytes_limit"] - told["bytes_in_use"]

    def texts(self) -> list[tuple[str, str]]:
        """The programs that XLA has made of it on meshes, each with a word about the mesh, as XLA writes them."""
        found = []
        for told in self._described.values():
            layout = next((x.sharding for x in told if x.sharding is not None), self._home)
            if layout is None:
                continue
            axes = ", ".join(f"{name} {size}" for name, size in layout.mesh.shape.items())
            with turn(layout):
                text = self._program.lower(*told).compile().as_text()
            found.append((f"on {layout.mesh.size} devices ({axes})", text))
        return found

    def _take_back(self, values: dict[Value, Any], arrays: Sequence[Any]) -> None:
        """Makes the inputs again what they were: those that were given away came out as they went in."""
        inputs = dict(zip(self._inputs, arrays, strict=True))
        for i, o in self.donated.items():
            inputs[self._inputs[i]] = values[self.outputs[o]]
        values.update(inputs)


def _description(array: Any) -> Any:
    """What jax has to know of an array to compile for it."""
    layout = getattr(array, "sharding", None)
    return jax.ShapeDtypeStruct(np.shape(array), array.dtype, sharding=layout)


def _counting_device(arrays: Sequence[Any]) -> Any:
    """The device that arrays are on, if it counts its memory."""
    buffers = [a for a in arrays if isinstance(a, jax.Array)]
    devices = buffers[0].sharding.device_set if buffers else ()
    if len(devices) != 1:
        return None
    (device,) = devices
    told = device.memory_stats() or {}
    return device if {"bytes_limit", "bytes_in_use"} <= set(told) else None


def _size_alone(strings: Any) -> Any:
    """Something of the same shape: XLA has no strings, and no program asks for more of them."""
    return np.zeros(strings.shape, np.bool_)


class _UnevenStackError(Exception):
    """The elements of a stack have several shapes, as the last batch of a dataset may: that is no array."""


def _plain(array: Any) -> Any:
    """What XLA can take: a stack that is still growing becomes an array."""
    if not isinstance(array, Stack):
        return array
    try:
        return np.asarray(array)
    except ValueError:
        raise _UnevenStackError from None
