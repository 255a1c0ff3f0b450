"""How products of matrices and diagonals are written."""

from __future__ import annotations

import math
from typing import Any

from tapeflow._src.core.dtypes import bool_, float64, int32, int64
from tapeflow._src.core.sizes.dims import is_dynamic
from tapeflow._src.exporting.onnx.array import counted, padded, sliced
from tapeflow._src.exporting.onnx.elementwise import widely
from tapeflow._src.exporting.onnx.writing import CannotWrite, GraphWriter, Ref, row
from tapeflow._src.graph.graph import Node
from tapeflow._src.primitives.image.resize import matrix
from tapeflow._src.primitives.linalg.products import diagonal_size


def turned(w: GraphWriter, x: Ref, rank: int) -> Ref:
    """Matrices transposed."""
    return w.transpose(x, [*range(rank - 2), rank - 1, rank - 2])


@row("matmul")
def _matmul(w: GraphWriter, node: Node, x: list[Ref]) -> Any:
    flags = (node.attrs["transpose_a"], node.attrs["transpose_b"])
    ranks = [len(v.shape) for v in node.inputs]
    parts = [turned(w, r, n) if f else r for r, n, f in zip(x, ranks, flags, strict=True)]
    return widely(w, "MatMul", *parts)


@row("einsum")
def _einsum(w: GraphWriter, node: Node, x: list[Ref]) -> Any:
    subscripts, parts = [], []
    for letters, value, ref in zip(node.attrs["subscripts"], node.inputs, x, strict=True):
        # A dimension that is stretched has no letter: what is left is the same for all of the others.
        lone = [i for i, c in enumerate(letters) if c in node.attrs["stretch"]]
        if is_dynamic(tuple(value.shape[i] for i in lone)):
            raise CannotWrite("dimensions that may be stretched or not")
        lone = [i for i in lone if value.shape[i] == 1]
        subscripts.append("".join(c for i, c in enumerate(letters) if i not in lone))
        parts.append(w.op("Squeeze", ref, lone) if lone else ref)
    output = node.attrs["output"]
    left = set("".join(subscripts))
    short = "".join(c for c in output if c in left)
    found = widely(w, "Einsum", *parts, equation=f"{','.join(subscripts)}->{short}")
    new = [i for i, c in enumerate(output) if c not in left]
    return w.op("Unsqueeze", found, new) if new else found


@row("cross")
def _cross(w: GraphWriter, node: Node, x: list[Ref]) -> Any:
    def rolled(v: Ref, order: list[int]) -> Ref:
        return w.op("Gather", v, order, axis=-1)

    ahead, behind = [1, 2, 0], [2, 0, 1]
    first = widely(w, "Mul", rolled(x[0], ahead), rolled(x[1], behind))
    return widely(w, "Sub", first, widely(w, "Mul", rolled(x[0], behind), rolled(x[1], ahead)))


def _diagonal(w: GraphWriter, rows: Any, columns: Any, k: int) -> Ref:
    """Where in a matrix the diagonal is."""
    down = w.op("Unsqueeze", w.op("Add", counted(w, rows), w.constant(k)), [1])
    return w.op("Equal", down, w.op("Unsqueeze", counted(w, columns), [0]), gives=bool_)


@row("diag_part")
def _diag_part(w: GraphWriter, node: Node, x: list[Ref]) -> Any:
    """The sum of each column in which only the diagonal is left."""
    k, shape = node.attrs["k"], node.inputs[0].shape
    (v,) = x
    wide = v if v.dtype.is_floating or v.dtype in (int32, int64) else w.cast(v, int64)
    rows, columns = shape[-2:]
    on = _diagonal(w, rows, columns, k)
    found = w.op("ReduceSum", w.where(on, wide, w.constant(0, wide)), [-2], keepdims=0)
    begin = max(k, 0)
    part = sliced(w, found, -1, begin, begin + diagonal_size(rows, columns, k))
    return w.cast(part, v.dtype)


@row("diag")
def _diag(w: GraphWriter, node: Node, x: list[Ref]) -> Any:
    attrs, (v,) = node.attrs, x
    rows, columns, k = attrs["rows"], attrs["columns"], attrs["k"]
    above = max(-k, 0)
    below = rows - above - diagonal_size(rows, columns, k)
    sides = [(0, 0)] * (len(node.inputs[0].shape) - 1)
    zero = w.constant(0, v)
    spread = w.op("Unsqueeze", padded(w, v, [*sides, (above, below)], zero), [-1])
    return w.where(_diagonal(w, rows, columns, k), spread, zero)


@row("determinant")
def _determinant(w: GraphWriter, node: Node, x: list[Ref]) -> Any:
    return w.op("Det", *x)


@row("resample")
def _resample(w: GraphWriter, node: Node, x: list[Ref]) -> Any:
    """By the matrix of the method, where sizes are known: ONNX's Resize does not know all of them."""
    attrs, shape = node.attrs, node.inputs[0].shape
    axis = attrs["axis"] % len(shape)
    have, size = shape[axis], attrs["size"]
    if is_dynamic((have, size)):
        if attrs["method"] != "linear" or attrs["antialias"] or attrs["adjoint"]:
            raise CannotWrite(
                "a size that is not known. Give the images' height and width in the tf.TensorSpec"
            )
        return _resized(w, node, x[0], axis)
    source, target = (size, have) if attrs["adjoint"] else (have, size)
    weights = matrix(attrs["method"], source, target, attrs["antialias"])
    weights = weights if attrs["adjoint"] else weights.T
    order = list(range(len(shape)))
    order[axis], order[-1] = order[-1], order[axis]
    wide = x[0] if x[0].dtype.np_dtype.itemsize >= 4 else w.cast(x[0], float64)
    product = w.op("MatMul", w.transpose(wide, order), w.constant(weights, wide))
    return w.cast(w.transpose(product, order), x[0].dtype)


def _resized(w: GraphWriter, node: Node, x: Ref, axis: int) -> Ref:
    """Between the two nearest, as images of one channel whose width is all that comes after the axis."""
    shape, size = node.inputs[0].shape, node.attrs["size"]
    after = math.prod(shape[axis + 1 :])
    image = w.op("Reshape", x, w.sizes([-1, 1, shape[axis], after]))
    sizes = w.op("Concat", w.op("Slice", w.shape(image), [0], [2]), w.sizes([size, after]), axis=0)
    mode: dict[str, Any] = {"mode": "linear", "coordinate_transformation_mode": "half_pixel"}
    found = w.op("Resize", image, None, None, sizes, **mode)
    return w.op("Reshape", found, w.sizes([*shape[:axis], size, *shape[axis + 1 :]]))
