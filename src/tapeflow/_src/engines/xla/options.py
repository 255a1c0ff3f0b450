"""What XLA is told when it compiles a program."""

from __future__ import annotations

import math
import platform
from collections.abc import Iterator, Sequence
from typing import Any

from tapeflow._src.core.sizes.dims import is_dynamic
from tapeflow._src.graph.graph import Node, subgraphs
from tapeflow._src.insides.xla_options import exact_options, sound_options

# Multiplications of one product: XLA's own code shares larger ones out between threads better.
_MOST = 2**24

_LARGE = 2**22  # bytes of an array in whose computation tens of threads can take part
_MUCH = 2**26  # bytes of all such arrays of a program

_OTHER_PRODUCTS = frozenset(
    {
        *("attention", "attention_gradient", "biased_attention", "biased_attention_gradient"),
        *("conv", "conv_filter_gradient", "conv_input_gradient", "einsum", "resample"),
        *("expm", "logm", "pseudo_inverse", "sqrtm", "truncated_inverse"),
    }
)
"""Primitives in whose lowerings there are products besides those of `matmul`."""

_ON_X86 = platform.machine().lower() in ("x86_64", "amd64")


def options(checked: bool, nodes: Sequence[Node] = ()) -> dict[str, Any] | None:
    """Options for the compiler, which may be told to be exact.

    Args:
      checked: whether values are to be what eager mode makes of them.
      nodes: what the program computes on one device. If it has no other products than small ones, these are left to a
        library of XLA's; if there are many large arrays, they are ordered by the memory that they take.
    """
    if not checked:
        return sound_options()
    return exact_options(_ON_X86 and has_small_products(nodes), has_large_arrays(nodes))


def has_large_arrays(nodes: Sequence[Node]) -> bool:
    """Whether so much is computed on large arrays that memory matters more than what could run side by side."""
    sizes = [v.dtype.size * _count(v.shape) for node in _all(nodes) for v in node.outputs]
    return sum(size for size in sizes if size >= _LARGE) >= _MUCH


def _count(shape: Any) -> int:
    return math.prod(shape) if type(shape) is tuple and not is_dynamic(shape) else 0


def has_small_products(nodes: Sequence[Node]) -> bool:
    """Whether there are products, and all of them are small ones, of two matrices of float32.

    The library is told so for a program as a whole, and is known to be good at these alone: see `exact_options`.
    """
    found = False
    for node in _all(nodes):
        name = node.primitive.name
        if name in _OTHER_PRODUCTS:
            return False
        if name == "matmul":
            if not _is_small(node):
                return False
            found = True
    return found


def _is_small(node: Node) -> bool:
    shapes = [v.shape for v in (*node.inputs, *node.outputs)]
    if any(type(s) is not tuple or len(s) != 2 or is_dynamic(s) or 0 in s for s in shapes):
        return False
    if any(v.dtype.name != "float32" for v in node.inputs):
        return False
    terms = shapes[0][0] if node.attrs["transpose_a"] else shapes[0][1]
    return terms * math.prod(shapes[2]) <= _MOST


def _all(nodes: Sequence[Node]) -> Iterator[Node]:
    for node in nodes:
        yield node
        for graph in subgraphs(node):
            yield from _all(graph.nodes)
