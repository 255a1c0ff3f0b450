"""Datasets of examples: `tf.data.experimental.make_batched_features_dataset` and `parse_example_dataset`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from tapeflow._src.core.dtypes import string
from tapeflow._src.core.errors import shown
from tapeflow._src.core.export import export
from tapeflow._src.core.spec import TensorSpec
from tapeflow._src.data.dataset import Dataset
from tapeflow._src.data.readers import TFRecordDataset
from tapeflow._src.data.transformations import AUTOTUNE
from tapeflow._src.parsing.parse_example import parse_example


@export("data.experimental.parse_example_dataset")
def parse_example_dataset(
    features: Any, num_parallel_calls: Any = 1, deterministic: bool | None = None
) -> Callable[[Dataset], Dataset]:
    """Batches of serialized `tf.train.Example`s as tensors, for `Dataset.apply`: `tf.io.parse_example`.

    >>> data = tf.data.Dataset.from_tensors([tf.train.Example().SerializeToString()])
    >>> features = {"a": tf.io.FixedLenFeature([], tf.int64, default_value=7)}
    >>> [x["a"].numpy() for x in data.apply(tf.data.experimental.parse_example_dataset(features))]
    [array([7])]

    Args:
      features: see `tf.io.parse_example`.
      num_parallel_calls: see `Dataset.map`.
      deterministic: see `Dataset.map`.
    """
    if features is None:
        raise ValueError("Argument `features` is required, but not specified.")

    def apply(dataset: Dataset) -> Dataset:
        spec = dataset.element_spec
        is_strings = isinstance(spec, TensorSpec) and spec.dtype is string
        if not is_strings or spec.shape.rank not in (None, 1):
            raise TypeError(
                f"Input dataset should be a dataset of vectors of strings. Instead it is `{spec}`."
            )
        return dataset.map(
            lambda batch: parse_example(batch, features), num_parallel_calls, deterministic
        )

    return apply


@export("data.experimental.make_batched_features_dataset")
def make_batched_features_dataset(
    file_pattern: Any,
    batch_size: Any,
    features: Any,
    reader: Any = None,
    label_key: str | None = None,
    reader_args: Any = None,
    num_epochs: Any = None,
    shuffle: bool = True,
    shuffle_buffer_size: Any = 10000,
    shuffle_seed: Any = None,
    prefetch_buffer_size: Any = None,
    reader_num_threads: Any = None,
    parser_num_threads: Any = None,
    sloppy_ordering: bool = False,
    drop_final_batch: bool = False,
) -> Dataset:
    """Batches of the examples in TFRecord files.

    >>> import tempfile
    >>> path = tempfile.mkdtemp() + "/some.tfrecord"
    >>> with tf.io.TFRecordWriter(path) as writer:
    ...     writer.write(tf.train.Example().SerializeToString())
    >>> features = {"a": tf.io.FixedLenFeature([], tf.int64, default_value=7)}
    >>> data = tf.data.experimental.make_batched_features_dataset(path, 1, features, num_epochs=1)
    >>> [x["a"].numpy() for x in data]
    [array([7])]

    Args:
      file_pattern: which files, see `Dataset.list_files`.
      batch_size: how many examples make a batch.
      features: see `tf.io.parse_example`.
      reader: what makes a dataset of the name of a file; `tf.data.TFRecordDataset` by default.
      label_key: the feature that is the label: then elements are pairs of features and label.
      reader_args: further arguments of the reader.
      num_epochs: how often all examples come; without end by default.
      shuffle: whether they come in random order.
      shuffle_buffer_size: among how many the next one is chosen.
      shuffle_seed: an integer, from which the order follows.
      prefetch_buffer_size: how many batches are made before they are asked for.
      reader_num_threads: how many files are read in turn; 1 by default.
      parser_num_threads: how many batches are parsed at a time.
      sloppy_ordering: whether the order may be another one.
      drop_final_batch: whether the last batch is left out if it is smaller.
    """
    if not isinstance(features, Mapping):
        raise TypeError(
            f"make_batched_features_dataset: features must be a dictionary, got {shown(features)}"
        )
    if label_key is not None and label_key not in features:
        raise ValueError(
            f"The `label_key` provided ({label_key}) must be one of the `features` keys: {features.keys()}."
        )
    read = TFRecordDataset if reader is None else reader
    threads = 1 if reader_num_threads is None else reader_num_threads
    if threads == AUTOTUNE:
        threads = 8
    dataset = Dataset.list_files(file_pattern, shuffle, shuffle_seed)
    dataset = dataset.interleave(
        lambda name: read(name, *(reader_args or [])),
        threads,
        num_parallel_calls=threads,
        deterministic=not sloppy_ordering,
    )
    spec = dataset.element_spec
    if isinstance(spec, tuple):  # of keys and values
        dataset = dataset.map(lambda _, value: value)
    if shuffle:
        dataset = dataset.shuffle(shuffle_buffer_size, shuffle_seed)
    if num_epochs != 1:
        dataset = dataset.repeat(num_epochs)
    dataset = dataset.batch(batch_size, drop_final_batch or num_epochs is None)
    parse = parse_example_dataset(features, parser_num_threads or 2)
    dataset = dataset.apply(parse)
    if label_key:
        dataset = dataset.map(
            lambda x: ({key: x[key] for key in x if key != label_key}, x[label_key])
        )
    return dataset.prefetch(AUTOTUNE if prefetch_buffer_size is None else prefetch_buffer_size)
