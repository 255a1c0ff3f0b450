"""Shape rules that many primitives share, and the errors they raise."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tapeflow._src.core import dtypes
from tapeflow._src.core.dtypes import DType
from tapeflow._src.core.errors import DTypeError, invalid as invalid
from tapeflow._src.core.shapes import broadcast_shapes
from tapeflow._src.primitives.specs import ArraySpec

FLOAT = frozenset({"float"})
INEXACT = frozenset({"float", "complex"})
REAL = frozenset({"float", "int"})
NUMERIC = frozenset({"float", "int", "complex"})
INT = frozenset({"int"})
BOOL = frozenset({"bool"})
ANY = frozenset({"float", "int", "complex", "bool", "string"})


def kind(dtype: DType) -> str:
    """The family of a dtype, as `accepts` sets name it."""
    if dtype.is_floating:
        return "float"
    if dtype.is_integer:
        return "int"
    if dtype.is_complex:
        return "complex"
    return "bool" if dtype.is_bool else "string"


def check_dtype(op: str, argument: str, spec: ArraySpec, accepts: frozenset[str]) -> None:
    """Raises unless `op` takes the dtype of `argument`."""
    if kind(spec.dtype) not in accepts:
        wanted = " or ".join(sorted(accepts))
        raise DTypeError(
            None,
            None,
            f"{op}: {argument} has dtype {spec.dtype.name}, and {op} takes {wanted} tensors. "
            f"Got {argument}: {spec}. Use tf.cast to change the dtype.",
        )


def check_same_dtype(op: str, a: ArraySpec, b: ArraySpec) -> None:
    """Raises unless both have one dtype."""
    if a.dtype is not b.dtype:
        raise mismatch(op, a, b)


def mismatch(op: str, a: Any, b: Any) -> DTypeError:
    """The error for two tensors of different dtypes."""
    return DTypeError(
        None,
        None,
        f"{op}: both tensors must have the same dtype, got {a.dtype.name} and {b.dtype.name} "
        f"({a} and {b}). Use tf.cast to change one of them.",
    )


def same(op: str, accepts: frozenset[str]) -> Callable[..., ArraySpec]:
    """The result is like the input."""

    def rule(x: ArraySpec, **attrs: Any) -> ArraySpec:
        check_dtype(op, "x", x, accepts)
        return x

    return rule


def predicate(op: str, accepts: frozenset[str]) -> Callable[..., ArraySpec]:
    """A bool for each element."""

    def rule(x: ArraySpec) -> ArraySpec:
        check_dtype(op, "x", x, accepts)
        return ArraySpec(x.shape, dtypes.bool_)

    return rule


def broadcast(
    op: str, accepts: frozenset[str], dtype: DType | None = None
) -> Callable[..., ArraySpec]:
    """Two inputs of one dtype that broadcast; `dtype` is that of the result, if it is another."""

    def rule(a: ArraySpec, b: ArraySpec, **attrs: Any) -> ArraySpec:
        check_same_dtype(op, a, b)
        check_dtype(op, "x", a, accepts)
        return ArraySpec(broadcast_or_raise(op, a, b), dtype or a.dtype)

    return rule


def broadcasts(op: str, shape: tuple[Any, ...], wanted: tuple[Any, ...]) -> None:
    """Raises unless a shape can be broadcast to another one. Of unknown sizes the kernel finds out."""
    extra = len(wanted) - len(shape)
    pairs = zip(shape, wanted[max(extra, 0) :], strict=False)
    if extra < 0 or any(type(a) is type(b) is int and a not in (b, 1) for a, b in pairs):
        raise invalid(f"{op}: shape {list(shape)} cannot be broadcast to {list(wanted)}")


def broadcast_or_raise(op: str, *specs: ArraySpec) -> tuple[Any, ...]:
    """The common shape of several inputs."""
    shape: tuple[Any, ...] = ()
    for spec in specs:
        try:
            shape = broadcast_shapes(shape, spec.shape)
        except ValueError:
            texts = " vs. ".join(str(list(s.shape)) for s in specs)
            raise invalid(
                f"{op}: Incompatible shapes: {texts}. Dimensions must be equal, or one of them 1."
            ) from None
    return shape
