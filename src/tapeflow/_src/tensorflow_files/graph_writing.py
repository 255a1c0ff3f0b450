"""Writing functions as graphs of TensorFlow's ops.

A graph of primitives becomes a `FunctionDef`: each primitive is written by the row of its name in `primitive_ops.py`,
as one node or several. Sizes that are known only when a function runs are computed by nodes, too.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from tapeflow._src.core.dtypes import DType, as_dtype, from_numpy, int32
from tapeflow._src.core.log import get_logger
from tapeflow._src.core.sizes.dims import Compound, is_dynamic
from tapeflow._src.function.python_calls import PythonCall
from tapeflow._src.graph.graph import Graph, Node, Value
from tapeflow._src.io.tensor_proto import tensor_proto
from tapeflow._src.tensorflow_files.descriptions import Argument, descriptions
from tapeflow._src.tensorflow_files.graphs import HandleType
from tapeflow._src.tensorflow_files.structures import shape_message

RESOURCE, VARIANT = HandleType(20), HandleType(21)  # of variables and tables, of lists of tensors

Row = Callable[["FunctionWriter", Node, list["Ref"]], Any]

ROWS: dict[str, Row] = {}
"""How primitives are written, by name. See `primitive_ops.py`."""


class Ref:
    """A value in a function that is being written: what the graph calls it, and its dtype."""

    __slots__ = ("dtype", "name")

    def __init__(self, name: str, dtype: Any) -> None:
        self.name = name
        self.dtype = dtype


class CannotWrite(ValueError):
    """What has no counterpart among TensorFlow's ops."""


class FunctionWriter:
    """Writes one function.

    Args:
      name: of the function.
      library: where it goes, and those that it calls.
      inner: whether it is a branch or a loop of another one, whose sizes it may need.

    Attributes:
      sizes_taken: the sizes of the function around that it takes as further inputs.
    """

    def __init__(self, name: str, library: list[dict[str, Any]], inner: bool = False) -> None:
        self.name = name
        self.library = library
        self.sizes_taken: dict[Any, Ref] = {}
        self._inner = inner
        self.nodes: list[dict[str, Any]] = []
        self.controls: list[str] = []  # nodes that must run
        self._inputs: list[dict[str, Any]] = []
        self._names: dict[str, int] = {}
        self._constants: dict[Any, Ref] = {}
        self._arrays: dict[str, np.ndarray] = {}
        self._shapes: dict[str, Ref] = {}
        self.values: dict[Value, Ref] = {}

    # Nodes.

    def input(self, name: str, dtype: Any) -> Ref:
        """An input of the function."""
        name = self._unique(re.sub(r"[^a-z0-9_]", "_", name.lower()).strip("_") or "x")
        self._inputs.append({"name": name, "type": _number(dtype)})
        return Ref(name, dtype)

    def _unique(self, name: str) -> str:
        name = re.sub(r"[^A-Za-z0-9_./\\-]", "_", name)
        count = self._names[name] = self._names.get(name, -1) + 1
        return f"{name}_{count}" if count else name

    def op(self, op: str, *inputs: Any, **attrs: Any) -> Any:
        """A node. Inputs are `Ref`s, lists of them, or constants. Gives its output, or the list of its outputs."""
        said = descriptions()[op]
        types: dict[str, Any] = {}
        names: list[str] = []
        for argument, given in zip(said.inputs, inputs, strict=True):
            refs = given if argument.several else [given]
            refs = [x if isinstance(x, Ref) else self.constant(x) for x in refs]
            names += [ref.name for ref in refs]
            if not argument.type:
                types[argument.several] = [ref.dtype for ref in refs]
            else:
                if argument.several:
                    types[argument.several] = len(refs)
                if argument.type[0] != "@" and refs:
                    types[argument.type] = refs[0].dtype
        values = {**{n: v for n, v in types.items() if n in said.attrs}, **attrs}
        name = self._unique(op)
        node = {"name": name, "op": op, "input": names}
        node["attr"] = {n: _attribute(values[n]) for n in said.attrs if n in values}
        self.nodes.append(node)
        found = [
            Ref(f"{name}:{argument.name}:{i}", dtype)
            for argument in said.outputs
            for i, dtype in enumerate(_types(argument, values))
        ]
        if not found:
            return name
        several = len(said.outputs) > 1 or any(argument.several for argument in said.outputs)
        return found if several else found[0]

    def constant(self, value: Any, dtype: Any = None) -> Ref:
        """A constant. Python numbers and lists of them are int32, as sizes and axes are."""
        array = np.asarray(value, None if dtype is None else as_dtype(dtype).np_dtype)
        if dtype is None and not isinstance(value, (np.ndarray, np.generic)):
            array = np.asarray(value, np.int32)
        key = (array.dtype.str, array.shape, repr(array.tolist())) if array.size < 64 else id(value)
        if key not in self._constants:
            kind = from_numpy(array.dtype)
            name = self._unique("Const")
            attrs = {"dtype": _attribute(kind), "value": {"tensor": tensor_proto(array)}}
            self.nodes.append({"name": name, "op": "Const", "input": [], "attr": attrs})
            self._constants[key] = found = Ref(f"{name}:output:0", kind)
            self._arrays[found.name] = array
        return self._constants[key]

    def known(self, ref: Ref) -> np.ndarray | None:
        """The array of a value that is a constant."""
        return self._arrays.get(ref.name)

    # Sizes.

    def sizes(self, sizes: Sequence[Any]) -> Ref:
        """A vector of sizes."""
        if not is_dynamic(tuple(sizes)):
            return self.constant(list(map(int, sizes)))
        return self.op("Pack", [self.size(n) for n in sizes], axis=0)

    def size(self, size: Any) -> Ref:
        """A size, which may be known only when the function runs."""
        if not is_dynamic(size):
            return self.constant(int(size))
        total: Ref | None = None
        for product, factor in size.monomials():
            term: Ref | None = None if factor == 1 and product else self.constant(int(factor))
            for atom in product:
                found = self._atom(atom)
                term = found if term is None else self.op("Mul", term, found)
            assert term is not None
            total = term if total is None else self.op("AddV2", total, term)
        assert total is not None
        return total

    def _atom(self, atom: Any) -> Ref:
        if isinstance(atom, Compound):
            a, b = self.size(atom.a), self.size(atom.b)
            if atom.kind == "with":
                return self.op("SelectV2", self.op("Equal", a, 1), b, a)
            return self.op(_COMPOUNDS[atom.kind], a, b)
        symbol, axis, position = atom.origin
        return self.size_of((symbol.value, axis, position))

    def size_of(self, origin: tuple[Value, int | None, int]) -> Ref:
        """The size of a value along an axis, or an element of it."""
        value, axis, position = origin
        if value not in self.values:
            if not self._inner:
                raise CannotWrite("a size of a value that is not there")
            if origin not in self.sizes_taken:
                self.sizes_taken[origin] = self.input("size", int32)
            return self.sizes_taken[origin]
        ref = self.values[value]
        if ref.dtype is VARIANT:
            return self.op("TensorListLength", ref)
        if axis is not None:
            return self.element(self.shape(ref), axis)
        flat = self.op("Reshape", ref, [-1])
        return self.op("Cast", self.element(flat, position), DstT=int32)

    def shape(self, ref: Ref) -> Ref:
        """The shape of a value, as a vector."""
        if ref.name not in self._shapes:
            self._shapes[ref.name] = self.op("Shape", ref, out_type=int32)
        return self._shapes[ref.name]

    def element(self, vector: Ref, place: int) -> Ref:
        """An element of a vector."""
        return self.op("StridedSlice", vector, [place], [place + 1], [1], shrink_axis_mask=1)

    # Graphs.

    def run(self, graph: Graph) -> None:
        """Writes the nodes of a graph, whose inputs are in `values`."""
        for value, array in graph.constants.items():
            if value not in self.values:
                self.values[value] = self.constant(np.asarray(array))
        for node in graph.nodes:
            self._write(node)

    def _write(self, node: Node) -> None:
        name = node.primitive.name
        where = "" if node.line is None else f" (at {node.line})"
        if isinstance(node.primitive, PythonCall) and not node.outputs:
            get_logger().warning("%s%s is left out of the SavedModel: it runs Python.", name, where)
            return
        if name not in ROWS:
            raise CannotWrite(
                f"{name}{where} has no counterpart among the ops that are written for TensorFlow"
            )
        try:
            found = ROWS[name](self, node, [self.values[v] for v in node.inputs])
        except CannotWrite as error:
            raise CannotWrite(f"{name}{where}: {error}") from None
        refs = found if isinstance(found, (list, tuple)) else [found]
        for value, ref in zip(node.outputs, refs, strict=True):
            self.values[value] = ref

    def inner(self, name: str) -> FunctionWriter:
        """A function that this one calls."""
        return FunctionWriter(f"{self.name}_{self._unique(name)}", self.library, inner=True)

    def finish(self, outputs: Sequence[tuple[str, Ref]]) -> bool:
        """Puts the function into the library. Says whether it does more than compute."""
        named = [(self._unique(re.sub(r"\W", "_", name.lower())), ref) for name, ref in outputs]
        returned = {}
        for name, ref in named:
            # A value that is returned is a node's: an input goes through one.
            node = self.op("Identity", ref)
            returned[name] = node.name
        stateful = any(node["op"] in _STATEFUL for node in self.nodes)
        function = {
            "signature": {
                "name": self.name,
                "input_arg": self._inputs,
                "output_arg": [{"name": n, "type": _number(ref.dtype)} for n, ref in named],
                "is_stateful": stateful or None,
                "control_output": self.controls,
            },
            "node_def": self.nodes,
            "ret": returned,
            "control_ret": {name: name for name in self.controls},
        }
        self.library.append(function)
        return stateful

    def take(self, sizes: Sequence[Any]) -> None:
        """Makes sizes of the function around the last inputs, in this order, whether it needs them or not."""
        for key in sizes:
            if key not in self.sizes_taken:
                self.sizes_taken[key] = self.input("size", int32)
        named = {said["name"]: said for said in self._inputs}
        last = [named.pop(self.sizes_taken[key].name) for key in sizes]
        self._inputs = [*named.values(), *last]


_COMPOUNDS = {"//": "FloorDiv", "%": "FloorMod", "min": "Minimum", "max": "Maximum"}
_STATEFUL = {
    *("ReadVariableOp", "AssignVariableOp", "Assert"),
    *("StatefulPartitionedCall", "Case", "While"),
    *("AnonymousHashTable", "LookupTableImportV2", "LookupTableFindV2"),
    *("RandomUniform", "RandomStandardNormal", "TruncatedNormal", "RandomUniformInt"),
    *("RandomShuffle", "Multinomial"),
}


def _types(argument: Argument, values: Mapping[str, Any]) -> list[Any]:
    """The dtypes of the outputs that an argument stands for."""
    if not argument.type:
        return list(values[argument.several])
    kind = argument.type
    dtype = _named(kind[1:]) if kind[0] == "@" else values[kind]
    return [dtype] * (values[argument.several] if argument.several else 1)


def _named(name: str) -> Any:
    return {"resource": RESOURCE, "variant": VARIANT}.get(name) or as_dtype(name)


def _number(dtype: Any) -> int:
    return dtype.as_datatype_enum if isinstance(dtype, DType) else dtype


def _attribute(value: Any) -> dict[str, Any]:
    """The value of an attribute as the fields of a message."""
    if isinstance(value, dict):
        return value
    if isinstance(value, (DType, HandleType)):
        return {"type": _number(value)}
    if isinstance(value, bool):
        return {"b": value}
    if isinstance(value, int):
        return {"i": value}
    if isinstance(value, float):
        return {"f": value}
    if isinstance(value, str):
        return {"s": value.encode()}
    if isinstance(value, (list, tuple)):
        if any(isinstance(each, (DType, HandleType)) for each in value):
            return {"list": {"type": list(map(_number, value))}}
        return {"list": {"i": [int(each) for each in value]}}
    raise TypeError(f"an attribute cannot be {value!r}")


def function_attribute(name: str) -> dict[str, Any]:
    """An attribute that is a function."""
    return {"func": {"name": name}}


def types_attribute(dtypes: Sequence[Any]) -> dict[str, Any]:
    """An attribute that is a list of dtypes, of handles too."""
    return {"list": {"type": [_number(dtype) for dtype in dtypes]}}


def shape_attribute(shape: Any) -> dict[str, Any]:
    """An attribute that is a shape."""
    return {"shape": shape_message(shape)}
