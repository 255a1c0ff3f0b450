"""Rules for shapes: reshaping, transposing, broadcasting, choosing. See `simplification` for what a rule is."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tapeflow._src.graph.graph import Node, Value
from tapeflow._src.graph.passes.rewriting import is_static, same_shape
from tapeflow._src.graph.passes.simplification import Known, alike, instead, rule

# One after the other.


@rule("reshape", "broadcast_to")
def _of_the_same_kind(node: Node, known: Known) -> Node | None:
    """Only the last of several shapes counts."""
    inner = known.producer(node.inputs[0], node.primitive.name)
    if inner is None:
        return None
    (x,) = inner.inputs
    if known.producer(x, *_SCATTERED) is not None and not alike(x, node.outputs[0]):
        return None
    return instead(node, node.primitive.name, (x,), node.attrs)


# What gives a view whose elements are not side by side: reshaping it takes a copy, and reshaping the copy does not.
_SCATTERED = ("transpose", "broadcast_to", "getitem")


@rule("reshape", "broadcast_to", "tile")
def _to_the_same_shape(node: Node, known: Known) -> Value | None:
    (x,) = node.inputs
    if node.primitive.name == "tile" and any(
        type(n) is not int or n != 1 for n in node.attrs["multiples"]
    ):
        return None
    return x if alike(x, node.outputs[0]) else None


@rule("transpose")
def _transpose(node: Node, known: Known) -> Value | Node | None:
    (x,) = node.inputs
    perm = node.attrs["perm"]
    if perm == tuple(range(len(perm))):
        return x
    inner = known.producer(x, "transpose")
    if inner is None:
        return None
    first = inner.attrs["perm"]
    return instead(node, "transpose", inner.inputs, {"perm": tuple([first[i] for i in perm])})


@rule("matmul")
def _matmul_of_transpose(node: Node, known: Known) -> Node | None:
    """A product can transpose its operands itself."""
    inputs, attrs = list(node.inputs), dict(node.attrs)
    for i, flag in enumerate(("transpose_a", "transpose_b")):
        inner = known.producer(inputs[i], "transpose")
        if inner is not None:
            *_, rows, columns = perm = inner.attrs["perm"]
            if (rows, columns) == (len(perm) - 1, len(perm) - 2) and _keeps(perm[:-2]):
                inputs[i] = inner.inputs[0]
                attrs[flag] = not attrs[flag]
    return None if inputs == list(node.inputs) else instead(node, "matmul", tuple(inputs), attrs)


def _keeps(perm: tuple[int, ...]) -> bool:
    return perm == tuple(range(len(perm)))


# Known before values are.


@rule("shape", "size")
def _shape(node: Node, known: Known) -> Any:
    (x,) = node.inputs
    if not is_static(x):
        return None
    dtype = node.attrs["dtype"].np_dtype
    return np.array(x.shape if node.primitive.name == "shape" else math.prod(x.shape), dtype)


@rule("getitem")
def _one_size(node: Node, known: Known) -> Any:
    """A size that is known, of a shape that is not known as a whole."""
    shape = known.producer(node.inputs[0], "shape")
    index = node.attrs["index"]
    if shape is None or len(index) != 1 or type(index[0]) is not int:
        return None
    size = shape.inputs[0].shape[index[0]]
    return node.outputs[0].dtype.np_dtype.type(size) if type(size) is int else None


@rule("ones_like", "zeros_like")
def _filled(node: Node, known: Known) -> Any:
    (output,) = node.outputs
    if not is_static(output) or output.dtype.np_dtype.kind == "O":
        return None
    number = node.primitive.name == "ones_like"
    if not output.shape:
        return output.dtype.np_dtype.type(number)
    scalar = known.constant(number, output)
    return instead(node, "broadcast_to", (scalar,), {"shape": output.shape})


# Nothing to do.


@rule("sum", "prod", "max", "min")
def _over_no_axes(node: Node, known: Known) -> Value | None:
    """A sum of one float is not that float: NumPy begins with 0.0, which makes 0.0 of -0.0."""
    (x,) = node.inputs
    if node.attrs["axis"] != () or x.dtype.is_complex:
        return None
    return None if node.primitive.name == "sum" and not x.dtype.is_integer else x


@rule("concat")
def _of_one(node: Node, known: Known) -> Value | None:
    return node.inputs[0] if len(node.inputs) == 1 else None


@rule("getitem")
def _all_of_it(node: Node, known: Known) -> Value | None:
    index = node.attrs["index"]
    if not isinstance(index, tuple) or not all(map(_takes_all, index)):
        return None
    return node.inputs[0] if alike(node.inputs[0], node.outputs[0]) else None


def _takes_all(index: Any) -> bool:
    if isinstance(index, slice):
        return index.start is None and index.stop is None and index.step is None
    return index is Ellipsis


@rule("pad")
def _by_nothing(node: Node, known: Known) -> Value | None:
    widths = [n for pair in node.attrs["paddings"] for n in pair]
    return node.inputs[0] if all(type(n) is int and n == 0 for n in widths) else None


# Choices and broadcasting.


@rule("select")
def _known_choice(node: Node, known: Known) -> Value | Node | None:
    choice = known.number(node.inputs[0])
    if choice is None:
        return None
    chosen = node.inputs[1 if choice else 2]
    (output,) = node.outputs
    if alike(chosen, output):
        return chosen
    if not is_static(output):
        return None
    return instead(node, "broadcast_to", (chosen,), {"shape": output.shape})


@rule(
    *("add", "subtract", "multiply", "divide", "maximum", "minimum", "select"),
    *("equal", "not_equal", "less", "less_equal", "greater", "greater_equal"),
)
def _broadcast_operand(node: Node, known: Known) -> Node | None:
    """Elementwise primitives broadcast by themselves, as long as another operand has the whole shape."""
    shape = node.outputs[0].shape
    for i, x in enumerate(node.inputs):
        inner = known.producer(x, "broadcast_to")
        if not x.shape or (inner is None and known.array(x) is None):
            continue
        others = (*node.inputs[:i], *node.inputs[i + 1 :])
        if not any(same_shape(y.shape, shape) for y in others):
            continue
        number = known.number(x) if inner is None else None
        if inner is not None or number is not None:
            narrow = known.constant(number, x) if inner is None else inner.inputs[0]
            inputs = (*node.inputs[:i], narrow, *node.inputs[i + 1 :])
            return instead(node, node.primitive.name, inputs, node.attrs)
    return None
