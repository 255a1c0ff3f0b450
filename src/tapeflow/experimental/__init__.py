"""`tf.experimental`: classes of users as tensors, and the exchange of values with other libraries."""

# Written by scripts/exports.py, from the lines in _src that export these names.
# ruff: noqa: E501

import typing as _typing

from tapeflow._src.core.dtypes import (
    float4_e2m1fn as float4_e2m1fn,
    float8_e4m3b11fnuz as float8_e4m3b11fnuz,
    float8_e4m3fn as float8_e4m3fn,
    float8_e4m3fnuz as float8_e4m3fnuz,
    float8_e5m2 as float8_e5m2,
    float8_e5m2fnuz as float8_e5m2fnuz,
    int2 as int2,
    int4 as int4,
    uint2 as uint2,
    uint4 as uint4,
)
from tapeflow._src.core.missing import Missing as _Missing
from tapeflow.experimental import dlpack as dlpack, extension_type as extension_type

# For editors and type checkers: these are imported when they are first asked for.
# isort: off
# fmt: off
if _typing.TYPE_CHECKING:
    from tapeflow.experimental import numpy as numpy
    from tapeflow._src.config.executors import (
        async_scope as async_scope, async_clear_error as async_clear_error,
        function_executor_type as function_executor_type
    )
    from tapeflow._src.data.optional import Optional as Optional
    from tapeflow._src.extension.batch_encoder import (
        ExtensionTypeBatchEncoder as ExtensionTypeBatchEncoder
    )
    from tapeflow._src.extension.dispatching import (
        dispatch_for_api as dispatch_for_api,
        dispatch_for_unary_elementwise_apis as dispatch_for_unary_elementwise_apis,
        dispatch_for_binary_elementwise_apis as dispatch_for_binary_elementwise_apis,
        dispatch_for_binary_elementwise_assert_apis as dispatch_for_binary_elementwise_assert_apis,
        unregister_dispatch_for as unregister_dispatch_for
    )
    from tapeflow._src.extension.extension_type import (
        ExtensionTypeSpec as ExtensionTypeSpec, ExtensionType as ExtensionType,
        BatchableExtensionType as BatchableExtensionType
    )
    from tapeflow._src.ragged.row_partition import RowPartition as RowPartition
    from tapeflow._src.ragged.shape import DynamicRaggedShape as DynamicRaggedShape
# fmt: on
# isort: on

__getattr__ = _Missing(
    "tf.experimental",
    later="numpy",
    names={
        "config.executors": "async_scope async_clear_error function_executor_type",
        "data.optional": "Optional",
        "extension.batch_encoder": "ExtensionTypeBatchEncoder",
        "extension.dispatching": "dispatch_for_api dispatch_for_unary_elementwise_apis dispatch_for_binary_elementwise_apis dispatch_for_binary_elementwise_assert_apis unregister_dispatch_for",
        "extension.extension_type": "ExtensionTypeSpec ExtensionType BatchableExtensionType",
        "ragged.row_partition": "RowPartition",
        "ragged.shape": "DynamicRaggedShape",
    },
)


def __dir__() -> list[str]:
    return __getattr__.offered(globals())
