"""`tf.feature_column.shared_embeddings`: several features whose categories have the same vectors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tapeflow._src.core.context import context
from tapeflow._src.core.errors import shown
from tapeflow._src.core.export import export
from tapeflow._src.parsing import columns
from tapeflow._src.parsing.feature_columns import embedding_column


class SharedEmbeddingColumn(columns.EmbeddingColumn):
    """Categories as vectors that other columns have, too."""

    _suffix = "_shared_embedding"
    shared_name: str


@export("feature_column.shared_embeddings")
def shared_embeddings(
    categorical_columns: Sequence[Any],
    dimension: int,
    combiner: str = "mean",
    initializer: Any = None,
    shared_embedding_collection_name: str | None = None,
    ckpt_to_load_from: str | None = None,
    tensor_name_in_ckpt: str | None = None,
    max_norm: float | None = None,
    trainable: bool = True,
    use_safe_embedding_lookup: bool = True,
) -> list[SharedEmbeddingColumn]:
    """Categories of several features as the same vectors. As in TensorFlow, it is for graphs only.

    >>> columns = [tf.feature_column.categorical_column_with_identity(key, 9) for key in ("seen", "bought")]
    >>> with tf.Graph().as_default():
    ...     shared = tf.feature_column.shared_embeddings(columns, dimension=3)
    >>> [column.name for column in shared], shared[0].shared_name
    (['seen_shared_embedding', 'bought_shared_embedding'], 'bought_seen_shared_embedding')

    Args:
      categorical_columns: columns of one kind, with as many categories.
      dimension: of the vectors.
      combiner: how several of one example become one: "mean", "sqrtn" or "sum".
      initializer: what the vectors are at first; normal numbers by default.
      shared_embedding_collection_name: a name for the vectors; by default one made of those of the columns.
      ckpt_to_load_from: a checkpoint that has them.
      tensor_name_in_ckpt: their name there.
      max_norm: how long vectors may be.
      trainable: whether they are learned.
      use_safe_embedding_lookup: whether examples without categories are allowed for.
    """
    if context.tracer is None:
        raise RuntimeError(
            "shared_embedding_columns are not supported when eager execution is enabled. Use them in the scope of a "
            "tf.Graph, or a Keras layer for several features."
        )
    for column in categorical_columns:
        if not isinstance(column, columns.Categorical):
            raise ValueError(
                "All categorical_columns must be subclasses of CategoricalColumn. Given: "
                f"{shown(column)}, of type: {type(column)}"
            )
    plain = [_plain(column) for column in categorical_columns]
    for column in plain[1:]:
        if type(column) is not type(plain[0]):
            raise ValueError(
                "To use shared_embedding_column, all categorical_columns must have the same type, got "
                f"{type(plain[0]).__name__} and {type(column).__name__}"
            )
        if column.num_buckets != plain[0].num_buckets:
            raise ValueError(
                "To use shared_embedding_column, all categorical_columns must have the same number of buckets, got "
                f"{plain[0].num_buckets} and {column.num_buckets}"
            )
    names = "_".join(sorted(column.name for column in categorical_columns))
    found = []
    for column in categorical_columns:
        single = embedding_column(
            *(column, dimension, combiner, initializer, ckpt_to_load_from),
            *(tensor_name_in_ckpt, max_norm, trainable, use_safe_embedding_lookup),
        )
        shared = SharedEmbeddingColumn(*single)
        shared.shared_name = shared_embedding_collection_name or f"{names}_shared_embedding"
        found.append(shared)
    return found


def _plain(column: Any) -> Any:
    while isinstance(
        column, (columns.WeightedCategoricalColumn, columns.SequenceCategoricalColumn)
    ):
        column = column.categorical_column
    return column
