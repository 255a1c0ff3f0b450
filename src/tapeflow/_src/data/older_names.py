"""More of `tf.data.experimental`: functions for `Dataset.apply`, and for datasets in files."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tapeflow._src.core.errors import wrong_object
from tapeflow._src.core.export import export
from tapeflow._src.data.dataset import Dataset

Applied = Callable[[Dataset], Dataset]


@export("data.experimental.bucket_by_sequence_length")
def bucket_by_sequence_length(
    element_length_func: Callable[..., Any],
    bucket_boundaries: Sequence[int],
    bucket_batch_sizes: Sequence[int],
    padded_shapes: Any = None,
    padding_values: Any = None,
    pad_to_bucket_boundary: bool = False,
    no_padding: bool = False,
    drop_remainder: bool = False,
) -> Applied:
    """Batches elements of similar length, for `Dataset.apply`: `Dataset.bucket_by_sequence_length`.

    >>> data = tf.data.Dataset.range(1, 5).map(lambda n: tf.fill([n], n))
    >>> buckets = tf.data.experimental.bucket_by_sequence_length(lambda x: tf.shape(x)[0], [3], [2, 2])
    >>> [x.shape.as_list() for x in data.apply(buckets)]
    [[2, 2], [2, 4]]

    The arguments are those of the method.
    """
    return lambda dataset: dataset.bucket_by_sequence_length(
        element_length_func,
        bucket_boundaries,
        bucket_batch_sizes,
        padded_shapes,
        padding_values,
        pad_to_bucket_boundary,
        no_padding,
        drop_remainder,
    )


@export("data.experimental.group_by_window")
def group_by_window(
    key_func: Callable[..., Any],
    reduce_func: Callable[..., Any],
    window_size: Any = None,
    window_size_func: Callable[..., Any] | None = None,
) -> Applied:
    """Groups elements by a key, for `Dataset.apply`: `Dataset.group_by_window`.

    >>> groups = tf.data.experimental.group_by_window(lambda x: x % 2, lambda key, group: group.batch(2), 2)
    >>> [x.numpy().tolist() for x in tf.data.Dataset.range(4).apply(groups)]
    [[0, 2], [1, 3]]

    The arguments are those of the method.
    """
    return lambda data: data.group_by_window(key_func, reduce_func, window_size, window_size_func)


@export("data.experimental.rejection_resample")
def rejection_resample(
    class_func: Callable[..., Any], target_dist: Any, initial_dist: Any = None, seed: Any = None
) -> Applied:
    """Leaves out elements of classes that come too often, for `Dataset.apply`: `Dataset.rejection_resample`.

    >>> resample = tf.data.experimental.rejection_resample(lambda x: x % 2, [0.5, 0.5], [0.5, 0.5])
    >>> len(list(tf.data.Dataset.range(4, output_type=tf.int32).apply(resample)))
    4

    The arguments are those of the method.
    """
    return lambda dataset: dataset.rejection_resample(class_func, target_dist, initial_dist, seed)


@export("data.experimental.snapshot")
def snapshot(
    path: Any, compression: Any = "AUTO", reader_func: Any = None, shard_func: Any = None
) -> Applied:
    """Writes elements to a folder in the first iteration, for `Dataset.apply`: `Dataset.snapshot`.

    >>> import tempfile
    >>> kept = tf.data.experimental.snapshot(tempfile.mkdtemp() + "/some")
    >>> [int(x) for x in tf.data.Dataset.range(2).apply(kept)]
    [0, 1]

    The arguments are those of the method.
    """
    return lambda dataset: dataset.snapshot(path, compression, reader_func, shard_func)


@export("data.experimental.save")
def save(
    dataset: Dataset,
    path: Any,
    compression: Any = None,
    shard_func: Any = None,
    checkpoint_args: Any = None,
) -> None:
    """Writes all elements of a dataset to a folder: `Dataset.save`.

    >>> import tempfile
    >>> path = tempfile.mkdtemp() + "/some"
    >>> tf.data.experimental.save(tf.data.Dataset.range(2), path)
    >>> [int(x) for x in tf.data.experimental.load(path)]
    [0, 1]

    The arguments are the dataset and those of the method.
    """
    if not isinstance(dataset, Dataset):
        raise wrong_object("save", "dataset", "a tf.data.Dataset", dataset)
    dataset.save(path, compression, shard_func, checkpoint_args)


@export("data.experimental.load")
def load(
    path: Any, element_spec: Any = None, compression: Any = None, reader_func: Any = None
) -> Dataset:
    """Gives the elements that a folder holds: `Dataset.load`.

    >>> import tempfile
    >>> path = tempfile.mkdtemp() + "/some"
    >>> tf.data.Dataset.range(2).save(path)
    >>> [int(x) for x in tf.data.experimental.load(path)]
    [0, 1]

    The arguments are those of the method.
    """
    return Dataset.load(path, element_spec, compression, reader_func)
