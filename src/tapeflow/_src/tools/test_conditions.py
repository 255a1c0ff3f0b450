"""`tf.test`: which tests run, and where."""

from __future__ import annotations

import functools
import platform
from collections.abc import Callable
from typing import Any

from tapeflow._src.core.export import export

_TARGETS = {"aarch64": "aarch64", "arm64": "aarch64", "x86_64": "x86", "amd64": "x86"}


@export("test.disable_with_predicate")
def disable_with_predicate(pred: Callable[[], bool], skip_message: str) -> Callable[..., Any]:
    """A decorator that skips a test where a condition holds.

    >>> @tf.test.disable_with_predicate(lambda: False, "never")
    ... def test(self):
    ...     return "ran"
    >>> test(None)
    'ran'
    """

    def decorator(function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def wrapped(self: Any, *args: Any, **kwargs: Any) -> Any:
            if pred():
                self.skipTest(skip_message)
            return function(self, *args, **kwargs)

        return wrapped

    return decorator


@export("test.is_cpu_target_available")
def is_cpu_target_available(target: str) -> bool:
    """Whether programs for a kind of processor can be compiled: for this machine's.

    >>> tf.test.is_cpu_target_available("nonsense")
    False
    """
    return _TARGETS.get(platform.machine().lower()) == target


@export("test.with_eager_op_as_function")
def with_eager_op_as_function(cls: Any = None, only_as_function: bool = False) -> Any:
    """A decorator of test cases, which are as they were: TensorFlow's option is always on.

    >>> @tf.test.with_eager_op_as_function
    ... class Test(tf.test.TestCase):
    ...     pass
    """
    return cls if cls is not None else (lambda kind: kind)


@export("test.experimental.sync_devices")
def sync_devices() -> None:
    """Waits for all devices: ops are finished when they return a value.

    >>> tf.test.experimental.sync_devices()
    """
