"""`tf.py_function` and `tf.numpy_function`: Python inside of a computation."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from tapeflow._src.core import nest
from tapeflow._src.core.context import context
from tapeflow._src.core.convert import convert_to_tensor
from tapeflow._src.core.dtypes import DType, as_dtype
from tapeflow._src.core.errors import (
    InvalidArgumentError,
    OutOfRangeError,
    ResourceExhaustedError,
    UnimplementedError,
    UnknownError,
    invalid,
    shown,
)
from tapeflow._src.core.export import export
from tapeflow._src.core.placement.remote import beside
from tapeflow._src.core.spec import TensorSpec
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.primitives.specs import ArraySpec

_STATUS: list[tuple[tuple[type[Exception], ...], type[Exception]]] = [
    ((ValueError, TypeError), InvalidArgumentError),
    ((StopIteration,), OutOfRangeError),
    ((MemoryError,), ResourceExhaustedError),
    ((NotImplementedError,), UnimplementedError),
    ((Exception,), UnknownError),
]


@export("py_function")
def py_function(
    func: Callable[..., Any] | None = None,
    inp: Any = None,
    Tout: Any = None,
    name: str | None = None,
) -> Any:
    """Calls a Python function on tensors. Gradients flow through the ops it calls.

    >>> def log_huber(x):
    ...     return x * x if x <= 1.0 else 2.0 * tf.math.log(x) + 1.0
    >>> x = tf.constant(0.5)
    >>> with tf.GradientTape() as tape:
    ...     tape.watch(x)
    ...     y = tf.py_function(log_huber, [x], tf.float32)
    >>> tape.gradient(y, x).numpy()
    np.float32(1.0)

    Without a function it is a decorator:

    >>> @tf.py_function(Tout=tf.float32)
    ... def double(x):
    ...     return 2.0 * x
    >>> double(1.5).numpy()
    np.float32(3.0)

    Args:
      func: takes tensors and returns a value, or a list of them.
      inp: the tensors to call it with.
      Tout: the dtype of its result, or a list of them; empty if it returns nothing.
      name: accepted for compatibility.
    """
    if func is None:
        return lambda function: functools.wraps(function)(
            lambda *inputs: py_function(function, inputs, Tout)
        )
    _check_callable(func)
    arguments = [convert_to_tensor(x) for x in inp]
    several = isinstance(Tout, (list, tuple))
    wanted = [
        t.dtype if isinstance(t, TensorSpec) else as_dtype(t) for t in (Tout if several else [Tout])
    ]
    if context.tracer is not None:
        call = functools.partial(_called, func, wanted)
        outputs = context.tracer.python_function(_name(func), call, arguments, _specs(Tout))
    else:
        outputs = _called(func, wanted, *arguments)
    return outputs if several else outputs[0]


def _called(func: Callable[..., Any], wanted: list[DType], *arguments: Tensor) -> list[Tensor]:
    try:
        values = _listed(func(*arguments))
    except Exception as error:
        raise _failed("py_function", func, error) from error
    if len(values) != len(wanted):
        raise invalid(
            f"py_function: {_name(func)} returned {len(values)} values, and Tout names {len(wanted)}"
        )
    try:
        with beside(*arguments):
            return [convert_to_tensor(v, t) for v, t in zip(values, wanted, strict=True)]
    except Exception as error:
        raise _failed("py_function", func, error) from error


def _specs(tout: Any) -> list[ArraySpec]:
    """What is known of the outputs: a `tf.TensorSpec` tells the shape, a dtype does not."""
    specs = []
    for t in tout if isinstance(tout, (list, tuple)) else [tout]:
        shape = t.shape._dims if isinstance(t, TensorSpec) else None
        specs.append(ArraySpec(shape, t.dtype if isinstance(t, TensorSpec) else as_dtype(t)))  # pyright: ignore[reportArgumentType]
    return specs


@export("numpy_function")
def numpy_function(
    func: Callable[..., Any] | None = None,
    inp: Any = None,
    Tout: Any = None,
    stateful: bool = True,
    name: str | None = None,
) -> Any:
    """Calls a Python function on NumPy arrays. No gradient flows through it.

    >>> tf.numpy_function(lambda x: x[::-1], [tf.constant([1, 2, 3])], tf.int32).numpy()
    array([3, 2, 1], dtype=int32)

    Args:
      func: takes arrays and returns an array, or a list of them. In functions, a tensor without dimensions comes as
        one of NumPy's numbers, or as bytes.
      inp: what to call it with.
      Tout: the dtype of its result, or a list of them. Run eagerly, the result keeps its own, and it is taken apart:
        each number of nested lists is a tensor, and one alone is in no list.
      stateful: accepted for compatibility.
      name: accepted for compatibility.
    """
    if func is None:
        return lambda function: functools.wraps(function)(
            lambda *inputs: numpy_function(function, inputs, Tout, stateful)
        )
    _check_callable(func)
    if context.tracer is not None:
        specs = _specs(Tout)

        def call(*tensors: Tensor) -> list[Tensor]:
            # As in TensorFlow's graphs, which hand NumPy's numbers over, and bytes, where there is no dimension.
            arrays = [np.array(x)[()] for x in tensors]
            try:
                found = _listed(func(*arrays))
            except Exception as error:
                raise _failed("numpy_function", func, error) from error
            return _as_declared(_name(func), found, [s.dtype for s in specs])

        inputs = [convert_to_tensor(x) for x in inp]
        outputs = context.tracer.python(_name(func), call, inputs, specs)
        return outputs if isinstance(Tout, (list, tuple)) else outputs[0]
    found = nest.flatten(func(*[np.array(x) for x in inp]))
    with beside(*inp):
        outputs = [None if x is None else convert_to_tensor(x) for x in found]
    return outputs[0] if len(outputs) == 1 else outputs


def _as_declared(name: str, values: list[Any], wanted: list[DType]) -> list[Tensor]:
    """NumPy's values as tensors. No number is changed: who says `tf.int32` and returns 2.7 made a mistake."""
    if len(values) != len(wanted):
        raise invalid(
            f"numpy_function: {name} returned {len(values)} values, and Tout names {len(wanted)}"
        )
    outputs = [convert_to_tensor(np.asarray(x)) for x in values]
    for i, (y, dtype) in enumerate(zip(outputs, wanted, strict=True)):
        if y.dtype is not dtype:
            raise invalid(
                f"numpy_function: value {i} that {name} returned has dtype {y.dtype.name}, and Tout says {dtype.name}. "
                f"Return an array of that dtype: np.asarray(y, {dtype.name!r})."
            )
    return outputs


def _listed(result: Any) -> list[Any]:
    if result is None:
        return []
    return list(result) if isinstance(result, (list, tuple)) else [result]


def _failed(op: str, func: Callable[..., Any], error: Exception) -> Exception:
    kind = next(status for causes, status in _STATUS if isinstance(error, causes))
    return kind(None, None, f"{op}: {_name(func)} raised {type(error).__name__}: {error}")


def _name(func: Callable[..., Any]) -> str:
    return getattr(func, "__name__", type(func).__name__)


def _check_callable(func: Any) -> None:
    if not callable(func):
        raise ValueError(f"Expected func to be callable. Received func={shown(func)}")
