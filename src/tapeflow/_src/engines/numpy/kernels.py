"""Kernels that know more than those of the table: shapes and dtypes are fixed, memory for the result may be given."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from tapeflow._src.core.dtypes import bfloat16, float16
from tapeflow._src.core.sizes.dims import is_dynamic
from tapeflow._src.engines.numpy.lifetimes import BLOCK_WRITERS, CHAIN
from tapeflow._src.graph.graph import Node
from tapeflow._src.primitives.linalg.shared_products import product, product_of
from tapeflow._src.primitives.reduction.reducing import quickest_sum
from tapeflow._src.primitives.sharing import side_by_side

Special = Callable[[Node], tuple[Callable[..., Any], dict[str, Any]] | None]
"""For a node, a function of its inputs (and of an array to write into, or nothing) and the attributes it takes; or None
where the kernel of the table is to be called."""

SPECIAL: dict[str, Special] = {}
_SMALL = 2**16
_LARGE = 2**19


def _special(name: str) -> Callable[[Special], Special]:
    def register(special: Special) -> Special:
        SPECIAL[name] = special
        return special

    return register


def _known(node: Node) -> bool:
    """Whether all shapes are numbers."""
    return not is_dynamic([v.shape for v in (*node.inputs, *node.outputs)])


@_special("relu")
def _relu(node: Node) -> Any:
    (x,) = node.inputs
    if not _known(node) or not x.shape or x.dtype.np_dtype.char not in "fd":
        return None
    # NumPy finds the larger of two arrays faster than that of an array and a scalar.
    if math.prod(x.shape) <= _SMALL:
        zeros = np.zeros(x.shape, x.dtype.np_dtype)
        return (lambda x, out=None: np.maximum(x, zeros, out=out)), {}
    row = np.zeros(x.shape[1:], x.dtype.np_dtype)
    return _by_several(1, lambda x, out: np.maximum(x, row, out=out)), {}


def _by_several(count: int, compute: Callable[..., Any]) -> Callable[..., Any]:
    """A function of so many large arrays of one shape that is computed for each element, on several threads."""

    def shared(*given: Any) -> Any:
        arrays, out = given[:count], given[count:]
        to = out[0] if out else np.empty(arrays[0].shape, arrays[0].dtype)
        side_by_side(lambda i, j: compute(*[x[i:j] for x in arrays], to[i:j]), len(to), to.size)
        return to

    return shared


def shared_ufunc(node: Node, ufunc: np.ufunc) -> Callable[..., Any]:
    """A NumPy function, or what computes it on several threads, for a node whose arrays are large."""
    (result,) = node.outputs
    shape = result.shape
    if not _known(node) or math.prod(shape) < _LARGE or len(shape) < 2:
        return ufunc
    if any(v.dtype.np_dtype.char not in "fd" for v in (*node.inputs, result)):
        return ufunc
    cut = [len(v.shape) == len(shape) and v.shape[0] == shape[0] for v in node.inputs]
    dtype = result.dtype.np_dtype

    def shared(*arrays: Any, out: Any = None) -> Any:
        to = np.empty(shape, dtype) if out is None else out

        def part(i: int, j: int) -> None:
            ufunc(*[x[i:j] if c else x for x, c in zip(arrays, cut, strict=True)], out=to[i:j])

        side_by_side(part, shape[0], to.size)
        return to

    return shared


@_special("relu_gradient")
def _relu_gradient(node: Node) -> Any:
    g, y = node.inputs
    if not _known(node) or g.shape != y.shape or not g.shape or g.dtype.np_dtype.char not in "fd":
        return None
    if math.prod(g.shape) > _SMALL:
        return _by_several(2, lambda g, y, out: np.multiply(g, y > 0, out)), {}
    dtype = g.dtype.np_dtype

    def product(g: Any, y: Any, out: Any = None) -> Any:
        slope = (y > 0).astype(dtype)
        return np.multiply(g, slope, slope if out is None else out)

    return product, {}


@_special("sum")
def _sum(node: Node) -> Any:
    (x,) = node.inputs
    if not _known(node) or x.dtype.np_dtype.char not in "fd":
        return None
    found = quickest_sum(x.shape, x.dtype.np_dtype, **node.attrs)
    return None if found is None else (found, {})


@_special("mean")
def _mean(node: Node) -> Any:
    found = _sum(node)
    if found is None:
        return None
    total, _ = found
    count = math.prod(node.inputs[0].shape[i] for i in node.attrs["axis"])
    return (lambda x: total(x) / count), {}


@_special("matmul")
def _matmul(node: Node) -> Any:
    a, b = node.inputs
    if a.dtype.np_dtype.char not in "fd" or not len(a.shape) == len(b.shape) == 2:
        return None
    first, second = node.attrs["transpose_a"], node.attrs["transpose_b"]
    if first and second:
        return None
    multiply = product
    if _known(node):
        rows, terms = reversed(a.shape) if first else a.shape
        multiply = product_of(rows, terms, b.shape[0] if second else b.shape[1])
    if first:
        return (lambda a, b: multiply(a.T, b)), {}
    if second:
        return (lambda a, b: multiply(a, b.T)), {}
    return multiply, {}


@_special("product_update")
@_special(CHAIN)
def _into_given_memory(node: Node) -> Any:
    return node.primitive.kernel, node.attrs


def _over_blocks(node: Node) -> Any:
    (output,) = node.outputs
    if not _known(node) or output.dtype.np_dtype.char not in "fd":
        return None
    kernel, attrs, count = node.primitive.kernel, node.attrs, len(node.inputs)

    def over_blocks(*given: Any) -> Any:
        return kernel(*given[:count], out=given[count] if len(given) > count else None, **attrs)

    return over_blocks, {}


SPECIAL.update(dict.fromkeys(BLOCK_WRITERS, _over_blocks))


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
