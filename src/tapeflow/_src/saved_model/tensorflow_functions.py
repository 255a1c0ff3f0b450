"""Traced functions as functions of a SavedModel that TensorFlow loads."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from tapeflow._src.core.dtypes import string
from tapeflow._src.core.log import get_logger
from tapeflow._src.core.spec import TensorSpec
from tapeflow._src.core.variables.variable import Variable
from tapeflow._src.function.concrete import ConcreteFunction
from tapeflow._src.function.function import Function
from tapeflow._src.graph.passes.dead_code import without_dead_code
from tapeflow._src.tensorflow_files import (
    control_flow_ops,
    primitive_nn_ops,
    random_ops,
    string_ops,
    structures,
)
from tapeflow._src.tensorflow_files.graph_writing import RESOURCE, CannotWrite, FunctionWriter, Ref

assert control_flow_ops and primitive_nn_ops and random_ops and string_ops  # their rows are used


class Signature(NamedTuple):
    """A function that is served by the names of its arguments."""

    function: str
    inputs: dict[str, TensorSpec]
    outputs: dict[str, TensorSpec]
    variables: list[int]


class FunctionsOfTensorFlow:
    """The functions of a model that is being saved.

    Args:
      node_of: gives the number of the object that a variable is.
      assets: the numbers of the objects whose paths tensors are, by the identity of these.
    """

    def __init__(
        self, node_of: Callable[[Variable], int], assets: Mapping[int, int] | None = None
    ) -> None:
        self._node_of = node_of
        self._assets = assets or {}
        self.library: list[dict[str, Any]] = []
        self.concrete: dict[str, dict[str, Any]] = {}

    def function(self, name: str, function: Function | ConcreteFunction) -> dict[str, Any]:
        """A `tf.function` as the fields of a message."""
        if isinstance(function, ConcreteFunction):
            traces, signature = [function], function._signature.parameters
            given = None
        else:
            traces, signature = list(function._traces), function._signature.parameters
            given = function.input_signature
        names = [found for each in traces if (found := self._trace(name, each)) is not None]
        spec = {
            "fullargspec": _full_argspec(signature),
            "input_signature": structures.encoded(None if given is None else tuple(given)),
        }
        return {"concrete_functions": names, "function_spec": spec}

    def _trace(self, name: str, concrete: ConcreteFunction) -> str | None:
        """Writes a trace. None if its arguments cannot be written."""
        try:
            takes = structures.encoded(concrete._arguments)
        except TypeError as error:
            get_logger().warning("A trace of %s is left out of the SavedModel: %s.", name, error)
            return None
        structure, order = _outputs(concrete)
        specs = _specs(concrete.inputs, [f"args_{i}" for i in range(len(concrete.inputs))])
        written, variables, _ = self._written(
            f"__inference_{name}",
            concrete,
            list(specs.items()),
            [(f"output_{i}", i) for i in order],
        )
        self.concrete[written] = {
            "bound_inputs": variables,
            "canonicalized_input_signature": takes,
            "output_signature": structures.encoded(structure),
        }
        return written

    def signature(self, name: str, concrete: ConcreteFunction) -> Signature:
        """Writes a trace that takes tensors by name and gives a dictionary of tensors."""
        if concrete._variable_positions:
            raise ValueError(
                f"tf.saved_model.save: the signature {name!r} must take tensors, and no variables, got "
                f"{concrete.structured_input_signature}."
            )
        names = concrete._signature_names()
        specs = _specs(concrete.inputs, names)
        results = concrete._outputs(list(range(len(concrete.outputs))))
        if not isinstance(results, dict):
            results = results if isinstance(results, (list, tuple)) else [results]
            results = {f"output_{i}": x for i, x in enumerate(results)}
        if not all(isinstance(k, str) and isinstance(x, int) for k, x in results.items()):
            raise ValueError(
                f"tf.saved_model.save: the function of the signature {name!r} must return a tensor, a sequence of "
                "tensors, or a dictionary from strings to tensors."
            )
        results = {key: results[key] for key in sorted(results)}
        written, variables, outputs = self._written(
            f"__inference_signature_wrapper_{name}",
            concrete,
            [(n, specs[n]) for n in sorted(specs)],
            list(results.items()),
        )
        given = {k: TensorSpec(s.shape, s.dtype, k) for k, s in zip(results, outputs, strict=True)}
        taken = {n: specs[n] for n in sorted(specs)}
        self.concrete[written] = {
            "bound_inputs": variables,
            "canonicalized_input_signature": structures.encoded(((), taken)),
            "output_signature": structures.encoded(given),
        }
        return Signature(written, taken, given, variables)

    def _written(
        self,
        name: str,
        concrete: ConcreteFunction,
        inputs: Sequence[tuple[str, TensorSpec]],
        outputs: Sequence[tuple[str, int]],
    ) -> tuple[str, list[int], list[TensorSpec]]:
        """Writes the graph of a trace, with inputs and outputs in this order."""
        writer = FunctionWriter(f"{name}_{len(self.library)}", self.library)
        graph_function = concrete._graph_function
        original = graph_function.graph
        places = {spec.name: i for i, spec in enumerate(_specs_of(concrete, inputs))}
        for input_name, spec in inputs:
            value = original.inputs[places[input_name]]
            writer.values[value] = writer.input(input_name, spec.dtype)
        count = len(graph_function.arguments)
        variables, handles = [], {}
        for variable, value in zip(graph_function.variables, original.inputs[count:], strict=False):
            handle = writer.input("unknown", RESOURCE)
            variables.append(self._node_of(variable))
            handles[value] = handle
            writer.values[value] = writer.op("ReadVariableOp", handle, dtype=value.dtype)
        captured = original.inputs[count + len(graph_function.variables) :]
        for tensor, value in zip(graph_function.captured, captured, strict=True):
            if id(tensor) in self._assets:
                variables.append(self._assets[id(tensor)])
                writer.values[value] = writer.input("unknown", string)
            else:
                writer.values[value] = writer.constant(np.asarray(tensor._array))
        try:
            self._check_sizes(concrete, writer)
            writer.run(without_dead_code(original))
        except CannotWrite as error:
            raise ValueError(
                f"tf.saved_model.save: the function {concrete.name!r} cannot be written for TensorFlow: {error}. "
                "Without format='tensorflow' it is saved in tapeflow's own format."
            ) from None
        results = [(key, writer.values[original.outputs[i]]) for key, i in outputs]
        for value, new in original.assigned.items():
            read = writer.values[value].name.partition(":")[0]
            node = writer.op("AssignVariableOp", handles[value], writer.values[new])
            writer.nodes[-1]["input"].append(f"^{read}")  # what is read is the value before
            writer.controls.append(node)
        specs = [concrete.outputs[i] for _, i in outputs]
        writer.finish(results)
        return writer.name, variables, [TensorSpec(s.shape, s.dtype) for s in specs]

    def _check_sizes(self, concrete: ConcreteFunction, writer: FunctionWriter) -> None:
        """Has the graph check what the trace relies on about sizes."""
        for guard in concrete._guards:
            a, b = writer.size(guard[1]), writer.size(guard[2])
            answer: Ref = writer.op("Equal" if guard.comparison == "==" else "Less", a, b)
            if not guard.answer:
                answer = writer.op("LogicalNot", answer)
            text = writer.constant(
                np.array(f"This function was traced for sizes with {guard}".encode(), object)
            )
            writer.controls.append(writer.op("Assert", answer, [text]))


def _specs(inputs: Sequence[TensorSpec], names: Sequence[str]) -> dict[str, TensorSpec]:
    return {n: TensorSpec(s.shape, s.dtype, n) for n, s in zip(names, inputs, strict=True)}


def _specs_of(concrete: ConcreteFunction, inputs: Sequence[tuple[str, TensorSpec]]) -> list[Any]:
    """The inputs in the order of the graph: those names that a signature has, or their numbers."""
    named = dict(inputs)
    own = concrete._signature_names()
    if set(own) != set(named):
        own = [f"args_{i}" for i in range(len(own))]
    return [named[name] for name in own]


def _outputs(concrete: ConcreteFunction) -> tuple[Any, list[int]]:
    """What a trace returns, as a structure of specs, and the numbers of these in the order of the structure."""
    order: list[int] = []

    def spec(value: Any) -> Any:
        if isinstance(value, bool) or value is None:
            return value
        if isinstance(value, int):
            order.append(value)
            found = concrete.outputs[value]
            return TensorSpec(found.shape, found.dtype, f"output_{value}")
        if isinstance(value, dict):
            return {key: spec(value[key]) for key in sorted(value)}
        if isinstance(value, (list, tuple)):
            parts = [spec(each) for each in value]
            return type(value)(*parts) if hasattr(value, "_fields") else type(value)(parts)
        raise ValueError(
            f"tf.saved_model.save: {concrete.name!r} returns a {type(value).__name__}, which is not written for "
            "TensorFlow: return tensors, lists, tuples and dictionaries of them."
        )

    return spec(concrete._outputs(list(range(len(concrete.outputs))))), order


def _full_argspec(signature: inspect.Signature) -> dict[str, Any]:
    parameters = list(signature.parameters.values())
    kinds = inspect.Parameter
    positional = [
        p for p in parameters if p.kind in (kinds.POSITIONAL_ONLY, kinds.POSITIONAL_OR_KEYWORD)
    ]
    keywords = [p for p in parameters if p.kind is kinds.KEYWORD_ONLY]
    several = [p.name for p in parameters if p.kind is kinds.VAR_POSITIONAL]
    others = [p.name for p in parameters if p.kind is kinds.VAR_KEYWORD]
    defaults = tuple([_plain(p.default) for p in positional if p.default is not p.empty])
    fields = {
        "args": [p.name for p in positional],
        "varargs": several[0] if several else None,
        "varkw": others[0] if others else None,
        "defaults": defaults or None,
        "kwonlyargs": [p.name for p in keywords],
        "kwonlydefaults": {p.name: _plain(p.default) for p in keywords if p.default is not p.empty}
        or None,
        "annotations": {},
    }
    pairs = [{"key": key, "value": structures.encoded(value)} for key, value in fields.items()]
    return {"named_tuple_value": {"name": "FullArgSpec", "values": pairs}}


def _plain(value: Any) -> Any:
    """A default, if it can be written."""
    return value if isinstance(value, (bool, int, float, str, type(None))) else None
