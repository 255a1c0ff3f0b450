"""The short way through a program: for most calls, in which there is nothing to decide.

A small program is called in less time than it takes to ask where it is to run, to lay out a table of values for stages
that it does not have, and to open and close contexts around it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from tapeflow._src.core.placement.device_tensor import DeviceTensor
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.core.variables.steps import Step
from tapeflow._src.engines.xla.call import Call
from tapeflow._src.engines.xla.failures import translating_xla_errors
from tapeflow._src.graph.graph import Value
from tapeflow._src.insides.jax_state import RESULTS


class ShortWay:
    """One XLA program, called on tensors of this computer.

    Args:
      call: the program, which makes no checks inside.
      positions: for each input that is a variable which gives its memory away, its place among those that are assigned.
      places: of outputs and new values of variables, among the results of the program.
      count: how many of these are outputs.
      wrapped: makes a tensor of a result.
      translating: the context for errors of XLA.
    """

    def __init__(
        self,
        call: Call,
        positions: Sequence[int | None],
        places: Sequence[int],
        count: int,
        wrapped: Callable[[Any], Tensor],
        translating: translating_xla_errors,
    ) -> None:
        self._call = call
        self._positions = positions
        self._gives = any(position is not None for position in positions)
        self._places = places
        self._count = count
        self._wrapped = wrapped
        self._translating = translating

    def run(self, tensors: Sequence[Tensor], step: Step | None) -> list[Tensor] | None:
        """The outputs, followed by the new values of variables; or None, and nothing has happened.

        That is where a tensor is somewhere else, jax has to compile, or memory must not be given away.
        """
        if self._gives and step is None:
            return None
        arrays: list[Any] = []
        for x, position in zip(tensors, self._positions):  # noqa: B905  # to be strict takes as long as the rest
            if type(x) is DeviceTensor:
                if position is not None and (x._host is not None or not step.private[position]):  # pyright: ignore[reportOptionalMemberAccess]
                    return None
                arrays.append(x._buffer)
            elif type(x) is Tensor:  # an array of NumPy's gives nothing away
                arrays.append(x._array)
            else:
                return None
        made: list[Any] = []
        if step is not None:
            step.made = partial(self._new_value, made)
        try:
            called = self._call.at_once(arrays, made)
        except BaseException:
            with self._translating:
                raise
        if called:
            wrapped, found = self._wrapped, made[RESULTS]
            return [wrapped(found[place]) for place in self._places]
        if step is not None:
            step.made = None
        return None

    def _new_value(self, made: list[Any], position: int) -> Tensor | None:
        """The new value of a variable, from the moment on that it is there: the old one may be gone then."""
        if len(made) <= RESULTS:
            return None
        return self._wrapped(made[RESULTS][self._places[self._count + position]])


def short_way(
    call: Call,
    outputs: Sequence[Value],
    donated: Sequence[tuple[int, int]],
    wrapped: Callable[[Any], Tensor],
    translating: translating_xla_errors,
) -> ShortWay | None:
    """The short way through a graph that is one program, if it has one.

    Args:
      call: the program.
      outputs: of the graph.
      donated: the variables that it assigns, each with its place among the inputs and among those that are assigned.
      wrapped: makes a tensor of a result.
      translating: the context for errors of XLA.
    """
    if not call.has_short_way:
        return None
    positions: list[int | None] = [None] * call.takes
    places = [call.outputs.index(v) for v in outputs] + [0] * len(donated)
    for i, position in donated:
        positions[i] = position
        places[len(outputs) + position] = call.donated[i]
    return ShortWay(call, positions, places, len(outputs), wrapped, translating)
