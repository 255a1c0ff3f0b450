"""Matrix products for the hybrid executor: shared out between threads, in memory that XLA can use as it is."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from tapeflow.core.dims import Dim
from tapeflow.function.executors.workers import workers
from tapeflow.function.graph import Node

_ALIGNMENT = 64  # bytes: XLA takes memory that begins at a multiple of this without copying it
_WORTH_IT = 2**21  # multiplications; a smaller product is done by XLA, with what is around it


def is_large_product(node: Node) -> bool:
    """Whether a node is a product that is worth leaving XLA for."""
    if node.primitive.name != "matmul":
        return False
    a, b = node.inputs
    if a.dtype.np_dtype.char not in "fd" or any(type(d) is Dim for d in (*a.shape, *b.shape)):
        return False
    (out,) = node.outputs
    inner = a.shape[-2] if node.attrs["transpose_a"] else a.shape[-1]
    return math.prod(out.shape) * inner >= _WORTH_IT


def aligned_empty(shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
    """An array whose memory XLA takes as it is."""
    size = math.prod(shape) * dtype.itemsize
    memory = np.empty(size + _ALIGNMENT, np.uint8)
    start = -memory.ctypes.data % _ALIGNMENT
    return memory[start : start + size].view(dtype).reshape(shape)


def products(nodes: Sequence[Node], inputs: Sequence[tuple[Any, Any]]) -> list[np.ndarray]:
    """The outputs of matmul nodes that do not depend on each other."""
    pool = workers()
    shares: list[list[tuple[Any, Any, Any]]] = [[] for _ in range(pool.count)]
    outputs = []
    for node, (a, b) in zip(nodes, inputs, strict=True):
        if node.attrs["transpose_a"]:
            a = a.swapaxes(-1, -2)
        if node.attrs["transpose_b"]:
            b = b.swapaxes(-1, -2)
        out = aligned_empty(node.outputs[0].shape, a.dtype)
        outputs.append(out)
        for share, part in zip(shares, _parts(a, b, out, pool.count), strict=True):
            share.append(part)

    def task(share: list[tuple[Any, Any, Any]]) -> Any:
        def work() -> None:
            for a, b, out in share:
                np.matmul(a, b, out=out)

        return work

    pool.run([task(share) for share in shares])
    return outputs


def _parts(a: Any, b: Any, out: Any, count: int) -> list[tuple[Any, Any, Any]]:
    """A product in as many parts: of its batch, its rows or its columns."""
    batch, rows, columns = out.shape[0] if out.ndim > 2 else 1, *out.shape[-2:]
    if batch >= count:
        cuts = _cuts(batch, count, 1)
        alike = a.ndim == b.ndim == out.ndim and a.shape[0] == b.shape[0] == batch
        if alike:
            return [(a[i:j], b[i:j], out[i:j]) for i, j in cuts]
    if rows >= columns:
        return [(a[..., i:j, :], b, out[..., i:j, :]) for i, j in _cuts(rows, count, 16)]
    return [(a, b[..., i:j], out[..., i:j]) for i, j in _cuts(columns, count, 16)]


def _cuts(size: int, count: int, multiple: int) -> list[tuple[int, int]]:
    step = -(-size // count)
    step = -(-step // multiple) * multiple
    return [(min(i * step, size), min((i + 1) * step, size)) for i in range(count)]
