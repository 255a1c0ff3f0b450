"""How elementwise primitives are made: their gradients, and how operands become tensors."""

from __future__ import annotations

from collections.abc import Callable
from types import FunctionType
from typing import Any

import numpy as np

from tapeflow._src.core import dtypes
from tapeflow._src.core.composites.composite import CompositeTensor
from tapeflow._src.core.composites.operand import Operand
from tapeflow._src.core.context import context
from tapeflow._src.core.convert import convert_to_tensor, scalar
from tapeflow._src.core.errors import DTypeError
from tapeflow._src.core.sizes.dims import Dim
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.core.variables.variable import Variable
from tapeflow._src.primitives import rules
from tapeflow._src.primitives.broadcasting import sum_to
from tapeflow._src.primitives.dispatch import FAILURES, quick_binary, quick_unary
from tapeflow._src.primitives.spread import LARGE
from tapeflow._src.primitives.table import TABLE, Edge, Noted, Primitive, named, parameters


def unary(
    name: str,
    kernel: Callable[..., Any],
    *,
    accepts: frozenset[str] = rules.INEXACT,
    derivative: Callable[..., Any] | None = None,
    gradient: Callable[..., Any] | None = None,
    result: Callable[..., Any] | None = None,
) -> Callable[[Any], Tensor]:
    """A primitive that works on each element and keeps the dtype.

    It states its `derivative` as a function of `x` or of `y`, whichever is to be kept, or where it is not
    a product with a number (negation, conjugation) its `gradient` as a function of `g` and one of them.
    """
    whole = None
    if derivative is not None:
        gradient, whole = _product_rule(derivative)
    gradients = {}
    if gradient is not None:
        gradients["x"] = _unary_edge(gradient, parameters(derivative or gradient)[-1])
    row = Primitive(name, "x", kernel, result or rules.same(name, accepts), gradients)
    edge = gradients.get("x")

    def edges(tracked: set[int], inputs: tuple[Tensor], output: Tensor, attrs: Any) -> Any:
        identity = inputs[0]._id
        if identity in tracked and edge is not None:
            return (edge(identity, 0, inputs, output, attrs),)
        return ()

    row.edges = edges
    row.gradient_kernel = whole
    row.elementwise = row.keeps_dtype = True
    return named(quick_unary(row), row)


def _unary_edge(rule: Callable[..., Any], needs: str) -> Edge:
    if needs == "x":
        return lambda identity, i, ins, out, attrs: (identity, rule, ins)
    if needs == "y":
        return lambda identity, i, ins, out, attrs: (identity, rule, (out,))
    return lambda identity, i, ins, out, attrs: (identity, rule, ())


def _product_rule(
    derivative: Callable[[Any], Any],
) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """The gradient is a product with the derivative: conjugated if complex, by TensorFlow's convention.

    Where nobody is to be told of its steps, one kernel does all of them, which is given as well.
    """
    slope_of: Callable[[Any], Any] | None = None
    may_be_one = True

    def kernel(g: Any, kept: Any) -> Any:
        slope = slope_of(kept)  # pyright: ignore[reportOptionalCall]
        return g * slope if slope is kept or not slope.ndim else np.multiply(g, slope, slope)

    def gradient(g: Tensor, kept: Tensor) -> Tensor:
        run, listening = context.dispatch
        if may_be_one and not listening and type(g) is Tensor and type(kept) is Tensor:
            array = kept._array
            dtype = array.dtype
            # Threads share the steps on large arrays.
            alike = dtype.char in "fd" and g._array.dtype is dtype
            if alike and array.size < LARGE and (slope_of is not None or is_one()):
                try:
                    return Tensor(run(kernel, g._array, array))
                except FAILURES:
                    pass  # of one of the steps, which says it better
        return g * conj(derivative(kept))

    def is_one() -> bool:
        nonlocal slope_of, may_be_one
        slope_of = _of_arrays(derivative)  # only now are all rows there that it names
        may_be_one = slope_of is not None
        return may_be_one

    return gradient, kernel


def _of_arrays(derivative: Callable[..., Any]) -> Callable[[Any], Any] | None:
    """A derivative that computes with arrays, if it is made of operators, which arrays have, and elementwise rows.

    For these it finds their kernels under the names of the rows.
    """
    kernels = {}
    for name in derivative.__code__.co_names:
        function = derivative.__globals__.get(name)
        row = TABLE.get(getattr(function, "__name__", ""))
        if row is None or row.call is not function or not row.elementwise:
            return None
        kernels[name] = row.kernel
    return None if derivative.__closure__ else FunctionType(derivative.__code__, kernels)


def binary(
    name: str,
    kernel: Callable[..., Any],
    *,
    accepts: frozenset[str] = rules.NUMERIC,
    a: Callable[..., Any] | None = None,
    b: Callable[..., Any] | None = None,
) -> Callable[[Any, Any], Tensor]:
    """A primitive on two tensors of one dtype, which broadcast. `a` and `b` are its gradients.

    The gradients may ignore broadcasting: they are summed back to the shape of their operand.
    """
    gradients = {
        side: _binary_edge(rule) for side, rule in (("a", a), ("b", b)) if rule is not None
    }
    row = Primitive(name, "a b", kernel, rules.broadcast(name, accepts), gradients)
    left, right = gradients.get("a"), gradients.get("b")

    def edges(tracked: set[int], inputs: tuple[Tensor, ...], output: Tensor, attrs: Any) -> Any:
        a, b = inputs
        a, b = a._id, b._id
        if a in tracked and left is not None:
            first = left(a, 0, inputs, output, attrs)
            if b in tracked and right is not None:
                return (first, right(b, 1, inputs, output, attrs))
            return (first,)
        if b in tracked and right is not None:
            return (right(b, 1, inputs, output, attrs),)
        return ()

    row.edges = edges
    row.elementwise = True
    row.convert, row.one_dtype = coerce, True
    row.numbers_only = "bool" not in accepts
    row.keeps_dtype = "int" not in accepts  # where integers are taken, NumPy keeps all dtypes
    return named(quick_binary(row), row)


def _binary_edge(rule: Callable[..., Any]) -> Edge:
    """The rule as it is where the operand has the shape of the output, and summed where it was broadcast."""
    positions = [{"a": 0, "b": 1, "y": 2}[p] for p in parameters(rule)[1:]]
    only = positions[0] if len(positions) == 1 else None

    def summed(g: Tensor, shape: tuple[int, ...], *kept: Any) -> Tensor:
        return sum_to(rule(g, *kept), shape)

    def edge(identity: int, i: int, ins: Any, out: Any, attrs: Any) -> Noted:
        shape = ins[i]._array.shape
        if only is not None and only < 2:
            kept = (ins[only],)
        elif not positions:
            kept = ()
        else:
            frame = (*ins, out)
            kept = tuple([frame[p] for p in positions])
        # Sizes that are not known yet are compared by `sum_to`, which asks no more than it must.
        if type(out) is Tensor and shape == out._array.shape:
            return identity, rule, kept
        return identity, summed, (shape, *kept)

    return edge


def comparison(
    name: str, kernel: Callable[..., Any], *, accepts: frozenset[str] = rules.REAL
) -> Callable[[Any, Any], Tensor]:
    """A primitive that compares two tensors of one dtype. It has no gradient."""
    row = Primitive(name, "a b", kernel, rules.broadcast(name, accepts, dtypes.bool_), {})
    row.elementwise = row.one_dtype = True
    row.convert = coerce
    return named(quick_binary(row), row)


def coerce(a: Any, b: Any) -> tuple[Tensor, Tensor]:
    """Makes two operands tensors. A tensor or variable decides the dtype for what is neither."""
    # As in `lr * gradient`.
    if type(a) is float and type(b) is Tensor and b._array.dtype.kind == "f":
        return scalar(a, b._array.dtype), b
    if type(a) is Variable:
        a = a._read()
    elif type(a) is not Tensor:
        a = _read(a)
    if type(b) is Variable:
        b = b._read()
    elif type(b) is not Tensor:
        b = _read(b)
    if type(a) is Tensor and type(b) is Tensor:
        return a, b
    if isinstance(a, Tensor):
        return a, _like(b, a)
    if isinstance(b, Tensor):
        return _like(a, b), b
    a = convert_to_tensor(a)
    return a, _like(b, a)


def _read(value: Any) -> Any:
    """What can turn itself into a tensor as one; all else as it is."""
    kind = type(value)
    if kind is float or kind is int or kind is Dim:
        return value
    return convert_to_tensor(value) if hasattr(value, "__tf_tensor__") else value


def _like(value: Any, tensor: Tensor) -> Tensor:
    """What is not a tensor as one of the dtype of `tensor`."""
    kind = type(value)
    try:
        if kind is float or kind is int:
            return scalar(value, tensor._array.dtype)
        return value if isinstance(value, Tensor) else convert_to_tensor(value, tensor.dtype)
    except TypeError as error:
        message = f"{error}, the dtype of the other operand. Use tf.cast to change that."
        raise DTypeError(None, None, message) from None
    except ValueError as error:
        if isinstance(value, CompositeTensor):
            return Operand(value, error)
        raise


# Complex numbers, in nearly every gradient.


def conj(x: Any) -> Any:
    """The complex conjugate; a real tensor is returned as it is."""
    return conjugate(x) if x._array.dtype.kind == "c" else x


conjugate = unary("conj", np.conj, accepts=rules.NUMERIC, gradient=lambda g: conj(g))
