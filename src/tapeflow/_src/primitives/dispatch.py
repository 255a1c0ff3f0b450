"""Running a primitive on tensors.

`run` and `run_plain` say what happens when a primitive is called, step by step, for any row. For small arrays these
steps cost more than the kernel. So what most rows are called by is written out below once more, for the kind of row it
is, with what cannot happen left out: read the arrays, run the kernel, wrap the result, tell the recorders. Checks that
NumPy makes anyway are not made before it; when it fails, `after_failure` finds out why. A test calls every row both
ways.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from tapeflow._src.core.context import context, elsewhere, is_busy, quiet_runner
from tapeflow._src.core.convert import convert_to_tensor
from tapeflow._src.core.dtypes import from_numpy
from tapeflow._src.core.errors import InvalidArgumentError, OpError
from tapeflow._src.core.interpreter import innermost
from tapeflow._src.core.placement.devices import devices
from tapeflow._src.core.scopes import setting
from tapeflow._src.core.sizes.dims import is_dynamic
from tapeflow._src.core.system.memory import exhausted
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.primitives.specs import ArraySpec
from tapeflow._src.primitives.spread import LARGE, spread_function

if TYPE_CHECKING:
    from tapeflow._src.primitives.table import Primitive

Inputs = tuple[Tensor, ...]
Attrs = dict[str, Any]


def run(row: Primitive, inputs: tuple[Any, ...], attrs: Attrs) -> Any:
    """The output of a primitive, or the tuple of its outputs."""
    tensors: Inputs = row.convert(*inputs)
    interpreter = innermost(tensors)
    if not tensors and context.interpreters:  # no input can tell, so the context is asked
        interpreter = context.interpreters[-1]
    if interpreter is not None:
        return interpreter.interpret(row, tensors, attrs)
    return run_plain(row, tensors, attrs)


def run_plain(row: Primitive, inputs: Inputs, attrs: Attrs) -> Any:
    """The same for tensors that are arrays of NumPy's."""
    quietly, recorders = context.dispatch
    if context.tracer is not None and is_dynamic(attrs):
        return context.tracer.interpret(row, inputs, attrs)
    if quietly is elsewhere:
        return devices.engine.interpret(row, inputs, attrs)
    arrays = [x._array for x in inputs]
    _check_dtypes(row, inputs, [a.dtype for a in arrays])
    try:
        found = quietly(row.kernel, *arrays, **attrs)
    except FAILURES as error:
        return after_failure(row, inputs, attrs, quietly, error)
    if row.keeps_dtype and found.dtype != arrays[0].dtype:
        raise explained_by_rule(row, inputs, attrs, TypeError(f"no kernel for {arrays[0].dtype}"))
    output = Tensor(found) if row.outputs == 1 else tuple([Tensor(a) for a in found])
    for recorder in recorders:
        recorder.record(row, inputs, output, attrs)
    return output


def _check_dtypes(row: Primitive, inputs: Inputs, dtypes: list[np.dtype]) -> None:
    if row.one_dtype and len(set(dtypes)) > 1:
        raise explained_by_rule(row, inputs, {}, TypeError("different dtypes"))
    if row.numbers_only and dtypes[0].kind in "bO":
        raise explained_by_rule(row, inputs, {}, TypeError("not numbers"))


def no_numbers(row: Primitive, inputs: Inputs) -> Any:
    """What a row for numbers gives for strings, if another takes its place; else, and for bools, its error."""
    if row.for_strings is None or inputs[0]._array.dtype.kind != "O":
        raise explained_by_rule(row, inputs, {}, TypeError("not numbers"))
    return row.for_strings.call(*inputs)


# The same, written out for each kind of row.


def quick_call(row: Primitive) -> Callable[..., Any]:
    """A function that does what `run` does for a row."""
    if not row.inputs:
        return lambda **attrs: run(row, (), attrs)
    if row.outputs != 1 or row.variadic or len(row.inputs) > 2:
        return _any(row)
    return _unary(row) if len(row.inputs) == 1 else _binary(row)


def _any(row: Primitive) -> Callable[..., Any]:
    kernel, several = row.kernel, row.outputs != 1

    def call(*inputs: Any, **attrs: Any) -> Any:
        for x in inputs:
            if type(x) is not Tensor:
                inputs = tuple([convert_to_tensor(x) for x in inputs])
                interpreter = innermost(inputs)
                if interpreter is not None:
                    return interpreter.interpret(row, inputs, attrs)
                break
        quietly, recorders = context.dispatch
        if recorders and attrs and context.tracer is not None and is_dynamic(attrs):
            return context.tracer.interpret(row, inputs, attrs)
        try:
            array = quietly(kernel, *[x._array for x in inputs], **attrs)
        except FAILURES as error:
            return after_failure(row, inputs, attrs, quietly, error)
        output = tuple([Tensor(a) for a in array]) if several else Tensor(array)
        for recorder in recorders:
            recorder.record(row, inputs, output, attrs)
        return output

    return call


def _unary(row: Primitive) -> Callable[..., Any]:
    kernel, slow = row.kernel, _any(row)

    def call(x: Any, **attrs: Any) -> Any:
        if type(x) is not Tensor:
            return slow(x, **attrs)
        quietly, recorders = context.dispatch
        if recorders and attrs and context.tracer is not None and is_dynamic(attrs):
            return context.tracer.interpret(row, (x,), attrs)
        try:
            output = Tensor(quietly(kernel, x._array, **attrs))
        except FAILURES as error:
            return after_failure(row, (x,), attrs, quietly, error)
        for recorder in recorders:
            recorder.record(row, (x,), output, attrs)
        return output

    return call


def _binary(row: Primitive) -> Callable[..., Any]:
    kernel, slow = row.kernel, _any(row)

    def call(a: Any, b: Any, **attrs: Any) -> Any:
        if type(a) is not Tensor or type(b) is not Tensor:
            return slow(a, b, **attrs)
        quietly, recorders = context.dispatch
        if recorders and attrs and context.tracer is not None and is_dynamic(attrs):
            return context.tracer.interpret(row, (a, b), attrs)
        try:
            output = Tensor(quietly(kernel, a._array, b._array, **attrs))
        except FAILURES as error:
            return after_failure(row, (a, b), attrs, quietly, error)
        for recorder in recorders:
            recorder.record(row, (a, b), output, attrs)
        return output

    return call


def quick_unary(row: Primitive) -> Callable[[Any], Tensor]:
    """For a row that works on each element of a tensor, and keeps the dtype."""
    kernel, by_threads = row.kernel, spread_function(row.kernel)

    def call(x: Any) -> Tensor:
        if type(x) is not Tensor:
            x = convert_to_tensor(x)
            if type(x) is not Tensor and x.interpreter is not None:
                return x.interpreter.interpret(row, (x,), {})
        quietly, recorders = context.dispatch
        array = x._array
        try:
            result = quietly(kernel if array.size < LARGE else by_threads, array)
        except FAILURES as error:
            return after_failure(row, (x,), {}, quietly, error)
        # NumPy turns integers into floats, and bools into integers; TensorFlow refuses them.
        if result.dtype is not array.dtype and result.dtype != array.dtype:
            raise explained_by_rule(row, (x,), {}, TypeError(f"no kernel for {array.dtype}"))
        output = Tensor(result)
        for recorder in recorders:
            recorder.record(row, (x,), output, None)
        return output

    return call


def quick_binary(row: Primitive) -> Callable[[Any, Any], Tensor]:
    """For a row that works on each pair of elements of two tensors of one dtype."""
    kernel, convert = row.kernel, row.convert
    refuse_bool, keeps_dtype = row.numbers_only, row.keeps_dtype

    def call(a: Any, b: Any) -> Tensor:
        if type(a) is not Tensor or type(b) is not Tensor:
            a, b = convert(a, b)
            if type(a) is not Tensor or type(b) is not Tensor:
                interpreter = innermost((a, b))
                if interpreter is not None:
                    return interpreter.interpret(row, (a, b), {})
        quietly, recorders = context.dispatch
        x = a._array
        y = b._array
        dtype = x.dtype
        if dtype is not y.dtype and dtype != y.dtype:
            raise explained_by_rule(row, (a, b), {}, TypeError("different dtypes"))
        if refuse_bool and dtype.kind in "bO":
            return no_numbers(row, (a, b))
        try:
            result = quietly(kernel, x, y)
        except FAILURES as error:
            return after_failure(row, (a, b), {}, quietly, error)
        if keeps_dtype and result.dtype is not dtype and result.dtype != dtype:
            raise explained_by_rule(row, (a, b), {}, TypeError(f"no kernel for {dtype}"))
        output = Tensor(result)
        for recorder in recorders:
            recorder.record(row, (a, b), output, None)
        return output

    return call


# Failures.

KERNEL_FAILURES = (
    ValueError,
    TypeError,
    IndexError,
    OverflowError,
    ZeroDivisionError,
    AttributeError,
    MemoryError,
    np.linalg.LinAlgError,
    OpError,
)
FAILURES = (*KERNEL_FAILURES, RuntimeError)  # of kernels, and of what runs them


def after_failure(
    row: Primitive, inputs: Inputs, attrs: Attrs, quietly: Callable[..., Any], error: Exception
) -> Any:
    """The output after all, where the kernel could not be run here or not now; else its failure."""
    if isinstance(error, KERNEL_FAILURES):
        raise explained_by_rule(row, inputs, attrs, error) from None
    if quietly is elsewhere:  # on a device, or in a graph that is made by hand
        return (context.tracer or devices.engine).interpret(row, inputs, attrs)
    if not is_busy(quietly):
        raise error
    with setting(context, dispatch=(quiet_runner(), context.dispatch[1])):
        return run_plain(row, inputs, attrs)


def explained_by_rule(row: Primitive, inputs: Inputs, attrs: Attrs, error: Exception) -> Exception:
    """The failure of a kernel in the user's words.

    The shape rule knows what the op demands, so it is asked first. What it lets pass depends on values (an index out of
    range, a singular matrix), and the kernel's own message says that.
    """
    if isinstance(error, OpError):
        return error
    specs = [ArraySpec(x._array.shape, from_numpy(x._array.dtype)) for x in inputs]
    try:
        row.result(*specs, **attrs)
    except (ValueError, TypeError, OpError) as named_mistake:
        return named_mistake
    except (IndexError, OverflowError) as mistake:  # of an index that no array has
        error = mistake
    inputs_text = f" (inputs: {', '.join(map(str, specs))})"
    if isinstance(error, MemoryError):
        return exhausted(row.name, error, inputs_text)
    return InvalidArgumentError(None, None, f"{row.name}: {error}{inputs_text}")
