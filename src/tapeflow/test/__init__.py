"""`tf.test`: a test case that compares tensors, and what the tests may count on."""

# Written by scripts/exports.py, from the lines in _src that export these names.
# ruff: noqa: E501

import typing as _typing

from tapeflow._src.core.missing import Missing as _Missing
from tapeflow.test import experimental as experimental

# For editors and type checkers: these are imported when they are first asked for.
# isort: off
# fmt: off
if _typing.TYPE_CHECKING:
    from tapeflow._src.io.graph_messages import assert_equal_graph_def as assert_equal_graph_def
    from tapeflow._src.tools.benchmark import Benchmark as Benchmark
    from tapeflow._src.tools.test_case import (
        main as main, TestCase as TestCase, compute_gradient as compute_gradient,
        is_gpu_available as is_gpu_available, gpu_device_name as gpu_device_name,
        is_built_with_cuda as is_built_with_cuda, is_built_with_rocm as is_built_with_rocm,
        is_built_with_gpu_support as is_built_with_gpu_support,
        is_built_with_xla as is_built_with_xla
    )
    from tapeflow._src.tools.test_conditions import (
        disable_with_predicate as disable_with_predicate,
        is_cpu_target_available as is_cpu_target_available,
        with_eager_op_as_function as with_eager_op_as_function
    )
# fmt: on
# isort: on

__getattr__ = _Missing(
    "tf.test",
    names={
        "io.graph_messages": "assert_equal_graph_def",
        "tools.benchmark": "Benchmark",
        "tools.test_case": "main TestCase compute_gradient is_gpu_available gpu_device_name is_built_with_cuda is_built_with_rocm is_built_with_gpu_support is_built_with_xla",
        "tools.test_conditions": "disable_with_predicate is_cpu_target_available with_eager_op_as_function",
    },
)


def __dir__() -> list[str]:
    return __getattr__.offered(globals())
