"""`tf.config.experimental`: memory and details of devices, and older names of what is in `tf.config`."""

# Written by scripts/exports.py, from the lines in _src that export these names.
# ruff: noqa: F401

from tapeflow._src.config.experimental import (
    enable_tensor_float_32_execution as enable_tensor_float_32_execution,
    get_device_details as get_device_details,
    get_memory_growth as get_memory_growth,
    get_memory_info as get_memory_info,
    get_memory_usage as get_memory_usage,
    get_synchronous_execution as get_synchronous_execution,
    reset_memory_stats as reset_memory_stats,
    set_memory_growth as set_memory_growth,
    set_synchronous_execution as set_synchronous_execution,
    tensor_float_32_execution_enabled as tensor_float_32_execution_enabled,
)
from tapeflow._src.config.placement import (
    LogicalDeviceConfiguration as VirtualDeviceConfiguration,
    get_logical_device_configuration as get_virtual_device_configuration,
    get_visible_devices as get_visible_devices,
    list_logical_devices as list_logical_devices,
    list_physical_devices as list_physical_devices,
    set_logical_device_configuration as set_virtual_device_configuration,
    set_visible_devices as set_visible_devices,
)
from tapeflow._src.core.missing import Missing as _Missing
from tapeflow._src.core.settings import enable_op_determinism as enable_op_determinism

__getattr__ = _Missing("tf.config.experimental")
