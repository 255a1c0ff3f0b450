"""Traced functions as data, and `tf.function`s made from data."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Sequence
from typing import Any

from tapeflow._src.core.log import get_logger
from tapeflow._src.core.sizes.dims import is_dynamic
from tapeflow._src.core.spec import TensorSpec
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.core.variables.variable import Variable
from tapeflow._src.function.concrete import ConcreteFunction
from tapeflow._src.function.function import Function
from tapeflow._src.function.graph_function import GraphFunction
from tapeflow._src.graph.graph import Value
from tapeflow._src.saved_model.damage import UNTOLD, index, sound
from tapeflow._src.saved_model.encoding import (
    Arrays,
    CannotEncode,
    decoded,
    encoded,
    encoded_size,
)
from tapeflow._src.saved_model.gradients import backward_of, left_out, with_gradient
from tapeflow._src.saved_model.graphs import graph_data
from tapeflow._src.saved_model.replay import Read, replay, results
from tapeflow._src.saved_model.restored import RestoredFunction, SavedTrace


class Functions:
    """The graphs of a model that is being saved, each once.

    Args:
      arrays: where constants go.
      variable: gives a variable its number.
      custom_gradients: whether gradients that users wrote are saved, too.
    """

    def __init__(
        self,
        arrays: Arrays,
        variable: Callable[[Variable], int],
        custom_gradients: bool = True,
    ) -> None:
        self._custom_gradients = custom_gradients
        self.arrays = arrays
        self.variable = variable
        self.graphs: list[Any] = []
        self._numbers: dict[int, int] = {}
        self._alive: list[ConcreteFunction] = []

    def graph(self, concrete: ConcreteFunction) -> int:
        """The number of the graph of a traced function."""
        if id(concrete) not in self._numbers:
            self._alive.append(concrete)
            self._numbers[id(concrete)] = self._with_gradient(concrete._graph_function)
        return self._numbers[id(concrete)]

    def _with_gradient(self, graph_function: GraphFunction) -> int:
        """The number of a graph, and with it that of its derivative if somebody wrote that, or a part of it."""
        backward = backward_of(graph_function) if self._custom_gradients else None
        if backward is None:
            return self._add(graph_function)
        number = self._add(graph_function.with_outputs(backward.also_given))
        try:
            gradient = self._add(backward.graph_function)
        except ValueError as error:
            left_out(graph_function.name, error)
            self.graphs.pop()
            return self._add(graph_function)
        self.graphs[number]["gradient"] = backward.data(self.graphs[number], gradient)
        return number

    def _add(self, graph_function: GraphFunction) -> int:
        data = graph_data(graph_function.graph, self.arrays)
        data["variables"] = [self.variable(v) for v in graph_function.variables]
        data["captured"] = [self.arrays.add(x._array) for x in graph_function.captured]
        self.graphs.append(data)
        return len(self.graphs) - 1

    def function(self, name: str, function: Function) -> dict[str, Any]:
        """A `tf.function` as data: its parameters, and its traces."""
        traces = []
        for concrete in function._traces:
            traces += self.traces(name, concrete)
        parameters = []
        for p in function._signature.parameters.parameters.values():
            try:
                default = None if p.default is p.empty else [encoded(p.default, self.arrays)]
            except CannotEncode:
                default = None
            parameters.append([p.name, p.kind.name, default])
        return {"name": function.name, "parameters": parameters, "traces": traces}

    def traces(self, name: str, concrete: ConcreteFunction) -> list[dict[str, Any]]:
        """A trace as data, and those that were made for sizes it does not hold for."""
        found = [self.trace(name, each) for each in (concrete, *concrete._variants)]
        return [data for data in found if data is not None]

    def trace(self, name: str, concrete: ConcreteFunction) -> dict[str, Any] | None:
        """One trace as data: what it takes and returns, and its graph. None if it cannot be saved."""
        try:
            taken = encoded(concrete._arguments, self.arrays)
        except CannotEncode as error:
            get_logger().warning(
                "A trace of %s is left out of the saved model: among its arguments is %s. Arguments have to be "
                "tensors, numbers, texts, and structures of them.",
                name,
                error,
            )
            return None
        given = encoded(concrete._outputs(list(range(len(concrete.outputs)))), self.arrays)
        return {
            "takes": taken,
            "gives": given,
            "graph": self.graph(concrete),
            "order": None,
            "guards": guards_data(concrete),
        }

    def signature(self, name: str, traces: Sequence[ConcreteFunction]) -> dict[str, Any]:
        """Traces as a signature: it takes tensors by name and returns a dictionary of tensors."""
        found = [self._signed(name, concrete) for concrete in traces]
        return {**found[0], "traces": [trace for each in found for trace in each["traces"]]}

    def _signed(self, name: str, concrete: ConcreteFunction) -> dict[str, Any]:
        if concrete._variable_positions:
            raise ValueError(
                f"tf.saved_model.save: the signature {name!r} must take tensors, and no variables, got "
                f"{concrete.structured_input_signature}."
            )
        names = concrete._signature_names()
        outputs = concrete._outputs(list(range(len(concrete.outputs))))
        if not isinstance(outputs, dict):
            outputs = outputs if isinstance(outputs, (list, tuple)) else [outputs]
            outputs = {f"output_{i}": x for i, x in enumerate(outputs)}
        for key, value in outputs.items():
            if not isinstance(key, str) or not isinstance(value, int):
                raise ValueError(
                    f"tf.saved_model.save: got {key!r} and a structure in the output of the function used to generate "
                    f"the signature {name!r}. Outputs for functions used as signatures must be a single Tensor, a "
                    "sequence of Tensors, or a dictionary from string to Tensor."
                )
        specs = {
            n: TensorSpec(spec.shape, spec.dtype, n)
            for n, spec in zip(names, concrete.inputs, strict=True)
        }
        ordered = sorted(names)
        takes: Any = ((), {n: specs[n] for n in ordered})
        kind = "KEYWORD_ONLY"
        if len(names) == 1:
            takes, kind = ((specs[names[0]],), {}), "POSITIONAL_OR_KEYWORD"
        traces = [
            {
                "takes": encoded(takes, self.arrays),
                "gives": encoded(outputs, self.arrays),
                "graph": self.graph(each),
                "order": [ordered.index(n) for n in names],
                "guards": guards_data(each),
            }
            for each in (concrete, *concrete._variants)
        ]
        parameters = [[n, kind, None] for n in names]
        return {"name": f"signature_wrapper_{name}", "parameters": parameters, "traces": traces}


def guards_data(concrete: ConcreteFunction) -> list[Any]:
    """The answers about sizes that a trace relies on, as data. Sizes are those of its arguments by number."""
    places = {x.value: i for i, x in enumerate(concrete._graph_function.arguments)}
    return [
        [guard.comparison, *[_size_data(x, places) for x in guard[1:3]], guard.answer]
        for guard in concrete._guards
    ]


def _size_data(size: Any, places: dict[Value, int]) -> Any:
    return encoded_size(size, places.__getitem__) if is_dynamic(size) else [[size]]


# Loading.


class LoadedFunction(RestoredFunction):
    """A function from a saved model.

    Args:
      data: what `Functions.function` has made.
      graphs: the graphs of the model.
      variables: its variables.
      read: gives arrays by name.
      file: that of the model, for telling that it is damaged.
    """

    def __init__(
        self,
        data: dict[str, Any],
        graphs: list[Any],
        variables: Sequence[Variable],
        read: Read,
        file: Any,
    ) -> None:
        self._graphs = graphs
        self._held = variables
        self._read = read
        self._file = file
        parameters = [
            inspect.Parameter(
                name,
                _KINDS[kind],
                default=inspect.Parameter.empty if default is None else decoded(default[0], read),
            )
            for name, kind, default in data["parameters"]
        ]
        saved = [
            SavedTrace(
                decoded(each["takes"], read),
                decoded(each["gives"], read),
                each["graph"],
                each["order"],
                each.get("guards", []),
            )
            for each in data["traces"]
        ]
        super().__init__(str(data["name"]), parameters, saved)

    def check(self, arguments: Sequence[Sequence[TensorSpec]]) -> None:
        """Whether the traces fit their graphs, of which `arguments` tells what they take. Damage if not."""
        for trace in self._saved:
            graph = self._graphs[index(trace.graph, len(arguments), "the graph of a trace")]
            trace.check(arguments[trace.graph], len(graph["outputs"]))

    def _run(self, trace: SavedTrace, tensors: list[Tensor]) -> Sequence[Tensor]:
        data = self._graphs[trace.graph]
        held = [self._held[number] for number in data["variables"]]
        inputs = [*tensors, *self._outside(data)]
        if "gradient" in data:
            backward = self._graphs[data["gradient"]["graph"]]
            outside = functools.partial(self._outside, backward)
            values, _ = with_gradient(data, backward, inputs, outside, self._replay)
        else:
            values = self._replay(data, inputs)
        by_input = dict(zip([n for n, _, _ in data["inputs"]][len(tensors) :], held, strict=False))
        for number, new in data["assigned"]:
            by_input[number].assign(values[new])
        return results(data, values)

    def _outside(self, data: dict[str, Any]) -> list[Tensor]:
        """What a graph takes besides arguments: variables and constants."""
        held = [self._held[number]._read() for number in data["variables"]]
        return [*held, *[Tensor(self._read(name)) for name in data["captured"]]]

    def _replay(self, data: dict[str, Any], inputs: Sequence[Tensor]) -> dict[int, Tensor]:
        with sound(self._file, UNTOLD):
            return replay(data, inputs, self._read)


_KINDS = {
    kind.name: kind
    for kind in (
        inspect.Parameter.POSITIONAL_ONLY,
        inspect.Parameter.POSITIONAL_OR_KEYWORD,
        inspect.Parameter.VAR_POSITIONAL,
        inspect.Parameter.KEYWORD_ONLY,
        inspect.Parameter.VAR_KEYWORD,
    )
}
