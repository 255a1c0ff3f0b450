"""`tf.compat.v1.logging`: what is said goes to `tf.get_logger()`."""

from __future__ import annotations

import logging
from collections import Counter
from typing import Any

from tapeflow._src.core.export import export, export_value
from tapeflow._src.core.log import get_logger

DEBUG, INFO, WARN, ERROR, FATAL = (
    logging.DEBUG,
    logging.INFO,
    logging.WARNING,
    logging.ERROR,
    logging.CRITICAL,
)
export_value("DEBUG", "compat.v1.logging.DEBUG")
export_value("INFO", "compat.v1.logging.INFO")
export_value("WARN", "compat.v1.logging.WARN")
export_value("ERROR", "compat.v1.logging.ERROR")
export_value("FATAL", "compat.v1.logging.FATAL")

_counts: Counter[str] = Counter()


@export("compat.v1.logging.debug")
def debug(msg: Any, *args: Any, **kwargs: Any) -> None:
    """Says something for those who look for a mistake.

    >>> tf.compat.v1.logging.debug("x is %s", 3)
    """
    get_logger().debug(msg, *args, **kwargs)


@export("compat.v1.logging.info")
def info(msg: Any, *args: Any, **kwargs: Any) -> None:
    """Says something.

    >>> tf.compat.v1.logging.info("x is %s", 3)
    """
    get_logger().info(msg, *args, **kwargs)


@export("compat.v1.logging.warn", "compat.v1.logging.warning")
def warning(msg: Any, *args: Any, **kwargs: Any) -> None:
    """Says something that should be heard.

    >>> tf.compat.v1.logging.warning("x is %s", 3)
    """
    get_logger().warning(msg, *args, **kwargs)


@export("compat.v1.logging.error")
def error(msg: Any, *args: Any, **kwargs: Any) -> None:
    """Says that something went wrong.

    >>> tf.compat.v1.logging.error("x is %s", 3)
    """
    get_logger().error(msg, *args, **kwargs)


@export("compat.v1.logging.fatal")
def fatal(msg: Any, *args: Any, **kwargs: Any) -> None:
    """Says that nothing will go on. The program ends by itself.

    >>> tf.compat.v1.logging.fatal("x is %s", 3)
    """
    get_logger().critical(msg, *args, **kwargs)


@export("compat.v1.logging.log")
def log(level: int, msg: Any, *args: Any, **kwargs: Any) -> None:
    """Says something of any importance.

    >>> tf.compat.v1.logging.log(tf.compat.v1.logging.INFO, "x is %s", 3)
    """
    get_logger().log(level, msg, *args, **kwargs)


@export("compat.v1.logging.vlog")
def vlog(level: int, msg: Any, *args: Any, **kwargs: Any) -> None:
    """Says something of any importance, as `log` does.

    >>> tf.compat.v1.logging.vlog(10, "x is %s", 3)
    """
    get_logger().log(level, msg, *args, **kwargs)


@export("compat.v1.logging.log_if")
def log_if(level: int, msg: Any, condition: Any, *args: Any) -> None:
    """Says something if a condition holds.

    >>> tf.compat.v1.logging.log_if(20, "x is %s", True, 3)
    """
    if condition:
        log(level, msg, *args)


@export("compat.v1.logging.log_first_n")
def log_first_n(level: int, msg: Any, n: int, *args: Any) -> None:
    """Says something the first `n` times.

    >>> tf.compat.v1.logging.log_first_n(20, "x is %s", 1, 3)
    """
    _counts[f"first {msg}"] += 1
    log_if(level, msg, _counts[f"first {msg}"] <= n, *args)


@export("compat.v1.logging.log_every_n")
def log_every_n(level: int, msg: Any, n: int, *args: Any) -> None:
    """Says something once in `n` times, the first included.

    >>> tf.compat.v1.logging.log_every_n(20, "x is %s", 100, 3)
    """
    _counts[f"every {msg}"] += 1
    log_if(level, msg, _counts[f"every {msg}"] % n == 1 or n == 1, *args)


@export("compat.v1.logging.TaskLevelStatusMessage")
def task_level_status_message(msg: Any) -> None:
    """Says something that TensorFlow's makers show in another place.

    >>> tf.compat.v1.logging.TaskLevelStatusMessage("ready")
    """
    error(msg)


@export("compat.v1.logging.flush")
def flush() -> None:
    """Writes what has been said and is not written yet.

    >>> tf.compat.v1.logging.flush()
    """
    for handler in get_logger().handlers:
        handler.flush()


@export("compat.v1.logging.get_verbosity")
def get_verbosity() -> int:
    """How important something must be to be said.

    >>> before = tf.compat.v1.logging.get_verbosity()
    >>> tf.compat.v1.logging.set_verbosity(tf.compat.v1.logging.ERROR)
    >>> tf.compat.v1.logging.get_verbosity()
    40
    >>> tf.compat.v1.logging.set_verbosity(before)
    """
    return get_logger().getEffectiveLevel()


@export("compat.v1.logging.set_verbosity")
def set_verbosity(v: int) -> None:
    """Sets how important something must be to be said.

    >>> tf.compat.v1.logging.set_verbosity(tf.compat.v1.logging.WARN)
    """
    get_logger().setLevel(v)
