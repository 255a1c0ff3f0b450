"""How public functions come to take composite tensors.

A function of `ops` knows tensors alone, and fails for anything else when it converts its arguments. What is registered
here is asked then. Nobody pays for that who does not use it: a function stays as it is until something is registered
for it. Then its code is exchanged for code that calls what it was, and asks after a failure. So all who hold the
function, under whatever name, have one that takes composite tensors.
"""

from __future__ import annotations

import inspect
import threading
from collections.abc import Callable, Iterable
from types import FunctionType
from typing import Any

from tapeflow._src.core import nest
from tapeflow._src.core.composites.composite import CompositeTensor
from tapeflow._src.core.spec import TypeSpec

Handler = Callable[[Callable[..., Any], tuple[Any, ...], dict[str, Any]], Any]
"""Takes the function, and the arguments it was called with. Gives NOT_HANDLED if it is not meant."""

NOT_HANDLED = object()

_handlers: dict[Callable[..., Any], list[Handler]] = {}
_lock = threading.Lock()


def register(function: Callable[..., Any], handler: Handler, first: bool = True) -> None:
    """Lets a handler answer calls of a public function that fail with composite tensors among the arguments.

    Args:
      function: of `ops`.
      handler: what answers.
      first: whether it is asked before those that are there.
    """
    with _lock:
        # In this order, whoever interrupts it: a function that asks, with nobody to be asked, is as it was.
        _exchange_code(function)
        found = _handlers.setdefault(function, [])
        found.insert(0 if first else len(found), handler)


def unregister(handler: Handler) -> bool:
    """Forgets a handler. Gives whether it was there."""
    with _lock:
        held = list(filter(lambda found: handler in found, _handlers.values()))
        for found in held:
            found.remove(handler)
        return bool(held)


def answer(function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """What a handler gives for a call, or NOT_HANDLED."""
    if any(map(_is_meant, _leaves((args, kwargs)))):
        for handler in list(_handlers.get(function, ())):
            result = handler(function, args, kwargs)
            if result is not NOT_HANDLED:
                return result
    return NOT_HANDLED


def _is_meant(leaf: Any) -> bool:
    if isinstance(leaf, CompositeTensor) or (isinstance(leaf, TypeSpec) and leaf._expands):
        return True
    return getattr(type(leaf), "_dispatches", False)  # operators, which are no tensors


def _leaves(structure: Any) -> Iterable[Any]:
    try:
        return nest.flatten(structure)
    except ValueError:  # it holds itself
        return ()


def bound(function: Callable[..., Any], args: Any, kwargs: Any) -> dict[str, Any] | None:
    """The arguments of a call by the names of the parameters, or None if they do not fit."""
    try:
        return inspect.signature(function).bind(*args, **kwargs).arguments
    except TypeError:
        return None


def first_arguments(
    function: Callable[..., Any], count: int, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[list[Any], tuple[Any, ...], dict[str, Any]]:
    """The first arguments of a call, however they were given, and the others."""
    names = list(inspect.signature(function).parameters)[:count]
    named = dict(kwargs)
    found = list(args[:count]) + [named.pop(name, None) for name in names[len(args) :]]
    return found, args[count:], named


# The exchange.


class _Dispatch:
    """What a function was, and what is asked when that fails."""

    __slots__ = ("function", "original")

    def __init__(self, function: FunctionType) -> None:
        self.function = function
        self.original = FunctionType(
            function.__code__, function.__globals__, function.__name__, function.__defaults__
        )
        self.original.__kwdefaults__ = function.__kwdefaults__

    def after(self, error: Exception, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """The answer of a handler, or else the failure as it was."""
        result = answer(self.function, args, kwargs)
        if result is NOT_HANDLED:
            raise error
        return result


def _asking(*args: Any, _dispatch: _Dispatch, **kwargs: Any) -> Any:
    try:
        return _dispatch.original(*args, **kwargs)
    except (TypeError, ValueError) as error:
        return _dispatch.after(error, args, kwargs)


def _exchange_code(function: Any) -> None:
    if not isinstance(function, FunctionType) or function.__closure__:
        raise ValueError(f"dispatch: {function!r} is not a function of tapeflow that takes tensors")
    if function.__code__ is _asking.__code__:
        return
    function.__signature__ = inspect.signature(function)  # pyright: ignore[reportFunctionMemberAccess]
    # The old code does not mind an argument that it does not know: other threads may be calling it.
    function.__kwdefaults__ = {**(function.__kwdefaults__ or {}), "_dispatch": _Dispatch(function)}
    function.__code__ = _asking.__code__
