"""The fields of extension types: which annotations there may be, and how values come to fit them."""

from __future__ import annotations

import types
import typing
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from tapeflow._src.core import nest
from tapeflow._src.core.composites.composite import CompositeTensor
from tapeflow._src.core.convert import convert_to_tensor
from tapeflow._src.core.dtypes import DType, as_dtype
from tapeflow._src.core.shapes import TensorShape
from tapeflow._src.core.spec import TensorSpec, TypeSpec
from tapeflow._src.core.tensor import Tensor

_PLAIN = (int, float, str, bytes, bool, type(None))


class ImmutableDict(Mapping[Any, Any]):
    """A mapping that cannot be changed: what an extension type makes of a dictionary.

    >>> ImmutableDict({"a": 1})
    ImmutableDict({'a': 1})
    """

    __slots__ = ("_held",)

    def __init__(self, held: Mapping[Any, Any] | Iterable[tuple[Any, Any]] = ()) -> None:
        self._held = dict(held)

    def __getitem__(self, key: Any) -> Any:
        return self._held[key]

    def __iter__(self) -> Iterator[Any]:
        return iter(self._held)

    def __len__(self) -> int:
        return len(self._held)

    def __repr__(self) -> str:
        return f"ImmutableDict({self._held!r})"


def resolved(annotation: Any, evaluate: Callable[[str], Any]) -> Any:
    """An annotation in which types that are named by a text, as in `tuple["Node", ...]`, are what is meant."""
    if isinstance(annotation, typing.ForwardRef):
        return evaluate(annotation.__forward_arg__)
    if isinstance(annotation, str):
        return resolved(evaluate(annotation), evaluate)
    arguments = typing.get_args(annotation)
    found = tuple([resolved(part, evaluate) for part in arguments])
    if found == arguments:
        return annotation
    origin = typing.get_origin(annotation)
    return typing.Union[found] if origin is typing.Union else origin[found]  # noqa: UP007


def check_annotation(name: str, annotation: Any) -> None:
    """Raises a TypeError unless a field may have this type."""
    for part in _parts_of(annotation):
        if not _is_supported(part):
            raise TypeError(f"In field {name!r}: Unsupported type annotation {_named(part)}")


def _parts_of(annotation: Any) -> Iterator[Any]:
    origin, arguments = typing.get_origin(annotation), typing.get_args(annotation)
    if origin in (typing.Union, types.UnionType):
        for part in arguments:
            yield from _parts_of(part)
    elif origin is tuple:
        for part in arguments:
            if part is not Ellipsis:
                yield from _parts_of(part)
    elif origin is not None and issubclass(origin, Mapping) and len(arguments) == 2:
        yield from _parts_of(arguments[1])
    else:
        yield annotation


def _is_supported(kind: Any) -> bool:
    if kind is None or kind in _PLAIN:
        return True
    if not isinstance(kind, type):
        return False
    return kind in (Tensor, DType, TensorShape) or issubclass(kind, (CompositeTensor, TypeSpec))


def _named(annotation: Any) -> str:
    if isinstance(annotation, type):
        return repr(annotation.__name__)
    return repr(annotation) if annotation is not Any else "'Any'"


def converted(annotation: Any, value: Any, path: str, as_spec: bool = False) -> Any:
    """A value as a field holds it, or with `as_spec`, as the spec of the class holds it.

    Raises:
      TypeError: if it does not fit.
    """
    origin, arguments = typing.get_origin(annotation), typing.get_args(annotation)
    if origin in (typing.Union, types.UnionType):
        return _of_union(annotation, arguments, value, path, as_spec)
    if origin is tuple:
        return _tuple(arguments, value, path, as_spec)
    if origin is not None:
        if not isinstance(value, Mapping):
            raise TypeError(f"{path}: expected mapping, got {type(value).__name__!r}")
        items = {k: converted(arguments[1], v, f"{path}[{k!r}]", as_spec) for k, v in value.items()}
        return items if as_spec else ImmutableDict(items)
    if (
        as_spec
        and isinstance(annotation, type)
        and issubclass(annotation, (Tensor, CompositeTensor))
    ):
        if not isinstance(value, TypeSpec):
            raise TypeError(f"{path}: expected a TypeSpec, got {type(value).__name__!r}")
        return value
    if annotation is Tensor:
        return _tensor(value, path)
    if annotation is DType:
        return as_dtype(value)
    if annotation is TensorShape:
        return TensorShape(value)
    kind = type(None) if annotation is None else annotation
    if not isinstance(value, kind):
        raise TypeError(f"{path}: expected {kind.__name__!r}, got {type(value).__name__!r}")
    return value


def _tensor(value: Any, path: str) -> Any:
    if isinstance(value, TensorSpec):  # while a signature is described
        return value
    try:
        return convert_to_tensor(value)
    except (TypeError, ValueError):
        raise TypeError(f"{path}: expected a Tensor, got {type(value).__name__!r}") from None


def _tuple(arguments: tuple[Any, ...], value: Any, path: str, as_spec: bool) -> tuple[Any, ...]:
    if not isinstance(value, (list, tuple)):
        raise TypeError(f"{path}: expected tuple, got {type(value).__name__!r}")
    if arguments[-1:] == (Ellipsis,):
        arguments = (arguments[0],) * len(value)
    if len(arguments) != len(value):
        raise TypeError(
            f"{path}: expected tuple with length {len(arguments)}, got {type(value).__name__!r})"
        )
    pairs = enumerate(zip(arguments, value, strict=True))
    return tuple([converted(a, v, f"{path}[{i}]", as_spec) for i, (a, v) in pairs])


def _of_union(annotation: Any, kinds: tuple[Any, ...], value: Any, path: str, as_spec: bool) -> Any:
    """What a value is already comes first, then what it can be converted to."""
    exact = [k for k in kinds if isinstance(k, type) and isinstance(value, k) and k is not Tensor]
    tensors = [k for k in kinds if k is Tensor]
    others = [k for k in kinds if k not in exact and k not in tensors]
    ordered = [*tensors, *exact] if not isinstance(value, (CompositeTensor, type(None))) else exact
    for kind in [*ordered, *others, *tensors]:
        try:
            return converted(kind, value, path, as_spec)
        except (TypeError, ValueError):
            continue
    raise TypeError(f"{path}: expected {annotation!r}, got {type(value).__name__!r}")


def spec_of_field(value: Any) -> Any:
    """What the spec of an extension type holds in the place of a field."""
    if isinstance(value, ImmutableDict):
        return {key: spec_of_field(item) for key, item in value.items()}
    if isinstance(value, tuple):
        return tuple([spec_of_field(item) for item in value])
    if isinstance(value, CompositeTensor):
        return value._type_spec
    return TensorSpec(value.shape, value.dtype) if isinstance(value, Tensor) else value


def field_of_spec(spec: Any, components: Iterator[Any]) -> Any:
    """A field, made of the next components where its spec has specs. Those of mappings come by sorted keys."""
    if isinstance(spec, dict):
        order = nest.flatten({key: key for key in spec})
        items = {key: field_of_spec(spec[key], components) for key in order}
        return ImmutableDict({key: items[key] for key in spec})
    if isinstance(spec, tuple):
        return tuple([field_of_spec(item, components) for item in spec])
    return next(components) if isinstance(spec, TypeSpec) else spec
