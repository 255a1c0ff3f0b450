"""Elementwise kernels of ours for large arrays: each thread reads and writes eight numbers at a time.

CuPy's work on one at a time, whatever its size: bfloat16 then takes as long as float32, five times as long as the
memory of the GPU needs. Numbers of 16 bits are computed in float32, and rounded once, at the end, as XLA does it.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any, NamedTuple

import cupy  # pyright: ignore[reportMissingImports]
import numpy as np

_EACH = 8  # numbers of a thread
_THREADS = 256
_THREADS_OF_BLOCK = (_THREADS,)
LARGE = 2**18
"""Elements from which on it is worth it: below, the time is that of the call, in which CuPy is quicker."""
_MOST = 2**31 - _EACH * _THREADS  # elements that are counted in 32 bits
_ALIGNMENT = 16  # bytes

CODES = {
    **{name: f"{name}(a)" for name in ("sqrt", "exp", "expm1", "log", "log1p", "sin", "cos")},
    **{name: f"{name}(a)" for name in ("tan", "sinh", "cosh", "tanh", "rsqrt", "erf", "rint")},
    "floor": "floor(a)",
    "ceil": "ceil(a)",
    "abs": "fabs(a)",
    "square": "a * a",
    "negative": "-a",
    "reciprocal": "1 / a",
    "sigmoid": "1 / (1 + exp(-a))",
    "silu": "a / (1 + exp(-a))",
    "relu": "a != a || a > 0 ? a : 0",
    "gelu_tanh": "gelu_tanh(a)",
    "add": "a + b",
    "subtract": "a - b",
    "multiply": "a * b",
    "divide": "a / b",
    "maximum": "a != a || a > b ? a : b",
    "minimum": "a != a || a < b ? a : b",
    "squared_difference": "(a - b) * (a - b)",
    "divide_no_nan": "b == 0 ? 0 : a / b",
    "relu_gradient": "b > 0 ? a : 0 * a",
    "gelu_tanh_gradient": "gelu_tanh_gradient(a, b)",
    "cast": "a",
    "select": "a != 0 ? b : c",
    "dropout": "b != 0 ? a * c : 0",
}
"""What is computed from the operands a, b and c."""

# What the numbers of a dtype are in memory, by its letter (E is bfloat16).
_STORED = {
    "f": "float",
    "d": "double",
    "e": "unsigned short",
    "E": "unsigned short",
    "?": "unsigned char",
}
_READ = {
    "f": "x",
    "d": "x",
    "?": "x",
    "e": "of_half(x)",
    "E": "__uint_as_float((unsigned)x << 16)",
}
_WRITTEN = {"f": "x", "d": "x", "?": "x != 0", "e": "to_half(x)", "E": "to_bfloat(x)"}

_PRELUDE = r"""
__device__ inline float of_half(unsigned short x) {
    float y; asm("cvt.f32.f16 %0, %1;" : "=f"(y) : "h"(x)); return y;
}
__device__ inline unsigned short to_half(float x) {
    unsigned short y; asm("cvt.rn.f16.f32 %0, %1;" : "=h"(y) : "f"(x)); return y;
}
__device__ inline unsigned short to_bfloat(float x) {
    unsigned bits = __float_as_uint(x);
    if (x != x) return (bits >> 16) | 0x40;
    return (bits + 0x7fff + ((bits >> 16) & 1)) >> 16;
}
__device__ inline Number gelu_tanh(Number x) {
    return Number(0.5) * x * (1 + tanh(Number(0.7978845608028654) * (x + Number(0.044715) * x * x * x)));
}
__device__ inline Number gelu_tanh_gradient(Number u, Number x) {
    Number square = x * x;
    Number t = tanh(x * (square * Number(0.044715) + 1) * Number(0.7978845608028654));
    Number inner = (square * Number(0.134145) + 1) * Number(0.7978845608028654);
    return u * ((t + 1) * Number(0.5) + x * (1 - t * t) * inner * Number(0.5));
}
"""


def run(name: str, operands: Sequence[Any], out: np.dtype | None = None) -> Any:
    """An elementwise primitive of arrays and numbers, or `NotImplemented` for those that lie otherwise.

    Args:
      name: one of `CODES`.
      operands: arrays of CuPy's, of which the largest has the shape of the result, and numbers of NumPy's.
      out: the dtype of the result, if it is not that of the first operand.
    """
    key = (name, out, *[(x.shape, x.strides, x.dtype.char) for x in operands])
    try:
        plan = _plans[key]
    except KeyError:
        if len(_plans) >= _MOST_PLANS:
            _plans.clear()
        plan = _plans[key] = _planned(name, operands, out)
    if plan is None:
        return NotImplemented
    given = []
    for x, (kind, width) in zip(operands, plan.layout, strict=True):
        if kind == "n":
            given.append(float(x))
            continue
        if kind == "w" and x.data.ptr % _ALIGNMENT:
            return NotImplemented
        given.append(x)
        if width:
            given.append(width)
    result = cupy.ndarray(plan.shape, plan.dtype)
    plan.kernel(plan.blocks, _THREADS_OF_BLOCK, (*given, result, plan.size))
    return result


class _Plan(NamedTuple):
    """How a kernel is called, for the shapes of its operands."""

    kernel: Any
    layout: list[tuple[str, int]]
    shape: tuple[int, ...]
    dtype: np.dtype
    size: int
    blocks: tuple[int]


_plans: dict[Any, _Plan | None] = {}
_MOST_PLANS = 4096  # a loop in which sizes change would fill the memory with them


def _planned(name: str, operands: Sequence[Any], out: np.dtype | None) -> _Plan | None:
    whole = max(operands, key=_size)
    size = _size(whole)
    if not 0 < size <= _MOST:
        return None
    layout = []
    for x in operands:
        found = _laid(x, whole)
        if found is None or x.dtype.char not in _STORED:
            return None
        layout.append(found)
    dtype = operands[0].dtype if out is None else out
    kinds = tuple([kind + x.dtype.char for x, (kind, _) in zip(operands, layout, strict=True)])
    blocks = -(-size // (_EACH * _THREADS))
    return _Plan(_kernel(name, kinds, dtype.char), layout, whole.shape, dtype, size, (blocks,))


def _size(x: Any) -> int:
    return -1 if isinstance(x, np.generic) else x.size


def _laid(x: Any, whole: Any) -> tuple[str, int] | None:
    """How an operand lies beside the largest one, and for how many elements it counts up or stays.

    w is as large; n a number of NumPy's; s a single one on the GPU; r a row, which is repeated; c a column, whose
    elements are.
    """
    if isinstance(x, np.generic):
        return "n", 0
    if not x.flags.c_contiguous:
        return None
    shape, of = x.shape, whole.shape
    if shape == of:
        return "w", 0
    if len(shape) > len(of):
        return None
    if x.size == 1:
        return "s", 0
    lead = len(of) - len(shape)
    ones = 0
    while ones < len(shape) and shape[ones] == 1:
        ones += 1
    if shape[ones:] == of[lead + ones :]:
        return "r", x.size
    full = len(shape)
    while full and shape[full - 1] == 1:
        full -= 1
    if not lead and shape[:full] == of[:full]:
        return "c", whole.size // x.size
    return None


@cache
def _kernel(name: str, layout: tuple[str, ...], out: str) -> Any:
    source = _source(name, layout, out)
    return cupy.RawKernel(source, f"tapeflow_{name}", options=("--std=c++14",))


def _source(name: str, layout: tuple[str, ...], out: str) -> str:
    number = "double" if "d" in {*out, *(x[1] for x in layout)} else "float"
    parameters, packs, before, each = [], [], [], []
    for letter, (kind, char) in zip("abc", layout, strict=False):
        stored = _STORED[char]
        packs.append(_pack(letter, char))
        if kind == "n":
            parameters.append(f"double {letter}_given")
            each.append(f"Number {letter} = {letter}_given;")
            continue
        parameters.append(f"const {stored}* {letter}_all")
        if kind == "w":
            before.append(f"Pack_{letter} {letter}_here = got_{letter}({letter}_all, at, some);")
            each.append(f"Number {letter} = read_{letter}({letter}_here.v[j]);")
            continue
        if kind == "s":
            each.append(f"Number {letter} = read_{letter}({letter}_all[0]);")
            continue
        parameters.append(f"long long {letter}_width")
        before.append(f"unsigned {letter}_next = at % (unsigned){letter}_width;")
        if kind == "r":
            each.append(f"Number {letter} = read_{letter}({letter}_all[{letter}_next]);")
            each.append(f"if (++{letter}_next == {letter}_width) {letter}_next = 0;")
        else:
            before.append(f"unsigned {letter}_row = at / (unsigned){letter}_width;")
            each.append(f"Number {letter} = read_{letter}({letter}_all[{letter}_row]);")
            each.append(
                f"if (++{letter}_next == {letter}_width) {{ {letter}_next = 0; ++{letter}_row; }}"
            )
    return f"""
typedef {number} Number;
{_PRELUDE}
{"".join(packs)}
{_pack("y", out)}
extern "C" __global__ void tapeflow_{name}({", ".join(parameters)}, {_STORED[out]}* y_all, long long count) {{
    unsigned at = {_EACH} * (blockIdx.x * blockDim.x + threadIdx.x);
    if (at >= count) return;
    int some = count - at < {_EACH} ? int(count - at) : {_EACH};
    {" ".join(before)}
    Pack_y here;
    #pragma unroll
    for (int j = 0; j < {_EACH}; ++j) {{
        if (j >= some) break;
        {" ".join(each)}
        here.v[j] = write_y({CODES[name]});
    }}
    if (some == {_EACH}) *(Pack_y*)(y_all + at) = here;
    else for (int j = 0; j < some; ++j) y_all[at + j] = here.v[j];
}}
"""


def _pack(letter: str, char: str) -> str:
    """How eight numbers of an operand are read and written."""
    stored = _STORED[char]
    alignment = min(_ALIGNMENT, _EACH * np.dtype(char if char != "E" else "e").itemsize)
    return f"""
struct alignas({alignment}) Pack_{letter} {{ {stored} v[{_EACH}]; }};
__device__ inline Number read_{letter}({stored} x) {{ return {_READ[char]}; }}
__device__ inline {stored} write_{letter}(Number x) {{ return {_WRITTEN[char]}; }}
__device__ inline Pack_{letter} got_{letter}(const {stored}* all, unsigned at, int some) {{
    if (some == {_EACH}) return *(const Pack_{letter}*)(all + at);
    Pack_{letter} found;
    for (int j = 0; j < some; ++j) found.v[j] = all[at + j];
    return found;
}}
"""
