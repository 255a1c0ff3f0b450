"""`tf.feature_column`: features described, to be read from examples."""

# Written by scripts/exports.py, from the lines in _src that export these names.
# ruff: noqa: E501

import typing as _typing

from tapeflow._src.core.missing import Missing as _Missing

# For editors and type checkers: these are imported when they are first asked for.
# isort: off
# fmt: off
if _typing.TYPE_CHECKING:
    from tapeflow._src.parsing.feature_columns import (
        numeric_column as numeric_column, bucketized_column as bucketized_column,
        categorical_column_with_hash_bucket as categorical_column_with_hash_bucket,
        categorical_column_with_identity as categorical_column_with_identity,
        categorical_column_with_vocabulary_list as categorical_column_with_vocabulary_list,
        categorical_column_with_vocabulary_file as categorical_column_with_vocabulary_file,
        crossed_column as crossed_column, indicator_column as indicator_column,
        embedding_column as embedding_column,
        weighted_categorical_column as weighted_categorical_column,
        make_parse_example_spec as make_parse_example_spec
    )
    from tapeflow._src.parsing.sequence_columns import (
        sequence_numeric_column as sequence_numeric_column,
        sequence_categorical_column_with_hash_bucket as sequence_categorical_column_with_hash_bucket,
        sequence_categorical_column_with_identity as sequence_categorical_column_with_identity,
        sequence_categorical_column_with_vocabulary_list as sequence_categorical_column_with_vocabulary_list,
        sequence_categorical_column_with_vocabulary_file as sequence_categorical_column_with_vocabulary_file
    )
    from tapeflow._src.parsing.shared_columns import shared_embeddings as shared_embeddings
# fmt: on
# isort: on

__getattr__ = _Missing(
    "tf.feature_column",
    names={
        "parsing.feature_columns": "numeric_column bucketized_column categorical_column_with_hash_bucket categorical_column_with_identity categorical_column_with_vocabulary_list categorical_column_with_vocabulary_file crossed_column indicator_column embedding_column weighted_categorical_column make_parse_example_spec",
        "parsing.sequence_columns": "sequence_numeric_column sequence_categorical_column_with_hash_bucket sequence_categorical_column_with_identity sequence_categorical_column_with_vocabulary_list sequence_categorical_column_with_vocabulary_file",
        "parsing.shared_columns": "shared_embeddings",
    },
)


def __dir__() -> list[str]:
    return __getattr__.offered(globals())
