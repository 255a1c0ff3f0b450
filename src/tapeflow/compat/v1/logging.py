"""`tf.compat.v1.logging`: what goes to `tf.get_logger()`."""

# Written by scripts/exports.py, from the lines in _src that export these names.
# ruff: noqa: F401, E501

import typing as _typing

from tapeflow._src.core.missing import Missing as _Missing

# For editors and type checkers: these are imported when they are first asked for.
# isort: off
# fmt: off
if _typing.TYPE_CHECKING:
    from tapeflow._src.compat.logging import (
        DEBUG as DEBUG, INFO as INFO, WARN as WARN, ERROR as ERROR, FATAL as FATAL, debug as debug,
        info as info, warning as warn, warning as warning, error as error, fatal as fatal,
        log as log, vlog as vlog, log_if as log_if, log_first_n as log_first_n,
        log_every_n as log_every_n, task_level_status_message as TaskLevelStatusMessage,
        flush as flush, get_verbosity as get_verbosity, set_verbosity as set_verbosity
    )
# fmt: on
# isort: on

__getattr__ = _Missing(
    "tf.compat.v1.logging",
    names={
        "compat.logging": "DEBUG INFO WARN ERROR FATAL debug info warn:warning warning error fatal log vlog log_if log_first_n log_every_n TaskLevelStatusMessage:task_level_status_message flush get_verbosity set_verbosity"
    },
)


def __dir__() -> list[str]:
    return __getattr__.offered(globals())
