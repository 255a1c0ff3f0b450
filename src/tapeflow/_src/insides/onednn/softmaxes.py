"""Softmax of rows of float32 and its gradient: NumPy goes over all rows five times, this over each while it is near.

What the library gives for rows with NaN or infinity is not what NumPy gives, but NaN is in it somewhere, so its callers
look for that. Results below the smallest normal number are 0.
"""

from __future__ import annotations

import functools

import numpy as np

from tapeflow._src.insides.fallback import slower
from tapeflow._src.insides.onednn.library import Failed, OneDnn, Primitive, onednn
from tapeflow._src.insides.onednn.products import products

# The library's own numbers.
_FORWARD, _SOFTMAX = 64, 0x30000
_INPUT, _RESULT, _INPUT_GRADIENT, _RESULT_GRADIENT = 1, 17, 129, 145


class Softmax:
    """The softmax of each row, and its gradient, for one shape, by one thread. Arrays are in C order."""

    def __init__(self, library: OneDnn, rows: int, columns: int) -> None:
        self._library = library
        self._layout = layout = library.layout([rows, columns], [columns, 1])
        self._forward = Primitive(
            *(library, "softmax_forward", library.engine, _FORWARD, _SOFTMAX),
            *(layout, layout, 1, library.ours),
            alone=True,
        )
        name = self._forward.written_as
        if not name.startswith(b"jit"):
            raise Failed(None, None, f"oneDNN: a softmax by {name!r} would be slow")

    @functools.cached_property
    def _backward(self) -> Primitive:
        library, layout = self._library, self._layout
        return Primitive(
            *(library, "softmax_backward", library.engine, _SOFTMAX),
            *(layout, layout, layout, 1, self._forward.description, library.ours),
            alone=True,
        )

    def softmax(self, x: np.ndarray, out: np.ndarray) -> None:
        """Writes the softmax of each row."""
        self._forward.run({_INPUT: (self._layout, x), _RESULT: (self._layout, out)})

    def gradient(self, u: np.ndarray, p: np.ndarray, out: np.ndarray) -> None:
        """Writes what the gradient `u` of a softmax `p` means for its input."""
        layout = self._layout
        self._backward.run(
            {_RESULT: (layout, p), _RESULT_GRADIENT: (layout, u), _INPUT_GRADIENT: (layout, out)}
        )

    def __del__(self) -> None:
        if "_layout" in vars(self):
            self._library.library.dnnl_memory_desc_destroy(self._layout)


@functools.lru_cache(maxsize=512)
def softmax_of(rows: int, columns: int) -> Softmax | None:
    """The softmax of so many rows, if the library is there and quicker than NumPy: on processors with AVX-512."""
    library = onednn()
    if library is None or products() is None:
        return None
    try:
        return Softmax(library, rows, columns)
    except (AttributeError, Failed) as error:
        slower(str(error), "NumPy computes softmax")
        return None


def is_quicker() -> bool:
    """Whether there is any."""
    return softmax_of(1, 2) is not None
