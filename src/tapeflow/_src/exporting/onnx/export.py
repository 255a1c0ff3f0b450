"""`tf.export.to_onnx`: a function as a model that onnxruntime and others run."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from tapeflow._src.core.errors import InvalidArgumentError
from tapeflow._src.core.export import export
from tapeflow._src.core.sizes.dims import Compound, is_dynamic
from tapeflow._src.core.sizes.guards import Guard
from tapeflow._src.core.spec import TensorSpec
from tapeflow._src.core.system.files import replacing
from tapeflow._src.core.system.loading import loaded
from tapeflow._src.exporting.onnx import (
    array,
    control,
    elementwise,
    indexing,
    linalg,
    nn,
    reduction,
)
from tapeflow._src.exporting.onnx.writing import CannotWrite, GraphWriter, Shared
from tapeflow._src.exporting.tracing import traced
from tapeflow._src.function.concrete import ConcreteFunction
from tapeflow._src.graph.graph import Graph, Value
from tapeflow._src.graph.passes import optimized

if TYPE_CHECKING:
    from onnx import ModelProto  # pyright: ignore

SUBJECTS = (array, control, elementwise, indexing, linalg, nn, reduction)  # whose rows are used

OPSET = 20
"""The version of ONNX's operators that is written: of 2023, with bits, scatters that reduce, and dilated pooling."""

_LARGEST = 2**31 - 2**16  # bytes of a message, with room for what is not weights


@export("export.to_onnx")
def to_onnx(
    function: Any, *args: Any, path: str | os.PathLike[str] | None = None, **kwargs: Any
) -> ModelProto:
    """A function or a Keras model as an ONNX model, with the values that its variables have now.

    >>> w = tf.Variable([[1.0], [2.0]])
    >>> f = tf.function(lambda x: tf.nn.relu(tf.matmul(x, w)))
    >>> try:
    ...     model = tf.export.to_onnx(f, tf.TensorSpec([None, 2], name="x"))
    ...     print([node.op_type for node in model.graph.node])
    ... except ImportError:  # the package onnx is not installed
    ...     print(['MatMul', 'Relu', 'Identity'])
    ['MatMul', 'Relu', 'Identity']

    Each primitive is written as one of ONNX's operators or several, of opset 20. Sizes that are `None` in the specs
    stay open. Branches are `If`, loops are `Loop`. The model is checked by the package onnx, which also works out the
    shapes in it: `pip install 'tapeflow[onnx]'`. Inputs are called as the specs or the arguments are; outputs as the
    keys of the dictionary that the function gives, or `output_0`, `output_1`.

    Args:
      function: a `tf.function`, a concrete one, a Python function, or a Keras model, which knows what it takes.
      *args: what it is traced for: tensors or `tf.TensorSpec`s, and Python values.
      path: the file to write it to, too. It is whole or not there.
      **kwargs: more arguments, by name.

    Returns:
      an `onnx.ModelProto`.

    Raises:
      ImportError: if the package onnx is not installed.
      InvalidArgumentError: if it assigns to variables, draws random numbers, or calls an op that ONNX has not: the
        message names it with its line.
    """
    concrete = traced("to_onnx", function, args, kwargs)
    onnx = _package()
    model = _Model(onnx, concrete).message()
    size = sum(len(each.raw_data) for each in model.graph.initializer)
    if size > _LARGEST:
        raise _refused(
            concrete,
            f"its weights have {size:,} bytes, and a file of ONNX's holds 2 GB at most. Export parts of it",
        )
    try:
        onnx.checker.check_model(model, full_check=True)
        model = onnx.shape_inference.infer_shapes(model, check_type=True, data_prop=True)
    except (onnx.checker.ValidationError, onnx.shape_inference.InferenceError) as error:
        raise _refused(concrete, f"the package onnx finds a fault: {error}") from error
    if path is not None:
        data = model.SerializeToString()
        with replacing(path) as file:
            file.write(data)
    return model


def _package() -> Any:
    try:
        onnx = loaded("onnx")
        loaded("onnx.shape_inference")
        return onnx
    except ImportError as error:
        raise ImportError(
            "to_onnx needs the package onnx: pip install 'tapeflow[onnx]'", name="onnx"
        ) from error


def _refused(concrete: ConcreteFunction, reason: str) -> InvalidArgumentError:
    return InvalidArgumentError(
        None, None, f"to_onnx: {concrete.name!r} cannot be exported: {reason}."
    )


class _Model:
    """The model of a traced function.

    Args:
      onnx: the package.
      concrete: the function.
    """

    def __init__(self, onnx: Any, concrete: ConcreteFunction) -> None:
        self._onnx = onnx
        self._concrete = concrete
        self._shared = Shared(onnx)
        self._writer = GraphWriter(self._shared)
        self._sizes: dict[Any, str] = {}  # by the value and the axis that they are of

    def message(self) -> Any:
        concrete, helper = self._concrete, self._onnx.helper
        graph_function = concrete._graph_function
        graph = graph_function.graph
        if graph.assigned:
            names = [graph.notes.get(value, "one") for value in graph.assigned]
            raise _refused(
                concrete,
                f"it assigns to variables ({', '.join(names)}), and an ONNX model has none. Return the new values, or "
                "call layers with training=False",
            )
        # That nothing is empty may be taken for granted: models say so little of what they refuse.
        relied_on = [
            guard for guard in concrete._guards if not _says_that_there_is_something(guard)
        ]
        if relied_on:
            raise _refused(
                concrete,
                f"its trace holds only where {relied_on[0]}. Give the tf.TensorSpecs numbers in the place of "
                "None",
            )
        values, count = graph.inputs, len(graph_function.arguments)
        held = count + len(graph_function.variables)
        inputs = self._inputs(values[:count])
        for value, variable in zip(values[count:held], graph_function.variables, strict=True):
            array = np.asarray(variable.value()._array)
            name = graph.notes.get(value, variable.name)
            self._writer.values[value] = self._shared.constant(array, name)
        for value, tensor in zip(values[held:], graph_function.captured, strict=True):
            self._writer.values[value] = self._shared.constant(np.asarray(tensor._array))
        try:
            graph = optimized(self._with_values(graph))
            found = self._writer.write(graph)
        except CannotWrite as error:
            raise _refused(concrete, str(error)) from None
        names = _names(concrete)
        outputs = [(names[i], found[i]) for i in range(len(concrete.outputs))]
        message = self._writer.finished(concrete.name, inputs, outputs)
        for info, value in zip(message.output, graph.outputs, strict=False):
            self._describe(info, value)
        used = {name for node in _nodes(message) for name in node.input}
        message.initializer.extend(
            self._onnx.numpy_helper.from_array(array, name)
            for name, array in self._shared.arrays.items()
            if name in used
        )
        opset = helper.make_opsetid("", OPSET)
        return helper.make_model(
            message,
            opset_imports=[opset],
            ir_version=helper.find_min_ir_version_for([opset]),
            producer_name="tapeflow",
        )

    def _with_values(self, graph: Graph) -> Graph:
        """The graph with the values of variables as constants, so that what depends on them alone is computed now."""
        known = graph.with_nodes(list(graph.nodes))
        for value, ref in self._writer.values.items():
            array = self._writer.array_of(ref)
            if array is not None:
                known.constants[value] = array
        return known

    def _inputs(self, values: Sequence[Value]) -> list[Any]:
        specs: Sequence[TensorSpec] = self._concrete.inputs
        infos = []
        for i, (value, spec) in enumerate(zip(values, specs, strict=True)):
            name = (spec.name or f"args_{i}").removesuffix(":0")
            sizes = []
            for axis, size in enumerate(spec.shape):
                sizes.append(size)
                if size is None:
                    sizes[-1] = self._sizes[value, axis] = f"{name}_size_{axis}"
            info, self._writer.values[value] = self._writer.argument(name, value.dtype, sizes)
            infos.append(info)
        return infos

    def _describe(self, info: Any, value: Value) -> None:
        """Says what is known of the shape of an output."""
        shape = info.type.tensor_type.shape
        if value.shape is None or not isinstance(value.shape, tuple):
            return
        shape.SetInParent()
        for size in value.shape:
            dim = shape.dim.add()
            if size is None:
                continue
            if not is_dynamic(size):
                dim.dim_value = int(size)
            else:
                name = self._sizes.get(_origin(size))
                if name is not None:
                    dim.dim_param = name


def _says_that_there_is_something(guard: Guard) -> bool:
    """Whether a trace relies on no more than that an array is not empty."""
    comparison, a, b, answer = guard
    if comparison == "==":
        return not is_dynamic(b) and b == 0 and not answer
    if not answer or is_dynamic(a) or a != 0 or not is_dynamic(b):
        return False
    return all(product and factor > 0 for product, factor in b.monomials())


def _origin(size: Any) -> tuple[Value, int | None] | None:
    """The value that has a size along an axis, unless the size is computed."""
    atom = size.atom
    if atom is None or isinstance(atom, Compound):
        return None
    symbol, axis, _ = atom.origin
    return symbol.value, axis


def _nodes(graph: Any) -> Any:
    """The nodes of a graph, and of those inside of it."""
    for node in graph.node:
        yield node
        for attribute in node.attribute:
            if attribute.HasField("g"):
                yield from _nodes(attribute.g)


def _names(concrete: ConcreteFunction) -> list[str]:
    """The names of the outputs, in the order of the graph."""
    count = len(concrete.outputs)
    results = concrete._outputs(list(range(count)))
    if isinstance(results, dict) and all(isinstance(x, int) for x in results.values()):
        names = {place: str(key) for key, place in results.items()}
        return [names[i] for i in range(count)]
    return [f"output_{i}" for i in range(count)]
