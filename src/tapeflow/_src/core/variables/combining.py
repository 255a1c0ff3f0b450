"""Adding to a variable, and subtracting from it: the updates of eager training loops."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tapeflow._src.core.context import apart, context, no_recorders
from tapeflow._src.core.dtypes import string
from tapeflow._src.core.errors import invalid
from tapeflow._src.core.placement.remote import RemoteTensor, fresh, moved_beside
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.core.variables import steps
from tapeflow._src.core.variables.ownership import IF_PASSING, references_in_passing

if TYPE_CHECKING:
    from tapeflow._src.core.variables.variable import Variable

# bytes: smaller arrays are allocated faster than it is found out whether their memory may be used again
_WORTH_REUSING = 2**17
_OF_STRINGS = string.np_dtype


def combine(variable: Variable, op: str, ufunc: Any, delta: Any) -> None:
    """Puts what `ufunc` makes of the value and `delta` into a variable."""
    operand = variable._operand(op, delta)
    array = operand._array
    run, active = context.dispatch
    if active or operand.__class__ is not Tensor or array.dtype is _OF_STRINGS:
        _combine_at_length(variable, op, ufunc, operand, delta)
        return
    if array.nbytes >= _WORTH_REUSING and variable._value.__class__ is Tensor:
        passing = references_in_passing(operand, array) <= IF_PASSING
        steps.combine(variable, ufunc, array, passing)
        return
    while True:
        value = variable._value
        if value.__class__ is not Tensor:
            _combine_at_length(variable, op, ufunc, operand, delta)
            return
        try:
            new = Tensor(run(ufunc, value._array, array))
        except RuntimeError as error:
            new = Tensor(apart(run, error, ufunc, value._array, array))
        if variable._value is value:  # no call from here to the assignment: see `steps`
            variable._value = new
            return


def _combine_at_length(
    variable: Variable, op: str, ufunc: Any, operand: Tensor, delta: Any
) -> None:
    """The same for large arrays, where somebody is told of it, and on devices. Strings are refused."""
    if operand.dtype is string:
        raise invalid(f"{op}: variables of dtype string have no numbers to add to. Use assign.")
    if type(operand) is RemoteTensor or type(variable._value) is RemoteTensor:
        _combine_on_device(variable, op, operand, delta)
    elif context.dispatch[1] or operand._array.nbytes < _WORTH_REUSING:
        variable._change(lambda held: ufunc(held, operand._array), delta)
    else:
        steps.combine(variable, ufunc, operand._array, False)


def _combine_on_device(variable: Variable, op: str, operand: Tensor, delta: Any) -> None:
    def combined(value: Tensor) -> Tensor:
        other = moved_beside(operand, value)
        with no_recorders():
            return fresh(value + other if op == "assign_add" else value - other)

    variable._exchange(combined, delta)
