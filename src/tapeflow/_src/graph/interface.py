"""What TensorFlow's graphs can be asked: operations by name, the graph as data, the scope in which ops are added."""

from __future__ import annotations

import importlib
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any

from tapeflow._src.core.context import context
from tapeflow._src.core.errors import shown
from tapeflow._src.core.names import name_scope
from tapeflow._src.core.scopes import setting
from tapeflow._src.graph.operations import GraphTensor, Operation, operations, tensor_of
from tapeflow._src.primitives.types import rows_by_type

if TYPE_CHECKING:
    from tapeflow._src.graph.graph import Graph, Value


class GraphInterface:
    """The methods of `tf.Graph`."""

    _finalized = False
    tracer: Any = None
    """What adds nodes to it, if it is made by hand."""
    listing: Any = None
    """The operations that somebody has asked for."""
    building_function = True
    """Whether a function is what is built: always so."""

    def get_operations(self: Graph) -> list[Operation]:  # pyright: ignore[reportGeneralTypeIssues]
        """The operations, as TensorFlow shows them: inputs, constants and nodes, with names."""
        return operations(self)

    def get_operation_by_name(self: Graph, name: str) -> Operation:  # pyright: ignore[reportGeneralTypeIssues]
        """The operation of a name."""
        if not isinstance(name, str):
            raise TypeError(f"Operation names are strings (or similar), not {shown(name)}.")
        found = {each.name: each for each in operations(self)}
        if name not in found:
            raise KeyError(f"The name {name!r} refers to an Operation not in the graph.")
        return found[name]

    def get_tensor_by_name(self: Graph, name: str) -> Any:  # pyright: ignore[reportGeneralTypeIssues]
        """The input or output of a name such as `"Sin:0"`."""
        if not isinstance(name, str):
            raise TypeError(f"Tensor names are strings (or similar), not {shown(name)}.")
        operation, _, number = name.partition(":")
        if not number.isdigit():
            raise ValueError(f"{name!r} is no name of a tensor: these are like 'Sin:0'.")
        outputs = self.get_operation_by_name(operation).outputs
        if int(number) >= len(outputs):
            raise KeyError(
                f"{operation!r} has {len(outputs)} outputs, and {name!r} is none of them."
            )
        return outputs[int(number)]

    def as_graph_element(self: Graph, obj: Any, allow_tensor: bool = True, allow_operation: bool = True) -> Any:  # pyright: ignore[reportGeneralTypeIssues]  # fmt: skip
        """The tensor or the operation of a name."""
        is_tensor = isinstance(obj, str) and ":" in obj
        if is_tensor and allow_tensor:
            return self.get_tensor_by_name(obj)
        if isinstance(obj, str) and not is_tensor and allow_operation:
            return self.get_operation_by_name(obj)
        if isinstance(obj, Operation) and allow_operation:
            return obj
        raise TypeError(f"Can not convert {shown(obj)} into a tensor or an operation of the graph.")

    def operation_of(self: Graph, value: Value) -> Operation:  # pyright: ignore[reportGeneralTypeIssues]
        """The operation that computes a value."""
        return self.tensor_of(value).op

    def tensor_of(self: Graph, value: Value) -> GraphTensor:  # pyright: ignore[reportGeneralTypeIssues]
        """The output of an operation that a value is."""
        return tensor_of(self, value)

    def gradient_override_map(self: Graph, op_type_map: dict[str, str]) -> setting:  # pyright: ignore[reportGeneralTypeIssues]
        """A scope whose ops have other gradients: those of the functions that `tf.RegisterGradient` has noted.

        >>> @tf.RegisterGradient("Clipped")
        ... def clipped(op, grad):
        ...     return tf.clip_by_value(grad, -1.0, 1.0)
        >>> @tf.function
        ... def slope(x):
        ...     with tf.compat.v1.get_default_graph().gradient_override_map({"Square": "Clipped"}):
        ...         y = tf.square(x)
        ...     return tf.gradients(y, x)[0]
        >>> slope(tf.constant(5.0)).numpy()
        np.float32(1.0)

        As in TensorFlow, `tf.gradients` and tapes around a function go by it, and tapes inside the function do not.

        Args:
          op_type_map: for types of ops, as `tf.Operation.type` gives them, what their gradient is registered as: by
            the name of another type of op (`{"Sign": "Identity"}`), it is the gradient of that one.
        """
        if not isinstance(op_type_map, dict) or not all(
            isinstance(each, str) for pair in op_type_map.items() for each in pair
        ):
            raise TypeError("op_type_map must be a dictionary mapping strings to strings")
        absent = [each for each in op_type_map if each not in rows_by_type()]
        if absent:
            raise NotImplementedError(
                f"tapeflow has no ops of the type {absent[0]!r}, so none would have the gradient "
                f"{op_type_map[absent[0]]!r}. It is made of others: graph.get_operations() gives them. "
                "tf.custom_gradient gives a gradient to a function."
            )
        return setting(self, overridden={**self.overridden, **op_type_map})

    def as_graph_def(self: Graph, from_version: Any = None, add_shapes: bool = False) -> Any:  # pyright: ignore[reportGeneralTypeIssues]
        """The graph as a message, a `GraphDef`: nodes with names, types, inputs and a few attributes.

        Args:
          from_version: accepted for compatibility.
          add_shapes: whether nodes have the shapes of their outputs, as `_output_shapes`.
        """
        # Messages are of an upper layer, which has the bytes of files.
        return importlib.import_module("tapeflow._src.io.graph_messages").definition(
            self, add_shapes
        )

    def as_default(self: Graph) -> AbstractContextManager[Graph]:  # pyright: ignore[reportGeneralTypeIssues]
        """A scope in which ops are added to the graph, and do not run."""
        if self._finalized:
            raise RuntimeError("Graph is finalized and cannot be modified.")
        # Tracing is of an upper layer, too.
        return importlib.import_module("tapeflow._src.function.tracing.graph_scope").opened(self)

    def name_scope(self, name: str) -> name_scope:
        """The same as `tf.name_scope`."""
        return name_scope(name)

    def unique_name(self, name: str, mark_as_used: bool = True) -> str:
        """The name within the open scopes, with a number behind it if it was given before."""
        full = "/".join([*context.name_scopes, name])
        used = vars(self).setdefault("_names_in_use", {})
        count = used.get(full.lower(), 0)
        if mark_as_used:
            used[full.lower()] = count + 1
        return f"{full}_{count}" if count else full

    def get_name_scope(self) -> str:
        """The names of the scopes that are open, with `/` between them."""
        return "/".join(context.name_scopes)

    @property
    def version(self: Graph) -> int:  # pyright: ignore[reportGeneralTypeIssues]
        """A number that grows with each operation."""
        return len(operations(self))

    @property
    def finalized(self) -> bool:
        """Whether nothing may be added any more."""
        return self._finalized

    def finalize(self) -> None:
        """From now on nothing may be added."""
        self._finalized = True
