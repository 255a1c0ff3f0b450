"""How softmax, losses, attention, convolutions and pooling are written."""

from __future__ import annotations

import math
from typing import Any

from tapeflow._src.core.dtypes import bool_, float64, int64
from tapeflow._src.core.sizes.dims import is_dynamic
from tapeflow._src.exporting.onnx.array import counted, padded
from tapeflow._src.exporting.onnx.linalg import turned
from tapeflow._src.exporting.onnx.reduction import logsumexp
from tapeflow._src.exporting.onnx.writing import CannotWrite, GraphWriter, Ref, row
from tapeflow._src.graph.graph import Node

# Softmax.


@row("softmax", "log_softmax")
def _softmax(w: GraphWriter, node: Node, x: list[Ref]) -> Any:
    op = "Softmax" if node.primitive.name == "softmax" else "LogSoftmax"
    return w.op(op, *x, axis=node.attrs["axis"])


def _softmax_slope(w: GraphWriter, u: Ref, p: Ref, axis: int) -> Ref:
    product = w.op("Mul", u, p)
    total = w.op("ReduceSum", product, [axis], keepdims=1)
    return w.op("Sub", product, w.op("Mul", p, total))


@row("softmax_gradient")
def _softmax_gradient(w: GraphWriter, node: Node, x: list[Ref]) -> Any:
    return _softmax_slope(w, x[0], x[1], node.attrs["axis"])


@row("sparse_softmax_cross_entropy")
def _sparse_cross_entropy(w: GraphWriter, node: Node, x: list[Ref]) -> Any:
    hit = _is_label(w, x[1], node.inputs[0].shape[-1])
    kept = w.where(hit, x[0], w.constant(0, x[0]))
    chosen = w.op("ReduceSum", kept, [-1], keepdims=1)
    return w.op("Squeeze", w.op("Sub", logsumexp(w, x[0], [-1]), chosen), [-1])


def _is_label(w: GraphWriter, labels: Ref, classes: Any) -> Ref:
    chosen = w.op("Unsqueeze", w.cast(labels, int64), [-1])
    return w.op("Equal", chosen, counted(w, classes), gives=bool_)


@row("sparse_softmax_cross_entropy_gradient")
def _sparse_cross_entropy_gradient(w: GraphWriter, node: Node, x: list[Ref]) -> Any:
    u, logits, labels = x
    hit = _is_label(w, labels, node.inputs[1].shape[-1])
    p = w.op("Softmax", logits, axis=-1)
    less = w.where(hit, w.op("Sub", p, w.constant(1, p)), p)
    return w.op("Mul", less, w.op("Unsqueeze", u, [-1]))


@row("softmax_cross_entropy")
def _cross_entropy(w: GraphWriter, node: Node, x: list[Ref]) -> Any:
    axis = node.attrs["axis"]
    surprise = w.op("Neg", w.op("LogSoftmax", x[0], axis=axis))
    return w.op("ReduceSum", w.op("Mul", surprise, x[1]), [axis], keepdims=0)


@row("softmax_cross_entropy_gradient")
def _cross_entropy_gradient(w: GraphWriter, node: Node, x: list[Ref]) -> Any:
    u, logits, labels = x
    axis = node.attrs["axis"]
    difference = w.op("Sub", w.op("Softmax", logits, axis=axis), labels)
    return w.op("Mul", difference, w.op("Unsqueeze", u, [axis]))


# Attention.


def _weights(w: GraphWriter, node: Node, first: int, x: list[Ref]) -> Ref:
    """How much each query looks at each key."""
    q, k = x[first : first + 2]
    rank = len(node.inputs[first].shape)
    scores = w.op("MatMul", q, turned(w, k, len(node.inputs[first + 1].shape)))
    scores = w.op("Mul", scores, w.constant(float(node.attrs["scale"]), q))
    if len(x) == first + 4:
        scores = w.op("Add", scores, x[first + 3])
    if node.attrs["causal"]:
        queries = node.inputs[first].shape[rank - 2]
        keys = node.inputs[first + 1].shape[-2]
        columns = w.op("Unsqueeze", counted(w, keys), [0])
        hidden = w.op("Greater", columns, w.op("Unsqueeze", counted(w, queries), [1]), gives=bool_)
        scores = w.where(hidden, w.constant(-math.inf, q), scores)
    return w.op("Softmax", scores, axis=-1)


@row("attention", "biased_attention")
def _attention(w: GraphWriter, node: Node, x: list[Ref]) -> Any:
    return w.op("MatMul", _weights(w, node, 0, x), x[2])


@row("attention_gradient", "biased_attention_gradient")
def _attention_gradient(w: GraphWriter, node: Node, x: list[Ref]) -> Any:
    u, q, k, v = x[:4]
    rank = len(node.inputs[0].shape)
    p = _weights(w, node, 1, x)
    slope = _softmax_slope(w, w.op("MatMul", u, turned(w, v, rank)), p, -1)
    slope = w.op("Mul", slope, w.constant(float(node.attrs["scale"]), q))
    of_keys = w.op("MatMul", turned(w, slope, rank), q)
    return [w.op("MatMul", slope, k), of_keys, w.op("MatMul", turned(w, p, rank), u)]


# Windows. Arrays are [batch, *space, channels] here, and [batch, channels, *space] in ONNX.


def _channels_first(w: GraphWriter, x: Ref, rank: int) -> Ref:
    return w.transpose(x, [0, rank - 1, *range(1, rank - 1)])


def _channels_last(w: GraphWriter, x: Ref, rank: int) -> Ref:
    return w.transpose(x, [0, *range(2, rank), 1])


def _framed(w: GraphWriter, x: Ref, padding: Any, value: float) -> Ref:
    """The input, its channels first, with its padding."""
    return padded(w, x, [(0, 0), (0, 0), *padding], w.constant(value, x))


def _pads(padding: Any) -> list[int]:
    return [*[before for before, _ in padding], *[after for _, after in padding]]


def _kernel(w: GraphWriter, kernel: Ref, rank: int) -> Ref:
    """[*window, inputs, outputs]  ->  [outputs, inputs, *window]."""
    return w.transpose(kernel, [rank - 1, rank - 2, *range(rank - 2)])


def _of_floats(x: Ref) -> None:
    if not x.dtype.is_floating:
        raise CannotWrite("integers. Cast them to float32 first")


@row("conv")
def _conv(w: GraphWriter, node: Node, x: list[Ref]) -> Any:
    attrs, rank = node.attrs, len(node.inputs[0].shape)
    _of_floats(x[0])
    image, padding = _channels_first(w, x[0], rank), attrs["padding"]
    known = not is_dynamic(padding)
    if not known:
        image = _framed(w, image, padding, 0)
    found = w.op(
        "Conv",
        image,
        _kernel(w, x[1], rank),
        strides=list(attrs["strides"]),
        dilations=list(attrs["dilations"]),
        group=attrs["groups"],
        pads=_pads(padding) if known else [0] * (2 * rank - 4),
    )
    return _channels_last(w, found, rank)


@row("conv_input_gradient")
def _conv_transpose(w: GraphWriter, node: Node, x: list[Ref]) -> Any:
    """Of all that a transposed convolution gives, the part within the padding; what no window has seen is 0."""
    attrs, rank = node.attrs, len(node.inputs[0].shape)
    _of_floats(x[0])
    window = node.inputs[1].shape[:-2]
    found = w.op(
        "ConvTranspose",
        _channels_first(w, x[0], rank),
        _kernel(w, x[1], rank),
        strides=list(attrs["strides"]),
        dilations=list(attrs["dilations"]),
        group=attrs["groups"],
    )
    axes = list(range(2, rank))
    space = attrs["shape"][1:-1]
    begin = [before for before, _ in attrs["padding"]]
    wanted = [b + n for b, n in zip(begin, space, strict=True)]
    given = [
        (n - 1) * s + (k - 1) * d + 1
        for n, s, d, k in zip(
            node.inputs[0].shape[1:-1], attrs["strides"], attrs["dilations"], window, strict=True
        )
    ]
    lacking = [a - b for a, b in zip(wanted, given, strict=True)]
    if is_dynamic(tuple(lacking)):
        more = w.op("Max", w.sizes(lacking), [0])
        pads = w.op("Concat", w.constant([0] * (rank + 2)), more, axis=0)
        found = w.op("Pad", found, pads, w.constant(0, found), mode="constant")
    else:
        found = _framed(w, found, [(0, max(n, 0)) for n in lacking], 0)
    part = w.op("Slice", found, w.sizes(begin), w.sizes(wanted), axes, [1] * len(axes))
    return _channels_last(w, part, rank)


@row("conv_filter_gradient")
def _conv_filter_gradient(w: GraphWriter, node: Node, x: list[Ref]) -> Any:
    """A convolution of what went in by the gradient: examples are channels, strides and dilations change places."""
    attrs, rank = node.attrs, len(node.inputs[0].shape)
    _of_floats(x[0])
    if attrs["groups"] != 1 or is_dynamic(attrs["padding"]):
        raise CannotWrite("groups of channels, or sizes that are not known")
    turn = [rank - 1, 0, *range(1, rank - 1)]
    found = w.op(
        "Conv",
        w.transpose(x[0], turn),
        w.transpose(x[1], turn),
        strides=list(attrs["dilations"]),
        dilations=list(attrs["strides"]),
        pads=_pads(attrs["padding"]),
    )
    window = attrs["shape"][:-2]
    axes = list(range(2, rank))
    part = w.op("Slice", found, [0] * len(axes), w.sizes(window), axes, [1] * len(axes))
    return w.transpose(part, [*axes, 0, 1])


@row("max_pool", "sum_pool")
def _pool(w: GraphWriter, node: Node, x: list[Ref]) -> Any:
    attrs, rank = node.attrs, len(node.inputs[0].shape)
    largest = node.primitive.name == "max_pool"
    if largest and x[0].dtype.is_integer and x[0].dtype.size <= 4:  # float64 holds them all
        return w.cast(_pool(w, node, [w.cast(x[0], float64)]), x[0].dtype)
    _of_floats(x[0])
    window, padding = list(attrs["window"]), attrs["padding"]
    image = _channels_first(w, x[0], rank)
    # Operators take less padding than a window is wide, and numbers only.
    known = not is_dynamic(padding)
    known = known and all(max(pair) < k for pair, k in zip(padding, window, strict=True))
    counts = None
    if not known:
        if not largest and attrs["mean"]:
            counts = _framed(w, w.op("Expand", w.constant(1, image), w.shape(image)), padding, 0)
        image = _framed(w, image, padding, -math.inf if largest else 0)
    more: dict[str, Any] = {
        "kernel_shape": window,
        "strides": list(attrs["strides"]),
        "dilations": list(attrs["dilations"]),
        "pads": _pads(padding) if known else [0] * (2 * len(window)),
    }
    if largest:
        return _channels_last(w, w.op("MaxPool", image, **more), rank)
    mean_of_seen = attrs["mean"] and known
    found = w.op("AveragePool", image, count_include_pad=int(not mean_of_seen), **more)
    if counts is not None:  # the mean of those cells that are not padding
        found = w.op("Div", found, w.op("AveragePool", counts, count_include_pad=1, **more))
    elif not attrs["mean"]:
        found = w.op("Mul", found, w.constant(float(math.prod(window)), found))
    return _channels_last(w, found, rank)
