"""`tf.data.experimental`: older names of what `tf.data.Dataset` offers as methods."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tapeflow.core import dtypes
from tapeflow.core.errors import wrong_object
from tapeflow.core.missing import Missing as _Missing
from tapeflow.core.tensor import Tensor
from tapeflow.data.dataset import Dataset
from tapeflow.data.iterator import Optional, OwnedIterator
from tapeflow.data.node import INFINITE, UNKNOWN, integer
from tapeflow.data.options import (
    AutotuneOptions,
    DistributeOptions,
    OptimizationOptions,
    ThreadingOptions,
)
from tapeflow.data.transformations import AUTOTUNE

__all__ = [
    "AUTOTUNE",
    "INFINITE_CARDINALITY",
    "UNKNOWN_CARDINALITY",
    "AutotuneOptions",
    "Counter",
    "DistributeOptions",
    "OptimizationOptions",
    "Optional",
    "ThreadingOptions",
    "assert_cardinality",
    "cardinality",
    "choose_from_datasets",
    "enumerate_dataset",
    "get_next_as_optional",
    "get_single_element",
    "get_structure",
    "ignore_errors",
    "sample_from_datasets",
    "scan",
    "shuffle_and_repeat",
    "take_while",
    "unbatch",
    "unique",
]

INFINITE_CARDINALITY = INFINITE
UNKNOWN_CARDINALITY = UNKNOWN


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


def cardinality(dataset: Dataset) -> Tensor:
    """Tells how many elements a dataset has: `Dataset.cardinality`.

    >>> tf.data.experimental.cardinality(tf.data.Dataset.range(3)).numpy()
    np.int64(3)

    Args:
      dataset: the dataset.
    """
    return _dataset("cardinality", dataset).cardinality()


def get_single_element(dataset: Dataset) -> Any:
    """Gives the only element of a dataset: `Dataset.get_single_element`.

    >>> tf.data.experimental.get_single_element(tf.data.Dataset.range(1)).numpy()
    np.int64(0)

    Args:
      dataset: the dataset.
    """
    return _dataset("get_single_element", dataset).get_single_element()


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


def assert_cardinality(expected_cardinality: Any) -> Callable[[Dataset], Dataset]:
    """Says how many elements a dataset has, for `Dataset.apply`. It is checked when they have been read.

    >>> data = tf.data.Dataset.range(4).filter(lambda x: x > 1)
    >>> data.apply(tf.data.experimental.assert_cardinality(2)).cardinality().numpy()
    np.int64(2)

    Args:
      expected_cardinality: the number.
    """
    from tapeflow.data.extras import Sized

    def apply(dataset: Dataset) -> Dataset:
        size = integer("assert_cardinality", "expected_cardinality", expected_cardinality)
        return dataset._with(Sized(dataset._node, int(size)))

    return apply


def enumerate_dataset(start: Any = 0) -> Callable[[Dataset], Dataset]:
    """Gives pairs of a number and an element, for `Dataset.apply`: `Dataset.enumerate`.

    >>> data = tf.data.Dataset.range(7, 8).apply(tf.data.experimental.enumerate_dataset())
    >>> [(int(i), int(x)) for i, x in data]
    [(0, 7)]

    Args:
      start: the first number.
    """
    return lambda dataset: dataset.enumerate(start)


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


def unbatch() -> Callable[[Dataset], Dataset]:
    """Takes elements apart, for `Dataset.apply`: `Dataset.unbatch`.

    >>> [int(x) for x in tf.data.Dataset.range(2).batch(2).apply(tf.data.experimental.unbatch())]
    [0, 1]
    """
    return lambda dataset: dataset.unbatch()


def unique() -> Callable[[Dataset], Dataset]:
    """Leaves out repeated elements, for `Dataset.apply`: `Dataset.unique`.

    >>> [int(x) for x in tf.data.Dataset.range(2).repeat(2).apply(tf.data.experimental.unique())]
    [0, 1]
    """
    return lambda dataset: dataset.unique()


def ignore_errors(log_warning: bool = False) -> Callable[[Dataset], Dataset]:
    """Leaves out elements that cannot be computed, for `Dataset.apply`: `Dataset.ignore_errors`.

    >>> [int(x) for x in tf.data.Dataset.range(2).apply(tf.data.experimental.ignore_errors())]
    [0, 1]

    Args:
      log_warning: whether to log what was raised.
    """
    return lambda dataset: dataset.ignore_errors(log_warning)


def take_while(predicate: Callable[..., Any]) -> Callable[[Dataset], Dataset]:
    """Ends where a predicate does not hold, for `Dataset.apply`: `Dataset.take_while`.

    >>> [int(x) for x in tf.data.Dataset.range(5).apply(tf.data.experimental.take_while(lambda x: x < 2))]
    [0, 1]

    Args:
      predicate: a function that returns a scalar bool.
    """
    return lambda dataset: dataset.take_while(predicate)


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


choose_from_datasets = Dataset.choose_from_datasets
sample_from_datasets = Dataset.sample_from_datasets

__getattr__ = _Missing("tf.data.experimental")
