"""Lowerings of convolution and of its two gradients, which jax derives by transposing it."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax

from tapeflow._src.engines.xla.lowerings import lowering
from tapeflow._src.primitives.nn.windows import Pairs, Sizes


def _convolved(
    x: Any, w: Any, *, strides: Sizes, dilations: Sizes, padding: Pairs, groups: int
) -> Any:
    rank = x.ndim
    space = tuple(range(1, rank - 1))
    return lax.conv_general_dilated(
        x,
        w,
        window_strides=strides,
        padding=padding,
        rhs_dilation=dilations,
        dimension_numbers=lax.ConvDimensionNumbers(
            (0, rank - 1, *space), (rank - 1, rank - 2, *range(rank - 2)), (0, rank - 1, *space)
        ),
        feature_group_count=groups,
    )


def _exactly(product: Callable[[Any, Any], Any], a: Any, b: Any) -> Any:
    """A convolution, or a gradient of one, of integers too, for which GPUs have none.

    It is linear in both inputs, so the upper and the lower halves of the bits can be convolved apart, in float64
    without rounding. What overflows wraps around, as in the kernel: the product of both upper halves is all lost.
    """
    if jnp.issubdtype(a.dtype, jnp.floating):
        return product(a, b)
    (a_upper, a_lower), (b_upper, b_lower) = (
        ((x >> 16).astype(jnp.float64), (x & 0xFFFF).astype(jnp.float64)) for x in (a, b)
    )
    upper = jnp.round(product(a_upper, b_lower) + product(a_lower, b_upper)).astype(jnp.int64)
    lower = jnp.round(product(a_lower, b_lower)).astype(jnp.int64)
    return ((upper << 16) + lower).astype(a.dtype)


@lowering("conv")
def _conv(x: Any, w: Any, **where: Any) -> Any:
    return _exactly(partial(_convolved, **where), x, w)


@lowering("conv_input_gradient")
def _conv_input_gradient(g: Any, w: Any, *, shape: Sizes, **where: Any) -> Any:
    def spread(g: Any, w: Any) -> Any:
        x = jax.ShapeDtypeStruct(shape, g.dtype)
        return jax.linear_transpose(lambda x: _convolved(x, w, **where), x)(g)[0]

    return _exactly(spread, g, w)


@lowering("conv_filter_gradient")
def _conv_filter_gradient(x: Any, g: Any, *, shape: Sizes, **where: Any) -> Any:
    def correlated(x: Any, g: Any) -> Any:
        w = jax.ShapeDtypeStruct(shape, g.dtype)
        return jax.linear_transpose(lambda w: _convolved(x, w, **where), w)(g)[0]

    return _exactly(correlated, x, g)
