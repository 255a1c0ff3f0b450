"""Calls of functions from converted code: which are converted in their turn, and how."""

from __future__ import annotations

import contextlib
import functools
import inspect
import sys
import threading
from collections.abc import Callable
from types import FrameType, FunctionType
from typing import Any, TypeVar

from tapeflow._src.core.carried import carried
from tapeflow._src.core.export import export
from tapeflow._src.core.scopes import setting
from tapeflow._src.function.autograph import builtins, iterables, rules, symbolic
from tapeflow._src.function.autograph.branches import notes
from tapeflow._src.function.autograph.errors import (
    ConversionError,
    described,
    here,
    warn_unconverted,
    without_machinery,
)
from tapeflow._src.function.autograph.options import Options, options as make_options
from tapeflow._src.function.autograph.variables import UndefinedReturnValue
from tapeflow._src.ops.array.creation import range as tf_range

F = TypeVar("F", bound=Callable[..., Any])

_ARTIFACT = "__tapeflow_converted__"


class _Status(threading.local):
    enabled: bool | None = None  # None: nobody has said


_status = carried(_Status())


def status(enabled: bool | None) -> setting:
    """Within this context the functions that are called are converted, or are not."""
    return setting(_status, enabled=enabled)


def is_enabled() -> bool:
    """Whether converted code is running, and nobody has asked to leave what it calls alone."""
    return bool(_status.enabled)


def autograph_artifact(function: F) -> F:
    """Marks a function as converted, or as not to be: calls leave it as it is."""
    with contextlib.suppress(AttributeError, TypeError):
        setattr(getattr(function, "__func__", function), _ARTIFACT, True)
    return function


def is_artifact(function: Any) -> bool:
    """Whether the function is marked so."""
    return _ARTIFACT in getattr(getattr(function, "__func__", function), "__dict__", ())


def convert(function: Any, features: Any = None, recursive: bool = True) -> Any:
    """The function with its control flow converted, and that of the user's functions it calls.

    It takes a function, a bound method, a callable object or a `functools.partial`, and converts when it is called.

    Args:
      function: what to convert.
      features: optional features: None, a `Feature` or several.
      recursive: whether to convert the functions it calls.
    """
    if is_artifact(function):
        return function
    options = make_options(features, recursive)

    def converted(*args: Any, **kwargs: Any) -> Any:
        try:
            with status(True):
                return _call(function, args, kwargs, options, requested=True)
        except Exception as error:
            error.__traceback__ = without_machinery(error.__traceback__)
            raise

    with contextlib.suppress(AttributeError):
        functools.update_wrapper(converted, function, updated=())
    converted.__wrapped__ = function  # type: ignore[attr-defined]
    return autograph_artifact(converted)


@export("autograph.experimental.do_not_convert")
def do_not_convert(func: Any = None) -> Any:
    """A decorator: the function, and what it calls, runs as it is written inside `tf.function` too.

    >>> @tf.autograph.experimental.do_not_convert
    ... def double(x):
    ...     return x * 2.0
    >>> double(tf.constant(3.0)).numpy()
    np.float32(6.0)

    Args:
      func: the function.
    """
    if func is None:
        return do_not_convert

    def as_it_is(*args: Any, **kwargs: Any) -> Any:
        with status(False):
            return func(*args, **kwargs)

    with contextlib.suppress(AttributeError):
        functools.update_wrapper(as_it_is, func, updated=())
    as_it_is.__wrapped__ = func  # type: ignore[attr-defined]
    return autograph_artifact(as_it_is)


# What converted code calls.


class FunctionScope:
    """The body of a converted function."""

    def __init__(self, function_name: str, name: str, options: Options) -> None:
        self.function_name = function_name
        self.name = name
        self.options = options

    def __enter__(self) -> FunctionScope:
        return self

    def __exit__(self, *error: Any) -> None:
        pass

    def ret(self, value: Any, did_return: Any) -> Any:
        """What the function returns."""
        if isinstance(value, UndefinedReturnValue):
            return None
        if value is not None and symbolic.is_symbolic(did_return):
            raise ValueError(
                f"{self.function_name} may end without returning a value, which is decided when it runs: "
                + (notes.without_return or f"add a return statement at its end{here()}")
            )
        return value


def with_function_scope(body: Callable[[FunctionScope], Any], name: str, options: Options) -> Any:
    """The body of a converted lambda."""
    return body(FunctionScope("<lambda>", name, options))


def converted_call(f: Any, args: tuple[Any, ...], kwargs: Any, scope: FunctionScope) -> Any:
    """`f(*args, **kwargs)` in converted code."""
    return _call(f, args, kwargs or {}, scope.options, scope)


def iterated_call(f: Any, args: tuple[Any, ...], kwargs: Any, scope: FunctionScope) -> Any:
    """The same, for a result that a `for` statement goes through: a range need not be made."""
    if f is tf_range:
        arguments = inspect.signature(tf_range).bind(*args, **(kwargs or {})).arguments
        start, limit = arguments["start"], arguments.get("limit")
        start, limit = (0, start) if limit is None else (start, limit)
        delta = arguments.get("delta", 1)
        numbers = [symbolic.read(x) for x in (start, limit, delta)]
        if symbolic.is_tracing() or any(symbolic.is_symbolic(x) for x in numbers):
            return iterables.Range(numbers[0], numbers[1], numbers[2], arguments.get("dtype"))
    return converted_call(f, args, kwargs, scope)


def _call(
    f: Any,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    options: Options,
    scope: FunctionScope | None = None,
    requested: bool = False,
) -> Any:
    if _status.enabled is False or is_artifact(f):
        return f(*args, **kwargs)
    if isinstance(f, functools.partial):
        return _call(f.func, f.args + args, {**f.keywords, **kwargs}, options, scope, requested)
    if scope is not None and getattr(f, "__module__", None) == "builtins":
        if f in _FRAME_READERS and not kwargs:
            return _in_users_frame(f, args, scope)
        return builtins.overload_of(f, options.uses(_Print))(*args, **kwargs)
    function = rules.python_function(f)
    if function is None or not (requested or options.recursive):
        return f(*args, **kwargs)
    if is_artifact(function) or not (requested or rules.is_users(function)):
        if options.recursive and rules.calls_its_arguments(f):
            args = tuple(_converted_argument(x, options) for x in args)
            kwargs = {k: _converted_argument(x, options) for k, x in kwargs.items()}
        return f(*args, **kwargs)
    try:
        if function.__code__.co_flags & inspect.CO_GENERATOR:
            raise ConversionError("it is a generator")
        new = transpiler().converted(function, options)
    except ConversionError as why:
        return _as_it_is(f, args, kwargs, why)
    if f is not function:  # a method, or a callable object
        args = (f.__self__ if inspect.ismethod(f) else f, *args)
    return new(*args, **kwargs)


def _converted_argument(x: Any, options: Options) -> Any:
    if isinstance(x, FunctionType) and not is_artifact(x) and rules.is_users(x):
        return convert(x, tuple(_feature(name) for name in options.features))
    if isinstance(x, (list, tuple)) and any(callable(y) for y in x) and type(x) in (list, tuple):
        return type(x)(_converted_argument(y, options) for y in x)
    return x


def _feature(name: str) -> Any:
    from tapeflow._src.function.autograph.options import Feature

    return Feature[name]


class _Print:
    """The feature that converts `print`."""

    name = "BUILTIN_FUNCTIONS"


def _as_it_is(f: Any, args: Any, kwargs: Any, why: ConversionError) -> Any:
    warn_unconverted(f, why)
    try:
        return f(*args, **kwargs)
    except TypeError as error:
        note = f"{described(f)} was not converted by AutoGraph: {why}"
        if note not in getattr(error, "__notes__", ()):
            error.add_note(note)
        raise


def transpiler() -> Any:
    """The module that converts, imported at the first conversion because malt takes a while."""
    try:
        from tapeflow._src.function.autograph import transpiler as module
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != "malt":
            raise
        raise ImportError(
            "tf.function converts Python's `if`, `while` and `for` with the package diastatic-malt, which is not "
            "installed: pip install diastatic-malt. Or use tf.function(autograph=False)."
        ) from error
    return module


# Functions that look at the frame they are called from.

_FRAME_READERS = (super, locals, globals, eval, exec, vars, dir)


def _in_users_frame(f: Any, args: tuple[Any, ...], scope: FunctionScope) -> Any:
    if f is super:
        return f(*args) if args else _super(scope)
    frame = _frame(scope, innermost=True)
    if f in (eval, exec) and len(args) == 1:
        return f(args[0], frame.f_globals, _visible(frame))
    if f is globals:
        return frame.f_globals
    if args:
        return f(*args)
    names = _visible(frame)
    return sorted(names) if f is dir else names


def _visible(frame: FrameType) -> dict[str, Any]:
    """The user's local names, and none of ours."""
    return {k: v for k, v in frame.f_locals.items() if not k.startswith(("ag_", *_MADE))}


_MADE = (
    "fscope",
    "lscope",
    "do_return",
    "retval_",
    "get_state",
    "set_state",
    "if_body",
    "else_body",
    "loop_body",
)


def _super(scope: FunctionScope) -> Any:
    frame = _frame(scope, innermost=False)
    return super(frame.f_locals["__class__"], frame.f_locals[frame.f_code.co_varnames[0]])


def _frame(scope: FunctionScope, innermost: bool) -> FrameType:
    """The frame of the converted function, or of the block of it that is running."""
    frame: FrameType | None = sys._getframe(1)
    found: FrameType | None = None
    while frame is not None:
        if frame.f_locals.get(scope.name) is scope:
            found = frame
            if innermost:
                break
        frame = frame.f_back
    assert found is not None
    return found
