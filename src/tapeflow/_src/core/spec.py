"""`tf.TensorSpec`: what is known of a tensor before it exists."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tapeflow._src.core.dtypes import DType, as_dtype, float32
from tapeflow._src.core.errors import shown, wrong_object
from tapeflow._src.core.export import export
from tapeflow._src.core.shapes import TensorShape

__all__ = ["TensorSpec", "TypeSpec"]


@export("TypeSpec")
class TypeSpec:
    """What describes values without their numbers: the kind of `tf.TensorSpec` and of a dataset's spec.

    >>> import tapeflow as tf
    >>> isinstance(tf.TensorSpec([2]), tf.TypeSpec)
    True

    A value that is made of several tensors has a spec that takes it apart and puts it together again. Such a spec
    defines `value_type`, `_serialize` (all that tells it from others of its class: hashable values, shapes, specs),
    `_component_specs`, `_to_components` and `_from_components`.
    """

    __slots__ = ()

    _expands = True
    """Whether its values are made of components: that of a tensor is the end of the matter."""

    @property
    def value_type(self) -> type:
        """The class of the values."""
        raise NotImplementedError(f"{type(self).__name__}.value_type")

    @property
    def _component_specs(self) -> Any:
        """A structure of specs, one for each component."""
        raise NotImplementedError(f"{type(self).__name__}._component_specs")

    def _to_components(self, value: Any) -> Any:
        """The components of a value, in the structure of `_component_specs`."""
        raise NotImplementedError(f"{type(self).__name__}._to_components")

    def _from_components(self, components: Any) -> Any:
        """The value that has these components."""
        raise NotImplementedError(f"{type(self).__name__}._from_components")

    def _serialize(self) -> tuple[Any, ...]:
        """What it takes to make another such spec, in the order of the parameters."""
        raise NotImplementedError(f"{type(self).__name__}._serialize")

    @classmethod
    def _deserialize(cls, parts: tuple[Any, ...]) -> Any:
        """The spec that gave these parts."""
        return cls(*parts)

    def is_compatible_with(self, spec_or_value: Any, /) -> bool:
        """Whether one value could be of this kind and of the other."""
        other = spec_or_value
        if not isinstance(other, TypeSpec):
            if not isinstance(other, self.value_type):
                return False
            other = spec_of_composite(other)
        return type(self) is type(other) and parts_compatible(self._serialize(), other._serialize())

    def is_subtype_of(self, other: Any) -> bool:
        """Whether every value that fits this spec also fits `other`."""
        return type(self) is type(other) and other == self.most_specific_common_supertype([other])

    def most_specific_common_supertype(self, others: Sequence[Any]) -> Any:
        """The narrowest spec that covers this one and each of `others`, or `None` without one."""
        parts = self._serialize()
        for other in others:
            if type(self) is not type(other):
                return None
            try:
                parts = _widened(parts, other._serialize())
            except ValueError:
                return None
        return self._deserialize(parts)

    def most_specific_compatible_type(self, other: Any) -> Any:
        """The narrowest spec that covers this one and `other`.

        Raises:
            ValueError: if there is none.
        """
        result = self.most_specific_common_supertype([other])
        if result is None:
            raise ValueError(
                f"No TypeSpec is compatible with both {shown(self)} and {shown(other)}"
            )
        return result

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and self._serialize() == other._serialize()  # type: ignore[attr-defined]

    def __hash__(self) -> int:
        return hash((type(self), repr(self._serialize())))

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self)._deserialize, (self._serialize(),)

    def __repr__(self) -> str:
        return f"{type(self).__name__}{self._serialize()!r}"


def spec_of_composite(value: Any) -> Any:
    """The spec of a value that is made of several tensors."""
    return value._type_spec


def parts_compatible(a: Any, b: Any) -> bool:
    """Whether one value could have both parts of specs."""
    if isinstance(a, (TensorShape, TypeSpec)):
        return type(a) is type(b) and a.is_compatible_with(b)
    if isinstance(a, dict):
        return (
            isinstance(b, dict)
            and a.keys() == b.keys()
            and all(parts_compatible(a[k], b[k]) for k in a)
        )
    if isinstance(a, (list, tuple)):
        return (
            type(a) is type(b)
            and len(a) == len(b)
            and all(parts_compatible(x, y) for x, y in zip(a, b, strict=True))
        )
    return type(a) is type(b) and a == b


def _widened(a: Any, b: Any) -> Any:
    """What covers two: shapes and specs in them may differ, nothing else."""
    if isinstance(a, TensorShape) and isinstance(b, TensorShape):
        return a.most_specific_compatible_shape(b)
    if isinstance(a, TypeSpec) and type(a) is type(b):
        return a.most_specific_compatible_type(b)
    if isinstance(a, dict) and isinstance(b, dict) and a.keys() == b.keys():
        return {key: _widened(a[key], b[key]) for key in a}
    if isinstance(a, (list, tuple)) and type(a) is type(b) and len(a) == len(b):
        return type(a)(_widened(x, y) for x, y in zip(a, b, strict=True))
    if type(a) is not type(b) or a != b:
        raise ValueError("they differ in more than shapes")
    return a


@export("TensorSpec")
class TensorSpec(TypeSpec):
    """The shape and dtype of a tensor, and the name of the argument it stands for.

    >>> import tapeflow as tf
    >>> spec = tf.TensorSpec([None, 3], tf.float32, name="x")
    >>> spec
    TensorSpec(shape=(None, 3), dtype=tf.float32, name='x')
    >>> spec.is_compatible_with(tf.zeros([2, 3]))
    True

    Args:
        shape: anything `tf.TensorShape` takes; `None` for an unknown rank.
        dtype: anything `tf.as_dtype` takes.
        name: a name for the argument, or `None`.
    """

    __slots__ = ("_dtype", "_name", "_shape")

    _expands = False

    _shape: TensorShape
    _dtype: DType
    _name: str | None

    def __init__(self, shape: Any, dtype: Any = float32, name: str | None = None) -> None:
        self._shape = TensorShape(shape)
        self._dtype = as_dtype(dtype)
        self._name = name

    @classmethod
    def from_spec(cls, spec: Any, name: str | None = None) -> TensorSpec:
        """Returns a `TensorSpec` like `spec`, under another name if one is given.

        >>> import tapeflow as tf
        >>> tf.TensorSpec.from_spec(tf.TensorSpec([2], tf.int32, "a"), "b")
        TensorSpec(shape=(2,), dtype=tf.int32, name='b')
        """
        if not isinstance(spec, TensorSpec):
            raise wrong_object("TensorSpec.from_spec", "spec", "a tf.TensorSpec", spec)
        return cls(spec.shape, spec.dtype, name or spec.name)

    @classmethod
    def from_tensor(cls, tensor: Any, name: str | None = None) -> TensorSpec:
        """Returns the `TensorSpec` that describes `tensor` exactly.

        >>> import tapeflow as tf
        >>> tf.TensorSpec.from_tensor(tf.constant([1.0, 2.0]))
        TensorSpec(shape=(2,), dtype=tf.float32, name=None)

        Raises:
            ValueError: if `tensor` is not a tensor: convert it with `tf.convert_to_tensor` first.
        """
        if not _is_tensor(tensor):
            raise ValueError(
                f"TensorSpec.from_tensor: `tensor` should be a tf.Tensor, but got type "
                f"{type(tensor).__name__}. Convert it with tf.convert_to_tensor first."
            )
        return cls(tensor.shape, tensor.dtype, name)

    @property
    def shape(self) -> TensorShape:
        """The shape, as far as it is known."""
        return self._shape

    @property
    def dtype(self) -> DType:
        """The type of the elements."""
        return self._dtype

    @property
    def name(self) -> str | None:
        """The name, if there is one."""
        return self._name

    def _batch(self, size: int | None) -> TensorSpec:
        dims = self._shape._dims
        return TensorSpec(None if dims is None else [size, *dims], self._dtype)

    def _unbatch(self) -> TensorSpec:
        return TensorSpec(self._shape[1:], self._dtype)

    def is_compatible_with(self, spec_or_tensor: Any) -> bool:
        """Whether the dtypes are equal and one tensor could have both shapes; names do not count.

        >>> import tapeflow as tf
        >>> tf.TensorSpec([2]).is_compatible_with(tf.TensorSpec([None], name="x"))
        True
        >>> tf.TensorSpec([2]).is_compatible_with(tf.constant([1, 2]))
        False
        """
        if not (isinstance(spec_or_tensor, TensorSpec) or _is_tensor(spec_or_tensor)):
            return False
        return self._dtype is spec_or_tensor.dtype and self._shape.is_compatible_with(
            spec_or_tensor.shape
        )

    def is_subtype_of(self, other: Any) -> bool:
        """Whether every tensor that fits this spec also fits `other`."""
        return (
            isinstance(other, TensorSpec)
            and self._dtype is other._dtype
            and (self._name is None or self._name == other._name)
            and self._shape.is_subtype_of(other._shape)
        )

    def most_specific_common_supertype(self, others: Sequence[Any]) -> TensorSpec | None:
        """The narrowest spec that covers this one and each of `others`, or `None` without one.

        >>> import tapeflow as tf
        >>> tf.TensorSpec([2, 3]).most_specific_common_supertype([tf.TensorSpec([4, 3])])
        TensorSpec(shape=(None, 3), dtype=tf.float32, name=None)
        """
        shape = self._shape
        for other in others:
            same_kind = isinstance(other, TensorSpec) and self._dtype is other._dtype
            if not same_kind or self._name != other._name:
                return None
            shape = shape.most_specific_compatible_shape(other._shape)
        return TensorSpec(shape, self._dtype, self._name)

    def most_specific_compatible_type(self, other: Any) -> TensorSpec:
        """The narrowest spec that covers this one and `other`.

        Raises:
            ValueError: if there is none: the dtypes or the names differ.
        """
        result = self.most_specific_common_supertype([other])
        if result is None:
            raise ValueError(
                f"No TensorSpec covers both {self} and {shown(other)}: dtypes and names must be equal."
            )
        return result

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, TensorSpec)
            and self._shape == other._shape
            and self._dtype is other._dtype
            and self._name == other._name
        )

    def __hash__(self) -> int:
        return hash((self._shape, self._dtype))

    def __repr__(self) -> str:
        return f"TensorSpec(shape={self._shape}, dtype={self._dtype!r}, name={self._name!r})"

    def __reduce__(self) -> tuple[Any, tuple[Any, ...]]:
        return TensorSpec, (self._shape, self._dtype, self._name)


def _is_tensor(value: Any) -> bool:
    # Tensors live in a module that imports this one. Their attributes tell them from NumPy arrays.
    return isinstance(getattr(value, "dtype", None), DType) and isinstance(
        getattr(value, "shape", None), TensorShape
    )
