"""How primitives are written as TensorFlow's ops: what is computed of each element, moved, picked and reduced."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tapeflow._src.core.dtypes import int32
from tapeflow._src.core.sizes.dims import is_dynamic
from tapeflow._src.graph.graph import Node
from tapeflow._src.primitives.image.resize import matrix
from tapeflow._src.tensorflow_files.graph_writing import ROWS, CannotWrite, FunctionWriter, Ref, Row


def row(*names: str) -> Callable[[Row], Row]:
    """Registers how primitives are written."""

    def register(function: Row) -> Row:
        for name in names:
            ROWS[name] = function
        return function

    return register


def _same(op: str) -> Row:
    """A primitive that is an op of the same inputs."""
    return lambda w, node, x: w.op(op, *x)


_SAME = {
    "negative": "Neg",
    "logical_not": "LogicalNot",
    "is_nan": "IsNan",
    "is_inf": "IsInf",
    "is_finite": "IsFinite",
    "stop_gradient": "StopGradient",
    "zeros_like": "ZerosLike",
    "ones_like": "OnesLike",
    "add": "AddV2",
    "subtract": "Sub",
    "multiply": "Mul",
    "floor_divide": "FloorDiv",
    "floor_mod": "FloorMod",
    "power": "Pow",
    "not_equal": "NotEqual",
    "squared_difference": "SquaredDifference",
    "divide_no_nan": "DivNoNan",
    "multiply_no_nan": "MulNoNan",
    "maximum": "Maximum",
    "minimum": "Minimum",
    "less": "Less",
    "less_equal": "LessEqual",
    "greater": "Greater",
    "greater_equal": "GreaterEqual",
    "logical_and": "LogicalAnd",
    "logical_or": "LogicalOr",
    "bitwise_and": "BitwiseAnd",
    "bitwise_or": "BitwiseOr",
    "bitwise_xor": "BitwiseXor",
    "left_shift": "LeftShift",
    "right_shift": "RightShift",
    "truncate_divide": "TruncateDiv",
    "truncate_mod": "TruncateMod",
    "select": "SelectV2",
    "logical_xor": "NotEqual",
    "divide": "RealDiv",
    **{
        name: name.capitalize()
        for name in (
            *("square", "sqrt", "rsqrt", "reciprocal", "sign", "floor", "ceil", "rint", "round"),
            *(
                "invert",
                "exp",
                "expm1",
                "log",
                "log1p",
                "sin",
                "cos",
                "tan",
                "asin",
                "acos",
                "atan",
            ),
            *("sinh", "cosh", "tanh", "asinh", "acosh", "atanh", "sigmoid", "softplus", "softsign"),
            *("relu", "relu6", "elu", "selu", "conj", "erf", "erfc", "erfinv", "lgamma", "digamma"),
            *("identity", "atan2", "xlogy", "xlog1py", "xdivy", "equal", "betainc", "zeta"),
        )
    },
}
ROWS.update({name: _same(op) for name, op in _SAME.items()})
ROWS["barrier"] = ROWS["laid_out"] = _same("Identity")


@row("abs")
def _abs(w: FunctionWriter, node: Node, x: list[Ref]) -> Any:
    return w.op("ComplexAbs" if x[0].dtype.is_complex else "Abs", *x)


@row("add_n")
def _add_n(w: FunctionWriter, node: Node, x: list[Ref]) -> Any:
    return w.op("AddN", x)


@row("cast", "cast_to_discrete")
def _cast(w: FunctionWriter, node: Node, x: list[Ref]) -> Any:
    return w.op("Cast", *x, DstT=node.attrs["dtype"])


@row("bitcast")
def _bitcast(w: FunctionWriter, node: Node, x: list[Ref]) -> Any:
    return w.op("Bitcast", *x, type=node.attrs["dtype"])


@row("leaky_relu")
def _leaky_relu(w: FunctionWriter, node: Node, x: list[Ref]) -> Any:
    return w.op("LeakyRelu", *x, alpha=float(node.attrs["alpha"]))


@row("silu")
def _silu(w: FunctionWriter, node: Node, x: list[Ref]) -> Any:
    return w.op("Mul", x[0], w.op("Sigmoid", x[0]))


def number(w: FunctionWriter, value: float, like: Ref) -> Ref:
    """A number of the dtype of another value."""
    return w.constant(np.asarray(value, like.dtype.np_dtype))


@row("gelu_tanh")
def _gelu(w: FunctionWriter, node: Node, x: list[Ref]) -> Any:
    (v,) = x
    cube = w.op("Mul", number(w, 0.044715, v), w.op("Mul", v, w.op("Square", v)))
    inner = w.op("Mul", number(w, (2 / np.pi) ** 0.5, v), w.op("AddV2", v, cube))
    bent = w.op("AddV2", number(w, 1.0, v), w.op("Tanh", inner))
    return w.op("Mul", w.op("Mul", number(w, 0.5, v), v), bent)


# Shapes.


@row("reshape")
def _reshape(w: FunctionWriter, node: Node, x: list[Ref]) -> Any:
    return w.op("Reshape", *x, w.sizes(node.attrs["shape"]))


@row("shape_check")
def _shape_check(w: FunctionWriter, node: Node, x: list[Ref]) -> Any:
    message, wanted = node.attrs["message"], node.attrs["wanted"]
    text = message.replace("{wanted}", str(wanted)).replace("{given}", "of this call")
    told = w.constant(np.array(text.encode(), object))
    for size, number in zip(node.attrs["shape"], wanted, strict=True):
        if number is not None:
            fits: Ref = w.op("Equal", w.size(size), w.size(number))
            w.controls.append(w.op("Assert", fits, [told]))
    return []


@row("broadcast_to")
def _broadcast(w: FunctionWriter, node: Node, x: list[Ref]) -> Any:
    return w.op("BroadcastTo", *x, w.sizes(node.attrs["shape"]))


@row("transpose")
def _transpose(w: FunctionWriter, node: Node, x: list[Ref]) -> Any:
    return w.op("Transpose", *x, list(node.attrs["perm"]))


@row("shape")
def _shape(w: FunctionWriter, node: Node, x: list[Ref]) -> Any:
    return w.op("Shape", *x, out_type=node.attrs["dtype"])


@row("size")
def _size(w: FunctionWriter, node: Node, x: list[Ref]) -> Any:
    if x:
        return w.op("Size", *x, out_type=node.attrs["dtype"])
    raise CannotWrite("a size")


@row("concat")
def _concat(w: FunctionWriter, node: Node, x: list[Ref]) -> Any:
    return w.op("ConcatV2", x, node.attrs["axis"])


@row("stack")
def _stack(w: FunctionWriter, node: Node, x: list[Ref]) -> Any:
    return w.op("Pack", x, axis=node.attrs["axis"])


@row("unstack")
def _unstack(w: FunctionWriter, node: Node, x: list[Ref]) -> Any:
    return w.op("Unpack", *x, num=len(node.outputs), axis=node.attrs["axis"])


@row("split")
def _split(w: FunctionWriter, node: Node, x: list[Ref]) -> Any:
    sizes, axis = node.attrs["sizes"], node.attrs["axis"]
    return w.op("SplitV", *x, w.sizes(sizes), axis, num_split=len(sizes))


@row("pad")
def _pad(w: FunctionWriter, node: Node, x: list[Ref]) -> Any:
    return w.op("PadV2", x[0], pairs(w, node.attrs["paddings"]), x[1])


@row("mirror_pad")
def _mirror_pad(w: FunctionWriter, node: Node, x: list[Ref]) -> Any:
    mode = "SYMMETRIC" if node.attrs["edge"] else "REFLECT"
    return w.op("MirrorPad", *x, pairs(w, node.attrs["paddings"]), mode=mode)


def pairs(w: FunctionWriter, paddings: Any) -> Ref:
    """A matrix of two columns."""
    if not is_dynamic(tuple(paddings)):
        return w.constant(np.asarray(paddings, np.int32).reshape(-1, 2))
    return w.op("Pack", [w.sizes(pair) for pair in paddings], axis=0)


@row("tile")
def _tile(w: FunctionWriter, node: Node, x: list[Ref]) -> Any:
    return w.op("Tile", *x, w.sizes(node.attrs["multiples"]))


@row("reverse")
def _reverse(w: FunctionWriter, node: Node, x: list[Ref]) -> Any:
    return w.op("ReverseV2", *x, _axes(node.attrs["axis"], len(node.inputs[0].shape)))


@row("roll")
def _roll(w: FunctionWriter, node: Node, x: list[Ref]) -> Any:
    shift, axis = node.attrs["shift"], node.attrs["axis"]
    return w.op("Roll", *x, w.sizes(_listed(shift)), _listed(axis))


def _listed(value: Any) -> list[Any]:
    return list(value) if isinstance(value, (tuple, list)) else [value]


@row("range")
def _range(w: FunctionWriter, node: Node, x: list[Ref]) -> Any:
    found = w.op("Range", 0, w.size(node.attrs["size"]), 1)
    dtype = node.attrs["dtype"]
    return found if dtype is int32 else w.op("Cast", found, DstT=dtype)


# Picking.


_MASKS = ("begin", "end", "ellipsis", "new_axis", "shrink_axis")


@row("getitem")
def _getitem(w: FunctionWriter, node: Node, x: list[Ref]) -> Any:
    begin: list[Any] = []
    end: list[Any] = []
    strides: list[Any] = []
    masks: dict[str, int] = {f"{kind}_mask": 0 for kind in _MASKS}
    for place, part in enumerate(node.attrs["index"]):
        bit = 1 << place
        if isinstance(part, slice):
            step = 1 if part.step is None else part.step
            masks["begin_mask"] |= bit if part.start is None else 0
            masks["end_mask"] |= bit if part.stop is None else 0
            row = (
                0 if part.start is None else part.start,
                0 if part.stop is None else part.stop,
                step,
            )
        elif part is None or part is Ellipsis:
            masks["new_axis_mask" if part is None else "ellipsis_mask"] |= bit
            row = (0, 0, 1)
        else:
            masks["shrink_axis_mask"] |= bit
            row = (part, part + 1, 1)
            masks["end_mask"] |= bit if not is_dynamic(part) and part == -1 else 0
        for vector, value in zip((begin, end, strides), row, strict=True):
            vector.append(value)
    return w.op("StridedSlice", *x, w.sizes(begin), w.sizes(end), w.sizes(strides), **masks)


@row("gather")
def _gather(w: FunctionWriter, node: Node, x: list[Ref]) -> Any:
    axis, batch_dims = node.attrs["axis"], node.attrs["batch_dims"]
    return w.op("GatherV2", *x, axis, batch_dims=batch_dims)


@row("gather_nd")
def _gather_nd(w: FunctionWriter, node: Node, x: list[Ref]) -> Any:
    if node.attrs["batch_dims"]:
        raise CannotWrite("with batch_dims")
    return w.op("GatherNd", *x)


@row("one_hot")
def _one_hot(w: FunctionWriter, node: Node, x: list[Ref]) -> Any:
    axis = node.attrs["axis"]
    last = axis == len(node.inputs[0].shape)
    depth = w.size(node.attrs["depth"])
    return w.op("OneHot", x[0], depth, x[1], x[2], axis=-1 if last else axis)


# Reducing.


def _axes(axis: Any, rank: int) -> list[int]:
    if axis is None:
        return list(range(rank))
    return list(axis) if isinstance(axis, tuple) else [axis]


def reduced(op: str) -> Row:
    """A reduction."""

    def write(w: FunctionWriter, node: Node, x: list[Ref]) -> Any:
        axes = _axes(node.attrs["axis"], len(node.inputs[0].shape))
        return w.op(op, *x, axes, keep_dims=node.attrs["keepdims"])

    return write


ROWS.update(
    {
        name: reduced(name.capitalize())
        for name in ("sum", "mean", "prod", "max", "min", "any", "all")
    }
)


@row("logsumexp")
def _logsumexp(w: FunctionWriter, node: Node, x: list[Ref]) -> Any:
    axes = _axes(node.attrs["axis"], len(node.inputs[0].shape))
    largest = w.op("Max", *x, axes, keep_dims=True)
    finite = w.op("SelectV2", w.op("IsFinite", largest), largest, w.op("ZerosLike", largest))
    total = w.op("Sum", w.op("Exp", w.op("Sub", *x, finite)), axes, keep_dims=True)
    found = w.op("AddV2", w.op("Log", total), finite)
    return found if node.attrs["keepdims"] else w.op("Squeeze", found, squeeze_dims=axes)


@row("variance_about_mean")
def _variance(w: FunctionWriter, node: Node, x: list[Ref]) -> Any:
    axes = _axes(node.attrs["axis"], len(node.inputs[0].shape))
    return w.op("Mean", w.op("SquaredDifference", *x), axes, keep_dims=node.attrs["keepdims"])


@row("argmax", "argmin")
def _argmax(w: FunctionWriter, node: Node, x: list[Ref]) -> Any:
    op = "ArgMax" if node.primitive.name == "argmax" else "ArgMin"
    return w.op(op, *x, node.attrs["axis"], output_type=node.attrs["dtype"])


@row("cumsum", "cumprod")
def _running(w: FunctionWriter, node: Node, x: list[Ref]) -> Any:
    attrs = node.attrs
    op = node.primitive.name.capitalize()
    return w.op(op, *x, attrs["axis"], exclusive=attrs["exclusive"], reverse=attrs["reverse"])


@row("top_k_indices")
def _top_k(w: FunctionWriter, node: Node, x: list[Ref]) -> Any:
    _, indices = w.op("TopKV2", *x, w.size(node.attrs["k"]), index_type=node.attrs["dtype"])
    return indices


# What is done along one axis, which has to be the last.


def along_last(w: FunctionWriter, x: Ref, axis: int, rank: int, run: Callable[[Ref], Ref]) -> Ref:
    """What a function gives of a value whose last axis is this one, with the axes as they were."""
    if axis % rank == rank - 1:
        return run(x)
    order = list(range(rank))
    order[axis], order[-1] = order[-1], order[axis]
    return w.op("Transpose", run(w.op("Transpose", x, order)), order)


@row("repeat")
def _repeat(w: FunctionWriter, node: Node, x: list[Ref]) -> Any:
    repeats, axis = node.attrs["repeats"], node.attrs["axis"]
    rank = len(node.inputs[0].shape)
    if len(repeats) > 1:
        if is_dynamic(repeats):
            raise CannotWrite("counts that are not known")
        rows = np.repeat(np.arange(len(repeats), dtype=np.int32), repeats)
        return w.op("GatherV2", *x, w.constant(rows), axis)
    times: list[Any] = [1] * (rank + 1)
    times[axis % rank + 1] = repeats[0]
    tiled = w.op("Tile", w.op("ExpandDims", *x, axis % rank + 1), w.sizes(times))
    return w.op("Reshape", tiled, w.sizes(node.outputs[0].shape))


@row("resample")
def _resample(w: FunctionWriter, node: Node, x: list[Ref]) -> Any:
    attrs, shape = node.attrs, node.inputs[0].shape
    have, size, axis = shape[attrs["axis"]], attrs["size"], attrs["axis"]
    if is_dynamic((have, size)):
        raise CannotWrite("sizes of images that are not known")
    source, target = (size, have) if attrs["adjoint"] else (have, size)
    weights = matrix(attrs["method"], source, target, attrs["antialias"])
    weights = (weights.T if attrs["adjoint"] else weights).astype(x[0].dtype.np_dtype)

    def run(value: Ref) -> Ref:
        return w.op("BatchMatMulV2", value, w.constant(weights), adj_x=False, adj_y=True)

    return along_last(w, x[0], axis, len(shape), run)


@row("sort")
def _sort(w: FunctionWriter, node: Node, x: list[Ref]) -> Any:
    shape, axis = node.inputs[0].shape, node.attrs["axis"]

    def run(value: Ref) -> Ref:
        found, _ = w.op("TopKV2", value, w.size(shape[axis]), index_type=int32)
        return found if node.attrs["descending"] else w.op("ReverseV2", found, [len(shape) - 1])

    return along_last(w, x[0], axis, len(shape), run)


@row("argsort")
def _argsort(w: FunctionWriter, node: Node, x: list[Ref]) -> Any:
    shape, axis = node.inputs[0].shape, node.attrs["axis"]
    if not node.attrs["descending"] and not x[0].dtype.is_floating:
        raise CannotWrite("integers in ascending order")

    def run(value: Ref) -> Ref:
        value = value if node.attrs["descending"] else w.op("Neg", value)
        return w.op("TopKV2", value, w.size(shape[axis]), index_type=int32)[1]

    return along_last(w, x[0], axis, len(shape), run)


@row("take_along")
def _take_along(w: FunctionWriter, node: Node, x: list[Ref]) -> Any:
    axis, rank = node.attrs["axis"], len(node.inputs[0].shape)

    def run(value: Ref) -> Ref:
        order = list(range(rank))
        order[axis], order[-1] = order[-1], order[axis]
        rows = x[1] if axis % rank == rank - 1 else w.op("Transpose", x[1], order)
        return w.op("GatherV2", value, rows, rank - 1, batch_dims=rank - 1)

    return along_last(w, x[0], axis, rank, run)
