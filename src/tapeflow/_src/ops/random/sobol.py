"""`tf.math.sobol_sample`: points that fill the unit cube evenly.

The direction numbers are those of S. Joe and F. Y. Kuo, "Constructing Sobol sequences with better two-dimensional
projections" (2008): for each dimension a primitive polynomial, and as many first numbers as its degree.
"""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Any

import numpy as np

from tapeflow._src.core import dtypes
from tapeflow._src.core.convert import convert_to_tensor
from tapeflow._src.core.dtypes import as_dtype, int32
from tapeflow._src.core.errors import invalid
from tapeflow._src.core.export import export
from tapeflow._src.core.system.memory import check_room
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.ops.array.shaping import get_static_value
from tapeflow._src.ops.effects.host import on_host
from tapeflow._src.primitives.specs import ArraySpec

_BITS = 32
_CHUNK = 1 << 16  # points at a time


@export("math.sobol_sample")
def sobol_sample(
    dim: Any, num_results: Any, skip: Any = 0, dtype: Any = dtypes.float32, name: str | None = None
) -> Tensor:
    """Points of the Sobol sequence, which fill the unit cube more evenly than random ones.

    >>> tf.math.sobol_sample(dim=2, num_results=3).numpy()
    array([[0.5 , 0.5 ],
           [0.75, 0.25],
           [0.25, 0.75]], dtype=float32)

    Args:
      dim: the dimension of the cube, up to 1111.
      num_results: how many points.
      skip: how many points of the sequence come before them.
      dtype: float32 or float64.
      name: accepted for compatibility.
    """
    op = "sobol_sample"
    wanted = as_dtype(dtype)
    if wanted not in (dtypes.float32, dtypes.float64):
        raise invalid(f"{op}: dtype must be float32 or float64, got {wanted.name}")
    given = {"dim": dim, "num_results": num_results, "skip": skip}
    inputs = []
    for argument, value in given.items():
        tensor = convert_to_tensor(value, int32)
        if tensor.shape.rank not in (None, 0):
            raise invalid(f"{op}: {argument} must be a scalar, got shape {tensor.shape}")
        inputs.append(tensor)

    def run(dim: np.ndarray, count: np.ndarray, skip: np.ndarray) -> list[np.ndarray]:
        return [_points(int(dim), int(count), int(skip)).astype(wanted.np_dtype)]

    known = [get_static_value(x) for x in inputs[:2]]
    count, size = (None if x is None else int(x) for x in (known[1], known[0]))
    for each in (count, size):
        if each is not None and each < 1:
            _check(size or 1, count or 1, 0)
    return on_host(op, run, inputs, [ArraySpec((count, size), wanted)])[0]  # pyright: ignore[reportArgumentType]


def _check(dim: int, count: int, skip: int) -> None:
    known = len(_table())
    if not 1 <= dim <= known:
        raise invalid(f"sobol_sample: dim must be from 1 to {known}, got {dim}")
    if count < 1:
        raise invalid(f"sobol_sample: num_results must be at least 1, got {count}")
    if skip < 0:
        raise invalid(f"sobol_sample: skip must not be negative, got {skip}")
    if count + skip >= 2**31 - 1:
        raise invalid(
            f"sobol_sample: num_results and skip together must be less than 2147483647, got {count} + {skip}"
        )


def _points(dim: int, count: int, skip: int) -> np.ndarray:
    _check(dim, count, skip)
    check_room("sobol_sample", (count, dim), np.dtype(np.float64))
    directions = _directions(dim)
    out = np.empty((count, dim))
    for begin in range(0, count, _CHUNK):
        numbers = np.arange(
            skip + 1 + begin, skip + 1 + min(begin + _CHUNK, count), dtype=np.uint64
        )
        gray = numbers ^ (numbers >> np.uint64(1))  # of neighbours one bit differs
        bits = np.zeros((len(numbers), dim), np.uint64)
        for i in range(int(gray.max()).bit_length()):
            chosen = (gray >> np.uint64(i)) & np.uint64(1)
            bits ^= chosen[:, None] * directions[i]
        out[begin : begin + len(numbers)] = bits * 2.0**-_BITS
    return out


@functools.cache
def _table() -> np.ndarray:
    with np.load(Path(__file__).with_name("sobol_numbers.npz")) as file:
        return file["numbers"].astype(np.uint64)


@functools.lru_cache(maxsize=4)
def _directions(dim: int) -> np.ndarray:
    """For each bit of a number, what it adds to each coordinate."""
    table = _table()[:dim]
    found = np.zeros((_BITS, dim), np.uint64)
    for i, (polynomial, *first) in enumerate(table.tolist()):
        degree = polynomial.bit_length() - 1
        numbers = first[:degree] if degree else [1] * _BITS
        for j in range(degree, _BITS) if degree else ():
            new = numbers[j - degree]
            for k in range(1, degree + 1):
                if polynomial >> (degree - k) & 1:
                    new ^= numbers[j - k] << k
            numbers.append(new)
        found[:, i] = [m << (_BITS - 1 - j) for j, m in enumerate(numbers)]
    return found
