"""How primitives of networks are written as TensorFlow's ops: products, windows, softmax, attention."""

from __future__ import annotations

import math
from typing import Any

from tapeflow._src.core.sizes.dims import is_dynamic
from tapeflow._src.graph.graph import Node
from tapeflow._src.primitives.nn.activations import GELU_CUBIC, GELU_SCALE
from tapeflow._src.tensorflow_files.graph_writing import CannotWrite, FunctionWriter, Ref
from tapeflow._src.tensorflow_files.primitive_ops import along_last, number, pairs, row


@row("matmul")
def _matmul(w: FunctionWriter, node: Node, x: list[Ref]) -> Any:
    a, b = node.attrs["transpose_a"], node.attrs["transpose_b"]
    if all(len(v.shape) == 2 for v in node.inputs):
        return w.op("MatMul", *x, transpose_a=a, transpose_b=b)
    if x[0].dtype.is_complex and (a or b):
        raise CannotWrite("transposed complex matrices")
    return w.op("BatchMatMulV2", *x, adj_x=a, adj_y=b)


@row("einsum")
def _einsum(w: FunctionWriter, node: Node, x: list[Ref]) -> Any:
    if node.attrs["stretch"]:
        raise CannotWrite("dimensions that are stretched")
    equation = f"{','.join(node.attrs['subscripts'])}->{node.attrs['output']}"
    return w.op("Einsum", x, equation=equation)


@row("softmax", "log_softmax")
def _softmax(w: FunctionWriter, node: Node, x: list[Ref]) -> Any:
    op = "Softmax" if node.primitive.name == "softmax" else "LogSoftmax"
    rank = len(node.inputs[0].shape)
    return along_last(w, x[0], node.attrs["axis"], rank, lambda value: w.op(op, value))


@row("gelu_tanh_gradient")
def _gelu_gradient(w: FunctionWriter, node: Node, x: list[Ref]) -> Any:
    g, v = x
    one, scale, square = number(w, 1.0, v), number(w, GELU_SCALE, v), w.op("Square", v)

    def odd(cubic: float) -> Ref:
        inner = w.op("AddV2", one, w.op("Mul", number(w, cubic, v), square))
        return w.op("Mul", scale, w.op("Mul", v, inner))

    bent = w.op("Tanh", odd(GELU_CUBIC))
    slope = w.op("Mul", w.op("Sub", one, w.op("Square", bent)), odd(3 * GELU_CUBIC))
    both = w.op("AddV2", w.op("AddV2", one, bent), slope)
    return w.op("Mul", g, w.op("Mul", number(w, 0.5, v), both))


# Windows. Arrays are [batch, *space, channels].


def _padded(w: FunctionWriter, node: Node, x: Ref, value: float = 0.0) -> Ref:
    """The input with its padding, where the op has none of its own."""
    padding = [(0, 0), *node.attrs["padding"], (0, 0)]
    if not is_dynamic(tuple(padding)) and not any(map(any, padding)):
        return x
    return w.op("PadV2", x, pairs(w, padding), number(w, value, x))


@row("conv")
def _conv(w: FunctionWriter, node: Node, x: list[Ref]) -> Any:
    attrs = node.attrs
    strides, dilations = list(attrs["strides"]), list(attrs["dilations"])
    padded, kernel = _padded(w, node, x[0]), x[1]
    shape = node.inputs[1].shape
    if len(strides) == 3:
        _refuse_groups(attrs["groups"])
        return w.op(
            "Conv3D",
            padded,
            kernel,
            strides=[1, *strides, 1],
            dilations=[1, *dilations, 1],
            padding="VALID",
            data_format="NDHWC",
        )
    if len(strides) == 1:  # a picture of one row
        padded, kernel = w.op("ExpandDims", padded, 1), w.op("ExpandDims", kernel, 0)
        strides, dilations, shape = [1, *strides], [1, *dilations], (1, *shape)
    more = {"strides": [1, *strides, 1], "dilations": [1, *dilations, 1], "padding": "VALID"}
    more["data_format"] = "NHWC"
    groups = attrs["groups"]
    if groups == 1:
        found = w.op("Conv2D", padded, kernel, **more)
    elif shape[-2] == 1 and len(set(strides)) == 1:  # each channel by itself
        wide = w.op("Reshape", kernel, [*shape[:2], groups, shape[-1] // groups])
        found = w.op("DepthwiseConv2dNative", padded, wide, **more)
    else:
        parts = w.op("Split", 3, padded, num_split=groups)
        kernels = w.op("Split", 3, kernel, num_split=groups)
        each = [w.op("Conv2D", a, b, **more) for a, b in zip(parts, kernels, strict=True)]
        found = w.op("ConcatV2", each, 3)
    return found if len(attrs["strides"]) == 2 else w.op("Squeeze", found, squeeze_dims=[1])


def _refuse_groups(groups: int) -> None:
    if groups != 1:
        raise CannotWrite("groups of channels")


@row("conv_input_gradient")
def _conv_transpose(w: FunctionWriter, node: Node, x: list[Ref]) -> Any:
    attrs = node.attrs
    _refuse_groups(attrs["groups"])
    if len(attrs["strides"]) != 2 or is_dynamic(tuple(attrs["padding"])):
        raise CannotWrite("other than two dimensions of known sizes")
    explicit = [n for pair in [(0, 0), *attrs["padding"], (0, 0)] for n in pair]
    return w.op(
        "Conv2DBackpropInput",
        w.sizes(attrs["shape"]),
        x[1],
        x[0],
        strides=[1, *attrs["strides"], 1],
        dilations=[1, *attrs["dilations"], 1],
        data_format="NHWC",
        **(
            {"padding": "EXPLICIT", "explicit_paddings": explicit}
            if any(explicit)
            else {"padding": "VALID"}
        ),
    )


@row("max_pool", "sum_pool")
def _pool(w: FunctionWriter, node: Node, x: list[Ref]) -> Any:
    attrs = node.attrs
    window, strides = list(attrs["window"]), list(attrs["strides"])
    if any(n != 1 for n in attrs["dilations"]):
        raise CannotWrite("cells apart")
    largest = node.primitive.name == "max_pool"
    lowest = float("-inf") if largest else 0.0
    padded = _padded(w, node, x[0], lowest)
    one = len(window) == 1
    ones = w.op("OnesLike", x[0]) if attrs.get("mean") and padded is not x[0] else None
    if one:
        window, strides = [1, *window], [1, *strides]

    def pooled(value: Ref) -> Ref:
        value = w.op("ExpandDims", value, 1) if one else value
        more = {"ksize": [1, *window, 1], "strides": [1, *strides, 1], "padding": "VALID"}
        op = f"{'MaxPool' if largest else 'AvgPool'}{'3D' if len(window) == 3 else ''}"
        layout = "NDHWC" if len(window) == 3 else "NHWC"
        found = w.op(op, value, data_format=layout, **more)
        return w.op("Squeeze", found, squeeze_dims=[1]) if one else found

    found = pooled(padded)
    if ones is not None:  # the mean of those cells that are not padding
        return w.op("RealDiv", found, pooled(_padded(w, node, ones)))
    if not largest and not attrs["mean"]:
        return w.op("Mul", found, number(w, float(math.prod(window)), found))
    return found


@row("attention", "biased_attention")
def _attention(w: FunctionWriter, node: Node, x: list[Ref]) -> Any:
    q, k, v = x[:3]
    scores = w.op("BatchMatMulV2", q, k, adj_x=False, adj_y=True)
    scores = w.op("Mul", scores, number(w, float(node.attrs["scale"]), q))
    if len(x) == 4:
        scores = w.op("AddV2", scores, x[3])
    if node.attrs["causal"]:
        shape = w.shape(scores)
        rank = len(node.inputs[0].shape)
        rows, columns = (w.op("Range", 0, w.element(shape, rank - 2 + i), 1) for i in (0, 1))
        hidden = w.op("Greater", w.op("ExpandDims", columns, 0), w.op("ExpandDims", rows, 1))
        scores = w.op("SelectV2", hidden, number(w, float("-inf"), q), scores)
    return w.op("BatchMatMulV2", w.op("Softmax", scores), v, adj_x=False, adj_y=False)
