"""Graphs and structures as plain data, which JSON can hold: numbers, texts, lists and dictionaries.

What is not plain is a dictionary with one entry, whose key says what it is: `{"tuple": [1, 2]}`. Reading such data back
makes tuples, slices and numbers of it, and never runs anything.
"""

from __future__ import annotations

import collections
import functools
import importlib
import keyword
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from tapeflow._src.core.composites.composite import Composed
from tapeflow._src.core.dtypes import DType, as_dtype
from tapeflow._src.core.indexed_slices import IndexedSlices, IndexedSlicesSpec
from tapeflow._src.core.placement.remote import to_host
from tapeflow._src.core.shapes import TensorShape
from tapeflow._src.core.sizes.dims import Atom, Compound, Dim, is_dynamic
from tapeflow._src.core.sizes.extremes import KINDS
from tapeflow._src.core.spec import TensorSpec, TypeSpec
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.saved_model.damage import Damage, MissingClass, index


class CannotEncode(ValueError):
    """A value that has no form as data."""


class Arrays:
    """The arrays of a saved model, each under a name."""

    def __init__(self) -> None:
        self.named: dict[str, np.ndarray] = {}
        self._names: dict[int, str] = {}

    def add(self, array: Any) -> str:
        """The name of an array, which is kept once."""
        if id(array) not in self._names:
            self._names[id(array)] = name = f"constants/{len(self._names)}"
            self.named[name] = array
        return self._names[id(array)]


def encoded(value: Any, arrays: Arrays, size: Callable[[Dim], Any] | None = None) -> Any:
    """A value as data.

    Args:
      value: numbers, texts, dtypes, specs, arrays, slices, and structures of them.
      arrays: where arrays go.
      size: makes data of sizes that are known only when the function runs.
    """

    def inside(values: Any) -> list[Any]:
        return [encoded(v, arrays, size) for v in values]

    kind = type(value)
    if value is None or kind in (bool, int, str):
        return value
    if kind is float or isinstance(value, (np.floating, float)):
        return {"float": float(value).hex()}
    if isinstance(value, np.bool_):
        return bool(value)
    if isinstance(value, (np.integer, int)):
        return int(value)
    if kind is Dim and size is not None:
        return {"size": size(value)}
    if isinstance(value, DType):
        return {"dtype": value.name}
    if kind is slice:
        return {"slice": inside((value.start, value.stop, value.step))}
    if value is Ellipsis:
        return {"ellipsis": 0}
    if kind is complex:
        return {"complex": [value.real.hex(), value.imag.hex()]}
    if kind is bytes:
        return {"bytes": value.hex()}
    if isinstance(value, np.ndarray):
        return {"array": arrays.add(value)}
    if isinstance(value, Tensor) and not value.symbolic:
        return {"tensor": arrays.add(to_host(value)._array)}
    if isinstance(value, TensorSpec):
        shape = None if value.shape.rank is None else value.shape.as_list()
        return {"spec": [shape, value.dtype.name, value.name]}
    if isinstance(value, IndexedSlices):
        return {"slices": inside((value._values, value._indices, value._dense_shape))}
    if isinstance(value, TypeSpec) and kind.__name__ in _SPECS:
        return {"type_spec": [kind.__name__, inside(value._serialize())]}
    if isinstance(value, TypeSpec) and _is_extension(value):
        name = _extensions().name_of(value.value_type)
        return {"extension": [name, inside(value._serialize())]}
    if isinstance(value, Composed):
        return {"composed": [inside([value.spec])[0], value.numbers]}
    if isinstance(value, TensorShape):
        return {"shape": None if value.rank is None else value.as_list()}
    fields = getattr(kind, "_fields", None)
    if isinstance(value, tuple) and fields is not None:
        return {"named": [kind.__name__, list(fields), inside(value)]}
    if isinstance(value, tuple):
        return {"tuple": inside(value)}
    if isinstance(value, list):
        return inside(value)
    if isinstance(value, Mapping):
        return {"dict": [inside(item) for item in value.items()]}
    raise CannotEncode(f"a value of type {kind.__name__}: {value!r}")


def decoded(
    data: Any, read: Callable[[str], np.ndarray], size: Callable[[Any], Any] | None = None
) -> Any:
    """The value that `encoded` has made data of.

    Args:
      data: what it gave.
      read: gives the arrays by name.
      size: makes sizes of data.
    """

    def inside(values: Any) -> list[Any]:
        return [decoded(v, read, size) for v in values]

    if isinstance(data, list):
        return inside(data)
    if not isinstance(data, dict):
        return data
    ((kind, held),) = data.items()
    if kind == "size" and size is not None:
        return size(held)
    if kind == "float":
        return float.fromhex(held)
    if kind == "tuple":
        return tuple(inside(held))
    if kind == "dtype":
        return as_dtype(held)
    if kind == "slice":
        return slice(*inside(held))
    if kind == "ellipsis":
        return Ellipsis
    if kind == "complex":
        return complex(*map(float.fromhex, held))
    if kind == "bytes":
        return bytes.fromhex(held)
    if kind == "array":
        return read(held)
    if kind == "tensor":
        return Tensor(read(held))
    if kind == "spec":
        shape, dtype, name = held
        return TensorSpec(shape, as_dtype(dtype), name)
    if kind == "slices":
        return _slices(*inside(held))
    if kind == "type_spec":
        name, parts = held
        return _spec_class(name)(*inside(parts))
    if kind == "extension":
        name, parts = held
        return _extension_spec(name, inside(parts))
    if kind == "composed":
        spec, numbers = held
        return Composed(decoded(spec, read, size), numbers)
    if kind == "shape":
        return TensorShape(held)
    if kind == "named":
        name, fields, values = held
        return _named_tuple(name, tuple(fields))(*inside(values))
    if kind == "dict":
        return dict(map(inside, held))
    raise Damage(f"it holds {kind!r}, which this version of tapeflow does not know")


# Where the specs of composite tensors are: what is not there cannot be in a saved model.
_SPECS = {
    "IndexedSlicesSpec": "core.indexed_slices",
    "RaggedTensorSpec": "ragged.spec",
    "SparseTensorSpec": "sparse.tensor",
}


def _spec_class(name: Any) -> Any:
    if type(name) is not str or name not in _SPECS:
        raise Damage(f"it holds a {name!r}, which this version of tapeflow does not know")
    return getattr(importlib.import_module(f"tapeflow._src.{_SPECS[name]}"), name)


def _extensions() -> Any:
    return importlib.import_module("tapeflow._src.extension.extension_type")


def _is_extension(spec: Any) -> bool:
    return isinstance(spec, _extensions().ExtensionTypeSpec)


def _extension_spec(name: Any, parts: list[Any]) -> Any:
    """The spec of an extension type, which must have been defined in the program that loads a model."""
    found = _extensions().spec_named(name)
    fields = [field for field, _ in parts]
    if found is None:
        why = "there is no such class in this program. Define it, or import the module that does"
    elif fields != list(found._of._fields()):
        why = f"it had the fields {fields}, and has {list(found._of._fields())} now. Define it as it was"
    else:
        return found._deserialize(tuple(map(tuple, parts)))
    raise MissingClass(
        None,
        None,
        f"The saved model has to do with the extension type {name}, and {why}, before the model is loaded.",
    )


def _slices(values: Any, indices: Any, shape: Any) -> Any:
    """What is encoded as slices: in models that were saved by older versions, specs too."""
    if not isinstance(values, TensorSpec):
        return IndexedSlices(values, indices, shape)
    dense = TensorShape([None]).concatenate(values.shape[1:])
    kind = None if shape is None else shape.dtype
    return IndexedSlicesSpec(dense, values.dtype, indices.dtype, kind, indices.shape)


@functools.lru_cache(64)
def _named_tuple(name: str, fields: tuple[str, ...]) -> Any:
    # A named tuple is made of source code: what is not a plain name never gets there.
    for word in (name, *fields):
        if not word.isidentifier() or keyword.iskeyword(word) or len(word) > 100:
            raise Damage(f"a named tuple cannot have the name {word[:100]!r}")
    if len(fields) > 1000:
        raise Damage(f"a named tuple has {len(fields)} fields")
    return collections.namedtuple(name, fields)


# Sizes that are known only when the function runs.


def encoded_size(dim: Dim, number: Callable[[Any], int]) -> Any:
    """A size as data: a sum of products of sizes of values, which `number` gives a number."""

    def atom_data(atom: Atom) -> Any:
        if isinstance(atom, Compound):
            return [atom.kind, _part(atom.a), _part(atom.b)]
        symbol, axis, position = atom.origin
        return [number(symbol.value), axis, position]

    def _part(part: Any) -> Any:
        return encoded_size(part, number) if is_dynamic(part) else part

    return [[factor, *map(atom_data, product)] for product, factor in dim.monomials()]


def decoded_size(data: Any, tensors: Mapping[int, Tensor]) -> Any:
    """The size that data stands for, where values are these tensors: a number, or a `Dim` of another trace."""
    total: Any = 0
    if len(data) > _MOST_TERMS:
        raise Damage(f"a size has {len(data)} terms")
    for factor, *atoms in data:
        if type(factor) is not int or len(atoms) > _MOST_TERMS:
            raise Damage(f"a size is {str(data)[:100]}")
        term: Any = factor
        for atom in atoms:
            term = term * _decoded_atom(atom, tensors)
        total = term + total
    return total


_MOST_TERMS = 64


def _decoded_atom(atom: Any, tensors: Mapping[int, Tensor]) -> Any:
    first, second, third = atom
    if isinstance(first, str):
        a, b = (decoded_size(x, tensors) if isinstance(x, list) else x for x in (second, third))
        if first not in KINDS:
            raise Damage(f"it has a size of the kind {first[:50]!r}, which is not known")
        return KINDS[first](a, b)
    tensor = tensors[first]
    if second is not None:
        return tensor._array.shape[index(second, tensor._array.ndim, "the dimension of a size")]
    from tapeflow._src.ops.arguments import element

    if tensor._array.ndim > 1 or tensor._array.size > _MOST_ELEMENTS:
        raise Damage(f"a size is an element of a tensor of shape {tensor._array.shape}")
    return element(tensor, index(third, tensor._array.size, "the place of a size"))


_MOST_ELEMENTS = 1024  # in a tensor of sizes
