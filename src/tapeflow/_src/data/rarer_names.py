"""The rest of `tf.data.experimental`: lists, elements by number, reducers, padding, records of examples."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tapeflow._src.core import dtypes, nest
from tapeflow._src.core.convert import convert_to_tensor
from tapeflow._src.core.errors import (
    FailedPreconditionError,
    OutOfRangeError,
    UnimplementedError,
    invalid,
    wrong_object,
)
from tapeflow._src.core.export import export, export_value
from tapeflow._src.core.spec import TensorSpec
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.data.dataset import Dataset
from tapeflow._src.data.nodes.sources import Listed, RandomNumbers
from tapeflow._src.data.runtime.node import INFINITE, UNKNOWN
from tapeflow._src.data.specs import box, common, for_pipeline, spec_of
from tapeflow._src.io.records import TFRecordWriter as FileWriter
from tapeflow._src.ops.arguments import integer
from tapeflow._src.ops.array.creation import zeros

Applied = Callable[[Dataset], Dataset]

SHARD_HINT = -1
"""Stands for the number of a shard, in `tf.data.Dataset.shard`."""


@export("data.experimental.RandomDataset")
class RandomDataset(Dataset):
    """Random integers from 0 to 2**32 - 1, without end: `tf.data.Dataset.random`.

    >>> [int(x) < 2**32 for x in tf.data.experimental.RandomDataset(seed=4).take(2)]
    [True, True]

    Args:
      seed: an integer.
      rerandomize_each_iteration: whether the numbers are others each time; False by default.
      name: accepted for compatibility.
    """

    def __init__(
        self,
        seed: Any = None,
        rerandomize_each_iteration: bool | None = None,
        name: str | None = None,
    ) -> None:
        super().__init__(RandomNumbers(seed, bool(rerandomize_each_iteration)))


class _List(Listed):
    name = "_ListDataset"

    def cardinality(self) -> int:
        """As many as there are."""
        return len(self._rows)


@export("data.experimental.from_list")
def from_list(elements: Sequence[Any], name: str | None = None) -> Dataset:
    """The elements of a list, which may be tuples and dictionaries, and of different shapes.

    >>> data = tf.data.experimental.from_list([{"a": 1}, {"a": 2}])
    >>> [int(x["a"]) for x in data]
    [1, 2]

    Args:
      elements: a list that is not empty.
      name: accepted for compatibility.
    """
    if not isinstance(elements, list):
        raise ValueError("Invalid `elements`. `elements` must be a list.")
    if not elements:
        raise ValueError(
            "Invalid `elements`. `elements` should not be empty. If you want an empty dataset, use "
            "`tf.data.Dataset.range(0)`."
        )
    structures = [for_pipeline(element) for element in elements]
    spec = spec_of(structures[0])
    for structure in structures[1:]:
        spec = common(spec, spec_of(structure))
    rows = [
        tuple(x._array if isinstance(x, Tensor) else box(x) for x in nest.flatten(structure))
        for structure in structures
    ]
    return Dataset(_List(rows, spec))


@export("data.experimental.at")
def at(dataset: Dataset, index: Any) -> Any:
    """The element of a dataset that has a number, if its elements can be had in any order.

    >>> tf.data.experimental.at(tf.data.Dataset.range(5).skip(1), 2).numpy()
    np.int64(3)

    Args:
      dataset: made of tensors or a range, perhaps with some left out; what has been mapped or filtered cannot.
      index: from 0 to the number of elements.
    """
    if not isinstance(dataset, Dataset):
        raise wrong_object("at", "dataset", "a tf.data.Dataset", dataset)
    node = dataset._node
    if node.cardinality() == INFINITE:
        raise FailedPreconditionError(
            None, None, "at: the dataset has no end, which does not allow for random access"
        )
    table = node.table()
    if table is None:
        raise UnimplementedError(
            None, None, f"at: the elements of {dataset!r} cannot be had in any order"
        )
    number = integer("at", "index", index)
    if not 0 <= number < table.size:
        raise OutOfRangeError(None, None, f"at: Index out of range [0, {table.size}):{number}")
    return next(iter(dataset.skip(number)))


@export("data.experimental.map_and_batch")
def map_and_batch(
    map_func: Callable[..., Any],
    batch_size: Any,
    num_parallel_batches: Any = None,
    drop_remainder: bool = False,
    num_parallel_calls: Any = None,
) -> Applied:
    """`Dataset.map` followed by `Dataset.batch`, for `Dataset.apply`.

    >>> data = tf.data.Dataset.range(3).apply(tf.data.experimental.map_and_batch(lambda x: x + 1, 2))
    >>> [x.numpy().tolist() for x in data]
    [[1, 2], [3]]

    Args:
      map_func: see `Dataset.map`.
      batch_size: see `Dataset.batch`.
      num_parallel_batches: how many batches are made at a time.
      drop_remainder: see `Dataset.batch`.
      num_parallel_calls: how many elements are computed at a time, instead.
    """
    if num_parallel_batches is not None and num_parallel_calls is not None:
        raise ValueError(
            "`map_and_batch` allows only one of `num_parallel_batches` and `num_parallel_calls` to be set, but "
            f"`num_parallel_batches` was set to {num_parallel_batches} and `num_parallel_calls` as set to "
            f"{num_parallel_calls}."
        )
    if num_parallel_batches is not None:
        num_parallel_calls = num_parallel_batches * batch_size
        if num_parallel_calls <= 0:
            raise invalid("map_and_batch: num_parallel_calls must be greater than zero.")
    return lambda dataset: dataset.map(map_func, num_parallel_calls).batch(
        batch_size, drop_remainder
    )


@export("data.experimental.parallel_interleave")
def parallel_interleave(
    map_func: Callable[..., Any],
    cycle_length: Any,
    block_length: Any = 1,
    sloppy: bool | None = False,
    buffer_output_elements: Any = None,
    prefetch_input_elements: Any = None,
) -> Applied:
    """`Dataset.interleave` with threads, for `Dataset.apply`.

    >>> copies = tf.data.experimental.parallel_interleave(lambda x: tf.data.Dataset.from_tensors(x).repeat(2), 2)
    >>> [int(x) for x in tf.data.Dataset.range(3).apply(copies)]
    [0, 1, 0, 1, 2, 2]

    Args:
      map_func: from an element to a dataset.
      cycle_length: how many of the datasets are read in turn.
      block_length: how many elements of one are taken at a time.
      sloppy: whether the order may be another one.
      buffer_output_elements: accepted for compatibility.
      prefetch_input_elements: accepted for compatibility.
    """
    return lambda dataset: dataset.interleave(
        map_func, cycle_length, block_length, cycle_length, deterministic=not sloppy
    )


@export("data.experimental.Reducer")
class Reducer:
    """What `tf.data.experimental.group_by_reducer` computes of a group: a first state, the next, and the result.

    >>> total = tf.data.experimental.Reducer(
    ...     init_func=lambda key: tf.constant(0, tf.int64), reduce_func=lambda s, x: s + x, finalize_func=lambda s: s)
    >>> total.finalize_func(3)
    3

    Args:
      init_func: from a key to the first state.
      reduce_func: from a state and an element to the next state.
      finalize_func: from the last state to the result.
    """

    def __init__(
        self,
        init_func: Callable[..., Any],
        reduce_func: Callable[..., Any],
        finalize_func: Callable[..., Any],
    ) -> None:
        self.init_func, self.reduce_func = init_func, reduce_func
        self.finalize_func = finalize_func


@export("data.experimental.group_by_reducer")
def group_by_reducer(key_func: Callable[..., Any], reducer: Reducer) -> Applied:
    """For each key what a reducer gives for its elements, for `Dataset.apply`.

    >>> total = tf.data.experimental.Reducer(lambda key: tf.constant(0, tf.int64), lambda s, x: s + x, lambda s: s)
    >>> data = tf.data.Dataset.range(6).apply(tf.data.experimental.group_by_reducer(lambda x: x % 2, total))
    >>> [int(x) for x in data]
    [6, 9]

    Args:
      key_func: from an element to a scalar int64.
      reducer: a `tf.data.experimental.Reducer`.
    """
    if not isinstance(reducer, Reducer):
        raise wrong_object("group_by_reducer", "reducer", "a tf.data.experimental.Reducer", reducer)

    def reduced(key: Tensor, group: Dataset) -> Dataset:
        state = group.reduce(reducer.init_func(key), reducer.reduce_func)
        given = state if isinstance(state, tuple) else (state,)
        return Dataset.from_tensors(reducer.finalize_func(*given))

    return lambda dataset: dataset.group_by_window(key_func, reduced, 2**63 - 1)


@export("data.experimental.pad_to_cardinality")
def pad_to_cardinality(cardinality: int, mask_key: str = "valid") -> Applied:
    """Adds elements of zeros until there are as many as wanted, for `Dataset.apply`.

    >>> data = tf.data.Dataset.from_tensor_slices({"a": [1, 2]})
    >>> data = data.apply(tf.data.experimental.pad_to_cardinality(3))
    >>> [(int(x["a"]), bool(x["valid"])) for x in data]
    [(1, True), (2, True), (0, False)]

    Args:
      cardinality: how many.
      mask_key: the name of the component that says which elements were there before.
    """

    def apply(dataset: Dataset) -> Dataset:
        count = dataset._node.cardinality()
        if not isinstance(dataset.element_spec, dict):
            raise ValueError("`pad_to_cardinality` requires its input dataset to be a dictionary.")
        if count in (INFINITE, UNKNOWN):
            raise ValueError(
                "The dataset passed into `pad_to_cardinality` must have a known cardinalty, but has cardinality "
                f"{count}"
            )
        if count > cardinality:
            raise ValueError(
                "The dataset passed into `pad_to_cardinality` must have a cardinalty less than the target "
                f"cardinality ({cardinality}), but has cardinality {count}"
            )

        def marked(value: bool) -> Callable[[Any], Any]:
            return lambda element: {**element, mask_key: convert_to_tensor(value)}

        def nothing(spec: TensorSpec) -> Tensor:
            return zeros([0 if n is None else n for n in spec.shape.as_list()], spec.dtype)

        empty = nest.map_structure(nothing, dataset.element_spec)
        padding = Dataset.from_tensors(empty).repeat(cardinality - count)
        return dataset.map(marked(True)).concatenate(padding.map(marked(False)))

    return apply


@export("data.experimental.TFRecordWriter")
class TFRecordWriter:
    """Writes the elements of a dataset of strings to a TFRecord file.

    >>> import tempfile
    >>> path = tempfile.mkdtemp() + "/words.tfrecord"
    >>> tf.data.experimental.TFRecordWriter(path).write(tf.data.Dataset.from_tensor_slices(["one", "two"]))
    >>> list(tf.data.TFRecordDataset(path).as_numpy_iterator())
    [b'one', b'two']

    Args:
      filename: of the file, which is made anew.
      compression_type: `"GZIP"`, `"ZLIB"`, or none.
    """

    def __init__(self, filename: Any, compression_type: str | None = None) -> None:
        self._path, self._compression = filename, compression_type

    def write(self, dataset: Dataset) -> None:
        """Writes all elements."""
        if not isinstance(dataset, Dataset):
            raise TypeError(
                f"Invalid `dataset.` Expected a `tf.data.Dataset` object but got {type(dataset)}."
            )
        spec = dataset.element_spec
        is_string = isinstance(spec, TensorSpec) and spec.dtype is dtypes.string
        if not is_string or spec.shape.rank != 0:
            raise TypeError(
                f"Invalid `dataset`. Expected a dataset that produces scalar `tf.string` elements, but got {spec}."
            )
        with FileWriter(self._path, self._compression or None) as writer:
            for record in dataset.as_numpy_iterator():
                writer.write(record)


export_value("SHARD_HINT", "data.experimental.SHARD_HINT")
