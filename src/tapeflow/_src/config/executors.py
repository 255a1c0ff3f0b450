"""`tf.experimental.async_scope` and its kin: how ops are handed to who runs them."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from contextlib import AbstractContextManager
from typing import Any

from tapeflow._src.core.errors import shown
from tapeflow._src.core.export import export


@export("experimental.async_scope")
@contextlib.contextmanager
def async_scope() -> Iterator[None]:
    """Within this context ops may run later than they are called. Here they run at once, and errors come at once.

    >>> with tf.experimental.async_scope():
    ...     y = tf.constant(1) + 1
    >>> y.numpy()
    np.int32(2)
    """
    yield


@export("experimental.async_clear_error")
def async_clear_error() -> None:
    """Forgets errors of ops that ran later than they were called: there are none.

    >>> tf.experimental.async_clear_error()
    """


@export("experimental.function_executor_type")
def function_executor_type(executor_type: str | None) -> AbstractContextManager[Any]:
    """Within this context functions are run by an executor of TensorFlow's. Which one it is makes no difference here.

    >>> with tf.experimental.function_executor_type("SINGLE_THREADED_EXECUTOR"):
    ...     y = tf.function(lambda x: x + 1)(tf.constant(1))
    >>> y.numpy()
    np.int32(2)

    Args:
      executor_type: its name.
    """
    if executor_type is not None and not isinstance(executor_type, str):
        raise TypeError(
            f"function_executor_type: executor_type must be a text, got {shown(executor_type)}"
        )
    return contextlib.nullcontext()
