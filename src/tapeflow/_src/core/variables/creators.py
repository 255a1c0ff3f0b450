"""`tf.variable_creator_scope`: functions that decide how variables are made."""

from __future__ import annotations

import inspect
import threading
from collections.abc import Callable
from typing import Any, TypeVar

from tapeflow._src.core.carried import carried
from tapeflow._src.core.convert import convert_to_tensor
from tapeflow._src.core.export import export
from tapeflow._src.core.scopes import Scope
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.core.variables.kinds import VariableAggregation, VariableSynchronization

T = TypeVar("T")

_KINDS = {
    "synchronization": VariableSynchronization.AUTO,
    "aggregation": VariableAggregation.NONE,
}

_ARITHMETIC = (
    "add",
    "sub",
    "mul",
    "truediv",
    "floordiv",
    "mod",
    "pow",
    "matmul",
    "and",
    "or",
    "xor",
)
_OPERATORS = {f"__{side}{name}__" for name in _ARITHMETIC for side in ("", "r")}


class _Creators(threading.local):
    """The functions whose scopes are open in a thread, the innermost last."""

    functions: tuple[Callable[..., Any], ...] = ()


_creators = carried(_Creators())


class Created(type):
    """The class of `tf.Variable`: a call of it goes through the functions whose scopes are open."""

    def __init__(cls, name: str, bases: tuple[type, ...], members: dict[str, Any]) -> None:
        super().__init__(name, bases, members)
        kept = any(isinstance(base, Created) for base in bases)
        if kept and "value" in members and "_read" not in members:
            # A class of users that says what the value is: ops, operators and arrays ask it, too.
            cls.__array__ = lambda self, *given, **named: self.value().__array__(*given, **named)
            if "__tf_tensor__" not in members:
                cls.__tf_tensor__ = _converted
            for operator in _OPERATORS - members.keys():
                setattr(cls, operator, _of_value(getattr(cls, operator)))

    def __call__(cls: type[T], *args: Any, **kwargs: Any) -> T:  # pyright: ignore[reportGeneralTypeIssues]
        """Makes a variable."""
        functions = _creators.functions
        # A class that derives from tf.Variable has decided how its variables are made.
        if not functions or any(isinstance(base, Created) for base in cls.__bases__):
            return super().__call__(*args, **kwargs)
        bound = inspect.signature(cls.__init__).bind(None, *args, **kwargs)
        bound.apply_defaults()
        arguments = dict(list(bound.arguments.items())[1:])
        for name, kind in _KINDS.items():
            arguments[name] = kind if arguments[name] is None else arguments[name]
        make: Callable[..., Any] = super().__call__
        for function in functions:
            make = _next(function, make)
        return make(**arguments)


def _converted(self: Any, dtype: Any = None, name: str | None = None) -> Tensor:
    return convert_to_tensor(self.value(), dtype)


def _of_value(operator: Callable[..., Any]) -> Callable[..., Any]:
    return lambda self, *others: operator(self.value(), *others)


def _next(function: Callable[..., Any], inner: Callable[..., Any]) -> Callable[..., Any]:
    return lambda **arguments: function(inner, **arguments)


@export("variable_creator_scope")
class variable_creator_scope(Scope):
    """Within this context, variables are made by a function, which may change how.

    >>> def frozen(next_creator, **arguments):
    ...     arguments["trainable"] = False
    ...     return next_creator(**arguments)
    >>> with tf.variable_creator_scope(frozen):
    ...     v = tf.Variable(1.0)
    >>> v.trainable
    False

    Args:
      variable_creator: takes the function that goes on, and the arguments of `tf.Variable` by name; returns a variable.
        Of several scopes, the innermost is asked first.
    """

    def __init__(self, variable_creator: Callable[..., Any]) -> None:
        self._creator = variable_creator
        self._outside: list[tuple[Callable[..., Any], ...]] = []

    def __enter__(self) -> None:
        self._outside.append(_creators.functions)
        self._guard = self._latest
        _creators.functions = (*_creators.functions, self._creator)

    def _leave(self, *exception: Any) -> None:
        _creators.functions = self._outside[-1]
        self._guard = None
        self._outside.pop()
