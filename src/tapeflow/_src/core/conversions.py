"""`tf.register_tensor_conversion_function`: tensors from objects of a user's class."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tapeflow._src.core.dtypes import as_dtype
from tapeflow._src.core.errors import shown
from tapeflow._src.core.export import export
from tapeflow._src.core.tensor import Tensor


@export("register_tensor_conversion_function")
def register_tensor_conversion_function(
    base_type: Any, conversion_func: Callable[..., Any], priority: int = 100
) -> None:
    """Says how tensors are made of objects of a class, wherever one is expected.

    The class gets a method `__tf_tensor__`, by which all ops find the function. So it has to be a class that can be
    changed.

    >>> class Celsius:
    ...     def __init__(self, degrees):
    ...         self.degrees = degrees
    >>> def kelvin(value, dtype=None, name=None, as_ref=False):
    ...     return tf.constant(value.degrees + 273.15, dtype)
    >>> tf.register_tensor_conversion_function(Celsius, kelvin)
    >>> (tf.constant(1.0) * Celsius(0.0)).numpy()
    np.float32(273.15)

    Args:
      base_type: the class, or a tuple of classes.
      conversion_func: takes an object, a dtype or `None`, a name, and `as_ref`; returns a tensor, or `NotImplemented`.
      priority: of several functions for a class, that with the least number is asked first.
    """
    kinds = base_type if isinstance(base_type, tuple) else (base_type,)
    if not kinds or not all(isinstance(kind, type) for kind in kinds):
        raise TypeError(
            f"register_tensor_conversion_function: base_type must be a class or a tuple of them, got {shown(base_type)}"
        )
    if not callable(conversion_func):
        raise TypeError(
            "register_tensor_conversion_function: conversion_func must be callable, got "
            f"{shown(conversion_func)}"
        )
    for kind in kinds:
        functions = vars(kind).get("_tf_conversions")
        try:
            if functions is None:
                kind._tf_conversions = functions = []
                kind.__tf_tensor__ = _converted
        except TypeError:
            raise TypeError(
                f"register_tensor_conversion_function: {kind.__name__} cannot be given methods. Make a class of your "
                "own from it."
            ) from None
        functions.append((priority, conversion_func))
        functions.sort(key=lambda each: each[0])


def _converted(self: Any, dtype: Any = None, name: str | None = None) -> Tensor:
    dtype = None if dtype is None else as_dtype(dtype)
    for kind in type(self).__mro__:
        for _, function in vars(kind).get("_tf_conversions", ()):
            found = function(self, dtype=dtype, name=name, as_ref=False)
            if found is NotImplemented:
                continue
            if not isinstance(found, Tensor):
                raise RuntimeError(
                    f"The conversion function of {type(self).__name__} must return a tensor, got {shown(found)}"
                )
            if dtype is not None and found.dtype is not dtype:
                raise RuntimeError(
                    f"The conversion function of {type(self).__name__} must return a tensor of dtype {dtype.name}, got "
                    f"{found.dtype.name}"
                )
            return found
    raise TypeError(f"No conversion function makes a tensor of {shown(self)}")
