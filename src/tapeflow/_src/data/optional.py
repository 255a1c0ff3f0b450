"""`tf.experimental.Optional`: an element that may be missing."""

from __future__ import annotations

from typing import Any

from tapeflow._src.core import nest
from tapeflow._src.core.composites.composite import CompositeTensor
from tapeflow._src.core.convert import convert_to_tensor
from tapeflow._src.core.dtypes import bool_
from tapeflow._src.core.errors import invalid
from tapeflow._src.core.export import export
from tapeflow._src.core.spec import TensorSpec, TypeSpec
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.data.specs import normalized, spec_of
from tapeflow._src.ops.array.creation import zeros
from tapeflow._src.ops.effects.host import on_host


@export("experimental.Optional", "data.experimental.Optional")
class Optional(CompositeTensor):
    """An element that may be missing.

    >>> value = tf.experimental.Optional.from_value(3)
    >>> value.has_value().numpy(), value.get_value().numpy()
    (np.True_, np.int32(3))
    >>> tf.experimental.Optional.empty(tf.TensorSpec([])).has_value().numpy()
    np.False_
    """

    __slots__ = ("_spec", "_there", "_value")

    def __init__(self, spec: Any, value: Any, there: Any) -> None:
        self._spec, self._value, self._there = spec, value, there

    @property
    def _type_spec(self) -> OptionalSpec:
        return OptionalSpec(self._spec)

    @property
    def element_spec(self) -> Any:
        """What the element is like."""
        return self._spec

    def has_value(self, name: str | None = None) -> Tensor:
        """Whether there is one, as a scalar bool tensor."""
        return convert_to_tensor(self._there)

    def get_value(self, name: str | None = None) -> Any:
        """The element.

        Raises:
          tf.errors.InvalidArgumentError: if there is none.
        """
        if self._there is False:
            raise invalid("The given optional does not have a value.")
        if self._there is True:
            return self._value
        # In a function it fails where there is none when the function runs.
        on_host("Optional.get_value", _check, [self._there], [])
        return self._value

    @staticmethod
    def from_value(value: Any) -> Optional:
        """An optional with a value."""
        tensors = normalized(value)
        return Optional(spec_of(tensors), tensors, True)

    @staticmethod
    def empty(element_spec: Any) -> Optional:
        """An optional without one."""
        return Optional(element_spec, None, False)


@export("OptionalSpec")
class OptionalSpec(TypeSpec):
    """What is known of a `tf.experimental.Optional`.

    >>> tf.OptionalSpec(tf.TensorSpec([], tf.int32))
    OptionalSpec(TensorSpec(shape=(), dtype=tf.int32, name=None),)

    Args:
      element_spec: what its element is like.
    """

    __slots__ = ("_element_spec",)

    def __init__(self, element_spec: Any) -> None:
        self._element_spec = element_spec

    @classmethod
    def from_value(cls, value: Optional) -> OptionalSpec:
        """The spec of an optional."""
        return cls(value.element_spec)

    @property
    def value_type(self) -> type:
        """The class of the values."""
        return Optional

    def _serialize(self) -> tuple[Any, ...]:
        return (self._element_spec,)

    @property
    def _component_specs(self) -> Any:
        return (TensorSpec([], bool_), self._element_spec)

    def _to_components(self, value: Optional) -> Any:
        there = convert_to_tensor(value._there)
        if value._value is not None:
            return (there, value._value)
        # What stands for an element that is not there.
        return (there, nest.map_structure(_nothing, self._element_spec, expand_composites=True))

    def _from_components(self, components: Any) -> Optional:
        there, value = components
        if isinstance(there, Tensor) and not there.symbolic:
            there = bool(there)
            value = value if there else None
        return Optional(self._element_spec, value, there)


def _check(there: Any) -> list[Any]:
    if not there:
        raise invalid("The given optional does not have a value.")
    return []


def _nothing(spec: TensorSpec) -> Tensor:
    dims = spec.shape.as_list() if spec.shape.rank is not None else []
    return zeros([0 if n is None else n for n in dims], spec.dtype)
