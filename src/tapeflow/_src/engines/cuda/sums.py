"""Sums of the columns of large matrices: the gradients of biases and gains.

CuPy gives each column to one block of threads, whose neighbours in memory belong to others. Here threads that lie side
by side read what lies side by side.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import cupy  # pyright: ignore[reportMissingImports]

_ACROSS, _DOWN = 32, 8  # threads of a block
_EACH = 4  # columns of a thread
_BLOCKS = 512  # about as many as a GPU runs at a time
_LARGE = 2**16  # elements
_ALIGNMENT = 16  # bytes

_STORED = {"f": "float", "d": "double", "e": "unsigned short", "E": "unsigned short"}
_READ = {"f": "x", "d": "x", "e": "of_half(x)", "E": "__uint_as_float((unsigned)x << 16)"}
_SOURCE = r"""
typedef STORED Stored;
typedef NUMBER Number;
__device__ inline float of_half(unsigned short x) {
    float y; asm("cvt.f32.f16 %0, %1;" : "=f"(y) : "h"(x)); return y;
}
__device__ inline Number read(Stored x) { return READ; }
struct alignas(sizeof(Stored) * EACH > 16 ? 16 : sizeof(Stored) * EACH) Pack { Stored v[EACH]; };

extern "C" __global__ void tapeflow_column_sums(const Stored* x, Number* y, long long rows, long long width) {
    __shared__ Number found[DOWN][ACROSS][EACH];
    long long column = EACH * (blockIdx.x * (long long)ACROSS + threadIdx.x);
    Number sums[EACH] = {};
    if (column < width)
        for (long long row = blockIdx.y * DOWN + threadIdx.y; row < rows; row += gridDim.y * DOWN) {
            Pack here = *(const Pack*)(x + row * width + column);
            for (int j = 0; j < EACH; ++j) sums[j] += read(here.v[j]);
        }
    for (int j = 0; j < EACH; ++j) found[threadIdx.y][threadIdx.x][j] = sums[j];
    __syncthreads();
    if (threadIdx.y || column >= width) return;
    for (int i = 1; i < DOWN; ++i)
        for (int j = 0; j < EACH; ++j) sums[j] += found[i][threadIdx.x][j];
    for (int j = 0; j < EACH; ++j) y[blockIdx.y * width + column + j] = sums[j];
}
"""


@cache
def _kernel(char: str) -> Any:
    number = "double" if char == "d" else "float"
    source = _SOURCE.replace("STORED", _STORED[char]).replace("NUMBER", number)
    source = source.replace("READ", _READ[char]).replace("ACROSS", str(_ACROSS))
    source = source.replace("DOWN", str(_DOWN)).replace("EACH", str(_EACH))
    return cupy.RawKernel(source, "tapeflow_column_sums", options=("--std=c++14",))


def columns(x: Any, rows: int) -> Any:
    """The sums over the first dimensions, which have `rows` elements; `NotImplemented` for what is small or odd.

    The sums of numbers of 16 bits are in float32.
    """
    char = x.dtype.char
    if char not in _STORED or x.size < _LARGE or not x.flags.c_contiguous:
        return NotImplemented
    width = x.size // rows
    if width % _EACH or x.data.ptr % _ALIGNMENT:
        return NotImplemented
    across = -(-width // (_ACROSS * _EACH))
    down = max(1, min(_BLOCKS // across, rows // (4 * _DOWN)))
    number = "d" if char == "d" else "f"
    parts = cupy.ndarray((down, width), number)
    _kernel(char)((across, down), (_ACROSS, _DOWN), (x, parts, rows, width))
    if down == 1:
        return parts[0]
    out = cupy.ndarray((1, width), number)
    _kernel(number)((across, 1), (_ACROSS, _DOWN), (parts, out, down, width))
    return out[0]
