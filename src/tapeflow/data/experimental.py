"""`tf.data.experimental`: older names of what `tf.data.Dataset` offers as methods."""

# Written by scripts/exports.py, from the lines in _src that export these names.

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
from tapeflow._src.data.iterator import Optional as Optional
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

__getattr__ = _Missing("tf.data.experimental")
