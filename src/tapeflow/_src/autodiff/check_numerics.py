"""`tf.debugging.enable_check_numerics`: stops at the op that made the first NaN or infinity, and names its line.

The check is a recorder, like a tape: while it is off nothing is different, while it is on it sees every operation of
its thread. The rules of gradients are made of operations too, so it sees the backward pass. There the walk over the
records (`backprop.backward`) is on the Python stack, and knows which forward operation it is at.
"""

from __future__ import annotations

import sys
import threading
from typing import Any

import numpy as np

from tapeflow._src.autodiff import backprop
from tapeflow._src.autodiff.backprop import Call, JointRule
from tapeflow._src.autodiff.explain.journal import Place, here
from tapeflow._src.core.carried import carried
from tapeflow._src.core.context import identify, pop_recorder, push_recorder, recorders
from tapeflow._src.core.errors import InvalidArgumentError
from tapeflow._src.core.export import export
from tapeflow._src.core.placement.remote import to_host
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.core.variables.variable import Variable
from tapeflow._src.primitives.array.checks import count_text

# They only move values that are there already: the op that made them is the one to name.
_MOVERS = frozenset(
    {"identity", "stop_gradient", "reshape", "transpose", "broadcast_to", "stack", "unstack"}
    | {"concat", "split", "pad", "select", "bitcast", "gather", "gather_nd", "getitem"}
    | {"reverse", "roll", "tile", "repeat", "take_along", "diag_part"}
)
_REMEMBERED = 100_000  # operations whose place is kept for the backward pass


class NumericsCheck:
    """The recorder that looks for NaN and infinity in every result."""

    def __init__(self) -> None:
        self._places: dict[int, tuple[str, Place]] = {}  # identity of an output -> op and line

    def record(self, primitive: Any, inputs: Any, output: Any, attrs: Any) -> None:
        """Checks the result of an operation."""
        outputs = output if isinstance(output, tuple) else (output,)
        self._check(primitive.name, inputs, outputs)

    def record_call(self, call: Call) -> None:
        """Checks the results of a computation with its own pullback."""
        self._check(call.name, call.inputs, call.outputs)

    substitutes = False

    def read(self, variable: Variable, value: Tensor) -> Tensor:
        """A variable may hold anything."""
        return value

    def follows(self, identity: int) -> bool:
        """It needs no pullbacks."""
        return False

    def note(self, event: str, subject: Any, **details: Any) -> None:
        """Only operations are checked."""

    def look(self, node: Any, inputs: Any, outputs: Any, donated: bool) -> None:
        """Checks the results of a node of a traced function."""
        line = node.line
        place = None if line is None else Place(line.file, line.number)
        self._check(node.primitive.name, inputs, outputs, place)

    def _check(self, name: str, inputs: Any, outputs: Any, place: Place | None = None) -> None:
        place = here() if place is None else place
        if len(self._places) >= _REMEMBERED:
            self._places.clear()
        for position, output in enumerate(outputs):
            self._places[identify(output)] = (name, place)
            dtype = output.dtype
            if name in _MOVERS or not (dtype.is_floating or dtype.is_complex):
                continue
            array = to_host(output)._array
            if not isinstance(array, np.ndarray | np.generic):
                continue  # it stands for a value, and has none
            found = count_text(array)
            if found:
                raise InvalidArgumentError(
                    None, None, self._message(name, position, inputs, output, place, found)
                )

    def _message(
        self, name: str, position: int, inputs: Any, output: Tensor, place: Place, found: str
    ) -> str:
        which = f"output {position} of " if position else ""
        forward = self._forward()
        if forward is None:
            lines = [f"check_numerics: {which}{name} made {found}", f"  at {_line(place)}"]
        else:
            op, made = forward
            lines = [f"check_numerics: the gradient of {op} made {found} (in {which}{name})"]
            if made is not None:
                lines.append(f"  {op} was computed at {_line(made)}")
            lines.append(f"  its gradient was asked for at {_line(place)}")
        lines.append(f"  result: dtype {output.dtype.name}, shape {output.shape}")
        lines += [f"  input {i}: {_summary(x)}" for i, x in enumerate(inputs)]
        return "\n".join(lines)

    def _forward(self) -> tuple[str, Place | None] | None:
        """The forward operation whose gradient is being computed and its place, or None in a forward pass."""
        frame = sys._getframe(1)
        while frame is not None and frame.f_code is not backprop.backward.__code__:
            frame = frame.f_back
        if frame is None:
            return None
        operation, output = frame.f_locals.get("operation"), frame.f_locals.get("output")
        if operation is None:
            return None
        identities = (output,) if isinstance(output, int) else output or ()
        known = next((self._places[i] for i in identities if i in self._places), None)
        if isinstance(operation, JointRule) or known is None:
            return operation.name, None if known is None else known[1]
        return known


def _line(place: Place) -> str:
    return f"{place.file}:{place.line}" + (f": {place.code}" if place.code else "")


def _summary(x: Tensor) -> str:
    if x._array is None:
        return "not a tensor"
    text = str(x).replace("\n", " ")
    return text if len(text) <= 200 else f"{text[:197]}..."


class _State(threading.local):
    check: NumericsCheck | None = None


_state = carried(_State())


@export("debugging.enable_check_numerics")
def enable_check_numerics(stack_height_limit: int = 30, path_length_limit: int = 50) -> None:
    """Makes every op of this thread fail whose result holds a NaN or an infinity.

    The message names the op and the line of the program, in the backward pass too: there it names the op whose
    gradient it was, and the line that computed it.

    >>> tf.debugging.enable_check_numerics()
    >>> try:
    ...     tf.math.log(tf.constant([1.0, -1.0]))
    ... except tf.errors.InvalidArgumentError as error:
    ...     print(error.message.splitlines()[0])
    ... finally:
    ...     tf.debugging.disable_check_numerics()
    check_numerics: log made 1 NaN

    Calling it again changes nothing. What only moves values (`tf.identity`, `tf.reshape`, `tf.concat`, ...) may carry
    them on.

    Args:
      stack_height_limit: accepted for compatibility.
      path_length_limit: accepted for compatibility.
    """
    if _state.check is None:
        _state.check = NumericsCheck()
    if _state.check not in recorders():
        push_recorder(_state.check)


@export("debugging.disable_check_numerics")
def disable_check_numerics() -> None:
    """Ends what `tf.debugging.enable_check_numerics` began, in this thread.

    >>> tf.debugging.disable_check_numerics()
    """
    if _state.check is not None:
        pop_recorder(_state.check)
        _state.check = None
