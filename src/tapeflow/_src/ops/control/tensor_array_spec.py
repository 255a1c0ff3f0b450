"""`tf.TensorArraySpec`: what is known of a `tf.TensorArray`."""

from __future__ import annotations

from typing import Any

from tapeflow._src.core.dtypes import as_dtype, float32
from tapeflow._src.core.export import export
from tapeflow._src.core.shapes import TensorShape
from tapeflow._src.core.spec import TypeSpec
from tapeflow._src.ops.control.tensor_array import TensorArray


@export("TensorArraySpec")
class TensorArraySpec(TypeSpec):
    """The shape and dtype of the elements of a `tf.TensorArray`, and whether it grows.

    >>> tf.TensorArraySpec.from_value(tf.TensorArray(tf.int32, size=3, element_shape=[2]))
    TensorArraySpec(TensorShape([2]), tf.int32, False, True)

    Args:
      element_shape: that of each element, as far as it is known.
      dtype: that of the elements.
      dynamic_size: whether writing past the end makes the array longer.
      infer_shape: whether all elements must have one shape.
    """

    __slots__ = ("_dtype", "_dynamic_size", "_element_shape", "_infer_shape")

    _expands = False

    def __init__(
        self,
        element_shape: Any = None,
        dtype: Any = float32,
        dynamic_size: bool = False,
        infer_shape: bool = True,
    ) -> None:
        self._element_shape, self._dtype = TensorShape(element_shape), as_dtype(dtype)
        self._dynamic_size, self._infer_shape = dynamic_size, infer_shape

    @classmethod
    def from_value(cls, value: TensorArray) -> TensorArraySpec:
        """The spec of an array."""
        if not isinstance(value, TensorArray):
            raise TypeError(f"Expected value to be a TensorArray, but got: {type(value)}.")
        return cls(value.element_shape, value.dtype, value.dynamic_size, value._infer_shape)

    @property
    def value_type(self) -> type:
        """The class of the values."""
        return TensorArray

    def _serialize(self) -> tuple[Any, ...]:
        return (self._element_shape, self._dtype, self._dynamic_size, self._infer_shape)

    def is_compatible_with(self, spec_or_value: Any, /) -> bool:
        """Whether one array could be of this kind and of the other."""
        if isinstance(spec_or_value, TensorArray):
            spec_or_value = self.from_value(spec_or_value)
        return super().is_compatible_with(spec_or_value)

    def most_specific_compatible_type(self, other: Any) -> TensorArraySpec:
        """The narrowest spec that covers both; the shape of elements is this one's, as in TensorFlow."""
        if (
            not isinstance(other, TensorArraySpec)
            or self._serialize()[1:] != other._serialize()[1:]
        ):
            raise ValueError(f"No TensorArraySpec is compatible with both {self} and {other}")
        return self
