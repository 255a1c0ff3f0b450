"""`tf.compat.v1.logging`: what goes to `tf.get_logger()`."""

# Written by scripts/exports.py, from the lines in _src that export these names.
# ruff: noqa: F401

from tapeflow._src.compat.logging import (
    DEBUG as DEBUG,
    ERROR as ERROR,
    FATAL as FATAL,
    INFO as INFO,
    WARN as WARN,
    debug as debug,
    error as error,
    fatal as fatal,
    flush as flush,
    get_verbosity as get_verbosity,
    info as info,
    log as log,
    log_every_n as log_every_n,
    log_first_n as log_first_n,
    log_if as log_if,
    set_verbosity as set_verbosity,
    task_level_status_message as TaskLevelStatusMessage,
    vlog as vlog,
    warning as warn,
    warning as warning,
)
from tapeflow._src.core.missing import Missing as _Missing

__getattr__ = _Missing("tf.compat.v1.logging")
