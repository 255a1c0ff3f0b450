"""`tf.data.experimental`: older names of what `tf.data.Dataset` offers as methods."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tapeflow._src.core import dtypes
from tapeflow._src.core.errors import wrong_object
from tapeflow._src.core.export import export, export_value
from tapeflow._src.core.placement.devices import place_of
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.data.dataset import Dataset
from tapeflow._src.data.iterator import Optional, OwnedIterator
from tapeflow._src.data.nodes.extras import ToDevice
from tapeflow._src.data.runtime.node import INFINITE, UNKNOWN, integer

INFINITE_CARDINALITY = INFINITE
UNKNOWN_CARDINALITY = UNKNOWN


@export("data.experimental.Counter")
def Counter(start: Any = 0, step: Any = 1, dtype: Any = dtypes.int64) -> Dataset:
    """Counts without end: `tf.data.Dataset.counter`.

    >>> [int(x) for x in tf.data.experimental.Counter().take(2)]
    [0, 1]

    Args:
      start: the first number.
      step: how far the numbers are apart.
      dtype: the dtype of the elements.
    """
    return Dataset.counter(start, step, dtype)


@export("data.experimental.cardinality")
def cardinality(dataset: Dataset) -> Tensor:
    """Tells how many elements a dataset has: `Dataset.cardinality`.

    >>> tf.data.experimental.cardinality(tf.data.Dataset.range(3)).numpy()
    np.int64(3)

    Args:
      dataset: the dataset.
    """
    return _dataset("cardinality", dataset).cardinality()


@export("data.experimental.get_single_element")
def get_single_element(dataset: Dataset) -> Any:
    """Gives the only element of a dataset: `Dataset.get_single_element`.

    >>> tf.data.experimental.get_single_element(tf.data.Dataset.range(1)).numpy()
    np.int64(0)

    Args:
      dataset: the dataset.
    """
    return _dataset("get_single_element", dataset).get_single_element()


@export("data.experimental.get_next_as_optional")
def get_next_as_optional(iterator: OwnedIterator) -> Optional:
    """Gives the next element, if there is one: `Iterator.get_next_as_optional`.

    >>> it = iter(tf.data.Dataset.range(1))
    >>> tf.data.experimental.get_next_as_optional(it).has_value().numpy()
    np.True_

    Args:
      iterator: the iterator.
    """
    if not isinstance(iterator, OwnedIterator):
        raise wrong_object("get_next_as_optional", "iterator", "an iterator of a dataset", iterator)
    return iterator.get_next_as_optional()


@export("data.experimental.get_structure")
def get_structure(dataset_or_iterator: Any) -> Any:
    """Tells what the elements of a dataset or an iterator are like.

    >>> tf.data.experimental.get_structure(tf.data.Dataset.range(3))
    TensorSpec(shape=(), dtype=tf.int64, name=None)

    Args:
      dataset_or_iterator: one of them.
    """
    if not isinstance(dataset_or_iterator, (Dataset, OwnedIterator)):
        raise wrong_object(
            "get_structure",
            "dataset_or_iterator",
            "a tf.data.Dataset or its iterator",
            dataset_or_iterator,
        )
    return dataset_or_iterator.element_spec


def _dataset(op: str, value: Any) -> Dataset:
    if not isinstance(value, Dataset):
        raise wrong_object(op, "dataset", "a tf.data.Dataset", value)
    return value


@export("data.experimental.assert_cardinality")
def assert_cardinality(expected_cardinality: Any) -> Callable[[Dataset], Dataset]:
    """Says how many elements a dataset has, for `Dataset.apply`. It is checked when they have been read.

    >>> data = tf.data.Dataset.range(4).filter(lambda x: x > 1)
    >>> data.apply(tf.data.experimental.assert_cardinality(2)).cardinality().numpy()
    np.int64(2)

    Args:
      expected_cardinality: the number.
    """
    from tapeflow._src.data.nodes.extras import Sized

    def apply(dataset: Dataset) -> Dataset:
        size = integer("assert_cardinality", "expected_cardinality", expected_cardinality)
        return dataset._with(Sized(dataset._node, int(size)))

    return apply


@export("data.experimental.dense_to_ragged_batch")
def dense_to_ragged_batch(
    batch_size: Any, drop_remainder: bool = False, row_splits_dtype: Any = dtypes.int64
) -> Callable[[Dataset], Dataset]:
    """`Dataset.ragged_batch`, for `Dataset.apply`.

    >>> data = tf.data.Dataset.range(2).map(lambda n: tf.range(n))
    >>> list(data.apply(tf.data.experimental.dense_to_ragged_batch(2)))
    [<tf.RaggedTensor [[], [0]]>]
    """
    return lambda dataset: dataset.ragged_batch(batch_size, drop_remainder, row_splits_dtype)


@export("data.experimental.dense_to_sparse_batch")
def dense_to_sparse_batch(batch_size: Any, row_shape: Any) -> Callable[[Dataset], Dataset]:
    """`Dataset.sparse_batch`, for `Dataset.apply`.

    >>> data = tf.data.Dataset.range(2).map(lambda n: tf.range(n))
    >>> data.apply(tf.data.experimental.dense_to_sparse_batch(2, [4])).element_spec
    SparseTensorSpec(TensorShape([None, 4]), tf.int64)
    """
    return lambda dataset: dataset.sparse_batch(batch_size, row_shape)


@export("data.experimental.enumerate_dataset")
def enumerate_dataset(start: Any = 0) -> Callable[[Dataset], Dataset]:
    """Gives pairs of a number and an element, for `Dataset.apply`: `Dataset.enumerate`.

    >>> data = tf.data.Dataset.range(7, 8).apply(tf.data.experimental.enumerate_dataset())
    >>> [(int(i), int(x)) for i, x in data]
    [(0, 7)]

    Args:
      start: the first number.
    """
    return lambda dataset: dataset.enumerate(start)


@export("data.experimental.shuffle_and_repeat")
def shuffle_and_repeat(
    buffer_size: Any, count: Any = None, seed: Any = None
) -> Callable[[Dataset], Dataset]:
    """Shuffles and repeats, for `Dataset.apply`.

    >>> data = tf.data.Dataset.range(3).apply(tf.data.experimental.shuffle_and_repeat(3, 2))
    >>> len(list(data))
    6

    Args:
      buffer_size: see `Dataset.shuffle`.
      count: see `Dataset.repeat`.
      seed: see `Dataset.shuffle`.
    """
    return lambda dataset: dataset.shuffle(buffer_size, seed).repeat(count)


@export("data.experimental.unbatch")
def unbatch() -> Callable[[Dataset], Dataset]:
    """Takes elements apart, for `Dataset.apply`: `Dataset.unbatch`.

    >>> [int(x) for x in tf.data.Dataset.range(2).batch(2).apply(tf.data.experimental.unbatch())]
    [0, 1]
    """
    return lambda dataset: dataset.unbatch()


@export("data.experimental.unique")
def unique() -> Callable[[Dataset], Dataset]:
    """Leaves out repeated elements, for `Dataset.apply`: `Dataset.unique`.

    >>> [int(x) for x in tf.data.Dataset.range(2).repeat(2).apply(tf.data.experimental.unique())]
    [0, 1]
    """
    return lambda dataset: dataset.unique()


@export("data.experimental.ignore_errors")
def ignore_errors(log_warning: bool = False) -> Callable[[Dataset], Dataset]:
    """Leaves out elements that cannot be computed, for `Dataset.apply`: `Dataset.ignore_errors`.

    >>> [int(x) for x in tf.data.Dataset.range(2).apply(tf.data.experimental.ignore_errors())]
    [0, 1]

    Args:
      log_warning: whether to log what was raised.
    """
    return lambda dataset: dataset.ignore_errors(log_warning)


@export("data.experimental.take_while")
def take_while(predicate: Callable[..., Any]) -> Callable[[Dataset], Dataset]:
    """Ends where a predicate does not hold, for `Dataset.apply`: `Dataset.take_while`.

    >>> [int(x) for x in tf.data.Dataset.range(5).apply(tf.data.experimental.take_while(lambda x: x < 2))]
    [0, 1]

    Args:
      predicate: a function that returns a scalar bool.
    """
    return lambda dataset: dataset.take_while(predicate)


@export("data.experimental.scan")
def scan(initial_state: Any, scan_func: Callable[..., Any]) -> Callable[[Dataset], Dataset]:
    """Applies a function with a state, for `Dataset.apply`: `Dataset.scan`.

    >>> scan = tf.data.experimental.scan(tf.constant(0, tf.int64), lambda s, x: (s + x, s))
    >>> [int(x) for x in tf.data.Dataset.range(4).apply(scan)]
    [0, 0, 1, 3]

    Args:
      initial_state: see `Dataset.scan`.
      scan_func: see `Dataset.scan`.
    """
    return lambda dataset: dataset.scan(initial_state, scan_func)


@export("data.experimental.prefetch_to_device")
def prefetch_to_device(device: Any, buffer_size: Any = None) -> Callable[[Dataset], Dataset]:
    """Puts elements on a device ahead of time, for `Dataset.apply`: `Dataset.prefetch_to_device`.

    >>> data = tf.data.Dataset.range(2).apply(tf.data.experimental.prefetch_to_device("/CPU:0"))
    >>> [int(x) for x in data]
    [0, 1]

    Args:
      device: the name of a device.
      buffer_size: how many elements to put there ahead of time.
    """
    return lambda dataset: dataset.prefetch_to_device(device, buffer_size)


@export("data.experimental.copy_to_device")
def copy_to_device(
    target_device: Any, source_device: Any = "/cpu:0"
) -> Callable[[Dataset], Dataset]:
    """Puts elements on a device when they are asked for, for `Dataset.apply`.

    >>> data = tf.data.Dataset.range(2).apply(tf.data.experimental.copy_to_device("/CPU:0"))
    >>> [int(x) for x in data]
    [0, 1]

    `prefetch`, after it, does so ahead of time: `Dataset.prefetch_to_device` is both.

    Args:
      target_device: the name of a device.
      source_device: where the elements are made. Pipelines run on this computer, whatever is named here.
    """
    place_of("copy_to_device", source_device)

    def apply(dataset: Dataset) -> Dataset:
        place = place_of("copy_to_device", target_device)
        return dataset if place is None else dataset._with(ToDevice(dataset._node, place, 0))

    return apply


@export("data.experimental.choose_from_datasets")
def choose_from_datasets(
    datasets: Sequence[Dataset], choice_dataset: Dataset, stop_on_empty_dataset: bool = False
) -> Dataset:
    """Takes each element from the dataset whose number another dataset gives, going on where one of them is empty.

    >>> a, b = tf.data.Dataset.range(1), tf.data.Dataset.range(10, 13)
    >>> choices = tf.data.Dataset.from_tensor_slices(tf.constant([0, 0, 1], tf.int64))
    >>> [int(x) for x in tf.data.experimental.choose_from_datasets([a, b], choices)]
    [0, 10]

    Args:
      datasets: what to choose from.
      choice_dataset: the numbers, int64.
      stop_on_empty_dataset: whether it ends where the chosen one has no more.
    """
    return Dataset.choose_from_datasets(datasets, choice_dataset, stop_on_empty_dataset)


@export("data.experimental.sample_from_datasets")
def sample_from_datasets(
    datasets: Sequence[Dataset],
    weights: Any = None,
    seed: Any = None,
    stop_on_empty_dataset: bool = False,
) -> Dataset:
    """Takes each element from a dataset that is chosen by chance.

    >>> a, b = tf.data.Dataset.range(3), tf.data.Dataset.range(10, 13)
    >>> sorted(int(x) for x in tf.data.experimental.sample_from_datasets([a, b], [0.5, 0.5], seed=1))
    [0, 1, 2, 10, 11, 12]

    Args:
      datasets: what to choose from.
      weights: how likely each of them is; all alike by default.
      seed: of the choices.
      stop_on_empty_dataset: whether it ends where the chosen one has no more.
    """
    return Dataset.sample_from_datasets(datasets, weights, seed, stop_on_empty_dataset)


export_value(
    "INFINITE_CARDINALITY", "data.INFINITE_CARDINALITY", "data.experimental.INFINITE_CARDINALITY"
)
export_value(
    "UNKNOWN_CARDINALITY", "data.UNKNOWN_CARDINALITY", "data.experimental.UNKNOWN_CARDINALITY"
)
