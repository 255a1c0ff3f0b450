"""`tf.export.to_stablehlo`: a function as a program that whatever runs StableHLO runs: XLA, IREE, other languages."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from tapeflow._src.core.errors import InvalidArgumentError
from tapeflow._src.core.export import export
from tapeflow._src.core.spec import TensorSpec
from tapeflow._src.core.system.loading import loaded
from tapeflow._src.exporting.tracing import traced
from tapeflow._src.function.concrete import ConcreteFunction
from tapeflow._src.graph.passes.dead_code import without_dead_code

if TYPE_CHECKING:
    from jax.export import Exported

_LARGEST = 2**31 - 1  # of a size that is not known yet


@export("export.to_stablehlo")
def to_stablehlo(function: Any, *args: Any, **kwargs: Any) -> Exported:
    """A function as a StableHLO program, with the values that its variables have now.

    >>> import numpy as np
    >>> w = tf.Variable([[1.0], [2.0]])
    >>> f = tf.function(lambda x: tf.matmul(x, w))
    >>> exported = tf.export.to_stablehlo(f, tf.TensorSpec([None, 2]))
    >>> "stablehlo.dot_general" in exported.mlir_module()
    True
    >>> (y,) = exported.call(np.ones([3, 2], np.float32))
    >>> np.asarray(y).tolist()
    [[3.0], [3.0], [3.0]]

    The result is one of `jax.export`: `mlir_module()` gives a text, `serialize()` bytes to be kept (which needs the
    package flatbuffers), and `call` runs it. Sizes that are `None` in the specs stay open, where nothing depends on
    their numbers.

    Args:
      function: a `tf.function`, a concrete one, a Python function, or a Keras model, which knows what it takes.
      *args: what it is traced for: tensors or `tf.TensorSpec`s, and Python values.
      **kwargs: the same by name.

    Raises:
      InvalidArgumentError: if it assigns to variables, or does what XLA does not.
    """
    concrete = traced("to_stablehlo", function, args, kwargs)
    graph_function = concrete._graph_function
    graph = without_dead_code(graph_function.graph)
    program = loaded("tapeflow._src.engines.xla.program")
    lower = loaded("tapeflow._src.engines.xla.lower")
    if graph_function.graph.assigned:
        raise _refused(concrete, "it assigns to variables, and a program has none")
    unable = [node for node in graph.nodes if not lower.lowerable(node)]
    if unable:
        where = "" if unable[0].line is None else f" (at {unable[0].line})"
        raise _refused(concrete, f"XLA does not run {unable[0].primitive.name}{where}")
    inputs = graph_function.graph.inputs
    run = lower.lower_nodes(graph.nodes, inputs, graph_function.graph.outputs, graph.constants)
    held = [v.value()._array for v in graph_function.variables]
    held += [x._array for x in graph_function.captured]
    constants = [np.asarray(each) for each in held]
    jax = program.jax

    def whole(*arrays: Any) -> Any:
        return run(*arrays, *map(jax.numpy.asarray, constants))

    jax_export = loaded("jax.export")
    sizes_are_known = all(spec.shape.is_fully_defined() for spec in concrete.inputs)
    with program.x64_enabled():
        taken = _shapes(concrete.inputs, jax, jax_export)
        try:
            return jax_export.export(jax.jit(whole))(*taken)
        except (jax.errors.InconclusiveDimensionOperation, TypeError) as error:
            if sizes_are_known:
                raise
            reason = str(error).partition("\n")[0]
            raise _refused(
                concrete, f"{reason} Give the tf.TensorSpecs numbers in the place of None"
            ) from error


def _refused(concrete: ConcreteFunction, reason: str) -> InvalidArgumentError:
    return InvalidArgumentError(
        None, None, f"to_stablehlo: {concrete.name!r} cannot be exported: {reason}."
    )


def _shapes(specs: Sequence[TensorSpec], jax: Any, jax_export: Any) -> list[Any]:
    """What the program takes. Sizes that are not known get names."""
    names = [f"n{i}" for i, size in enumerate(n for s in specs for n in s.shape) if size is None]
    limits = [f"{name} <= {_LARGEST}" for name in names]
    sizes = iter(jax_export.symbolic_shape(", ".join(names), constraints=limits) if names else ())
    return [
        jax.ShapeDtypeStruct(
            tuple([next(sizes) if n is None else n for n in spec.shape]), spec.dtype.np_dtype
        )
        for spec in specs
    ]
