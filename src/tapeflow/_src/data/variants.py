"""`tf.data.experimental.to_variant`: a dataset as one value, which `from_variant` makes a dataset of again."""

from __future__ import annotations

from typing import Any

from tapeflow._src.core.dtypes import DType, variant as variant_dtype
from tapeflow._src.core.errors import shown, wrong_object
from tapeflow._src.core.export import export
from tapeflow._src.core.shapes import TensorShape
from tapeflow._src.data.dataset import Dataset


class DatasetVariant:
    """A dataset as one value. It is no tensor, and knows its dtype and shape as one.

    Attributes:
      dtype: `tf.variant`.
      shape: that of a scalar.
      dataset: the dataset.
    """

    dtype: DType = variant_dtype
    shape = TensorShape([])

    def __init__(self, dataset: Dataset) -> None:
        self.dataset = dataset

    def __repr__(self) -> str:
        return f"<tf.Tensor: shape=(), dtype=variant, value={self.dataset!r}>"


@export("data.experimental.to_variant")
def to_variant(dataset: Dataset) -> DatasetVariant:
    """A dataset as one value of dtype `tf.variant`, to be handed on.

    >>> variant = tf.data.experimental.to_variant(tf.data.Dataset.range(3))
    >>> variant.dtype, variant.shape
    (tf.variant, TensorShape([]))

    Args:
      dataset: the dataset.
    """
    if not isinstance(dataset, Dataset):
        raise wrong_object("to_variant", "dataset", "a tf.data.Dataset", dataset)
    return DatasetVariant(dataset)


@export("data.experimental.from_variant")
def from_variant(variant: DatasetVariant, structure: Any) -> Dataset:
    """The dataset that `to_variant` was given.

    >>> data = tf.data.Dataset.range(3)
    >>> variant = tf.data.experimental.to_variant(data)
    >>> list(tf.data.experimental.from_variant(variant, data.element_spec).as_numpy_iterator())
    [np.int64(0), np.int64(1), np.int64(2)]

    Args:
      variant: what `to_variant` gave.
      structure: the `element_spec` of the dataset.
    """
    if not isinstance(variant, DatasetVariant):
        raise wrong_object("from_variant", "variant", "what to_variant gave", variant)
    if structure != variant.dataset.element_spec:
        raise ValueError(
            f"from_variant: the elements of the dataset are {shown(variant.dataset.element_spec)}, and structure says "
            f"{shown(structure)}"
        )
    return variant.dataset
