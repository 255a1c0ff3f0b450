"""Products of stacks of matrices of float32, by the library's primitive of products: one call for a whole stack.

NumPy calls BLAS for each of the matrices, which copies a transposed one first. For a single matrix the primitive is no
quicker than `products`.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from tapeflow._src.insides.fallback import slower
from tapeflow._src.insides.onednn.library import Failed, OneDnn, Primitive, Sizes, onednn

# The library's own numbers.
_FIRST, _SECOND, _RESULT = 1, 33, 17

_QUICK = (b"brg", b"gemm:jit")
"""How the names of its ways to compute a product begin, but for one that is there to be compared with."""


class _StackProduct:
    """The product of two stacks, for one shape and one order in memory, by one thread."""

    def __init__(self, library: OneDnn, *arrays: tuple[Sizes, Sizes]) -> None:
        self._destroy = library.library.dnnl_memory_desc_destroy
        self._layouts = [
            library.layout(shape, [step // 4 for step in strides]) for shape, strides in arrays
        ]
        a, b, out = self._layouts
        self._primitive = Primitive(
            *(library, "matmul", library.engine, a, b, None, out, library.ours), alone=True
        )
        name = self._primitive.written_as
        if not name.startswith(_QUICK):
            raise Failed(None, None, f"oneDNN: a product by {name!r} would be slow")

    def __call__(self, a: np.ndarray, b: np.ndarray, out: np.ndarray) -> None:
        first, second, result = self._layouts
        self._primitive.run({_FIRST: (first, a), _SECOND: (second, b), _RESULT: (result, out)})

    def __del__(self) -> None:
        for each in vars(self).get("_layouts", ()):
            self._destroy(each)


@functools.lru_cache(maxsize=512)
def _stack_product(*arrays: tuple[Sizes, Sizes]) -> Callable[..., Any] | None:
    library = onednn()
    if library is None:
        return None
    try:
        return _StackProduct(library, *arrays)
    except (AttributeError, Failed) as error:
        slower(str(error), f"NumPy multiplies stacks of {arrays[0][0]} and {arrays[1][0]}")
        return None


def multiply_stacks(a: np.ndarray, b: np.ndarray, out: np.ndarray) -> None:
    """Writes `a @ b` to `out`, by one thread, for stacks of one shape whose matrices have an `order`."""
    found = _stack_product(*[(x.shape, x.strides) for x in (a, b, out)])
    if found is None:
        np.matmul(a, b, out=out)
    else:
        found(a, b, out)
