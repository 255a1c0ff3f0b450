"""`tf.config`: settings for the whole program."""

# Written by scripts/exports.py, from the lines in _src that export these names.
# ruff: noqa: F401

from tapeflow._src.config.placement import (
    LogicalDeviceConfiguration as LogicalDeviceConfiguration,
    get_default_placement as get_default_placement,
    get_logical_device_configuration as get_logical_device_configuration,
    get_soft_device_placement as get_soft_device_placement,
    get_visible_devices as get_visible_devices,
    list_logical_devices as list_logical_devices,
    list_physical_devices as list_physical_devices,
    set_default_placement as set_default_placement,
    set_logical_device_configuration as set_logical_device_configuration,
    set_soft_device_placement as set_soft_device_placement,
    set_visible_devices as set_visible_devices,
)
from tapeflow._src.core.missing import Missing as _Missing
from tapeflow._src.core.placement.devices import (
    LogicalDevice as LogicalDevice,
    PhysicalDevice as PhysicalDevice,
)
from tapeflow._src.core.settings import (
    functions_run_eagerly as experimental_functions_run_eagerly,
    functions_run_eagerly as functions_run_eagerly,
    run_functions_eagerly as experimental_run_functions_eagerly,
    run_functions_eagerly as run_functions_eagerly,
)
from tapeflow.config import (
    experimental as experimental,
    optimizer as optimizer,
    threading as threading,
)

__getattr__ = _Missing("tf.config")
