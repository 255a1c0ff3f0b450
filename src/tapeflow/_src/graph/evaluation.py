"""The value of a node from those it depends on, one after the other."""

from __future__ import annotations

from typing import Any

from tapeflow._src.core.context import quietly
from tapeflow._src.graph.graph import Graph, Value


def computed(wanted: Value, graph: Graph, known: dict[Value, Any]) -> Any:
    """The array of a value, from those of constants and of inputs that are known."""
    arrays = {**graph.constants, **known}

    def find(value: Value) -> Any:
        if value not in arrays:
            node = next((n for n in graph.nodes if value in n.outputs), None)
            if node is None:
                raise ValueError(
                    "The initial value of a tf.Variable that is made inside tf.function depends on a tensor that has "
                    "no value while the function is traced. Make the variable outside, or pass a function: "
                    "tf.Variable(lambda: ...)."
                )
            result = quietly(node.primitive.kernel, *map(find, node.inputs), **node.attrs)
            several = node.primitive.outputs != 1
            arrays.update(zip(node.outputs, result if several else (result,), strict=True))
        return arrays[value]

    return find(wanted)
