"""Which products are computed outside of a loop, and how.

In a recurrent layer the inputs of all steps are known before the loop, and so are their products with a matrix: these
are *early*. The gradient of a matrix is the sum of a product in each turn, and nobody looks at it before the end; the
gradients of the inputs are products with a matrix, which only leave the loop: these are *late*. One large product takes
a fraction of the time of many small ones, each of which has to read the matrix, or write it, again.

Sizes alone decide, so that the bits of a result do not depend on a clock.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, TypeGuard

import jax.numpy as jnp
from jax import lax

from tapeflow._src.core.sizes.dims import is_dynamic
from tapeflow._src.engines.xla.lowerings import LOWERINGS
from tapeflow._src.engines.xla.sharding import is_on_mesh
from tapeflow._src.graph.graph import Node, Value

FEWEST_TURNS = 4
_MOST_ROWS = 512  # from here on a product of one turn keeps a processor busy by itself
_MOST_BYTES = 2**26  # of an array that is there in one piece because of this


def is_product(node: Any) -> TypeGuard[Node]:
    """Whether it is a product of rows with a matrix that can be computed for the rows of all turns together."""
    return (
        _is_plain(node, "matmul")
        and not node.attrs["transpose_a"]
        and node.inputs[0].shape[0] < _MOST_ROWS
    )


def is_part(node: Any) -> TypeGuard[Node]:
    """Whether it is a product whose sum over all turns is better one product of what it is made of."""
    if not _is_plain(node, "matmul") or not node.attrs["transpose_a"] or node.attrs["transpose_b"]:
        return False
    (m, k), (_, n) = (v.shape for v in node.inputs)
    return m < _MOST_ROWS and m * (k + n) <= k * n


def is_sum_of_rows(node: Any) -> TypeGuard[Node]:
    """Whether it is the sum of the rows of a matrix, as in the gradient of a bias."""
    return _is_plain(node, "sum") and node.attrs["axis"] == (0,) and node.attrs["keepdims"] is False


def _is_plain(node: Any, name: str) -> TypeGuard[Node]:
    """Whether it is a node of that name that takes matrices of known sizes, none of them empty, and no integers."""
    return (
        type(node) is Node
        and node.primitive.name == name
        and not is_dynamic(node.attrs)
        and all(
            type(v.shape) is tuple
            and len(v.shape) == 2
            and not is_dynamic(v.shape)
            and 0 not in v.shape
            and (v.dtype.is_floating or v.dtype.is_complex)
            for v in node.inputs
        )
    )


def fits(value: Value, turns: int) -> bool:
    """Whether there may be one array of what a value is in all turns."""
    return turns * math.prod(value.shape) * value.dtype.size <= _MOST_BYTES


def product_of_all(node: Node, rows: Any, matrix: Any) -> Any:
    """For each turn the product that a node computes.

    Args:
      node: see `is_product`.
      rows: what it multiplies in each turn, in one array.
      matrix: what it multiplies this by.
    """
    turns, m, k = rows.shape
    if is_on_mesh():  # there a dimension that is divided stays one
        return LOWERINGS["matmul"](rows, matrix, **node.attrs)
    return LOWERINGS["matmul"](rows.reshape(turns * m, k), matrix, **node.attrs).reshape(
        turns, m, -1
    )


def sum_of_all(node: Node, operands: Sequence[Any]) -> Any:
    """The sum over all turns of what a node computes.

    Args:
      node: see `is_part` and `is_sum_of_rows`.
      operands: what it takes in each turn, in one array each.
    """
    if node.primitive.name == "sum":
        return LOWERINGS["sum"](operands[0], axis=(0, 1), keepdims=False)
    if is_on_mesh():
        return jnp.tensordot(operands[0], operands[1], ((0, 1), (0, 1)))
    a, b = [x.reshape(-1, x.shape[-1]) for x in operands]
    return LOWERINGS["matmul"](a, b, **node.attrs)


def in_order(array: Any, numbers: list[int]) -> Any:
    """Rows of an array by their numbers: a part of it, where they follow each other, or are the last ones first."""
    first, count = min(numbers), len(numbers)
    following = list(range(first, first + count))
    if numbers in (following, following[::-1]):
        part = lax.slice_in_dim(array, first, first + count)
        return part if numbers == following else lax.rev(part, (0,))
    return jnp.take(array, jnp.asarray(numbers), axis=0)
