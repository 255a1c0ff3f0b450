"""Whether what is assigned to a variable fits there, at once and when a function runs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tapeflow._src.core.context import context
from tapeflow._src.core.errors import invalid
from tapeflow._src.core.sizes.dims import Dim
from tapeflow._src.core.tensor import Tensor

if TYPE_CHECKING:
    from tapeflow._src.core.variables.variable import Variable


_MISMATCH = (
    "{}: Cannot assign value to variable {!r}: Shape mismatch. The variable shape {}, and the assigned value shape {} "
    "are incompatible."
)


def check_fits(variable: Variable, op: str, value: Tensor) -> None:
    """Raises unless `value` may go where the variable's value is, or be added to it."""
    array = value._array
    held = variable._value._array
    if array.dtype is not held.dtype and array.dtype != held.dtype:
        raise _other_dtype(variable, op, value)
    if array.shape == held.shape:
        return
    if op != "assign" or not variable._shape.is_compatible_with(value.shape):
        raise _other_shape(variable, op, value)


def assign_traced(variable: Variable, op: str, value: Any) -> None:
    """Assigns inside `tf.function`, where nothing has a value yet."""
    value = variable._converted(value)
    if value.dtype != variable.dtype:
        raise _other_dtype(variable, op, value)
    now = None if op == "assign" else variable._read()
    _check_sizes(variable, op, value, variable._shape._dims if now is None else now._array.shape)
    if now is not None:
        value = now + value if op == "assign_add" else now - value
    context.tracer.assign(variable, value)


def _check_sizes(variable: Variable, op: str, value: Tensor, wanted: Any) -> None:
    """Raises if a value cannot have the sizes that are wanted, and has the graph raise if it may."""
    sizes = value._array.shape
    if not variable._shape.is_compatible_with(value.shape):
        raise _other_shape(variable, op, value)
    if wanted is None:
        return
    if len(sizes) != len(wanted):
        raise _other_shape(variable, op, value)
    differing = [
        size - needed
        for size, needed in zip(sizes, wanted, strict=True)
        if needed is not None and size != needed  # a question, if it is not known
    ]
    if not all(isinstance(difference, Dim) for difference in differing):
        raise _other_shape(variable, op, value)
    if differing:  # an error where this is run: it may be in a branch that is not taken
        message = _MISMATCH.format(op, variable.name, "{wanted}", "{given}")
        context.tracer.check_shape(message, sizes, wanted)


def _other_dtype(variable: Variable, op: str, value: Tensor) -> ValueError:
    return ValueError(
        f"{op}: the variable {variable.name!r} has dtype {variable.dtype.name}, and the value has dtype "
        f"{value.dtype.name}. Use tf.cast to change it."
    )


def _other_shape(variable: Variable, op: str, value: Tensor) -> Exception:
    shape = variable._shape
    if shape.is_compatible_with(value.shape):  # the variable may have another shape than now
        shape = variable._value.shape
    message = _MISMATCH.format(op, variable.name, shape, value.shape)
    return ValueError(message) if op == "assign" else invalid(message)
