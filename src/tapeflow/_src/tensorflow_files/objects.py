"""The objects of a TensorFlow checkpoint: what each contains by name, and the tensors that are its state."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from typing import NamedTuple

from tapeflow._src.tensorflow_files.messages import Damage
from tapeflow._src.tensorflow_files.schemas import OBJECT_GRAPH


class Object(NamedTuple):
    """An object in a checkpoint."""

    children: dict[str, int]
    values: dict[str, str]  # kinds of value, and the names of the tensors
    path: tuple[str, ...]  # a shortest way from the first object


def decoded(data: bytes) -> list[Object]:
    """The objects of a graph. The first is what was saved. Damage if it is none."""
    nodes = OBJECT_GRAPH.decoded(data).nodes
    if not nodes:
        raise Damage("it holds no objects")
    children: list[dict[str, int]] = []
    for node in nodes:
        inside = {child.local_name: child.node_id for child in node.children}
        # The optimizers of Keras 2 have state for each variable that is no attribute.
        for slot in node.slot_variables:
            name = f".OPTIMIZER_SLOT/{slot.original_variable_node_id}/{slot.slot_name}"
            inside[name] = slot.slot_variable_node_id
        if any(not 0 <= number < len(nodes) for number in inside.values()):
            raise Damage("an object contains one that is not there")
        children.append(inside)
    paths = _paths(children)
    return [
        Object(
            inside,
            {a.name: a.checkpoint_key for a in node.attributes},
            paths.get(i, (f"object {i}",)),
        )
        for i, (inside, node) in enumerate(zip(children, nodes, strict=True))
    ]


def _paths(children: Sequence[dict[str, int]]) -> dict[int, tuple[str, ...]]:
    found: dict[int, tuple[str, ...]] = {0: ()}
    waiting = deque([0])
    while waiting:
        number = waiting.popleft()
        for name, inner in children[number].items():
            if inner not in found:
                found[inner] = (*found[number], name)
                waiting.append(inner)
    return found


def encoded(objects: Sequence[Object], names: Sequence[str]) -> bytes:
    """Objects as TensorFlow reads them.

    Args:
      objects: as `decoded` gives them.
      names: what the variable in each is called, where there is one.
    """
    leading = _lead_to_values(objects)
    nodes = [
        {
            "children": [
                {"node_id": number or None, "local_name": name}
                for name, number in each.children.items()
            ],
            "attributes": [
                {"name": kind, "full_name": name or None, "checkpoint_key": key}
                for kind, key in each.values.items()
            ],
            "has_checkpoint_values": {"value": True} if i in leading else {},
        }
        for i, (each, name) in enumerate(zip(objects, names, strict=True))
    ]
    return OBJECT_GRAPH.encoded({"nodes": nodes})


def _lead_to_values(objects: Sequence[Object]) -> set[int]:
    """The objects that have a value, or contain one that has."""
    parents: dict[int, list[int]] = {}
    for number, each in enumerate(objects):
        for inner in each.children.values():
            parents.setdefault(inner, []).append(number)
    found = {i for i, each in enumerate(objects) if each.values}
    waiting = list(found)
    while waiting:
        for parent in parents.get(waiting.pop(), ()):
            if parent not in found:
                found.add(parent)
                waiting.append(parent)
    return found
