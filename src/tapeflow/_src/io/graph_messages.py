"""Graphs as messages: `GraphDef` and `NodeDef`, and `tf.io.write_graph`."""

from __future__ import annotations

import os
from typing import Any, ClassVar

import numpy as np

from tapeflow._src.core.dtypes import DType
from tapeflow._src.core.errors import shown
from tapeflow._src.core.export import export
from tapeflow._src.core.shapes import TensorShape
from tapeflow._src.core.system.files import replacing
from tapeflow._src.graph.graph import Graph, attribute_text
from tapeflow._src.io.example import Floats, Integers, Strings
from tapeflow._src.io.message_fields import Scalars, listed, quoted
from tapeflow._src.io.message_scalars import BOOL, BYTES, FLOAT, INTEGER, TEXT
from tapeflow._src.io.messages import Field, Message
from tapeflow._src.io.tensor_messages import (
    DTYPE,
    TensorProto,
    TensorShapeProto,
    shape_message,
    tensor_message,
)

_MOST_ELEMENTS = (
    1024  # of a constant that is in the message; of a larger one only dtype and shape are
)


class Texts(Scalars):
    """A list of texts."""

    @staticmethod
    def checked(values: Any) -> list[Any]:
        """Texts."""
        return [TEXT.checked("input", value) for value in listed(values)]

    @staticmethod
    def shown(value: Any) -> str:
        """With escapes."""
        return quoted(value.encode())

    def serialized(self, number: int) -> bytes:
        """One after the other."""
        return b"".join(TEXT.serialized(number, value) for value in self)

    def read(self, value: int | bytes) -> None:
        """One of them."""
        self.added([TEXT.read(value)])


class ListValue(Message):
    """An attribute that is a list."""

    FULL_NAME = "tensorflow.AttrValue.ListValue"
    FIELDS: ClassVar[dict[str, Field]] = {
        "s": Field(2, Strings),
        "i": Field(3, Integers),
        "f": Field(4, Floats),
        "type": Field(6, Integers),
        "shape": Field(7, "messages", TensorShapeProto),
        "tensor": Field(8, "messages", TensorProto),
    }


@export("compat.v1.AttrValue")
class AttrValue(Message):
    """An attribute of a node.

    >>> tf.compat.v1.AttrValue(i=3).i
    3
    """

    FULL_NAME = "tensorflow.AttrValue"
    ONE_OF = "value"
    FIELDS: ClassVar[dict[str, Field]] = {
        "list": Field(1, "message", ListValue),
        "s": Field(2, BYTES),
        "i": Field(3, INTEGER),
        "f": Field(4, FLOAT),
        "b": Field(5, BOOL),
        "type": Field(6, DTYPE),
        "shape": Field(7, "message", TensorShapeProto),
        "tensor": Field(8, "message", TensorProto),
        "placeholder": Field(9, TEXT),
    }


@export("compat.v1.NodeDef")
class NodeDef(Message):
    """A node of a graph.

    >>> tf.compat.v1.NodeDef(name="y", op="Sin", input=["x"]).input
    ['x']
    """

    FULL_NAME = "tensorflow.NodeDef"
    FIELDS: ClassVar[dict[str, Field]] = {
        "name": Field(1, TEXT),
        "op": Field(2, TEXT),
        "input": Field(3, Texts),
        "device": Field(4, TEXT),
        "attr": Field(5, "map", AttrValue),
    }


class VersionDef(Message):
    """Which versions of TensorFlow a graph is for."""

    FULL_NAME = "tensorflow.VersionDef"
    FIELDS: ClassVar[dict[str, Field]] = {
        "producer": Field(1, INTEGER),
        "min_consumer": Field(2, INTEGER),
    }


@export("compat.v1.GraphDef")
class GraphDef(Message):
    """A graph.

    >>> graph = tf.function(lambda x: tf.sin(x)).get_concrete_function(tf.TensorSpec([2])).graph
    >>> [node.op for node in tf.compat.v1.GraphDef.FromString(graph.as_graph_def().SerializeToString()).node]
    ['Placeholder', 'Sin', 'Identity']
    """

    FULL_NAME = "tensorflow.GraphDef"
    FIELDS: ClassVar[dict[str, Field]] = {
        "node": Field(1, "messages", NodeDef),
        "versions": Field(4, "message", VersionDef),
    }


def definition(graph: Graph, add_shapes: bool = False) -> GraphDef:
    """A graph as a message."""
    message = GraphDef()
    for operation in graph.get_operations():
        node = message.node.add(name=operation.name, op=operation.type)
        node.input.extend(x.name.removesuffix(":0") for x in operation.inputs)
        for name, value in operation.attrs.items():
            put_attribute(node.attr[name], value)
        if add_shapes:
            shapes = [shape_message(x.shape) for x in operation.outputs]
            node.attr["_output_shapes"].list.shape.extend(shapes)
    return message


def put_attribute(place: AttrValue, value: Any) -> None:
    """Fills an attribute with a value, as its text where there is no other way to write it."""
    if isinstance(value, DType):
        place.type = value.as_datatype_enum
    elif isinstance(value, TensorShape):
        place.shape.CopyFrom(shape_message(value))
    elif isinstance(value, (np.ndarray, np.generic)):
        array = np.asarray(value)
        small = array.size <= _MOST_ELEMENTS
        place.tensor.CopyFrom(tensor_message(array if small else array[:0], array.shape))
    elif isinstance(value, bool):
        place.b = value
    elif isinstance(value, int) and -(2**63) <= value < 2**63:
        place.i = value
    elif isinstance(value, float):
        place.f = value
    elif isinstance(value, (list, tuple)) and value and all(type(v) is int for v in value):
        place.list.i.extend(value)
    else:
        text = value if isinstance(value, (str, bytes)) else attribute_text(value)
        place.s = text if isinstance(text, bytes) else text.encode()


@export("io.write_graph")
def write_graph(graph_or_graph_def: Any, logdir: str, name: str, as_text: bool = True) -> str:
    """Writes a graph to a file, and gives its path.

    >>> import pathlib, tempfile
    >>> graph = tf.function(lambda x: tf.sin(x)).get_concrete_function(tf.TensorSpec([2])).graph
    >>> path = tf.io.write_graph(graph, tempfile.mkdtemp(), "graph.pbtxt")
    >>> pathlib.Path(path).read_text().count("node {")
    3

    Args:
      graph_or_graph_def: a `tf.Graph`, or what its `as_graph_def` gives.
      logdir: the folder, which is made if it is not there.
      name: of the file.
      as_text: whether it is to be read by people; otherwise it is in the format of messages.
    """
    message = graph_or_graph_def
    if isinstance(message, Graph):
        message = message.as_graph_def()
    if not isinstance(message, Message):
        raise TypeError(
            f"write_graph: graph_or_graph_def must be a tf.Graph or a GraphDef, got {shown(message)}"
        )
    path = os.path.join(logdir, name)
    with replacing(path) as file:
        file.write(repr(message).encode() if as_text else message.SerializeToString())
    return path


@export("test.assert_equal_graph_def")
def assert_equal_graph_def(expected: Any, actual: Any) -> None:
    """Asserts that two graphs have the same nodes, in any order.

    >>> graph = tf.function(lambda x: tf.sin(x)).get_concrete_function(tf.TensorSpec([2])).graph
    >>> tf.test.assert_equal_graph_def(graph.as_graph_def(), graph.as_graph_def())

    Args:
      expected: what `tf.Graph.as_graph_def` gave.
      actual: the other.
    """
    for name, message in (("expected", expected), ("actual", actual)):
        if not isinstance(message, GraphDef):
            raise TypeError(f"Expected tf.GraphDef for {name}, got {type(message).__name__}")
    wanted, found = ({node.name: node for node in message.node} for message in (expected, actual))
    for name in sorted(wanted.keys() | found.keys()):
        if name not in wanted or name not in found:
            where = "expected" if name in wanted else "actual"
            raise AssertionError(f"the node {name!r} is in the {where} graph alone")
        if wanted[name] != found[name]:
            raise AssertionError(f"the nodes {name!r} differ:\n{wanted[name]}\nand\n{found[name]}")
