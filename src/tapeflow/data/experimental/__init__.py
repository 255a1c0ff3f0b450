"""`tf.data.experimental`: older names of what `tf.data.Dataset` offers as methods."""

# Written by scripts/exports.py, from the lines in _src that export these names.
# ruff: noqa: E501

import typing as _typing

from tapeflow._src.core.missing import Missing as _Missing

# For editors and type checkers: these are imported when they are first asked for.
# isort: off
# fmt: off
if _typing.TYPE_CHECKING:
    from tapeflow.data.experimental import service as service
    from tapeflow._src.data.auto_shard import AutoShardPolicy as AutoShardPolicy
    from tapeflow._src.data.csv_dataset import (
        CsvDataset as CsvDataset, make_csv_dataset as make_csv_dataset
    )
    from tapeflow._src.data.debugging import enable_debug_mode as enable_debug_mode
    from tapeflow._src.data.example_datasets import (
        parse_example_dataset as parse_example_dataset,
        make_batched_features_dataset as make_batched_features_dataset
    )
    from tapeflow._src.data.experimental import (
        Counter as Counter, cardinality as cardinality, get_single_element as get_single_element,
        get_next_as_optional as get_next_as_optional, get_structure as get_structure,
        assert_cardinality as assert_cardinality, dense_to_ragged_batch as dense_to_ragged_batch,
        dense_to_sparse_batch as dense_to_sparse_batch, enumerate_dataset as enumerate_dataset,
        shuffle_and_repeat as shuffle_and_repeat, unbatch as unbatch, unique as unique,
        ignore_errors as ignore_errors, take_while as take_while, scan as scan,
        prefetch_to_device as prefetch_to_device, copy_to_device as copy_to_device,
        choose_from_datasets as choose_from_datasets, sample_from_datasets as sample_from_datasets,
        INFINITE_CARDINALITY as INFINITE_CARDINALITY, UNKNOWN_CARDINALITY as UNKNOWN_CARDINALITY
    )
    from tapeflow._src.data.keyed import (
        DatasetInitializer as DatasetInitializer, table_from_dataset as table_from_dataset,
        index_table_from_dataset as index_table_from_dataset
    )
    from tapeflow._src.data.older_names import (
        bucket_by_sequence_length as bucket_by_sequence_length, group_by_window as group_by_window,
        rejection_resample as rejection_resample, snapshot as snapshot, save as save, load as load
    )
    from tapeflow._src.data.optional import Optional as Optional
    from tapeflow._src.data.options import (
        AutotuneAlgorithm as AutotuneAlgorithm, ExternalStatePolicy as ExternalStatePolicy,
        ThreadingOptions as ThreadingOptions, AutotuneOptions as AutotuneOptions,
        DistributeOptions as DistributeOptions, OptimizationOptions as OptimizationOptions,
        ServiceOptions as ServiceOptions
    )
    from tapeflow._src.data.rarer_names import (
        RandomDataset as RandomDataset, from_list as from_list, at as at,
        map_and_batch as map_and_batch, parallel_interleave as parallel_interleave,
        Reducer as Reducer, group_by_reducer as group_by_reducer,
        pad_to_cardinality as pad_to_cardinality, TFRecordWriter as TFRecordWriter,
        SHARD_HINT as SHARD_HINT
    )
    from tapeflow._src.data.sql_dataset import SqlDataset as SqlDataset
    from tapeflow._src.data.transformations import AUTOTUNE as AUTOTUNE
    from tapeflow._src.data.variants import to_variant as to_variant, from_variant as from_variant
# fmt: on
# isort: on

__getattr__ = _Missing(
    "tf.data.experimental",
    later="service",
    names={
        "data.auto_shard": "AutoShardPolicy",
        "data.csv_dataset": "CsvDataset make_csv_dataset",
        "data.debugging": "enable_debug_mode",
        "data.example_datasets": "parse_example_dataset make_batched_features_dataset",
        "data.experimental": "Counter cardinality get_single_element get_next_as_optional get_structure assert_cardinality dense_to_ragged_batch dense_to_sparse_batch enumerate_dataset shuffle_and_repeat unbatch unique ignore_errors take_while scan prefetch_to_device copy_to_device choose_from_datasets sample_from_datasets INFINITE_CARDINALITY UNKNOWN_CARDINALITY",
        "data.keyed": "DatasetInitializer table_from_dataset index_table_from_dataset",
        "data.older_names": "bucket_by_sequence_length group_by_window rejection_resample snapshot save load",
        "data.optional": "Optional",
        "data.options": "AutotuneAlgorithm ExternalStatePolicy ThreadingOptions AutotuneOptions DistributeOptions OptimizationOptions ServiceOptions",
        "data.rarer_names": "RandomDataset from_list at map_and_batch parallel_interleave Reducer group_by_reducer pad_to_cardinality TFRecordWriter SHARD_HINT",
        "data.sql_dataset": "SqlDataset",
        "data.transformations": "AUTOTUNE",
        "data.variants": "to_variant from_variant",
    },
)


def __dir__() -> list[str]:
    return __getattr__.offered(globals())
