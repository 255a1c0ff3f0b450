"""Element specs: what the elements of a dataset are like, and how rows become structures of tensors and back."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from tapeflow._src.core import nest
from tapeflow._src.core.composites.composite import CompositeTensor, is_expandable, one_tensor
from tapeflow._src.core.convert import convert_to_tensor
from tapeflow._src.core.errors import shown
from tapeflow._src.core.export import export
from tapeflow._src.core.placement.devices import devices, on_this_computer
from tapeflow._src.core.placement.remote import to_host
from tapeflow._src.core.shapes import TensorShape
from tapeflow._src.core.spec import TensorSpec, TypeSpec
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.data.runtime.node import Node

Pack = Callable[[Sequence[Any]], Any]


@export("data.DatasetSpec")
class DatasetSpec(TypeSpec):
    """What is known of a dataset that is an element of another one.

    >>> tf.data.Dataset.range(4).window(2).element_spec
    DatasetSpec(TensorSpec(shape=(), dtype=tf.int64, name=None), TensorShape([]))

    Args:
      element_spec: that of the dataset.
      dataset_shape: accepted for compatibility.
    """

    _expands = False

    def __init__(self, element_spec: Any, dataset_shape: Any = ()) -> None:
        self.element_spec = element_spec
        self.shape = TensorShape(dataset_shape)

    @staticmethod
    def from_value(value: Any) -> DatasetSpec:
        """That of a dataset."""
        if not hasattr(value, "element_spec"):
            raise TypeError(f"DatasetSpec.from_value takes a dataset, got {shown(value)}")
        return DatasetSpec(value.element_spec)

    @property
    def value_type(self) -> type:
        """The class of datasets."""
        from tapeflow._src.data.dataset import Dataset  # it is made of nodes, and imports them

        return Dataset

    def is_compatible_with(self, other: Any, /) -> bool:
        """Whether a dataset of the one kind can be of the other."""
        if not isinstance(other, DatasetSpec):
            return False
        try:
            common(self.element_spec, other.element_spec)
        except (TypeError, ValueError):
            return False
        return True

    def __eq__(self, other: object) -> bool:
        return isinstance(other, DatasetSpec) and self.element_spec == other.element_spec

    def __hash__(self) -> int:
        return hash(repr(self))

    def __repr__(self) -> str:
        return f"DatasetSpec({shown(self.element_spec, most=10**9)}, {self.shape!r})"


@export("NoneTensorSpec")
class NoneTensorSpec(TypeSpec):
    """Stands for `None` in an element. What travels in its place is nothing that anybody reads: `NOTHING`.

    >>> tf.NoneTensorSpec().is_compatible_with(None)
    True
    """

    __slots__ = ()

    _expands = False

    @property
    def value_type(self) -> type:
        """The class of `None`."""
        return type(None)

    def _serialize(self) -> tuple[Any, ...]:
        return ()

    def is_compatible_with(self, spec_or_value: Any, /) -> bool:
        """Whether it is `None`, or the spec of it."""
        return spec_or_value is None or isinstance(spec_or_value, NoneTensorSpec)

    def _batch(self, size: int | None) -> NoneTensorSpec:
        return self

    def _unbatch(self) -> NoneTensorSpec:
        return self


NOTHING = np.zeros((), np.bool_)
"""What a row has in the place of `None`, so that it can be put together with others."""


class Described(Node):
    """A dataset of which only the element spec is known, while a function is traced that gets a dataset."""

    name = "_VariantDataset"

    def __init__(self, spec: Any) -> None:
        self.spec = spec


# Structures.


def normalized(structure: Any) -> Any:
    """A structure whose leaves are tensors: tuples and dicts are structure, lists are values, as in TensorFlow."""
    if isinstance(structure, tuple):
        parts = [normalized(x) for x in structure]
        return type(structure)(*parts) if hasattr(structure, "_fields") else tuple(parts)
    if isinstance(structure, Mapping) and not hasattr(structure, "__array__"):
        parts = {key: normalized(value) for key, value in structure.items()}
        return nest.mapping_like(structure, parts)
    if isinstance(structure, Sequence) and not isinstance(structure, (str, bytes, list)):
        return convert_to_tensor(list(structure))
    if isinstance(structure, CompositeTensor):
        inside = one_tensor(structure)
        return inside if isinstance(inside, Tensor) and inside.symbolic else structure
    return None if structure is None else convert_to_tensor(structure)


def for_pipeline(structure: Any) -> Any:
    """The same for what a pipeline reads: in this computer's memory, whatever the scope it is made in."""
    with on_this_computer():
        found = normalized(structure)
    if not devices.in_use:
        return found
    return nest.map_structure(
        lambda x: None if x is None else to_host(x), found, expand_composites=True
    )


def spec_of(tensors: Any) -> Any:
    """The spec of a structure of tensors."""
    return nest.map_structure(_leaf_spec, tensors)


def _leaf_spec(x: Any) -> Any:
    if x is None:
        return NoneTensorSpec()
    return x._type_spec if isinstance(x, CompositeTensor) else TensorSpec(x.shape, x.dtype)


# A composite tensor travels as one component of a row: a scalar of dtype object. So do the rows of a ragged tensor,
# which are tensors.


def boxed(values: Sequence[Any]) -> np.ndarray:
    """Composite tensors as an array of rows."""
    array = np.empty(len(values), object)
    for i, value in enumerate(values):
        array[i] = value
    return array


def box(value: Any) -> np.ndarray:
    """A composite tensor as a component of a row."""
    array = np.empty((), object)
    array[()] = value
    return array


def leaves(spec: Any) -> list[Any]:
    """The specs of the components."""
    return nest.flatten(spec)


def tensor_leaves(op: str, spec: Any) -> list[TensorSpec]:
    """The same for an op that works on tensors alone."""
    found = leaves(spec)
    for leaf in found:
        if not isinstance(leaf, TensorSpec):
            raise TypeError(
                f"Dataset.{op}: the elements must be tensors, but one component is {leaf!r}. Turn it into a tensor "
                "with map() or flat_map() first."
            )
    return found


def expanded_leaves(op: str, spec: Any) -> list[TensorSpec]:
    """The specs of all tensors of an element, those that composite tensors are made of among them."""
    plain = TensorSpec, NoneTensorSpec
    if all(isinstance(leaf, plain) or is_expandable(leaf) for leaf in leaves(spec)):
        found = nest.flatten(spec, expand_composites=True)
        return [leaf for leaf in found if not isinstance(leaf, NoneTensorSpec)]
    return tensor_leaves(op, spec)


def expander(spec: Any) -> Callable[[Sequence[Any]], list[Any]] | None:
    """A function from rows to such that have the components of composite tensors in their place; None without any."""
    kinds = [type(leaf) for leaf in leaves(spec)]
    if all(issubclass(kind, TensorSpec) for kind in kinds):
        return None

    def expand(row: Sequence[Any]) -> list[Any]:
        found: list[Any] = []
        for kind, value in zip(kinds, row, strict=True):
            if issubclass(kind, TensorSpec):
                found.append(value)
            elif kind is not NoneTensorSpec:
                parts = nest.flatten(value[()], expand_composites=True)
                found += [np.asarray(part) for part in parts]
        return found

    return expand


def contractor(spec: Any) -> Callable[[Sequence[Any]], list[Any]] | None:
    """The other way round: a function that puts composite tensors together again."""
    flat = leaves(spec)
    counts = [
        0 if isinstance(leaf, NoneTensorSpec) else len(nest.flatten(leaf, expand_composites=True))
        for leaf in flat
    ]
    if all(isinstance(leaf, TensorSpec) for leaf in flat):
        return None

    def contract(row: Sequence[Any]) -> list[Any]:
        found: list[Any] = []
        parts = iter(row)
        for leaf, count in zip(flat, counts, strict=True):
            taken = [next(parts) for _ in range(count)]
            if isinstance(leaf, TensorSpec):
                found += taken
            elif isinstance(leaf, NoneTensorSpec):
                found.append(NOTHING)
            else:
                tensors = [Tensor(part) for part in taken]
                found.append(box(nest.pack_sequence_as(leaf, tensors, expand_composites=True)))
        return found

    return contract


def batchable_leaves(op: str, spec: Any) -> list[Any]:
    """The same for an op that puts elements together, or takes them apart."""
    found = leaves(spec)
    plain = TensorSpec, NoneTensorSpec
    if all(isinstance(x, plain) or (is_expandable(x) and hasattr(x, "_batch")) for x in found):
        return found
    return tensor_leaves(op, spec)


def map_spec(function: Callable[[TensorSpec], Any], spec: Any) -> Any:
    """A spec with each component changed."""
    return nest.map_structure(function, spec)


def batched(spec: Any, size: int | None) -> Any:
    """The spec of batches of elements."""

    def wider(leaf: Any) -> Any:
        return leaf._batch(size) if hasattr(leaf, "_batch") else leaf

    return map_spec(wider, spec)


def common(one: Any, other: Any) -> Any:
    """The spec that covers two.

    Raises:
      TypeError: if there is none.
    """
    try:
        nest.assert_same_structure(one, other)
        return nest.map_structure(_common, one, other)
    except (TypeError, ValueError):
        raise TypeError(f"Incompatible dataset elements: {one} vs. {other}") from None


def _common(one: Any, other: Any) -> Any:
    if isinstance(one, TensorSpec):
        if not isinstance(other, TensorSpec):
            raise TypeError
        return one.most_specific_compatible_type(other)
    if is_expandable(one) and is_expandable(other):
        return one.most_specific_compatible_type(other)
    if isinstance(one, DatasetSpec) and isinstance(other, DatasetSpec):
        return DatasetSpec(common(one.element_spec, other.element_spec))
    if one != other:
        raise TypeError
    return one


# From rows to what the user sees.


def packer(spec: Any, tensor: Callable[[Any], Tensor] = Tensor) -> Pack:
    """A function from rows to elements: structures of tensors, which `tensor` makes of arrays."""
    wraps = [_wrap(leaf, tensor) for leaf in leaves(spec)]
    plain = all(w is Tensor for w in wraps)
    if not nest.is_nested(spec):
        wrap = wraps[0]
        return lambda row: wrap(row[0])
    if plain and type(spec) is tuple and not any(map(nest.is_nested, spec)):
        if len(spec) == 2:
            return lambda row: (Tensor(row[0]), Tensor(row[1]))
        return lambda row: tuple([Tensor(x) for x in row])
    if plain and type(spec) is dict and not any(map(nest.is_nested, spec.values())):
        positions = nest.pack_sequence_as(spec, list(range(len(wraps))))
        return lambda row: {key: Tensor(row[i]) for key, i in positions.items()}
    return lambda row: nest.pack_sequence_as(spec, [w(x) for w, x in zip(wraps, row, strict=True)])


def _wrap(leaf: Any, tensor: Callable[[Any], Tensor]) -> Callable[[Any], Any]:
    if isinstance(leaf, TensorSpec):
        return tensor
    if isinstance(leaf, DatasetSpec):
        return _dataset
    if is_expandable(leaf):
        return lambda held: held[()]
    return lambda _: None


def _dataset(node: Node) -> Any:
    from tapeflow._src.data.dataset import Dataset  # it is made of nodes, and imports them

    return Dataset(node)
