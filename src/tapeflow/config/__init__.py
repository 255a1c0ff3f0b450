"""`tf.config`: settings for the whole program."""

# Written by scripts/exports.py, from the lines in _src that export these names.
# ruff: noqa: F401, E501

import typing as _typing

from tapeflow._src.core.missing import Missing as _Missing
from tapeflow._src.core.placement.devices import (
    LogicalDevice as LogicalDevice,
    PhysicalDevice as PhysicalDevice,
)
from tapeflow.config import (
    experimental as experimental,
    optimizer as optimizer,
    threading as threading,
)

# For editors and type checkers: these are imported when they are first asked for.
# isort: off
# fmt: off
if _typing.TYPE_CHECKING:
    from tapeflow._src.config.placement import (
        LogicalDeviceConfiguration as LogicalDeviceConfiguration,
        list_physical_devices as list_physical_devices,
        list_logical_devices as list_logical_devices, get_visible_devices as get_visible_devices,
        set_visible_devices as set_visible_devices,
        get_soft_device_placement as get_soft_device_placement,
        set_soft_device_placement as set_soft_device_placement,
        get_logical_device_configuration as get_logical_device_configuration,
        set_logical_device_configuration as set_logical_device_configuration,
        get_default_placement as get_default_placement,
        set_default_placement as set_default_placement
    )
    from tapeflow._src.core.settings import (
        run_functions_eagerly as experimental_run_functions_eagerly,
        run_functions_eagerly as run_functions_eagerly,
        functions_run_eagerly as experimental_functions_run_eagerly,
        functions_run_eagerly as functions_run_eagerly
    )
# fmt: on
# isort: on

__getattr__ = _Missing(
    "tf.config",
    names={
        "config.placement": "LogicalDeviceConfiguration list_physical_devices list_logical_devices get_visible_devices set_visible_devices get_soft_device_placement set_soft_device_placement get_logical_device_configuration set_logical_device_configuration get_default_placement set_default_placement",
        "core.settings": "experimental_run_functions_eagerly:run_functions_eagerly run_functions_eagerly experimental_functions_run_eagerly:functions_run_eagerly functions_run_eagerly",
    },
)


def __dir__() -> list[str]:
    return __getattr__.offered(globals())
