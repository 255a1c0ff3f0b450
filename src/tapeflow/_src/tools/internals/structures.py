"""What `tensorflow.python.util.nest` has beyond `tf.nest`: structures as deep as another one, and paths."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from tapeflow._src.core.errors import shown
from tapeflow._src.core.nest import flatten, is_nested, pack_sequence_as

Path = tuple[Any, ...]


def _items(structure: Any) -> list[tuple[Any, Any]]:
    """The parts of a structure, in the order of `flatten`, with what each is called there."""
    if isinstance(structure, Mapping):
        return [(key, structure[key]) for key in sorted(structure)]
    fields = getattr(structure, "_fields", None)
    if fields is not None:
        return [(name, getattr(structure, name)) for name in fields]
    return list(enumerate(structure))


def _pairs(shallow: Any, deep: Any, path: Path = ()) -> Iterator[tuple[Path, Any]]:
    """What lies in a structure where another one has its leaves."""
    if not is_nested(shallow):
        yield path, deep
        return
    if not is_nested(deep):
        raise TypeError(
            f"At {list(path)} is {shown(deep)}, where {shown(shallow)} has more inside."
        )
    ours, theirs = _items(shallow), dict(_items(deep))
    if len(ours) != len(theirs) and not isinstance(shallow, Mapping):
        raise ValueError(
            f"At {list(path)} are {len(theirs)} elements and not {len(ours)}: {shown(deep)}, {shown(shallow)}."
        )
    for name, inside in ours:
        if name not in theirs:
            raise ValueError(f"At {list(path)} is no {name!r} in {shown(deep)}.")
        yield from _pairs(inside, theirs[name], (*path, name))


def flatten_up_to(shallow_tree: Any, input_tree: Any, **_: Any) -> list[Any]:
    """What lies in a structure where the shallow one has its leaves, as a list.

    >>> flatten_up_to([1, 2], [[3, 4], 5])
    [[3, 4], 5]
    """
    return [part for _, part in _pairs(shallow_tree, input_tree)]


def assert_shallow_structure(shallow_tree: Any, input_tree: Any, **_: Any) -> None:
    """Raises an exception unless a structure goes at least as deep as the shallow one.

    >>> assert_shallow_structure([1, 2], [[3, 4], 5])
    """
    flatten_up_to(shallow_tree, input_tree)


def map_structure_up_to(shallow_tree: Any, func: Callable[..., Any], *inputs: Any, **_: Any) -> Any:
    """Calls a function with what lies where the shallow structure has its leaves.

    >>> map_structure_up_to([1, 2], len, [[3, 4], "abc"])
    [2, 3]
    """
    columns = [flatten_up_to(shallow_tree, each) for each in inputs]
    return pack_sequence_as(shallow_tree, [func(*row) for row in zip(*columns, strict=True)])


def map_structure_with_tuple_paths_up_to(
    shallow_tree: Any, func: Callable[..., Any], *inputs: Any, **_: Any
) -> Any:
    """The same for a function that gets the path as well, as a tuple."""
    paths = [path for path, _ in _pairs(shallow_tree, shallow_tree)]
    columns = [paths, *[flatten_up_to(shallow_tree, each) for each in inputs]]
    return pack_sequence_as(shallow_tree, [func(*row) for row in zip(*columns, strict=True)])


def map_structure_with_path_up_to(
    shallow_tree: Any, func: Callable[..., Any], *inputs: Any, **_: Any
) -> Any:
    """The same for a function that gets the path as text."""

    def with_text(path: Path, *parts: Any) -> Any:
        return func("/".join(map(str, path)), *parts)

    return map_structure_with_tuple_paths_up_to(shallow_tree, with_text, *inputs)


def map_structure_with_tuple_paths(func: Callable[..., Any], *structures: Any, **_: Any) -> Any:
    """Calls a function with the path and the leaves of structures of one form.

    >>> map_structure_with_tuple_paths(lambda path, x: (path, x), {"a": [1]})
    {'a': [(('a', 0), 1)]}
    """
    return map_structure_with_tuple_paths_up_to(structures[0], func, *structures)


def map_structure_with_paths(func: Callable[..., Any], *structures: Any, **_: Any) -> Any:
    """The same for a function that gets the path as text."""
    return map_structure_with_path_up_to(structures[0], func, *structures)


def yield_flat_paths(structure: Any, **_: Any) -> Iterator[Path]:
    """The path of each leaf.

    >>> list(yield_flat_paths({"a": [1, 2]}))
    [('a', 0), ('a', 1)]
    """
    return iter([path for path, _ in _pairs(structure, structure)])


def flatten_with_tuple_paths(structure: Any, **_: Any) -> list[tuple[Path, Any]]:
    """The leaves with their paths."""
    return list(zip(yield_flat_paths(structure), flatten(structure), strict=True))


def flatten_with_joined_string_paths(structure: Any, separator: str = "/") -> list[tuple[str, Any]]:
    """The leaves with their paths as text.

    >>> flatten_with_joined_string_paths({"a": [1, 2]})
    [('a/0', 1), ('a/1', 2)]
    """
    pairs = flatten_with_tuple_paths(structure)
    return [(separator.join(map(str, path)), leaf) for path, leaf in pairs]


def get_traverse_shallow_structure(
    traverse_fn: Callable[[Any], Any], structure: Any, **_: Any
) -> Any:
    """A structure as deep as a function says: False for what is not to be looked into, and True for a leaf.

    >>> get_traverse_shallow_structure(lambda s: not isinstance(s, tuple), [1, (2, 3)])
    [True, False]
    """
    answer = traverse_fn(structure)
    if not is_nested(structure) or answer is False:
        return bool(answer)
    inside = [part for _, part in _items(structure)]
    answers = [True] * len(inside) if answer is True else [part for _, part in _items(answer)]
    return _like(
        structure,
        [
            goes_on and get_traverse_shallow_structure(traverse_fn, part)
            for goes_on, part in zip(answers, inside, strict=True)
        ],
    )


def _like(structure: Any, parts: list[Any]) -> Any:
    """A structure of the same kind with other parts."""
    if isinstance(structure, Mapping):
        names = [name for name, _ in _items(structure)]
        return type(structure)(zip(names, parts, strict=True))  # type: ignore[call-arg]
    if hasattr(structure, "_fields"):
        return type(structure)(*parts)
    return type(structure)(parts)


def is_namedtuple(instance: Any, strict: bool = False) -> bool:
    """Whether this is a named tuple.

    >>> is_namedtuple((1, 2))
    False
    """
    return isinstance(instance, tuple) and isinstance(getattr(instance, "_fields", None), tuple)


def is_mapping(obj: Any) -> bool:
    """Whether this is a mapping.

    >>> is_mapping({})
    True
    """
    return isinstance(obj, Mapping)


def items_of(structure: Any) -> Iterator[tuple[Any, Any]]:
    """The parts of a structure with their keys, those of a mapping sorted."""
    return iter(_items(structure))


def values_of(structure: Any) -> Iterator[Any]:
    """The parts of a structure."""
    return iter([part for _, part in _items(structure)])


def like(instance: Any, args: Any) -> Any:
    """A structure of the same kind with other parts."""
    return _like(instance, list(args))
