"""`tf.config.experimental`: memory and details of devices, and older names of what is in `tf.config`."""

# Written by scripts/exports.py, from the lines in _src that export these names.
# ruff: noqa: F401, E501

import typing as _typing

from tapeflow._src.core.missing import Missing as _Missing

# For editors and type checkers: these are imported when they are first asked for.
# isort: off
# fmt: off
if _typing.TYPE_CHECKING:
    from tapeflow._src.config.experimental import (
        set_memory_growth as set_memory_growth, get_memory_growth as get_memory_growth,
        get_device_details as get_device_details, get_memory_info as get_memory_info,
        reset_memory_stats as reset_memory_stats, get_memory_usage as get_memory_usage,
        enable_tensor_float_32_execution as enable_tensor_float_32_execution,
        tensor_float_32_execution_enabled as tensor_float_32_execution_enabled,
        get_synchronous_execution as get_synchronous_execution,
        set_synchronous_execution as set_synchronous_execution
    )
    from tapeflow._src.config.placement import (
        LogicalDeviceConfiguration as VirtualDeviceConfiguration,
        list_physical_devices as list_physical_devices,
        list_logical_devices as list_logical_devices, get_visible_devices as get_visible_devices,
        set_visible_devices as set_visible_devices,
        get_logical_device_configuration as get_virtual_device_configuration,
        set_logical_device_configuration as set_virtual_device_configuration,
        get_device_policy as get_device_policy, set_device_policy as set_device_policy
    )
    from tapeflow._src.core.settings import enable_op_determinism as enable_op_determinism
# fmt: on
# isort: on

__getattr__ = _Missing(
    "tf.config.experimental",
    names={
        "config.experimental": "set_memory_growth get_memory_growth get_device_details get_memory_info reset_memory_stats get_memory_usage enable_tensor_float_32_execution tensor_float_32_execution_enabled get_synchronous_execution set_synchronous_execution",
        "config.placement": "VirtualDeviceConfiguration:LogicalDeviceConfiguration list_physical_devices list_logical_devices get_visible_devices set_visible_devices get_virtual_device_configuration:get_logical_device_configuration set_virtual_device_configuration:set_logical_device_configuration get_device_policy set_device_policy",
        "core.settings": "enable_op_determinism",
    },
)


def __dir__() -> list[str]:
    return __getattr__.offered(globals())
