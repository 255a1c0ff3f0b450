"""Batches for `fit`, `evaluate` and `predict`: Keras's data adapters, and one for `tf.data`."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

import numpy as np
from keras.src import tree
from keras.src.trainers.data_adapters import data_adapter_utils, raise_unsupported_arg
from keras.src.trainers.data_adapters.data_adapter import DataAdapter
from keras.src.trainers.epoch_iterator import EpochIterator

from tapeflow._src.keras.backend.core import convert_to_tensor


class Batches(EpochIterator):
    """The batches of an epoch, which also takes a `tf.data.Dataset` of tapeflow."""

    def __init__(self, x: Any, y: Any = None, sample_weight: Any = None, **options: Any) -> None:
        if is_dataset(x):
            x = DatasetAdapter.of(x, y, sample_weight, options)
            y = sample_weight = None
        super().__init__(x=x, y=y, sample_weight=sample_weight, **options)


def is_dataset(x: Any) -> bool:
    """Whether x is a dataset of `tf.data`, which need not be imported to know."""
    data = sys.modules.get("tapeflow.data")
    return data is not None and isinstance(x, data.Dataset)


class DatasetAdapter(DataAdapter):
    """Gives Keras the batches of a dataset."""

    def __init__(self, dataset: Any, class_weight: Any = None) -> None:
        self._dataset = dataset
        self._class_weight = class_weight

    @classmethod
    def of(
        cls, dataset: Any, y: Any, sample_weight: Any, options: dict[str, Any]
    ) -> DatasetAdapter:
        """An adapter, if the other arguments of `fit` allow it."""
        if y is not None:
            raise_unsupported_arg("y", "the targets", "tf.data.Dataset")
        if sample_weight is not None:
            raise_unsupported_arg("sample_weights", "the sample weights", "tf.data.Dataset")
        return cls(dataset, options.get("class_weight"))

    def get_numpy_iterator(self) -> Iterator[Any]:
        """The batches, as tensors."""
        for batch in self._dataset:
            yield batch if self._class_weight is None else self._weighted(batch)

    def _weighted(self, batch: Any) -> Any:
        x, y, sample_weight = data_adapter_utils.unpack_x_y_sample_weight(batch)
        if sample_weight is not None:
            raise ValueError(
                "fit: the dataset has sample weights already, so `class_weight` cannot be given, too"
            )
        weights = data_adapter_utils.class_weight_to_sample_weights(
            np.asarray(y), self._class_weight
        )
        return x, y, weights

    @property
    def num_batches(self) -> int | None:
        """How many batches there are, if that is known and finite."""
        count = int(self._dataset.cardinality())
        return count if count >= 0 else None

    @property
    def batch_size(self) -> int | None:
        """The dataset decides on it."""
        return None

    @property
    def has_partial_batch(self) -> bool | None:
        """The dataset knows."""
        return None

    @property
    def partial_batch_size(self) -> int | None:
        """The dataset knows."""
        return None


def as_tensors(batch: Any) -> Any:
    """A batch of arrays, tensors or numbers as tensors. Arrays are copied: they may change after the step."""
    return tree.map_structure(convert_to_tensor, batch, none_is_leaf=False)
