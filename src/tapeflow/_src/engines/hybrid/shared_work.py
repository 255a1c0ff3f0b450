"""Matrix products and convolutions for the hybrid executor: shared out between threads, each in a part of the result.

Results are in memory that XLA can use as it is.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tapeflow._src.core.sizes.dims import is_dynamic
from tapeflow._src.core.system.memory import aligned_empty
from tapeflow._src.core.system.workers import workers
from tapeflow._src.graph.graph import Node
from tapeflow._src.primitives.linalg.shared_products import tasks as product_tasks
from tapeflow._src.primitives.nn.conv_kernels import by_library
from tapeflow._src.primitives.sharing import cuts

_WORTH_IT = 2**21  # multiplications; less is done by XLA, with what is around it

Tasks = list[Callable[[], Any]]
Finish = Callable[[], Any]


def is_large(node: Node) -> bool:
    """Whether a node is a product or convolution that is worth leaving XLA for."""
    if node.primitive.name not in _WORK:
        return False
    values = (*node.inputs, *node.outputs)
    if values[0].dtype.np_dtype.char not in "fd":
        return False
    if any(is_dynamic(v.shape) for v in values):
        return False
    if node.primitive.name == "einsum" and not _is_product(**node.attrs):
        return False
    return _multiplications(node) >= _WORTH_IT


def _is_product(subscripts: tuple[str, ...], output: str, stretch: str) -> bool:
    """Whether an Einstein sum is one matrix product, its operands perhaps transposed."""
    if len(subscripts) != 2 or stretch or any(len(set(s)) < len(s) for s in subscripts):
        return False
    return all((label in subscripts[0]) + (label in subscripts[1]) == 1 for label in output) and (
        set("".join(subscripts)) - set(output) == set(subscripts[0]) & set(subscripts[1])
    )


def _multiplications(node: Node) -> int:
    if node.primitive.name == "einsum":
        labels = "".join(node.attrs["subscripts"])
        sizes = dict(zip(labels, sum((v.shape for v in node.inputs), ()), strict=True))
        return math.prod(sizes.values())
    first, second, out = *node.inputs, *node.outputs
    if node.primitive.name == "matmul":
        inner = first.shape[-2] if node.attrs["transpose_a"] else first.shape[-1]
        return math.prod(out.shape) * inner
    image, filters = {
        "conv": (out, second),
        "conv_input_gradient": (first, second),
        "conv_filter_gradient": (second, out),
    }[node.primitive.name]
    return math.prod(image.shape[:-1]) * math.prod(filters.shape)


def computed(nodes: Sequence[Node], inputs: Sequence[Sequence[Any]]) -> list[Any]:
    """The outputs of nodes that do not depend on each other."""
    pool = workers()
    shares: list[Tasks] = [[] for _ in range(pool.count)]
    finishes: list[Finish] = []
    for node, arrays in zip(nodes, inputs, strict=True):
        tasks, finish = _WORK[node.primitive.name](node, *arrays, count=pool.count)
        for share, task in zip(reversed(shares), tasks, strict=False):  # the last is this thread's
            share.append(task)
        finishes.append(finish)

    def all_of(share: Tasks) -> Callable[[], None]:
        def work() -> None:
            for task in share:
                task()

        return work

    pool.run([all_of(share) for share in shares])
    return [finish() for finish in finishes]


# Matrix products: a part of the batch, of the rows or of the columns for each thread.


def _matmul(node: Node, a: Any, b: Any, count: int) -> tuple[Tasks, Finish]:
    if node.attrs["transpose_a"]:
        a = a.swapaxes(-1, -2)
    if node.attrs["transpose_b"]:
        b = b.swapaxes(-1, -2)
    out = whole = aligned_empty(node.outputs[0].shape, a.dtype)
    if a.ndim > 2 and b.ndim == 2:  # one product, and not one for each matrix
        a, out = a.reshape(-1, a.shape[-1]), whole.reshape(-1, whole.shape[-1])
    return product_tasks(a, b, out, count), lambda: whole


def _einsum(node: Node, a: Any, b: Any, count: int) -> tuple[Tasks, Finish]:
    (first, second), output = node.attrs["subscripts"], node.attrs["output"]
    if output[:1] and output[0] not in first:  # the rows of the result come from the second
        a, b, first, second = b, a, second, first
    summed = [label for label in first if label in second]
    rows = [label for label in output if label in first]
    columns = [label for label in output if label in second]
    left = a.transpose([first.index(label) for label in rows + summed])
    right = b.transpose([second.index(label) for label in summed + columns])
    inner = math.prod(left.shape[len(rows) :])
    shape = (*left.shape[: len(rows)], *right.shape[len(summed) :])
    out = aligned_empty(shape, a.dtype)
    matrix = out.reshape(math.prod(shape[: len(rows)]), -1)
    tasks = product_tasks(left.reshape(-1, inner), right.reshape(inner, -1), matrix, count)
    labels = [*rows, *columns]
    return tasks, lambda: out.transpose([labels.index(label) for label in output])


# Convolutions: some images for each thread, unless a library with threads of its own computes them.


def _by_library(name: str, node: Node, a: Any, b: Any, out: Any) -> tuple[Tasks, Finish] | None:
    where = {key: value for key, value in node.attrs.items() if key != "shape"}
    task = by_library(name, a, b, out, **where)
    return None if task is None else ([task], lambda: out)


def _conv(node: Node, x: Any, w: Any, count: int) -> tuple[Tasks, Finish]:
    out = aligned_empty(node.outputs[0].shape, x.dtype)
    name = "forward" if node.primitive.name == "conv" else "input_gradient"
    found = _by_library(name, node, x, w, out)
    if found is not None:
        return found
    kernel = node.primitive.kernel

    def task(i: int, j: int) -> Callable[[], Any]:
        attrs = dict(node.attrs)
        if "shape" in attrs:  # of the images that a gradient is for
            attrs["shape"] = (j - i, *attrs["shape"][1:])

        def work() -> None:
            out[i:j] = kernel(x[i:j], w, **attrs)

        return work

    return [task(i, j) for i, j in cuts(x.shape[0], count)], lambda: out


def _conv_filter_gradient(node: Node, x: Any, g: Any, count: int) -> tuple[Tasks, Finish]:
    out = aligned_empty(node.outputs[0].shape, x.dtype)
    found = _by_library("filter_gradient", node, x, g, out)
    if found is not None:
        return found
    sums: dict[int, Any] = {}

    def task(i: int, j: int) -> Callable[[], Any]:
        def work() -> None:
            sums[i] = node.primitive.kernel(x[i:j], g[i:j], **node.attrs)

        return work

    def finish() -> Any:
        first, *others = [sums[i] for i in sorted(sums)]  # in this order, whichever was ready first
        out[...] = first
        for each in others:
            np.add(out, each, out=out)
        return out

    return [task(i, j) for i, j in cuts(x.shape[0], count)], finish


_WORK: dict[str, Callable[..., tuple[Tasks, Finish]]] = {
    "matmul": _matmul,
    "einsum": _einsum,
    "conv": _conv,
    "conv_input_gradient": _conv,
    "conv_filter_gradient": _conv_filter_gradient,
}
