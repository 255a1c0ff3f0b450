"""`tf.experimental.ExtensionTypeBatchEncoder`: how objects of users become batches."""

from __future__ import annotations

from typing import Any

from tapeflow._src.core import nest
from tapeflow._src.core.export import export
from tapeflow._src.core.shapes import TensorShape


@export("experimental.ExtensionTypeBatchEncoder")
class ExtensionTypeBatchEncoder:
    """How extension types become batches: as tensors that are stacked, cut into rows, and decoded again.

    By default these are the tensors in the fields. What is stacked in another way has an encoder of its own:

    >>> class Late(tf.experimental.ExtensionTypeBatchEncoder):
    ...     def encode(self, spec, value, minimum_rank=0):
    ...         return value.x - 1
    ...     def decode(self, spec, encoded_value):
    ...         return Number(encoded_value + 1)
    >>> class Number(tf.experimental.BatchableExtensionType):
    ...     __batch_encoder__ = Late()
    ...     x: tf.Tensor
    >>> [each.x.numpy().tolist() for each in tf.data.Dataset.from_tensor_slices(Number([1, 2, 3])).batch(2)]
    [[1, 2], [3]]
    """

    def batch(self, spec: Any, batch_size: int | None) -> Any:
        """The spec of a batch: every field has one more dimension.

        Args:
          spec: that of one object.
          batch_size: how many there are, if that is known.
        """
        return spec.changed(
            lambda f: (
                TensorShape([batch_size]).concatenate(f)
                if isinstance(f, TensorShape)
                else f._batch(batch_size)
            )
        )

    def unbatch(self, spec: Any) -> Any:
        """The spec of one object: every field has one dimension less.

        Args:
          spec: that of a batch.
        """
        return spec.changed(lambda f: f[1:] if isinstance(f, TensorShape) else f._unbatch())

    def encode(self, spec: Any, value: Any, minimum_rank: int = 0) -> Any:
        """A structure of tensors for an object: those in its fields.

        Args:
          spec: that of the object.
          value: the object.
          minimum_rank: how many dimensions the tensors have at least: as often they can be cut into rows.
        """
        return spec._to_components(value)

    def decode(self, spec: Any, encoded_value: Any) -> Any:
        """The object for a structure of tensors.

        Args:
          spec: that of the object.
          encoded_value: what `encode` gave, stacked or cut into rows.
        """
        return spec._from_components(nest.flatten(encoded_value))

    def encoding_specs(self, spec: Any) -> Any:
        """The specs of what `encode` gives.

        Args:
          spec: that of the object.
        """
        return spec._component_specs
