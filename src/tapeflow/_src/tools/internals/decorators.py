"""`tensorflow.python.util.deprecation`, `tf_export` and their kin: they mark things, and leave them as they are."""

from __future__ import annotations

import contextlib
import inspect
from collections.abc import Callable, Iterator
from typing import Any

_Decorator = Callable[[Any], Any]


def _unchanged(*_: Any, **__: Any) -> _Decorator:
    return lambda decorated: decorated


deprecated = deprecated_args = deprecated_arg_values = deprecated_endpoints = _unchanged
tf_export = keras_export = _unchanged


def deprecated_alias(
    deprecated_name: str, name: str, func_or_class: Any, warn_once: bool = True
) -> Any:
    """The thing itself, under its old name."""
    return func_or_class


def deprecated_argument_lookup(new_name: str, new_value: Any, old_name: str, old_value: Any) -> Any:
    """The value of an argument that has two names."""
    if old_value is None:
        return new_value
    if new_value is not None:
        raise ValueError(f"Cannot specify both '{old_name}' and '{new_name}'.")
    return old_value


@contextlib.contextmanager
def silence() -> Iterator[None]:
    """Nothing is said here anyway."""
    yield


def make_decorator(target: Any, decorator_func: Any, *_: Any, **__: Any) -> Any:
    """A wrapper that can be asked what it wraps."""
    decorator_func.__wrapped__ = target
    return decorator_func


def unwrap(maybe_decorator: Any) -> tuple[list[Any], Any]:
    """The wrappers, outermost first, and what is inside of them all."""
    wrappers = []
    while hasattr(maybe_decorator, "__wrapped__"):
        wrappers.append(maybe_decorator)
        maybe_decorator = maybe_decorator.__wrapped__
    return wrappers, maybe_decorator


def getfullargspec(obj: Any) -> inspect.FullArgSpec:
    """The parameters of a function, without their types: TensorFlow's functions have none, and some compare."""
    return inspect.getfullargspec(unwrap(obj)[1])._replace(annotations={})
