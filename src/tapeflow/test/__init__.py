"""`tf.test`: a test case that compares tensors, and what the tests may count on."""

# Written by scripts/exports.py, from the lines in _src that export these names.

from tapeflow._src.core.missing import Missing as _Missing
from tapeflow._src.tools.test_case import (
    TestCase as TestCase,
    compute_gradient as compute_gradient,
    gpu_device_name as gpu_device_name,
    is_built_with_cuda as is_built_with_cuda,
    is_built_with_gpu_support as is_built_with_gpu_support,
    is_built_with_rocm as is_built_with_rocm,
    is_built_with_xla as is_built_with_xla,
    is_gpu_available as is_gpu_available,
    main as main,
)
from tapeflow._src.tools.test_conditions import (
    disable_with_predicate as disable_with_predicate,
    is_cpu_target_available as is_cpu_target_available,
    with_eager_op_as_function as with_eager_op_as_function,
)
from tapeflow.test import experimental as experimental

__getattr__ = _Missing("tf.test")
