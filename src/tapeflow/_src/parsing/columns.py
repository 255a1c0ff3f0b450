"""What `tf.feature_column` makes: descriptions of features, which say how they are read from examples."""

from __future__ import annotations

from typing import Any, NamedTuple

from tapeflow._src.core.dtypes import DType, int64, string
from tapeflow._src.core.shapes import TensorShape
from tapeflow._src.parsing.features import FixedLenFeature
from tapeflow._src.parsing.sparse_features import VarLenFeature


class Column:
    """A feature, or what is made of others."""

    __slots__ = ()


class Categorical(Column):
    """A feature that is one of several numbers."""

    __slots__ = ()
    num_buckets: int


class _Numeric(NamedTuple):
    key: str
    shape: tuple[int, ...]
    default_value: Any
    dtype: DType
    normalizer_fn: Any


class NumericColumn(Column, _Numeric):
    """Numbers."""

    @property
    def name(self) -> str:
        """That of the feature."""
        return self.key

    @property
    def parse_example_spec(self) -> dict[str, Any]:
        """How it is read from examples."""
        return {self.key: FixedLenFeature(self.shape, self.dtype, self.default_value)}

    @property
    def parents(self) -> list[Any]:
        """What it is made of."""
        return [self.key]

    @property
    def variable_shape(self) -> TensorShape:
        """The shape of the numbers."""
        return TensorShape(self.shape)


class _Bucketized(NamedTuple):
    source_column: NumericColumn
    boundaries: tuple[float, ...]


class BucketizedColumn(Categorical, _Bucketized):
    """Numbers, by the bounds between which they are."""

    @property
    def name(self) -> str:
        """That of the numbers, and what they are."""
        return f"{self.source_column.name}_bucketized"

    @property
    def parse_example_spec(self) -> dict[str, Any]:
        """How the numbers are read."""
        return self.source_column.parse_example_spec

    @property
    def parents(self) -> list[Any]:
        """What it is made of."""
        return [self.source_column]

    @property
    def num_buckets(self) -> int:  # pyright: ignore[reportIncompatibleVariableOverride]
        """How many numbers there are."""
        return (len(self.boundaries) + 1) * self.source_column.shape[0]

    @property
    def variable_shape(self) -> TensorShape:
        """The shape as vectors of zeros and ones."""
        return TensorShape([*self.source_column.shape, len(self.boundaries) + 1])


class _Keyed(Categorical):
    """A feature with a name."""

    __slots__ = ()
    key: str
    dtype: Any = int64

    @property
    def name(self) -> str:
        """That of the feature."""
        return self.key

    @property
    def parse_example_spec(self) -> dict[str, Any]:
        """How it is read from examples."""
        return {self.key: VarLenFeature(self.dtype)}

    @property
    def parents(self) -> list[Any]:
        """What it is made of."""
        return [self.key]


class _Hashed(NamedTuple):
    key: str
    hash_bucket_size: int
    dtype: DType


class HashedCategoricalColumn(_Hashed, _Keyed):  # pyright: ignore[reportIncompatibleVariableOverride]
    """Strings or integers, by their hashes."""

    @property
    def num_buckets(self) -> int:  # pyright: ignore[reportIncompatibleVariableOverride]
        """How many numbers there are."""
        return self.hash_bucket_size


class _Identity(NamedTuple):
    key: str
    number_buckets: int
    default_value: int | None


class IdentityCategoricalColumn(_Identity, _Keyed):  # pyright: ignore[reportIncompatibleVariableOverride]
    """Integers that are numbers of categories."""

    @property
    def num_buckets(self) -> int:  # pyright: ignore[reportIncompatibleVariableOverride]
        """How many numbers there are."""
        return self.number_buckets


class _VocabularyList(NamedTuple):
    key: str
    vocabulary_list: tuple[Any, ...]
    dtype: DType
    default_value: int
    num_oov_buckets: int


class VocabularyListCategoricalColumn(_VocabularyList, _Keyed):  # pyright: ignore[reportIncompatibleVariableOverride]
    """Words by their places in a list."""

    @property
    def num_buckets(self) -> int:  # pyright: ignore[reportIncompatibleVariableOverride]
        """How many numbers there are."""
        return len(self.vocabulary_list) + self.num_oov_buckets


class _VocabularyFile(NamedTuple):
    key: str
    vocabulary_file: str
    vocabulary_size: int
    num_oov_buckets: int
    dtype: DType
    default_value: int
    file_format: str | None


class VocabularyFileCategoricalColumn(_VocabularyFile, _Keyed):  # pyright: ignore[reportIncompatibleVariableOverride]
    """Words by the lines of a file."""

    @property
    def num_buckets(self) -> int:  # pyright: ignore[reportIncompatibleVariableOverride]
        """How many numbers there are."""
        return self.vocabulary_size + self.num_oov_buckets


class _Crossed(NamedTuple):
    keys: tuple[Any, ...]
    hash_bucket_size: int
    hash_key: int | None


class CrossedColumn(Categorical, _Crossed):
    """Combinations of other features, by their hashes."""

    @property
    def name(self) -> str:
        """The names of the others."""
        found: list[str] = []
        for key in self._leaves():
            found.append(key if isinstance(key, str) else key.name)
        return "_X_".join(sorted(found))

    def _leaves(self) -> list[Any]:
        found: list[Any] = []
        for key in self.keys:
            found += key._leaves() if isinstance(key, CrossedColumn) else [key]
        return found

    @property
    def parse_example_spec(self) -> dict[str, Any]:
        """How the features are read from examples."""
        found: dict[str, Any] = {}
        for key in self.keys:
            text = isinstance(key, str)
            found |= {key: VarLenFeature(string)} if text else key.parse_example_spec
        return found

    @property
    def parents(self) -> list[Any]:
        """What it is made of."""
        return list(self.keys)

    @property
    def num_buckets(self) -> int:  # pyright: ignore[reportIncompatibleVariableOverride]
        """How many numbers there are."""
        return self.hash_bucket_size


class _OfCategorical(Column):
    """What is made of a categorical column."""

    __slots__ = ()
    categorical_column: Any
    _suffix = ""

    @property
    def name(self) -> str:
        """That of the column, and what is made of it."""
        return f"{self.categorical_column.name}{self._suffix}"

    @property
    def parse_example_spec(self) -> dict[str, Any]:
        """How the column is read from examples."""
        return self.categorical_column.parse_example_spec

    @property
    def parents(self) -> list[Any]:
        """What it is made of."""
        return [self.categorical_column]


class _Indicator(NamedTuple):
    categorical_column: Any


class IndicatorColumn(_Indicator, _OfCategorical):  # pyright: ignore[reportIncompatibleVariableOverride]
    """Categories as vectors of zeros and ones."""

    _suffix = "_indicator"

    @property
    def variable_shape(self) -> TensorShape:
        """The shape of the vectors."""
        return TensorShape([1, self.categorical_column.num_buckets])


class _Embedding(NamedTuple):
    categorical_column: Any
    dimension: int
    combiner: str
    initializer: Any
    ckpt_to_load_from: str | None
    tensor_name_in_ckpt: str | None
    max_norm: float | None
    trainable: bool
    use_safe_embedding_lookup: bool


class EmbeddingColumn(_Embedding, _OfCategorical):  # pyright: ignore[reportIncompatibleVariableOverride]
    """Categories as vectors that are learned."""

    _suffix = "_embedding"

    @property
    def variable_shape(self) -> TensorShape:
        """The shape of the vectors."""
        return TensorShape([self.dimension])


class _Weighted(NamedTuple):
    categorical_column: Any
    weight_feature_key: str
    dtype: DType


class WeightedCategoricalColumn(_Weighted, _OfCategorical, Categorical):  # pyright: ignore[reportIncompatibleVariableOverride]
    """Categories with weights."""

    @property
    def name(self) -> str:
        """The names of the column and of the weights."""
        return f"{self.categorical_column.name}_weighted_by_{self.weight_feature_key}"

    @property
    def parse_example_spec(self) -> dict[str, Any]:
        """How the column and the weights are read from examples."""
        weights = {self.weight_feature_key: VarLenFeature(self.dtype)}
        return self.categorical_column.parse_example_spec | weights

    @property
    def num_buckets(self) -> int:  # pyright: ignore[reportIncompatibleVariableOverride]
        """How many numbers there are."""
        return self.categorical_column.num_buckets


class SequenceCategoricalColumn(_Indicator, _OfCategorical, Categorical):  # pyright: ignore[reportIncompatibleVariableOverride]
    """Sequences of categories."""

    @property
    def num_buckets(self) -> int:  # pyright: ignore[reportIncompatibleVariableOverride]
        """How many numbers there are."""
        return self.categorical_column.num_buckets


class SequenceNumericColumn(Column, _Numeric):
    """Sequences of numbers."""

    @property
    def name(self) -> str:
        """That of the feature."""
        return self.key

    @property
    def parse_example_spec(self) -> dict[str, Any]:
        """How it is read from examples."""
        return {self.key: VarLenFeature(self.dtype)}

    @property
    def parents(self) -> list[Any]:
        """What it is made of."""
        return [self.key]
