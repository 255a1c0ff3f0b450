"""Structures of values as messages: what functions of a SavedModel take and return."""

from __future__ import annotations

import collections
import keyword
from collections.abc import Mapping
from typing import Any

from tapeflow._src.core.dtypes import DType, as_dtype
from tapeflow._src.core.errors import UnimplementedError
from tapeflow._src.core.shapes import TensorShape
from tapeflow._src.core.spec import TensorSpec
from tapeflow._src.io.tensor_proto import parsed_tensor_proto
from tapeflow._src.tensorflow_files.messages import Damage, Record

_HANDLES = (20, 21)  # dtypes of handles
_KINDS = (
    *("none_value", "float64_value", "int64_value", "string_value", "bool_value"),
    *("tensor_shape_value", "tensor_dtype_value", "tensor_spec_value", "type_spec_value"),
    *("bounded_tensor_spec_value", "list_value", "tuple_value", "dict_value", "named_tuple_value"),
    *("tensor_value", "numpy_value"),
)


def dtype_of(number: int) -> DType:
    """The dtype of a number. Damage if there is none."""
    try:
        found = as_dtype(number)
    except TypeError as error:
        raise Damage(f"there is no dtype {number}") from error
    if not found.is_numpy_compatible:
        raise Damage(f"there is no tensor of dtype {found.name}")
    return found


def shape_of(said: Record) -> TensorShape:
    """A shape of which not all needs to be known."""
    if said.unknown_rank:
        return TensorShape(None)
    sizes = [d.size for d in said.dim]
    if len(sizes) > 254 or any(size < -1 for size in sizes):
        raise Damage(f"a shape is {str(sizes)[:100]}")
    return TensorShape([None if size < 0 else size for size in sizes])


class HandleSpec:
    """In the place of something that is no tensor, such as a table."""


def spec_of(said: Record) -> TensorSpec | HandleSpec:
    """What a tensor is like."""
    if said.dtype in _HANDLES:
        return HandleSpec()
    return TensorSpec(shape_of(said.shape), dtype_of(said.dtype), said.name or None)


def decoded(said: Record) -> Any:
    """The structure that a message tells of."""
    kind = said.which(*_KINDS)
    if kind is None or kind == "none_value":
        return None
    value = getattr(said, kind)
    if kind in ("tensor_spec_value", "bounded_tensor_spec_value"):
        return spec_of(value)
    if kind == "tensor_shape_value":
        return shape_of(value)
    if kind == "tensor_dtype_value":
        return dtype_of(value)
    if kind == "list_value":
        return [decoded(each) for each in value.values]
    if kind == "tuple_value":
        return tuple([decoded(each) for each in value.values])
    if kind == "dict_value":
        return {key: decoded(value.fields[key]) for key in sorted(value.fields)}
    if kind == "named_tuple_value":
        return _named_tuple(value.name, {pair.key: decoded(pair.value) for pair in value.values})
    if kind in ("tensor_value", "numpy_value"):
        return array_of(value)
    if kind == "type_spec_value":
        raise UnimplementedError(
            None,
            None,
            f"a {value.type_spec_class_name} is not taken from a SavedModel of TensorFlow's.",
        )
    return value


def _named_tuple(name: str, fields: Mapping[str, Any]) -> Any:
    names = [name, *fields]
    if not all(n.isidentifier() and not keyword.iskeyword(n) and n[0] != "_" for n in names):
        raise Damage(f"a named tuple has the fields {str(names)[:100]}")
    return collections.namedtuple(name, fields)(**fields)


def array_of(data: bytes) -> Any:
    """The array of a message. Damage if it is none."""
    try:
        return parsed_tensor_proto(data)
    except (ValueError, TypeError, OverflowError) as error:
        raise Damage(f"a tensor cannot be read: {error}") from error


# Writing.


def shape_message(shape: TensorShape) -> dict[str, Any]:
    """A shape as the fields of a message."""
    if shape.rank is None:
        return {"unknown_rank": True}
    return {"dim": [{"size": -1 if n is None else n} for n in shape]}


def spec_message(spec: TensorSpec) -> dict[str, Any]:
    """The same of a spec."""
    return {
        "name": spec.name or None,
        "shape": shape_message(spec.shape),
        "dtype": spec.dtype.as_datatype_enum,
    }


def encoded(value: Any) -> dict[str, Any]:
    """A structure as the fields of a message."""
    if value is None:
        return {"none_value": {}}
    if isinstance(value, TensorSpec):
        return {"tensor_spec_value": spec_message(value)}
    if isinstance(value, TensorShape):
        return {"tensor_shape_value": shape_message(value)}
    if isinstance(value, DType):
        return {"tensor_dtype_value": value.as_datatype_enum}
    if hasattr(value, "_fields"):
        pairs = [{"key": k, "value": encoded(getattr(value, k))} for k in value._fields]
        return {"named_tuple_value": {"name": type(value).__name__, "values": pairs}}
    if isinstance(value, (list, tuple)):
        kind = "list_value" if isinstance(value, list) else "tuple_value"
        return {kind: {"values": [encoded(each) for each in value]}}
    if isinstance(value, Mapping) and all(isinstance(key, str) for key in value):
        return {"dict_value": {"fields": {key: encoded(each) for key, each in value.items()}}}
    for kind, name in _SCALARS.items():
        if isinstance(value, kind):
            return {name: value}
    raise TypeError(f"{type(value).__name__} is nothing that a SavedModel holds")


_SCALARS: dict[type, str] = {
    bool: "bool_value",
    int: "int64_value",
    float: "float64_value",
    str: "string_value",
}
