"""`tf.nest`: functions on nested structures of lists, tuples, dicts and named tuples.

A structure is a sequence (other than `str` and `bytes`) or a mapping, at any depth, or an object that takes itself
apart with `__tf_flatten__`. Everything else is a leaf: numbers, tensors, arrays, strings, sets and `None`. The leaves
of a sequence come in its order, those of a mapping in the order of its sorted keys. A composite tensor is a leaf, too,
unless `expand_composites` asks for its components.

optree walks the containers built into Python. What is a leaf to it but a structure to TensorFlow
(subclasses of the containers, other mappings and sequences) is walked here, and so is an
`OrderedDict`, whose keys optree does not sort.
"""

from __future__ import annotations

from collections import OrderedDict, defaultdict
from collections.abc import Callable, Iterator, Mapping, MappingView, MutableMapping, Sequence
from typing import Any

import optree
from optree.utils import total_order_sorted

from tapeflow._src.core.composites.composite import components_of, is_expandable, spec_of
from tapeflow._src.core.errors import shown
from tapeflow._src.core.export import export

__all__ = ["assert_same_structure", "flatten", "is_nested", "map_structure", "pack_sequence_as"]

# The types of the leaves seen so far: `issuperset(map(type, ...))` asks about many of them at once.
_LEAF_TYPES: set[type] = {bool, bytes, complex, float, int, str, type(None)}

_CONTAINER_TYPES: set[type] = {dict, list, tuple}


@export("nest.is_nested")
def is_nested(seq: Any) -> bool:
    """Whether `seq` is a structure, even an empty one, and not a leaf.

    >>> import tapeflow as tf
    >>> tf.nest.is_nested([1, 2]), tf.nest.is_nested("ab"), tf.nest.is_nested(None)
    (True, False, False)
    """
    kind = type(seq)
    if kind in _LEAF_TYPES:
        return False
    if kind in _CONTAINER_TYPES:
        return True
    if isinstance(seq, (Sequence, Mapping, MappingView)) and not isinstance(seq, (str, bytes)):
        _CONTAINER_TYPES.add(kind)
        return True
    if _flattens_itself(kind):
        _CONTAINER_TYPES.add(kind)
        return True
    _LEAF_TYPES.add(kind)
    return False


@export("nest.flatten")
def flatten(structure: Any, expand_composites: bool = False) -> list[Any]:
    """Returns the leaves of a structure as a list.

    >>> import tapeflow as tf
    >>> tf.nest.flatten({"b": [1, 2], "a": (3, None)})
    [3, None, 1, 2]
    >>> tf.nest.flatten(5)
    [5]

    Args:
        structure: a structure or a single leaf.
        expand_composites: whether the components of composite tensors (of `tf.RaggedTensor`, say) are leaves in
            their place.
    """
    if expand_composites:
        return _expanded(structure)
    kind = type(structure)
    if kind in _LEAF_TYPES:
        return [structure]
    if (kind is list or kind is tuple) and _LEAF_TYPES.issuperset(map(type, structure)):
        return list(structure)
    leaves = _optree_leaves(structure)
    if _LEAF_TYPES.issuperset(map(type, leaves)):
        return leaves
    result = []
    for leaf in leaves:
        if is_nested(leaf):
            for child in _children(leaf):
                result += flatten(child)
        else:
            result.append(leaf)
    return result


@export("nest.pack_sequence_as")
def pack_sequence_as(structure: Any, flat_sequence: Any, expand_composites: bool = False) -> Any:
    """Returns `structure` with its leaves replaced, in the order of `flatten`.

    >>> import tapeflow as tf
    >>> tf.nest.pack_sequence_as({"b": [0, 0], "a": 0}, [1, 2, 3])
    {'b': [2, 3], 'a': 1}

    Args:
        structure: a structure or a single leaf.
        flat_sequence: a sequence of the new leaves, which may themselves be structures.
        expand_composites: whether composite tensors are made of new components.

    Raises:
        TypeError: if `flat_sequence` is not a sequence.
        ValueError: if it has more or fewer items than `structure` has leaves.
    """
    if not is_nested(flat_sequence) or isinstance(flat_sequence, Mapping):
        raise TypeError(
            f"pack_sequence_as: `flat_sequence` must be a sequence such as a list, but got "
            f"{shown(flat_sequence)} of type {type(flat_sequence).__name__}."
        )
    count = len(flatten(structure, expand_composites))
    if count != len(flat_sequence):
        raise ValueError(
            f"pack_sequence_as: `structure` has {count} leaves, but `flat_sequence` has "
            f"{len(flat_sequence)} items.\n"
            f"structure: {shown(structure)}\nflat_sequence: {shown(flat_sequence)}"
        )
    values = iter(flat_sequence)
    return _pack_expanded(structure, values) if expand_composites else _pack(structure, values)


@export("nest.map_structure")
def map_structure(func: Callable[..., Any], *structure: Any, **kwargs: Any) -> Any:
    """Applies `func` to the corresponding leaves of the structures.

    The result has the types of the first structure.

    >>> import tapeflow as tf
    >>> tf.nest.map_structure(lambda x, y: x + y, {"a": 1, "b": (2,)}, {"a": 10, "b": (20,)})
    {'a': 11, 'b': (22,)}

    Args:
        func: takes one leaf of each structure.
        *structure: one or more structures of the same form.
        **kwargs: `check_types` and `expand_composites`, as for `assert_same_structure`.

    Raises:
        TypeError: if `func` cannot be called, or the containers differ in type.
        ValueError: if there is no structure, the forms differ, or a keyword is unknown.
    """
    if not callable(func):
        raise TypeError(f"map_structure: `func` must be callable, but got {shown(func)}.")
    if not structure:
        raise ValueError("map_structure: pass at least one structure after `func`.")
    check_types = kwargs.pop("check_types", True)
    expand = kwargs.pop("expand_composites", False)
    if kwargs:
        raise ValueError(
            "map_structure: the only keyword arguments are `check_types` and `expand_composites`, "
            f"but got {', '.join(f'`{name}`' for name in kwargs)}."
        )
    first = structure[0]
    for other in structure[1:]:
        assert_same_structure(first, other, check_types=check_types, expand_composites=expand)
    # A list, so that all calls are made before anything is built, and in order.
    columns = [flatten(each, expand) for each in structure]
    results = iter([func(*leaves) for leaves in zip(*columns, strict=True)])
    return _pack_expanded(first, results) if expand else _pack(first, results)


@export("nest.assert_same_structure")
def assert_same_structure(
    nest1: Any, nest2: Any, check_types: bool = True, expand_composites: bool = False
) -> None:
    """Raises an exception unless two structures have the same form.

    Mappings of different types have the same form if their keys are equal. So have a list and an
    instance of a subclass of it, and two named tuples with the same name and fields.

    >>> import tapeflow as tf
    >>> tf.nest.assert_same_structure([1, (2, 3)], [4, (5, 6)])
    >>> tf.nest.assert_same_structure([1, 2], [1, [2]])
    Traceback (most recent call last):
        ...
    ValueError: The two structures differ at [1]: 2 is a leaf, but [2] is a list.
    First structure: [1, 2]
    Second structure: [1, [2]]

    Args:
        nest1: a structure or a single leaf.
        nest2: a structure or a single leaf.
        check_types: whether the types of sequences and the keys of mappings must agree too.
        expand_composites: whether composite tensors must have compatible specs.

    Raises:
        ValueError: if the forms differ.
        TypeError: if only the types of the containers differ.
    """
    try:
        difference = _difference(nest1, nest2, check_types, "")
        if difference is None and expand_composites:
            difference = _difference_of_specs(nest1, nest2)
    except RecursionError:
        raise _too_deep() from None
    if difference is not None:
        error, place, reason = difference
        raise error(
            f"The two structures differ{f' at {place}' if place else ''}: {reason}.\n"
            f"First structure: {shown(nest1)}\nSecond structure: {shown(nest2)}"
        )


def _optree_leaves(structure: Any) -> list[Any]:
    try:
        return optree.tree_leaves(structure, _is_ordered_dict, none_is_leaf=True)
    except RecursionError:
        raise _too_deep() from None


def _too_deep() -> ValueError:
    return ValueError("A structure is nested deeper than Python can go, or holds itself.")


# A bound method of `type`: optree calls it for each node without entering the interpreter.
_is_ordered_dict = OrderedDict.__instancecheck__


def _sorted_keys(mapping: Mapping[Any, Any]) -> list[Any]:
    """The keys in the order optree has for dicts, which also knows one for keys of mixed types."""
    return total_order_sorted(mapping)


def _children(structure: Any) -> list[Any]:
    if isinstance(structure, Mapping):
        return [structure[key] for key in _sorted_keys(structure)]
    if _flattens_itself(type(structure)):
        return list(structure.__tf_flatten__()[1])
    return list(structure)


def named_children(structure: Any) -> Iterator[tuple[Any, Any]]:
    """The parts of a structure in the order of `flatten`, each with its key, its number, or the name of its field."""
    children = _children(structure)
    if isinstance(structure, Mapping):
        return zip(_sorted_keys(structure), children, strict=True)
    return zip(getattr(structure, "_fields", range(len(children))), children, strict=True)


def _flattens_itself(kind: type) -> bool:
    """Whether objects of this class say what they are made of, as dataclasses can."""
    return hasattr(kind, "__tf_flatten__") and hasattr(kind, "__tf_unflatten__")


# Composite tensors.


def _expanded(structure: Any) -> list[Any]:
    leaves = flatten(structure)
    if not any(map(is_expandable, leaves)):
        return leaves
    result = []
    for leaf in leaves:
        result += _expanded(components_of(leaf)) if is_expandable(leaf) else [leaf]
    return result


def _pack_expanded(structure: Any, values: Iterator[Any]) -> Any:
    """Rebuilds `structure` with components taken from `values`."""
    new = []
    for leaf in flatten(structure):
        if is_expandable(leaf):
            components = _pack_expanded(components_of(leaf), values)
            new.append(spec_of(leaf)._from_components(components))
        else:
            new.append(next(values))
    return _pack(structure, iter(new))


def _pack(structure: Any, values: Iterator[Any]) -> Any:
    """Rebuilds `structure` with leaves taken from `values`."""
    kind = type(structure)
    if kind in _LEAF_TYPES:
        return next(values)
    if (kind is list or kind is tuple) and _LEAF_TYPES.issuperset(map(type, structure)):
        return kind([next(values) for _ in structure])
    leaves, spec = optree.tree_flatten(structure, _is_ordered_dict, none_is_leaf=True)
    return spec.unflatten(
        [_pack_other(leaf, values) if is_nested(leaf) else next(values) for leaf in leaves]
    )


def _pack_other(structure: Any, values: Iterator[Any]) -> Any:
    """Rebuilds a structure that optree takes for a leaf."""
    children = [_pack(child, values) for child in _children(structure)]
    kind = type(structure)
    if _flattens_itself(kind):
        return kind.__tf_unflatten__(structure.__tf_flatten__()[0], tuple(children))
    if isinstance(structure, Mapping):
        return mapping_like(structure, dict(zip(_sorted_keys(structure), children, strict=True)))
    if isinstance(structure, (range, MappingView)):
        return children  # neither can hold other values
    return kind(children)


def mapping_like(structure: Mapping[Any, Any], values: Mapping[Any, Any]) -> Any:
    """A mapping of the kind of `structure`, with other values for its keys."""
    kind: Any = type(structure)
    pairs = [(key, values[key]) for key in structure]
    if kind is dict:
        return dict(pairs)
    if not isinstance(structure, MutableMapping):
        return kind(pairs)
    # Not `kind(pairs)`: a Counter would count the pairs, a ChainMap take them for a mapping.
    result: Any = kind(structure.default_factory) if isinstance(structure, defaultdict) else kind()
    for key, value in pairs:
        result[key] = value
    return result


_Difference = tuple[type[Exception], str, str]


def _difference(a: Any, b: Any, check_types: bool, place: str) -> _Difference | None:
    """The first difference in form: the exception for it, where it is, and what it is."""
    if not is_nested(a):
        if not is_nested(b):
            return None
        return ValueError, place, f"{shown(a)} is a leaf, but {shown(b)} is a {type(b).__name__}"
    if not is_nested(b):
        return ValueError, place, f"{shown(a)} is a {type(a).__name__}, but {shown(b)} is a leaf"
    mappings = isinstance(a, Mapping) and isinstance(b, Mapping)
    if check_types:
        if type(a) is not type(b) and not mappings and not _same_sequence_type(a, b):
            names = type(a).__name__, type(b).__name__
            return TypeError, place, f"{shown(a)} is a {names[0]}, but {shown(b)} is a {names[1]}"
        if mappings and a.keys() != b.keys():
            return ValueError, place, f"one has the keys {list(a)}, the other {list(b)}"
    inside = _children(a), _children(b)
    sizes = len(inside[0]), len(inside[1])
    if sizes[0] != sizes[1]:
        return (
            ValueError,
            place,
            f"{shown(a)} has {sizes[0]} elements, but {shown(b)} has {sizes[1]}",
        )
    keys = _sorted_keys(a) if isinstance(a, Mapping) else range(sizes[0])
    for key, child_a, child_b in zip(keys, *inside, strict=True):
        found = _difference(child_a, child_b, check_types, f"{place}[{key!r}]")
        if found is not None:
            return found
    return None


def _difference_of_specs(a: Any, b: Any) -> _Difference | None:
    """The first composite tensor that is none in the other structure, or is of another kind there."""
    for x, y in zip(flatten(a), flatten(b), strict=True):
        if is_expandable(x) != is_expandable(y):
            return ValueError, "", f"only one of {shown(x)} and {shown(y)} is a composite tensor"
        if is_expandable(x):
            specs = spec_of(x), spec_of(y)
            if specs[0].most_specific_common_supertype([specs[1]]) is None:
                return ValueError, "", f"{specs[0]!r} and {specs[1]!r} have nothing in common"
    return None


def _same_sequence_type(a: Any, b: Any) -> bool:
    """Whether two different types of sequence are interchangeable."""
    if isinstance(a, list) and isinstance(b, list):
        return type(a) is list or type(b) is list
    fields = getattr(a, "_fields", None)
    return (
        fields is not None
        and fields == getattr(b, "_fields", None)
        and type(a).__name__ == type(b).__name__
    )
