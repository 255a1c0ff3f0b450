"""`tf.graph_util.import_graph_def`: the nodes of a graph of TensorFlow's, as ops of the function or graph around."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from typing import Any, NamedTuple

from tapeflow._src.core.context import context
from tapeflow._src.core.convert import convert_to_tensor
from tapeflow._src.core.dtypes import as_dtype
from tapeflow._src.core.errors import InvalidArgumentError, shown
from tapeflow._src.core.export import export
from tapeflow._src.core.names import get_current_name_scope, name_scope
from tapeflow._src.core.shapes import TensorShape
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.tensorflow_files import special_ops  # noqa: F401  # ops that graphs may have
from tapeflow._src.tensorflow_files.graph_schemas import GRAPH
from tapeflow._src.tensorflow_files.graphs import INPUTS, Library, Place, Planner, Step
from tapeflow._src.tensorflow_files.messages import Damage, Record
from tapeflow._src.tensorflow_files.running import Runner
from tapeflow._src.tensorflow_files.structures import shape_of

_PLACEHOLDERS = ("Placeholder", "PlaceholderV2")
_MADE_UP = (840, True)  # a typical size, where one is not known


class _Output(NamedTuple):
    """Which output of which node; of a node as a whole there is none."""

    node: str
    number: int | None


@export("import_graph_def", "graph_util.import_graph_def")
def import_graph_def(
    graph_def: Any,
    input_map: Mapping[str, Any] | None = None,
    return_elements: Sequence[str] | None = None,
    name: str | None = None,
    op_dict: Any = None,
    producer_op_list: Any = None,
) -> list[Any] | None:
    """Adds the nodes of a graph of TensorFlow's to the function that is being traced, or to the default graph.

    >>> graph_def = tf.compat.v1.GraphDef()
    >>> for name, op in (("x", "Placeholder"), ("y", "Sin")):
    ...     node = graph_def.node.add(name=name, op=op, input=["x"] if op == "Sin" else [])
    ...     node.attr["dtype" if op == "Placeholder" else "T"].type = tf.float32.as_datatype_enum
    >>> @tf.function
    ... def f(x):
    ...     return tf.graph_util.import_graph_def(graph_def, {"x:0": x}, ["y:0"])[0]
    >>> f(tf.constant([0.0])).numpy()
    array([0.], dtype=float32)

    Outside of functions and graphs the ops run at once.

    Args:
      graph_def: a `GraphDef`, TensorFlow's or that of `tf.compat.v1`, or its bytes.
      input_map: tensors that take the places of those in the graph, by the names of these: `"x:0"`, or `"x"`.
      return_elements: the names of tensors (`"y:0"`) and operations (`"y"`) to be returned.
      name: of a scope for the ops, by default `import`.
      op_dict: accepted for compatibility.
      producer_op_list: accepted for compatibility.

    Raises:
      ValueError: if a name is not in the graph, or the graph is damaged.
      UnimplementedError: if there is an op that tapeflow does not have.
    """
    graph = _graph(graph_def)
    given = _mapped(input_map)
    wanted = _elements(return_elements)
    try:
        found = _Import(graph, given).run(wanted, "import" if name is None else name)
    except Damage as error:
        raise ValueError(f"import_graph_def: the graph cannot be used: {error}") from error
    return None if return_elements is None else found


def _graph(graph_def: Any) -> Record:
    data = graph_def
    if hasattr(graph_def, "SerializeToString"):
        full = getattr(graph_def, "FULL_NAME", "") or graph_def.DESCRIPTOR.full_name
        data = graph_def.SerializeToString() if full == "tensorflow.GraphDef" else None
    if not isinstance(data, bytes):
        raise TypeError(
            f"import_graph_def: graph_def must be a GraphDef proto, or its bytes, got {shown(graph_def)}"
        )
    try:
        return GRAPH.decoded(data)
    except Damage as error:
        raise ValueError(f"import_graph_def: graph_def is damaged: {error}") from error


def _mapped(input_map: Any) -> dict[_Output, Any]:
    if not isinstance(input_map, (Mapping, type(None))):
        raise TypeError(f"import_graph_def: input_map must be a dictionary, got {shown(input_map)}")
    keys = list(input_map or ())
    if not all(isinstance(key, str) for key in keys):
        raise TypeError(f"import_graph_def: the keys of input_map must be strings, got {keys}")
    found = {}
    for key in keys:
        node, number = _parsed(key)
        found[_Output(node, number or 0)] = (input_map or {})[key]
    return found


def _elements(return_elements: Any) -> list[_Output]:
    names = list(return_elements or ())
    if not all(isinstance(name, str) for name in names):
        raise TypeError(
            f"import_graph_def: return_elements must be a list of strings, got {shown(return_elements)}"
        )
    return [_parsed(name) for name in names]


def _parsed(name: str) -> _Output:
    node, colon, number = name.partition(":")
    if colon and (not number.isdecimal() or len(number) > 9):
        raise ValueError(
            f"import_graph_def: {name!r} names no tensor: write the node's name, ':' and a number"
        )
    return _Output(node, int(number) if colon else None)


class _Nodes(Planner):
    """The nodes of a graph as steps. There an input says the number of an output, and in functions its name."""

    def __init__(
        self, nodes: Sequence[Record], library: Library, given: Mapping[_Output, int]
    ) -> None:
        super().__init__(nodes, (), library.description)
        self.all = self._nodes
        self._given = given

    def plan(self, wanted: Sequence[str]) -> list[Step]:
        """The steps of these nodes, and of what comes before them."""
        order = self._ordered(wanted)
        self._numbers = {name: number for number, name in enumerate(order)}
        return [self._step(self._nodes[name]) for name in order]

    def place(self, output: _Output) -> Place:
        """Where an output is."""
        number = output.number or 0
        given = self._given.get(_Output(output.node, number))
        return Place(self._numbers[output.node], number) if given is None else Place(INPUTS, given)

    def _node_name(self, said: str) -> str | None:
        if not said.startswith("^"):
            node, number = _parsed(said)
            if _Output(node, number or 0) in self._given:
                return None
        return super()._node_name(said)

    def _place(self, said: str) -> Place:
        return self.place(_parsed(said))


class _Import:
    """A graph that is being imported, and the tensors that take the places of some in it."""

    def __init__(self, graph: Record, given: Mapping[_Output, Any]) -> None:
        functions = graph.library.function
        self._library = Library(functions)
        self._library.check(f.signature.name for f in functions)
        numbers = {output: number for number, output in enumerate(given)}
        self._nodes = _Nodes(graph.node, self._library, numbers)
        for output in given:
            self._check(output, "input_map")
        self._given = [convert_to_tensor(value) for value in given.values()]
        self._values: list[Sequence[Any]] = []
        tracer = context.tracer
        self._in_graph = tracer is not None and tracer.graph.tracer is tracer

    def _check(self, output: _Output, argument: str) -> None:
        if output.node not in self._nodes.all:
            there = ", ".join(list(self._nodes.all)[:10])
            raise ValueError(
                f"import_graph_def: {argument} names {output.node!r}, which is not in the graph. It has {there}."
            )

    def run(self, wanted: Sequence[_Output], name: str) -> list[Any]:
        """Runs nodes, or adds them to a graph, and gives what is wanted of them."""
        for output in wanted:
            self._check(output, "return_elements")
        # A graph gets all nodes, as somebody may ask for them later. Elsewhere those run that are wanted.
        everything = self._in_graph or not wanted
        names = list(self._nodes.all) if everything else [output.node for output in wanted]
        runner = Runner(self._library, "")
        with name_scope(name) if name else nullcontext():
            for step in self._nodes.plan(names):
                if step.op in _PLACEHOLDERS:
                    self._values.append([self._placeholder(self._nodes.all[step.name])])
                else:
                    self._values.append(runner.outputs(step, self._value, "graph_def"))
        return [self._element(output) for output in wanted]

    def _value(self, place: Place) -> Any:
        row = self._given if place.step == INPUTS else self._values[place.step]
        if place.output >= len(row):
            raise Damage(f"a node has {len(row)} outputs, and output {place.output} is asked for")
        return row[place.output]

    def _placeholder(self, node: Record) -> Any:
        output = _Output(node.name, 0)
        given = self._nodes.place(output)
        if given.step == INPUTS:
            return self._given[given.output]
        if not self._in_graph:
            raise InvalidArgumentError(
                None,
                None,
                f"import_graph_def: the placeholder {node.name!r} has no value. Give one in input_map, or import "
                "the graph into a tf.Graph.",
            )
        dtype = as_dtype(node.attr["dtype"].type)
        shape = shape_of(node.attr["shape"].shape) if "shape" in node.attr else TensorShape(None)
        if shape.rank is None:
            raise InvalidArgumentError(
                None,
                None,
                f"import_graph_def: the rank of the placeholder {node.name!r} is not known, and ops depend on it. "
                "Give a tensor in input_map.",
            )
        sizes = shape.as_list()
        symbol = context.tracer.argument(sizes, dtype, [_MADE_UP] * len(sizes))
        graph, scope = context.tracer.graph, get_current_name_scope()
        graph.notes[symbol.value] = f"{scope}/{node.name}" if scope else node.name
        return symbol

    def _element(self, output: _Output) -> Any:
        value = self._value(self._nodes.place(output))
        if output.number is not None:
            return value
        if not isinstance(value, Tensor) or not value.symbolic:
            raise ValueError(
                f"import_graph_def: outside of functions and graphs there are no operations. Ask for the tensor "
                f"{output.node + ':0'!r} in return_elements."
            )
        return value.op  # pyright: ignore[reportAttributeAccessIssue]  # symbols have it
