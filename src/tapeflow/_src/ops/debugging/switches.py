"""Switches of `tf.debugging` that are kept for programs that set them. Nothing here depends on them."""

from __future__ import annotations

from tapeflow._src.core.export import export

_log_device_placement = False
_traceback_filtering = True


@export("debugging.set_log_device_placement")
def set_log_device_placement(enabled: bool) -> None:
    """Remembers whether devices are to be logged. Everything runs on the CPU, so there is nothing to log.

    >>> tf.debugging.set_log_device_placement(False)
    """
    global _log_device_placement
    _log_device_placement = bool(enabled)


@export("debugging.get_log_device_placement")
def get_log_device_placement() -> bool:
    """What `tf.debugging.set_log_device_placement` was told.

    >>> tf.debugging.get_log_device_placement()
    False
    """
    return _log_device_placement


@export("debugging.enable_traceback_filtering")
def enable_traceback_filtering() -> None:
    """Remembers that tracebacks are to be filtered. They are short already.

    >>> tf.debugging.enable_traceback_filtering()
    """
    global _traceback_filtering
    _traceback_filtering = True


@export("debugging.disable_traceback_filtering")
def disable_traceback_filtering() -> None:
    """Remembers that tracebacks are not to be filtered.

    >>> tf.debugging.disable_traceback_filtering()
    >>> tf.debugging.enable_traceback_filtering()
    """
    global _traceback_filtering
    _traceback_filtering = False


@export("debugging.is_traceback_filtering_enabled")
def is_traceback_filtering_enabled() -> bool:
    """What the two functions above were told last.

    >>> tf.debugging.is_traceback_filtering_enabled()
    True
    """
    return _traceback_filtering
