"""Tables that are filled from datasets: `tf.data.experimental.table_from_dataset` and its kin."""

from __future__ import annotations

from typing import Any

import numpy as np

from tapeflow._src.core import dtypes
from tapeflow._src.core.dtypes import as_dtype, string
from tapeflow._src.core.errors import wrong_object
from tapeflow._src.core.export import export
from tapeflow._src.data.dataset import Dataset
from tapeflow._src.lookup.initializers import Contents, TableInitializer
from tapeflow._src.lookup.static import StaticHashTable, StaticVocabularyTable
from tapeflow._src.ops.effects.host import bytes_array


@export("data.experimental.DatasetInitializer")
class DatasetInitializer(TableInitializer):
    """Keys and values from a dataset of pairs.

    >>> pairs = tf.data.Dataset.from_tensor_slices((["a", "b"], [10, 20]))
    >>> init = tf.data.experimental.DatasetInitializer(pairs)
    >>> tf.lookup.StaticHashTable(init, -1).lookup(tf.constant(["b", "q"])).numpy()
    array([20, -1], dtype=int32)

    Args:
      dataset: its elements are pairs of scalars.
    """

    def __init__(self, dataset: Dataset) -> None:
        if not isinstance(dataset, Dataset):
            raise wrong_object("DatasetInitializer", "dataset", "a tf.data.Dataset", dataset)
        spec = dataset.element_spec
        if not isinstance(spec, tuple) or len(spec) != 2:
            raise TypeError(
                f"DatasetInitializer: the elements of dataset must be pairs of a key and a value, got {spec}"
            )
        self._dataset = dataset
        super().__init__(spec[0].dtype, spec[1].dtype)

    def contents(self) -> Contents:
        """All pairs of the dataset."""
        pairs = list(self._dataset.as_numpy_iterator())
        keys, values = ([pair[i] for pair in pairs] for i in (0, 1))
        return Contents(_array(keys, self.key_dtype), _array(values, self.value_dtype))


def _array(values: list[Any], dtype: Any) -> np.ndarray:
    if dtype is string:
        return bytes_array(values, (len(values),))
    return np.array(values, dtype.np_dtype)


def _checked(op: str, dataset: Any, num_oov_buckets: Any, vocab_size: Any) -> Dataset:
    if not isinstance(dataset, Dataset):
        raise wrong_object(op, "dataset", "a tf.data.Dataset", dataset)
    if num_oov_buckets < 0:
        raise ValueError(
            f"{op}: `num_oov_buckets` must be greater than or equal to 0, got {num_oov_buckets}."
        )
    if vocab_size is not None and vocab_size < 1:
        raise ValueError(f"{op}: `vocab_size` must be greater than 0, got {vocab_size}.")
    return dataset if vocab_size is None else dataset.take(vocab_size)


@export("data.experimental.table_from_dataset")
def table_from_dataset(
    dataset: Dataset | None = None,
    num_oov_buckets: int = 0,
    vocab_size: int | None = None,
    default_value: Any = None,
    hasher_spec: Any = None,
    key_dtype: Any = dtypes.string,
    name: str | None = None,
) -> Any:
    """A table with the keys and values of a dataset.

    >>> pairs = tf.data.Dataset.from_tensor_slices((["a", "b"], [10, 20]))
    >>> table = tf.data.experimental.table_from_dataset(pairs, default_value=-1)
    >>> table.lookup(tf.constant(["b", "q"])).numpy()
    array([20, -1], dtype=int32)

    Args:
      dataset: its elements are pairs of a key and a value.
      num_oov_buckets: how many numbers there are for keys that are not in it; then values are int64.
      vocab_size: how many pairs are read, if not all.
      default_value: what other keys have, if there are no numbers for them.
      hasher_spec: accepted for compatibility.
      key_dtype: the dtype of the keys.
      name: accepted for compatibility.
    """
    op = "table_from_dataset"
    wanted = as_dtype(key_dtype)
    if not (wanted.is_integer or wanted is string):
        raise TypeError(
            f"{op}: `key_dtype` must be either an integer or string type, got {wanted.name}."
        )
    init = DatasetInitializer(_checked(op, dataset, num_oov_buckets, vocab_size))
    if init.key_dtype is string and wanted.is_integer:
        raise TypeError(f"{op}: the keys are strings, and `key_dtype` is {wanted.name}.")
    if num_oov_buckets:
        return StaticVocabularyTable(init, num_oov_buckets, wanted)
    if default_value is None:
        default_value = b"" if init.value_dtype is string else 0
    return StaticHashTable(init, default_value)


@export("data.experimental.index_table_from_dataset")
def index_table_from_dataset(
    dataset: Dataset | None = None,
    num_oov_buckets: int = 0,
    vocab_size: int | None = None,
    default_value: Any = -1,
    hasher_spec: Any = None,
    key_dtype: Any = dtypes.string,
    name: str | None = None,
) -> Any:
    """A table from the elements of a dataset to their numbers.

    >>> words = tf.data.Dataset.from_tensor_slices(["the", "quick", "fox"])
    >>> table = tf.data.experimental.index_table_from_dataset(words)
    >>> table.lookup(tf.constant(["fox", "dog"])).numpy()
    array([ 2, -1])

    Args:
      dataset: its elements are keys.
      num_oov_buckets: how many numbers there are for other keys.
      vocab_size: how many elements are read, if not all.
      default_value: what other keys have, if there are no numbers for them.
      hasher_spec: accepted for compatibility.
      key_dtype: the dtype of the keys.
      name: accepted for compatibility.
    """
    checked = _checked("index_table_from_dataset", dataset, num_oov_buckets, vocab_size)
    pairs = checked.enumerate().map(lambda number, key: (key, number))
    return table_from_dataset(
        pairs, num_oov_buckets, None, default_value, hasher_spec, key_dtype, name
    )
