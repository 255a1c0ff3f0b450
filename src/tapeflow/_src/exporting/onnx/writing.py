"""Writing graphs of primitives as graphs of ONNX's operators.

Each primitive is written by the row of its name, in the file of its subject beside this one, as one node or several.
Sizes that are known only when the model runs are computed by nodes, too. Graphs inside of graphs (branches, bodies of
loops) see the values around them, and constants are kept once, in the outermost graph.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from types import ModuleType
from typing import Any

import numpy as np

from tapeflow._src.core.dtypes import DType, bool_, from_numpy, int64
from tapeflow._src.core.log import get_logger
from tapeflow._src.core.sizes.dims import Compound, is_dynamic
from tapeflow._src.function.python_calls import PythonCall
from tapeflow._src.graph.graph import Graph, Node, Value
from tapeflow._src.primitives.array.stack import StackShape

Row = Callable[["GraphWriter", Node, list["Ref"]], Any]

ROWS: dict[str, Row] = {}
"""How primitives are written, by name."""

FIRST, LAST = -(2**63), 2**63 - 1  # bounds of a slice that stand for its ends


def row(*names: str) -> Callable[[Row], Row]:
    """Registers how primitives are written."""

    def register(function: Row) -> Row:
        for name in names:
            ROWS[name] = function
        return function

    return register


class Ref:
    """A value in a graph that is being written: its name there, and its dtype."""

    __slots__ = ("dtype", "name")

    def __init__(self, name: str, dtype: DType) -> None:
        self.name = name
        self.dtype = dtype


class CannotWrite(Exception):
    """What has no counterpart among ONNX's operators."""


class Shared:
    """What the graphs of one model have in common: names, and constants.

    Args:
      onnx: the package.
    """

    def __init__(self, onnx: ModuleType) -> None:
        self.onnx = onnx
        self.arrays: dict[str, np.ndarray] = {}
        self._names: dict[str, int] = {}
        self._known: dict[Any, Ref] = {}

    def unique(self, name: str) -> str:
        """A name that no other value or node has."""
        name = re.sub(r"[^A-Za-z0-9_./]", "_", name) or "x"
        count = self._names[name] = self._names.get(name, -1) + 1
        return name if not count else self.unique(f"{name}_{count}")

    def constant(self, array: np.ndarray, name: str = "constant") -> Ref:
        """A constant of the model. Small ones that are equal are one."""
        if not array.flags.writeable and array.nbytes > 256:
            key: Any = id(array)
        else:
            key = (array.dtype.str, array.shape, array.tobytes()) if array.size < 64 else None
            key = None if array.dtype.kind == "O" else key
        if key is None or key not in self._known:
            ref = Ref(self.unique(name), from_numpy(array.dtype))
            self.arrays[ref.name] = array
            if key is None:
                return ref
            self._known[key] = ref
        return self._known[key]


class GraphWriter:
    """Writes one graph.

    Args:
      shared: what all graphs of the model share.
      outer: the graph around this one.
    """

    def __init__(self, shared: Shared, outer: GraphWriter | None = None) -> None:
        self.shared = shared
        self.nodes: list[Any] = []
        self.values: dict[Value, Ref] = {}
        self._outer = outer
        self._line = ""
        self._done: dict[Any, Ref] = {}  # shapes and sizes that were asked for

    # Nodes.

    def op(self, op: str, *inputs: Any, gives: DType | None = None, **attrs: Any) -> Ref:
        """A node with one output, of the dtype of its first input unless told. Inputs may be arrays."""
        return self.several(op, *inputs, gives=[gives], **attrs)[0]

    def several(
        self, op: str, *inputs: Any, gives: Sequence[DType | None], **attrs: Any
    ) -> list[Ref]:
        """A node with as many outputs as dtypes are given. An input that is None is left out."""
        refs = [x if isinstance(x, Ref) or x is None else self.constant(x) for x in inputs]
        names = ["" if ref is None else ref.name for ref in refs]
        first = next((ref.dtype for ref in refs if ref is not None), None)
        name = self.shared.unique(op)
        outputs = []
        for i, dtype in enumerate(gives):
            dtype = first if dtype is None else dtype
            assert dtype is not None
            more = f"_{i}" if i else ""
            outputs.append(Ref(self.shared.unique(f"{name}{more}"), dtype))
        helper = self.shared.onnx.helper
        node = helper.make_node(op, names, [ref.name for ref in outputs], name=name, **attrs)
        node.doc_string = self._line
        self.nodes.append(node)
        return outputs

    def constant(self, value: Any, like: Ref | None = None) -> Ref:
        """A constant, of the dtype of `like`. Python's numbers and lists of them are int64, as sizes and axes are."""
        if like is not None:
            return self.shared.constant(np.asarray(value, like.dtype.np_dtype))
        if isinstance(value, (np.ndarray, np.generic)):
            return self.shared.constant(np.asarray(value))
        return self.shared.constant(np.asarray(value, np.int64))

    def array_of(self, ref: Ref) -> np.ndarray | None:
        """The array of a value that is a constant."""
        return self.shared.arrays.get(ref.name)

    def cast(self, x: Ref, dtype: DType) -> Ref:
        """The value in another dtype."""
        return x if x.dtype is dtype else self.op("Cast", x, gives=dtype, to=number_of(self, dtype))

    def where(self, condition: Ref, a: Ref, b: Ref) -> Ref:
        """What numpy.where gives."""
        if a.dtype is bool_:  # onnxruntime has no choice between booleans
            kept = self.op("And", condition, a)
            return self.op("Or", kept, self.op("And", self.op("Not", condition), b))
        return self.op("Where", condition, a, b, gives=a.dtype)

    def transpose(self, x: Ref, perm: Sequence[int]) -> Ref:
        """The value with its axes in another order. A constant is turned now."""
        if list(perm) == list(range(len(perm))):
            return x
        known = self.array_of(x)
        if known is not None:
            return self.shared.constant(np.ascontiguousarray(known.transpose(perm)), x.name)
        return self.op("Transpose", x, perm=list(perm))

    # Sizes. A size is a vector of one element, which is what the shape of a value is made of.

    def sizes(self, sizes: Sequence[Any]) -> Ref:
        """A vector of sizes."""
        if not is_dynamic(tuple(sizes)):
            return self.constant(list(map(int, sizes)))
        parts = [self.size(n) for n in sizes]
        return parts[0] if len(parts) == 1 else self.op("Concat", *parts, axis=0)

    def size(self, size: Any) -> Ref:
        """A size, which may be known only when the model runs."""
        if not is_dynamic(size):
            return self.constant([int(size)])
        return self._once(("size", size), lambda: self._polynomial(size))

    def _polynomial(self, size: Any) -> Ref:
        total: Ref | None = None
        for product, factor in size.monomials():
            term: Ref | None = None if factor == 1 and product else self.constant([int(factor)])
            for atom in product:
                found = self._atom(atom)
                term = found if term is None else self.op("Mul", term, found)
            assert term is not None
            total = term if total is None else self.op("Add", total, term)
        assert total is not None
        return total

    def _atom(self, atom: Any) -> Ref:
        if not isinstance(atom, Compound):
            symbol, axis, position = atom.origin
            return self._size_of(symbol.value, axis, position)
        a, b = self.size(atom.a), self.size(atom.b)
        if atom.kind == "with":
            return self.where(self.op("Equal", a, [1], gives=bool_), b, a)
        if atom.kind == "//":  # what is left over has the sign of the divisor
            return self.op("Div", self.op("Sub", a, self.op("Mod", a, b)), b)
        return self.op({"%": "Mod", "min": "Min", "max": "Max"}[atom.kind], a, b)

    def _size_of(self, value: Value, axis: int | None, position: int) -> Ref:
        """The size of a value along an axis, or an element of it."""
        ref = self.found(value)
        if isinstance(value.shape, StackShape):
            axis = 0
        if axis is not None:
            return self._once(
                ("axis", ref.name, axis),
                lambda: self.op("Shape", ref, gives=int64, start=axis, end=axis + 1),
            )
        flat = self.op("Reshape", self.cast(ref, int64), [-1])
        return self.op("Gather", flat, [position], axis=0)

    def shape(self, x: Ref) -> Ref:
        """The shape of a value, as a vector."""
        return self._once(("shape", x.name), lambda: self.op("Shape", x, gives=int64))

    def _once(self, key: Any, make: Callable[[], Ref]) -> Ref:
        writer: GraphWriter | None = self
        while writer is not None:
            if key in writer._done:
                return writer._done[key]
            writer = writer._outer
        self._done[key] = found = make()
        return found

    def scalar(self, size: Any, dtype: DType = int64) -> Ref:
        """A size as a scalar."""
        return self.cast(self.op("Squeeze", self.size(size), [0]), dtype)

    def full(self, sizes: Sequence[Any], value: float, like: Ref) -> Ref:
        """An array that holds one number."""
        return self.op("Expand", self.constant(value, like), self.sizes(sizes))

    # Graphs.

    def found(self, value: Value) -> Ref:
        """A value of this graph, or of one around it."""
        writer: GraphWriter | None = self
        while writer is not None:
            if value in writer.values:
                return writer.values[value]
            writer = writer._outer
        raise CannotWrite("it needs the size of a value that is not there")

    def inner(self) -> GraphWriter:
        """A graph inside of this one."""
        return GraphWriter(self.shared, self)

    def run(self, graph: Graph, inputs: Sequence[Ref]) -> list[Ref]:
        """Writes the nodes of a graph that a node holds, and gives its outputs. Constants may be among its inputs."""
        values = graph.inputs
        if len(values) != len(inputs):
            values = [value for value in values if value not in graph.constants]
        self.values.update(zip(values, inputs, strict=True))
        return self.write(graph)

    def write(self, graph: Graph) -> list[Ref]:
        """Writes the nodes of a graph, whose inputs are in `values`, and gives its outputs."""
        for value, array in graph.constants.items():
            if value not in self.values:
                self.values[value] = self.constant(np.asarray(array))
        for node in graph.nodes:
            self._write(node)
        return [self.found(value) for value in graph.outputs]

    def _write(self, node: Node) -> None:
        name = node.primitive.name
        where = "" if node.line is None else f" (at {node.line})"
        if isinstance(node.primitive, PythonCall) and not node.outputs:
            get_logger().warning("%s%s is left out of the ONNX model: it runs Python.", name, where)
            return
        if name not in ROWS:
            raise CannotWrite(f"{name}{where} {_why_not(node)}")
        for value in (*node.inputs, *node.outputs):
            if value.dtype.is_complex:
                raise CannotWrite(
                    f"{name}{where} is about complex numbers, and ONNX's operators take none. Compute with the real "
                    "and the imaginary part as two tensors"
                )
        self._line = "" if node.line is None else str(node.line)
        try:
            made = ROWS[name](self, node, [self.found(v) for v in node.inputs])
        except CannotWrite as error:
            told = str(error)
            raise CannotWrite(told if " (at " in told else f"{name}{where}: {told}") from None
        refs = made if isinstance(made, (list, tuple)) else [made]
        for value, ref in zip(node.outputs, refs, strict=True):
            self.values[value] = ref

    def finished(self, name: str, inputs: Sequence[Any], outputs: Sequence[tuple[str, Ref]]) -> Any:
        """The graph as a message. What it gives are outputs of nodes of its own, each once."""
        helper = self.shared.onnx.helper
        infos = []
        for said, ref in outputs:
            made = self.shared.unique(said)
            self.nodes.append(helper.make_node("Identity", [ref.name], [made], name=f"{made}_is"))
            infos.append(helper.make_tensor_value_info(made, number_of(self, ref.dtype), None))
        return helper.make_graph(self.nodes, name, list(inputs), infos)

    def argument(self, name: str, dtype: DType, shape: Any = None) -> tuple[Any, Ref]:
        """An input of this graph: how it is described, and its value."""
        ref = Ref(self.shared.unique(name), dtype)
        helper = self.shared.onnx.helper
        return helper.make_tensor_value_info(ref.name, number_of(self, dtype), shape), ref


def _why_not(node: Node) -> str:
    name = node.primitive.name
    if name.startswith("random_"):
        return (
            "draws random numbers, and ONNX has no generator that gives these. Give them as an argument, or call "
            "layers with training=False"
        )
    if isinstance(node.primitive, PythonCall):
        return "runs Python, which a file cannot hold. Compute it before the call, and give the result as an argument"
    return (
        "has no counterpart among ONNX's operators. Compute it before or after the call, or compose it of ops that "
        "have one: docs/saving.md names them"
    )


def number_of(w: GraphWriter, dtype: DType) -> int:
    """The number of a dtype in ONNX's messages."""
    return w.shared.onnx.helper.np_dtype_to_tensor_dtype(np.dtype(dtype.np_dtype))
