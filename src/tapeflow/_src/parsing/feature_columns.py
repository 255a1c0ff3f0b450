"""`tf.feature_column`: features described, to be read from examples."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tapeflow._src.core import dtypes
from tapeflow._src.core.dtypes import as_dtype, string
from tapeflow._src.core.errors import shown
from tapeflow._src.core.export import export
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.io import gfile
from tapeflow._src.ops.arguments import integer, ints
from tapeflow._src.ops.random.numbers import truncated_normal
from tapeflow._src.parsing import columns
from tapeflow._src.parsing.columns import Categorical, Column


def _shape(key: Any, shape: Any) -> tuple[int, ...]:
    if not isinstance(key, str):
        raise ValueError(f"key must be a string. Got: type {type(key)}. Given key: {shown(key)}.")
    sizes = ints("feature_column", "shape", shape, scalar=True)
    if any(size < 1 for size in sizes):
        raise ValueError(f"shape dimensions must be greater than 0. shape: {sizes}, key: {key}")
    return tuple(sizes)


def _number_dtype(key: str, dtype: Any) -> Any:
    found = as_dtype(dtype)
    if not (found.is_integer or found.is_floating):
        raise ValueError(f"dtype must be convertible to float. dtype: {found!r}, key: {key}")
    return found


def _category_dtype(key: str, dtype: Any, what: str = "") -> Any:
    found = as_dtype(dtype)
    if found is not string and not found.is_integer:
        raise ValueError(
            f"column_name: {key} {what}dtype must be string or integer. dtype: {found!r}."
        )
    return found


def _check_key(key: Any) -> None:
    if not isinstance(key, str):
        raise ValueError(f"key must be a string. Got: type {type(key)}. Given key: {shown(key)}.")


@export("feature_column.numeric_column")
def numeric_column(
    key: str,
    shape: Any = (1,),
    default_value: Any = None,
    dtype: Any = dtypes.float32,
    normalizer_fn: Callable[..., Any] | None = None,
) -> columns.NumericColumn:
    """A feature that is a number, or several.

    >>> tf.feature_column.numeric_column("age").parse_example_spec
    {'age': FixedLenFeature(shape=(1,), dtype=tf.float32, default_value=None)}

    Args:
      key: the name of the feature.
      shape: how many numbers there are.
      default_value: where the feature is missing, a number or as many as there are.
      dtype: that of the numbers.
      normalizer_fn: a function that the numbers go through.
    """
    sizes = _shape(key, shape)
    wanted = _number_dtype(key, dtype)
    if normalizer_fn is not None and not callable(normalizer_fn):
        raise TypeError(f"normalizer_fn must be a callable. Given: {shown(normalizer_fn)}")
    given = default_value
    if given is not None:
        array = np.asarray(given)
        if array.ndim and array.shape != sizes:
            raise ValueError(
                f"The shape of default_value must be equal to given shape. default_value: {default_value}, shape: "
                f"{sizes}, key: {key}"
            )
        given = _tuples(np.broadcast_to(array, sizes).tolist())
    return columns.NumericColumn(key, sizes, given, wanted, normalizer_fn)


def _tuples(value: Any) -> Any:
    return tuple(map(_tuples, value)) if isinstance(value, list) else value


@export("feature_column.bucketized_column")
def bucketized_column(source_column: Any, boundaries: Sequence[float]) -> columns.BucketizedColumn:
    """Numbers, by the bounds between which they are.

    >>> age = tf.feature_column.numeric_column("age")
    >>> tf.feature_column.bucketized_column(age, [18, 65]).num_buckets
    3

    Args:
      source_column: a `tf.feature_column.numeric_column`.
      boundaries: sorted numbers.
    """
    if not isinstance(source_column, columns.NumericColumn):
        raise ValueError(
            f"source_column must be a column generated with numeric_column(). Given: {shown(source_column)}"
        )
    if len(source_column.shape) > 1:
        raise ValueError(
            f"source_column must be one-dimensional column. Given: {shown(source_column)}"
        )
    sound = isinstance(boundaries, (list, tuple)) and bool(boundaries)
    if not sound or any(a >= b for a, b in itertools.pairwise(boundaries)):
        raise ValueError("boundaries must be a sorted list.")
    return columns.BucketizedColumn(source_column, tuple(boundaries))


@export("feature_column.categorical_column_with_hash_bucket")
def categorical_column_with_hash_bucket(
    key: str, hash_bucket_size: int, dtype: Any = dtypes.string
) -> columns.HashedCategoricalColumn:
    """Strings or integers, by their hashes.

    >>> tf.feature_column.categorical_column_with_hash_bucket("word", 10).num_buckets
    10

    Args:
      key: the name of the feature.
      hash_bucket_size: how many numbers there are.
      dtype: that of the feature.
    """
    if hash_bucket_size is None:
        raise ValueError(f"hash_bucket_size must be set. key: {key}")
    hash_bucket_size = integer("feature_column", "hash_bucket_size", hash_bucket_size)
    if hash_bucket_size < 1:
        raise ValueError(
            f"hash_bucket_size must be at least 1. hash_bucket_size: {hash_bucket_size}, key: {key}"
        )
    _check_key(key)
    return columns.HashedCategoricalColumn(key, hash_bucket_size, _category_dtype(key, dtype))


@export("feature_column.categorical_column_with_identity")
def categorical_column_with_identity(
    key: str, num_buckets: int, default_value: int | None = None
) -> columns.IdentityCategoricalColumn:
    """Integers that are numbers of categories.

    >>> tf.feature_column.categorical_column_with_identity("day", 7).parse_example_spec
    {'day': VarLenFeature(dtype=tf.int64)}

    Args:
      key: the name of the feature.
      num_buckets: how many numbers there are.
      default_value: for other numbers, which are errors otherwise.
    """
    num_buckets = integer("feature_column", "num_buckets", num_buckets)
    if num_buckets < 1:
        raise ValueError(f"num_buckets {num_buckets} < 1, column_name {key}")
    if default_value is not None and not 0 <= default_value < num_buckets:
        raise ValueError(
            f"default_value {default_value} not in range [0, {num_buckets}), column_name {key}"
        )
    _check_key(key)
    return columns.IdentityCategoricalColumn(key, num_buckets, default_value)


def _check_other_words(key: str, default_value: Any, num_oov_buckets: Any) -> None:
    if num_oov_buckets:
        if default_value not in (None, -1):
            raise ValueError(f"Can't specify both num_oov_buckets and default_value in {key}.")
        if num_oov_buckets < 0:
            raise ValueError(f"Invalid num_oov_buckets {num_oov_buckets} in {key}.")
    _check_key(key)


@export("feature_column.categorical_column_with_vocabulary_list")
def categorical_column_with_vocabulary_list(
    key: str,
    vocabulary_list: Sequence[Any],
    dtype: Any = None,
    default_value: int = -1,
    num_oov_buckets: int = 0,
) -> columns.VocabularyListCategoricalColumn:
    """Words by their places in a list.

    >>> tf.feature_column.categorical_column_with_vocabulary_list("colour", ["red", "blue"]).num_buckets
    2

    Args:
      key: the name of the feature.
      vocabulary_list: the words, or integers.
      dtype: that of the feature; by default that of the list.
      default_value: the number of other words.
      num_oov_buckets: how many numbers there are for other words, by their hashes.
    """
    if vocabulary_list is None or not len(vocabulary_list):
        raise ValueError(
            f"vocabulary_list {shown(vocabulary_list)} must be non-empty, column_name: {key}"
        )
    if len(set(vocabulary_list)) != len(vocabulary_list):
        raise ValueError(
            f"Duplicate keys in vocabulary_list {shown(vocabulary_list)}, column_name: {key}"
        )
    own = as_dtype(np.asarray(vocabulary_list).dtype)
    _check_other_words(key, default_value, num_oov_buckets)
    _category_dtype(key, own, "vocabulary ")
    wanted = own if dtype is None else as_dtype(dtype)
    if wanted.is_integer != own.is_integer:
        raise ValueError(
            f"dtype {wanted!r} and vocabulary dtype {own!r} do not match, column_name: {key}"
        )
    return columns.VocabularyListCategoricalColumn(
        key, tuple(vocabulary_list), wanted, default_value, num_oov_buckets
    )


@export("feature_column.categorical_column_with_vocabulary_file")
def categorical_column_with_vocabulary_file(
    key: str,
    vocabulary_file: str,
    vocabulary_size: int | None = None,
    dtype: Any = dtypes.string,
    default_value: int | None = None,
    num_oov_buckets: int = 0,
    file_format: str | None = None,
) -> columns.VocabularyFileCategoricalColumn:
    """Words by the lines of a file.

    >>> import tempfile
    >>> path = tempfile.mkdtemp() + "/words.txt"
    >>> tf.io.write_file(path, "red blue".replace(" ", chr(10)))
    >>> tf.feature_column.categorical_column_with_vocabulary_file("colour", path).num_buckets
    2

    Args:
      key: the name of the feature.
      vocabulary_file: the path of the file.
      vocabulary_size: how many lines count; all by default.
      dtype: that of the feature.
      default_value: the number of other words; -1 by default.
      num_oov_buckets: how many numbers there are for other words, by their hashes.
      file_format: accepted for compatibility.
    """
    if not vocabulary_file:
        raise ValueError(f"Missing vocabulary_file in {key}.")
    if vocabulary_size is None:
        if not gfile.exists(vocabulary_file):
            raise ValueError(f"vocabulary_file in {key} does not exist.")
        with gfile.GFile(vocabulary_file, "rb") as file:
            vocabulary_size = sum(1 for _ in file)
    elif not isinstance(vocabulary_size, (int, np.integer)) or vocabulary_size < 1:
        raise ValueError(
            f"Invalid vocabulary_size in {key}: a positive number is wanted, got {shown(vocabulary_size)}."
        )
    _check_other_words(key, default_value, num_oov_buckets)
    return columns.VocabularyFileCategoricalColumn(
        key,
        vocabulary_file,
        vocabulary_size,
        num_oov_buckets,
        _category_dtype(key, dtype),
        -1 if default_value is None else default_value,
        file_format,
    )


@export("feature_column.crossed_column")
def crossed_column(
    keys: Sequence[Any], hash_bucket_size: int, hash_key: int | None = None
) -> columns.CrossedColumn:
    """Combinations of features, by their hashes.

    >>> tf.feature_column.crossed_column(["city", "day"], 1000).name
    'city_X_day'

    Args:
      keys: names of features, or categorical columns.
      hash_bucket_size: how many numbers there are.
      hash_key: decides the hashes.
    """
    if not hash_bucket_size or hash_bucket_size < 1:
        raise ValueError(f"hash_bucket_size must be > 1. hash_bucket_size: {hash_bucket_size}")
    if not keys or len(keys) < 2:
        raise ValueError(f"keys must be a list with length > 1. Given: {shown(keys)}")
    for key in keys:
        if not isinstance(key, (str, Categorical)):
            raise ValueError(
                "Unsupported key type. All keys must be either string, or categorical column except "
                f"HashedCategoricalColumn. Given: {shown(key)}"
            )
        if isinstance(key, columns.HashedCategoricalColumn):
            raise ValueError(
                "categorical_column_with_hash_bucket is not supported for crossing: its values are hashed already. Use "
                f"the name of the feature. Given: {shown(key)}"
            )
    return columns.CrossedColumn(tuple(keys), hash_bucket_size, hash_key)


@export("feature_column.indicator_column")
def indicator_column(categorical_column: Any) -> columns.IndicatorColumn:
    """Categories as vectors of zeros and ones.

    >>> day = tf.feature_column.categorical_column_with_identity("day", 7)
    >>> tf.feature_column.indicator_column(day).variable_shape
    TensorShape([1, 7])

    Args:
      categorical_column: the categories.
    """
    if not isinstance(categorical_column, Categorical):
        raise ValueError(
            f"Unsupported input type. Input must be a CategoricalColumn. Given: {shown(categorical_column)}"
        )
    return columns.IndicatorColumn(categorical_column)


@export("feature_column.embedding_column")
def embedding_column(
    categorical_column: Any,
    dimension: int,
    combiner: str = "mean",
    initializer: Any = None,
    ckpt_to_load_from: str | None = None,
    tensor_name_in_ckpt: str | None = None,
    max_norm: float | None = None,
    trainable: bool = True,
    use_safe_embedding_lookup: bool = True,
) -> columns.EmbeddingColumn:
    """Categories as vectors that are learned.

    >>> day = tf.feature_column.categorical_column_with_identity("day", 7)
    >>> tf.feature_column.embedding_column(day, dimension=3).variable_shape
    TensorShape([3])

    Args:
      categorical_column: the categories.
      dimension: of the vectors.
      combiner: how several of one example become one: "mean", "sqrtn" or "sum".
      initializer: what the vectors are at first; normal numbers by default.
      ckpt_to_load_from: a checkpoint that has them.
      tensor_name_in_ckpt: their name there.
      max_norm: how long vectors may be.
      trainable: whether they are learned.
      use_safe_embedding_lookup: whether examples without categories are allowed for.
    """
    if dimension is None or integer("feature_column", "dimension", dimension) < 1:
        raise ValueError(f"Invalid dimension {dimension}.")
    if (ckpt_to_load_from is None) != (tensor_name_in_ckpt is None):
        raise ValueError(
            "Must specify both `ckpt_to_load_from` and `tensor_name_in_ckpt` or none of them."
        )
    if initializer is not None and not callable(initializer):
        raise ValueError(
            f"initializer must be callable if specified. Embedding of column_name: {categorical_column.name}"
        )

    def normal(shape: Any, dtype: Any = dtypes.float32, **options: Any) -> Tensor:
        return truncated_normal(shape, 0.0, dimension**-0.5, dtype)

    first = initializer or normal
    return columns.EmbeddingColumn(
        *(categorical_column, dimension, combiner, first, ckpt_to_load_from),
        *(tensor_name_in_ckpt, max_norm, trainable, use_safe_embedding_lookup),
    )


@export("feature_column.weighted_categorical_column")
def weighted_categorical_column(
    categorical_column: Any, weight_feature_key: str, dtype: Any = dtypes.float32
) -> columns.WeightedCategoricalColumn:
    """Categories with weights, which are another feature.

    >>> day = tf.feature_column.categorical_column_with_identity("day", 7)
    >>> tf.feature_column.weighted_categorical_column(day, "sold").name
    'day_weighted_by_sold'

    Args:
      categorical_column: the categories.
      weight_feature_key: the name of the feature.
      dtype: that of the weights.
    """
    wanted = as_dtype(dtype)
    if not (wanted.is_integer or wanted.is_floating):
        raise ValueError(f"dtype {wanted!r} is not convertible to float.")
    return columns.WeightedCategoricalColumn(categorical_column, weight_feature_key, wanted)


@export("feature_column.make_parse_example_spec")
def make_parse_example_spec(feature_columns: Sequence[Any]) -> dict[str, Any]:
    """How all features of columns are read from examples: for `tf.io.parse_example`.

    >>> age = tf.feature_column.numeric_column("age")
    >>> tf.feature_column.make_parse_example_spec([age, tf.feature_column.bucketized_column(age, [18])])
    {'age': FixedLenFeature(shape=(1,), dtype=tf.float32, default_value=None)}

    Args:
      feature_columns: what the functions of `tf.feature_column` gave.
    """
    found: dict[str, Any] = {}
    for column in feature_columns:
        if not isinstance(column, Column):
            raise ValueError(
                f"All feature_columns must be FeatureColumn instances. Given: {shown(column)}"
            )
        for key, spec in column.parse_example_spec.items():  # pyright: ignore[reportAttributeAccessIssue]
            if key in found and found[key] != spec:
                raise ValueError(
                    f"feature_columns contain different parse_spec for key {key}. Given {spec} and {found[key]}"
                )
            found[key] = spec
    return found
