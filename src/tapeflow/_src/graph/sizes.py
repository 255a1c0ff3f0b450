"""Unknown sizes in the attributes of nodes: finding them, and putting others in their place."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from tapeflow._src.core.errors import OpError
from tapeflow._src.core.sizes.dims import Atom, Dim, atoms_of, is_dynamic
from tapeflow._src.core.sizes.extremes import evaluated
from tapeflow._src.graph.graph import Node, Value
from tapeflow._src.primitives.specs import ArraySpec


def atoms_in(value: Any) -> Iterator[Atom]:
    """The atoms of all sizes in an attribute, compounds taken apart."""
    if type(value) is Dim:
        yield from atoms_of(value)
    elif isinstance(value, (tuple, list)):
        for each in value:
            yield from atoms_in(each)
    elif isinstance(value, slice):
        yield from atoms_in((value.start, value.stop, value.step))
    elif isinstance(value, dict):
        yield from atoms_in(tuple(value.values()))


def mapped(value: Any, size: Callable[[Dim], Any]) -> Any:
    """An attribute with each unknown size replaced."""
    if type(value) is Dim:
        return size(value)
    if isinstance(value, tuple):
        new = [mapped(each, size) for each in value]
        return type(value)(*new) if hasattr(value, "_fields") else tuple(new)
    if isinstance(value, list):
        return [mapped(each, size) for each in value]
    if isinstance(value, slice):
        return slice(*(mapped(each, size) for each in (value.start, value.stop, value.step)))
    if isinstance(value, dict):
        return {key: mapped(each, size) for key, each in value.items()}
    return value


def origin(atom: Atom) -> Value:
    """The value that an atom is a size or an element of."""
    return atom.origin[0].value


def needs(node: Node) -> list[Value]:
    """All values that a node needs to run: its inputs, and where the sizes in its attributes come from."""
    found = list(node.inputs)
    if is_dynamic(node.attrs):
        found += [origin(atom) for atom in atoms_in(node.attrs)]
    return found


def is_sized(node: Node) -> bool:
    """Whether what a node is given had unknown sizes while it was traced."""
    taken = [v.shape for v in node.inputs if type(v.shape) is tuple]
    return is_dynamic((taken, node.attrs))


def mistake(node: Node, shapes: Sequence[Any], attrs: dict[str, Any]) -> OpError | None:
    """What the shape rule of a node says against inputs of these shapes, where all sizes are numbers."""
    rule = getattr(node.primitive, "result", None)
    if rule is None:
        return None
    specs = [ArraySpec(tuple(s), v.dtype) for s, v in zip(shapes, node.inputs, strict=True)]
    try:
        rule(*specs, **attrs)
    except OpError as wrong:
        return wrong
    return None


def substituted(attrs: dict[str, Any], tensors: Mapping[Value, Any]) -> dict[str, Any]:
    """Attributes with sizes in terms of other tensors: those that stand for the values now."""

    def of(atom: Atom) -> Any:
        symbol, axis, position = atom.origin
        tensor = tensors[symbol.value]
        if axis is not None:
            return tensor._array.shape[axis]
        from tapeflow._src.ops.arguments import element

        return element(tensor, position)

    if not is_dynamic(attrs):
        return attrs
    return {key: mapped(value, lambda dim: evaluated(dim, of)) for key, value in attrs.items()}
