"""`tf.data.experimental`: older names of what `tf.data.Dataset` offers as methods."""

# Written by scripts/exports.py, from the lines in _src that export these names.
# ruff: noqa: E501

import typing as _typing

from tapeflow._src.core.missing import Missing as _Missing
from tapeflow._src.data.auto_shard import AutoShardPolicy as AutoShardPolicy
from tapeflow._src.data.csv_dataset import (
    CsvDataset as CsvDataset,
    make_csv_dataset as make_csv_dataset,
)
from tapeflow._src.data.experimental import (
    INFINITE_CARDINALITY as INFINITE_CARDINALITY,
    UNKNOWN_CARDINALITY as UNKNOWN_CARDINALITY,
    Counter as Counter,
    assert_cardinality as assert_cardinality,
    cardinality as cardinality,
    choose_from_datasets as choose_from_datasets,
    copy_to_device as copy_to_device,
    dense_to_ragged_batch as dense_to_ragged_batch,
    dense_to_sparse_batch as dense_to_sparse_batch,
    enumerate_dataset as enumerate_dataset,
    get_next_as_optional as get_next_as_optional,
    get_single_element as get_single_element,
    get_structure as get_structure,
    ignore_errors as ignore_errors,
    prefetch_to_device as prefetch_to_device,
    sample_from_datasets as sample_from_datasets,
    scan as scan,
    shuffle_and_repeat as shuffle_and_repeat,
    take_while as take_while,
    unbatch as unbatch,
    unique as unique,
)
from tapeflow._src.data.older_names import (
    bucket_by_sequence_length as bucket_by_sequence_length,
    group_by_window as group_by_window,
    load as load,
    rejection_resample as rejection_resample,
    save as save,
    snapshot as snapshot,
)
from tapeflow._src.data.options import (
    AutotuneOptions as AutotuneOptions,
    DistributeOptions as DistributeOptions,
    OptimizationOptions as OptimizationOptions,
    ThreadingOptions as ThreadingOptions,
)
from tapeflow._src.data.transformations import AUTOTUNE as AUTOTUNE

# For editors and type checkers: these are imported when they are first asked for.
if _typing.TYPE_CHECKING:
    from tapeflow._src.data.example_datasets import (
        make_batched_features_dataset as make_batched_features_dataset,
        parse_example_dataset as parse_example_dataset,
    )
    from tapeflow._src.data.keyed import (
        DatasetInitializer as DatasetInitializer,
        index_table_from_dataset as index_table_from_dataset,
        table_from_dataset as table_from_dataset,
    )
    from tapeflow._src.data.optional import Optional as Optional
    from tapeflow._src.data.rarer_names import (
        SHARD_HINT as SHARD_HINT,
        AutotuneAlgorithm as AutotuneAlgorithm,
        ExternalStatePolicy as ExternalStatePolicy,
        RandomDataset as RandomDataset,
        Reducer as Reducer,
        TFRecordWriter as TFRecordWriter,
        at as at,
        dense_to_sparse_batch as dense_to_sparse_batch,
        from_list as from_list,
        group_by_reducer as group_by_reducer,
        map_and_batch as map_and_batch,
        pad_to_cardinality as pad_to_cardinality,
        parallel_interleave as parallel_interleave,
    )
    from tapeflow._src.data.sql_dataset import SqlDataset as SqlDataset

__getattr__ = _Missing(
    "tf.data.experimental",
    names={
        "data.example_datasets": "parse_example_dataset make_batched_features_dataset",
        "data.keyed": "DatasetInitializer table_from_dataset index_table_from_dataset",
        "data.optional": "Optional",
        "data.rarer_names": "AutotuneAlgorithm ExternalStatePolicy RandomDataset from_list at map_and_batch parallel_interleave Reducer group_by_reducer dense_to_sparse_batch pad_to_cardinality TFRecordWriter SHARD_HINT",
        "data.sql_dataset": "SqlDataset",
    },
)


def __dir__() -> list[str]:
    return __getattr__.offered(globals())
