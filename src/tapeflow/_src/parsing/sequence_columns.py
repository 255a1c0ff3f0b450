"""`tf.feature_column.sequence_*`: features that are sequences."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tapeflow._src.core import dtypes
from tapeflow._src.core.export import export
from tapeflow._src.parsing import feature_columns
from tapeflow._src.parsing.columns import SequenceCategoricalColumn, SequenceNumericColumn


@export("feature_column.sequence_numeric_column")
def sequence_numeric_column(
    key: str,
    shape: Any = (1,),
    default_value: float = 0.0,
    dtype: Any = dtypes.float32,
    normalizer_fn: Callable[..., Any] | None = None,
) -> SequenceNumericColumn:
    """Sequences of numbers.

    >>> tf.feature_column.sequence_numeric_column("heights").parse_example_spec
    {'heights': VarLenFeature(dtype=tf.float32)}

    Args:
      key: the name of the feature.
      shape: of the numbers of a step.
      default_value: what stands after the end of shorter sequences.
      dtype: that of the numbers.
      normalizer_fn: a function that the numbers go through.
    """
    one = feature_columns.numeric_column(key, shape, None, dtype, normalizer_fn)
    return SequenceNumericColumn(key, one.shape, default_value, one.dtype, normalizer_fn)


@export("feature_column.sequence_categorical_column_with_hash_bucket")
def sequence_categorical_column_with_hash_bucket(
    key: str, hash_bucket_size: int, dtype: Any = dtypes.string
) -> SequenceCategoricalColumn:
    """Sequences of strings or integers, by their hashes.

    >>> tf.feature_column.sequence_categorical_column_with_hash_bucket("words", 10).num_buckets
    10

    The arguments are those of `categorical_column_with_hash_bucket`.
    """
    return SequenceCategoricalColumn(
        feature_columns.categorical_column_with_hash_bucket(key, hash_bucket_size, dtype)
    )


@export("feature_column.sequence_categorical_column_with_identity")
def sequence_categorical_column_with_identity(
    key: str, num_buckets: int, default_value: int | None = None
) -> SequenceCategoricalColumn:
    """Sequences of integers that are numbers of categories.

    >>> tf.feature_column.sequence_categorical_column_with_identity("days", 7).num_buckets
    7

    The arguments are those of `categorical_column_with_identity`.
    """
    return SequenceCategoricalColumn(
        feature_columns.categorical_column_with_identity(key, num_buckets, default_value)
    )


@export("feature_column.sequence_categorical_column_with_vocabulary_list")
def sequence_categorical_column_with_vocabulary_list(
    key: str,
    vocabulary_list: Sequence[Any],
    dtype: Any = None,
    default_value: int = -1,
    num_oov_buckets: int = 0,
) -> SequenceCategoricalColumn:
    """Sequences of words by their places in a list.

    >>> tf.feature_column.sequence_categorical_column_with_vocabulary_list("letters", ["a", "b"]).name
    'letters'

    The arguments are those of `categorical_column_with_vocabulary_list`.
    """
    return SequenceCategoricalColumn(
        feature_columns.categorical_column_with_vocabulary_list(
            key, vocabulary_list, dtype, default_value, num_oov_buckets
        )
    )


@export("feature_column.sequence_categorical_column_with_vocabulary_file")
def sequence_categorical_column_with_vocabulary_file(
    key: str,
    vocabulary_file: str,
    vocabulary_size: int | None = None,
    num_oov_buckets: int = 0,
    default_value: int | None = None,
    dtype: Any = dtypes.string,
) -> SequenceCategoricalColumn:
    """Sequences of words by the lines of a file.

    >>> words = tf.feature_column.sequence_categorical_column_with_vocabulary_file("words", "words.txt", 2)
    >>> words.num_buckets
    2

    The arguments are those of `categorical_column_with_vocabulary_file`.
    """
    return SequenceCategoricalColumn(
        feature_columns.categorical_column_with_vocabulary_file(
            key,
            vocabulary_file,
            vocabulary_size,
            dtype,
            default_value,
            num_oov_buckets,
        )
    )
