"""Convolution in any number of dimensions, and its two gradients.

    conv(x, w)                   x: [batch, *space, in],  w: [*window, in / groups, out]
    conv_input_gradient(g, w)    what `g` means for `x`: also the transposed convolution
    conv_filter_gradient(x, g)   what `g` means for `w`

All three are linear in each input, and each is the derivative of the other two, so derivatives of every order are
made of them alone.
"""

from __future__ import annotations

from typing import Any

from tapeflow._src.core.dtypes import int32
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.primitives.nn.conv_kernels import (
    conv_kernel,
    filter_gradient_kernel,
    input_gradient_kernel,
)
from tapeflow._src.primitives.nn.windows import Pairs, Sizes, output_space
from tapeflow._src.primitives.rules import REAL, DTypeError, check_dtype, check_same_dtype, invalid
from tapeflow._src.primitives.specs import ArraySpec
from tapeflow._src.primitives.table import primitive

# Shapes.


def _conv_result(
    x: ArraySpec, w: ArraySpec, *, strides: Sizes, dilations: Sizes, padding: Pairs, groups: int
) -> ArraySpec:
    _check_operands(x, w, len(strides))
    if w.shape[-2] is not None and x.shape[-1] != w.shape[-2] * groups:
        raise invalid(
            f"conv: input depth must be evenly divisible by filter depth: {x.shape[-1]} vs "
            f"{w.shape[-2]} (input: {x}, filters: {w}, which ends in [in, out] channels)"
        )
    if w.shape[-1] is not None and w.shape[-1] % groups:
        raise invalid(
            f"conv: {w.shape[-1]} output channels cannot be shared among {groups} groups "
            f"(input: {x}, filters: {w})"
        )
    space = output_space("conv", x.shape[1:-1], w.shape[:-2], strides, dilations, padding)
    return ArraySpec((x.shape[0], *space, w.shape[-1]), x.dtype)


def _check_operands(x: ArraySpec, w: ArraySpec, rank: int) -> None:
    check_same_dtype("conv", x, w)
    check_dtype("conv", "input", x, REAL)
    if x.dtype.is_integer and x.dtype is not int32:
        raise DTypeError(
            None,
            None,
            f"conv: input has dtype {x.dtype.name}, and the only integers conv takes are int32. Got input: {x}, "
            f"filters: {w}. Use tf.cast to change the dtype.",
        )
    for name, spec in (("input", x), ("filters", w)):
        if len(spec.shape) != rank + 2:
            raise invalid(
                f"conv: {name} must be {rank + 2}-dimensional, got {spec} (input: {x}, filters: {w})"
            )


def _input_gradient_result(
    g: ArraySpec, w: ArraySpec, *, shape: Sizes, groups: int, **where: Any
) -> ArraySpec:
    x = ArraySpec(tuple(shape), g.dtype)
    y = _conv_result(x, w, groups=groups, **where)
    _check_backward("input", g, y, x, w)
    return x


def _filter_gradient_result(
    x: ArraySpec, g: ArraySpec, *, shape: Sizes, groups: int, **where: Any
) -> ArraySpec:
    w = ArraySpec(tuple(shape), g.dtype)
    y = _conv_result(x, w, groups=groups, **where)
    _check_backward("filters", g, y, x, w)
    return w


def _check_backward(of: str, g: ArraySpec, y: ArraySpec, x: ArraySpec, w: ArraySpec) -> None:
    if g.shape != y.shape:
        raise invalid(
            f"conv: a convolution of {x} with filters {w} gives {y}, and the gradient (or the input of a transposed "
            f"convolution) for its {of} is {g}. They must have one shape."
        )


# The rows of the table: each is linear in both inputs, and the gradients are the other two.


def _where(strides: Sizes, dilations: Sizes, padding: Pairs, groups: int) -> dict[str, Any]:
    return {"strides": strides, "dilations": dilations, "padding": padding, "groups": groups}


def _by_input(
    g: Tensor, w: Tensor, x_shape: Sizes, strides: Any, dilations: Any, padding: Any, groups: int
) -> Tensor:
    where = _where(strides, dilations, padding, groups)
    return conv_input_gradient(g, w, shape=x_shape, **where)


def _by_filter(
    g: Tensor, x: Tensor, w_shape: Sizes, strides: Any, dilations: Any, padding: Any, groups: int
) -> Tensor:
    where = _where(strides, dilations, padding, groups)
    return conv_filter_gradient(x, g, shape=w_shape, **where)


conv = primitive(
    "conv",
    "x w",
    conv_kernel,
    result=_conv_result,
    gradients={"x": _by_input, "w": _by_filter},
)
conv_input_gradient = primitive(
    "conv_input_gradient",
    "g w",
    input_gradient_kernel,
    result=_input_gradient_result,
    gradients={
        # The gradient `t` has the shape of the convolution's input.
        "g": lambda t, w, strides, dilations, padding, groups: conv(
            t, w, **_where(strides, dilations, padding, groups)
        ),
        "w": lambda t, g, w_shape, strides, dilations, padding, groups: _by_filter(
            g, t, w_shape, strides, dilations, padding, groups
        ),
    },
)
conv_filter_gradient = primitive(
    "conv_filter_gradient",
    "x g",
    filter_gradient_kernel,
    result=_filter_gradient_result,
    gradients={
        # The gradient `t` has the shape of the filters.
        "x": lambda t, g, x_shape, strides, dilations, padding, groups: _by_input(
            g, t, x_shape, strides, dilations, padding, groups
        ),
        "g": lambda t, x, strides, dilations, padding, groups: conv(
            x, t, **_where(strides, dilations, padding, groups)
        ),
    },
)
