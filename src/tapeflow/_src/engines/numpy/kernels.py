"""Kernels that know more than those of the table: shapes and dtypes are fixed, memory for the result may be given."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from tapeflow._src.core.dtypes import bfloat16, float16
from tapeflow._src.core.sizes.dims import is_dynamic
from tapeflow._src.graph.graph import Node
from tapeflow._src.primitives.linalg.shared_products import product

Special = Callable[[Node], tuple[Callable[..., Any], dict[str, Any]] | None]
"""For a node, a function of its inputs (and of an array to write into, or nothing) and the attributes it takes; or None
where the kernel of the table is to be called."""

SPECIAL: dict[str, Special] = {}
_SMALL = 2**16


def _special(name: str) -> Callable[[Special], Special]:
    def register(special: Special) -> Special:
        SPECIAL[name] = special
        return special

    return register


def _known(node: Node) -> bool:
    """Whether all shapes are numbers."""
    values = (*node.inputs, *node.outputs)
    return not any(is_dynamic(v.shape) for v in values)


@_special("relu")
def _relu(node: Node) -> Any:
    (x,) = node.inputs
    if not _known(node) or not x.shape or x.dtype.np_dtype.char not in "fd":
        return None
    # NumPy finds the larger of two arrays faster than that of an array and a scalar.
    zeros = np.zeros(x.shape if math.prod(x.shape) <= _SMALL else x.shape[-1:], x.dtype.np_dtype)
    return (lambda x, out=None: np.maximum(x, zeros, out=out)), {}


@_special("relu_gradient")
def _relu_gradient(node: Node) -> Any:
    g, y = node.inputs
    if not _known(node) or g.shape != y.shape or not g.shape or g.dtype.np_dtype.char not in "fd":
        return None
    if math.prod(g.shape) > _SMALL:
        return (lambda g, y, out=None: np.multiply(g, y > 0, out)), {}
    dtype = g.dtype.np_dtype

    def product(g: Any, y: Any, out: Any = None) -> Any:
        slope = (y > 0).astype(dtype)
        return np.multiply(g, slope, slope if out is None else out)

    return product, {}


@_special("matmul")
def _matmul(node: Node) -> Any:
    a, b = node.inputs
    if a.dtype.np_dtype.char not in "fd" or not len(a.shape) == len(b.shape) == 2:
        return None
    first, second = node.attrs["transpose_a"], node.attrs["transpose_b"]
    if first and second:
        return None
    if first:
        return (lambda a, b: product(a.T, b)), {}
    if second:
        return (lambda a, b: product(a, b.T)), {}
    return product, {}


@_special("product_update")
def _product_update(node: Node) -> Any:
    return node.primitive.kernel, node.attrs


# Half precision: NumPy computes it element by element, in float32, and converts arrays several times faster.


def in_float32(node: Node) -> Callable[..., Any] | None:
    """For a node that works on half precision, element by element, a kernel that works on whole arrays in float32."""
    if not node.primitive.elementwise or node.primitive.name == "next_after":
        return None
    (output,) = node.outputs
    if output.dtype not in (float16, bfloat16) or not output.shape:
        return None
    kernel, half = node.primitive.kernel, output.dtype.np_dtype

    def converted(*arrays: Any, **attributes: Any) -> Any:
        wide = [a.astype(np.float32) if a.dtype == half else a for a in arrays]
        return kernel(*wide, **attributes).astype(half)

    return converted
