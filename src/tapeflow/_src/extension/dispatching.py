"""Functions of the user in the place of public ones: `tf.experimental.dispatch_for_api` and the like."""

from __future__ import annotations

import inspect
import types
import typing
from collections.abc import Callable
from typing import Any

from tapeflow._src.core.composites import dispatch
from tapeflow._src.core.composites.dispatch import NOT_HANDLED
from tapeflow._src.core.export import export
from tapeflow._src.ops import elementwise_apis as apis

Function = Callable[..., Any]

_registered: dict[Function, list[dispatch.Handler]] = {}


@export("experimental.dispatch_for_api")
def dispatch_for_api(api: Function, *signatures: Any) -> Callable[[Function], Function]:
    """A decorator for a function that stands in for a public one where arguments are of certain types.

    >>> class Wrapped(tf.experimental.ExtensionType):
    ...     held: tf.Tensor
    >>> @tf.experimental.dispatch_for_api(tf.concat)
    ... def wrapped_concat(values: typing.List[Wrapped], axis, name=None):
    ...     return Wrapped(tf.concat([v.held for v in values], axis))
    >>> tf.concat([Wrapped([1]), Wrapped([2, 3])], 0).held.numpy()
    array([1, 2, 3], dtype=int32)

    Args:
      api: the public function. The other one must have the same parameters; `name` may be left out.
      *signatures: dictionaries from parameters to types; by default the annotations of the function say it.
    """
    if not getattr(api, "__module__", "").startswith("tapeflow."):
        raise ValueError(f"{api} does not support dispatch: it is no function of tapeflow.")
    names = _parameters(api)
    for signature in signatures:
        for name in signature:
            if name not in names:
                raise ValueError(
                    f"Signature {signature} contains an invalid parameter {name!r}: {_name(api)} has {names}"
                )

    def decorator(target: Function) -> Function:
        own = _parameters(target)
        if [n for n in own if n != "name"] != [n for n in names if n != "name"]:
            raise ValueError(
                f"Dispatch function's signature {inspect.signature(target)} does not match API's signature "
                f"{inspect.signature(api)}."
            )
        wanted = list(signatures) or [_annotations(target)]
        if not all(wanted):
            raise ValueError(
                "The function must have a type annotation for at least one parameter, or give type signatures."
            )

        def handler(function: Function, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
            given = dispatch.bound(function, args, kwargs)
            if given is None or not any(_fits(signature, given) for signature in wanted):
                return NOT_HANDLED
            if "name" not in own:
                given.pop("name", None)
            return target(**given)

        _add(target, api, handler)
        return target

    return decorator


@export("experimental.dispatch_for_unary_elementwise_apis")
def dispatch_for_unary_elementwise_apis(x_type: Any) -> Callable[[Function], Function]:
    """A decorator for a function that stands in for all public ones that work on each element of one tensor.

    >>> class Wrapped(tf.experimental.ExtensionType):
    ...     held: tf.Tensor
    >>> @tf.experimental.dispatch_for_unary_elementwise_apis(Wrapped)
    ... def on_held(api_func, x):
    ...     return Wrapped(api_func(x.held))
    >>> tf.abs(Wrapped([-1, 2])).held.numpy()
    array([1, 2], dtype=int32)

    Args:
      x_type: the type of the argument.
    """
    return _elementwise(apis.UNARY, [x_type])


@export("experimental.dispatch_for_binary_elementwise_apis")
def dispatch_for_binary_elementwise_apis(
    x_type: Any, y_type: Any
) -> Callable[[Function], Function]:
    """The same for public functions of two tensors, such as `tf.add`.

    >>> class Wrapped(tf.experimental.ExtensionType):
    ...     held: tf.Tensor
    >>> @tf.experimental.dispatch_for_binary_elementwise_apis(Wrapped, Wrapped)
    ... def on_held(api_func, x, y):
    ...     return Wrapped(api_func(x.held, y.held))
    >>> tf.add(Wrapped(1), Wrapped(2)).held.numpy()
    np.int32(3)

    Args:
      x_type: the type of the first argument.
      y_type: the type of the second one.
    """
    return _elementwise(apis.BINARY, [x_type, y_type])


@export("experimental.dispatch_for_binary_elementwise_assert_apis")
def dispatch_for_binary_elementwise_assert_apis(
    x_type: Any, y_type: Any
) -> Callable[[Function], Function]:
    """The same for assertions about two tensors, such as `tf.debugging.assert_equal`.

    >>> class Wrapped(tf.experimental.ExtensionType):
    ...     held: tf.Tensor
    >>> @tf.experimental.dispatch_for_binary_elementwise_assert_apis(Wrapped, Wrapped)
    ... def on_held(assert_func, x, y):
    ...     return assert_func(x.held, y.held)
    >>> tf.debugging.assert_equal(Wrapped(1), Wrapped(1))

    Args:
      x_type: the type of the first argument.
      y_type: the type of the second one.
    """
    return _elementwise(apis.ASSERTIONS, [x_type, y_type])


@export("experimental.unregister_dispatch_for")
def unregister_dispatch_for(dispatch_target: Function) -> None:
    """Takes back what a `@tf.experimental.dispatch_for_...` decorator did.

    >>> class Wrapped(tf.experimental.ExtensionType):
    ...     held: tf.Tensor
    >>> @tf.experimental.dispatch_for_unary_elementwise_apis(Wrapped)
    ... def on_held(api_func, x):
    ...     return Wrapped(api_func(x.held))
    >>> tf.experimental.unregister_dispatch_for(on_held)
    >>> tf.abs(Wrapped(-1))
    Traceback (most recent call last):
    ValueError: Attempt to convert a value (Wrapped(held=<tf.Tensor: ...

    Args:
      dispatch_target: the decorated function.
    """
    handlers = _registered.pop(dispatch_target, None)
    if handlers is None:
        raise ValueError(
            f"Function {dispatch_target} was not registered using a `@dispatch_for_*` decorator."
        )
    for handler in handlers:
        dispatch.unregister(handler)


def _elementwise(functions: Any, kinds: list[Any]) -> Callable[[Function], Function]:
    def decorator(target: Function) -> Function:
        def handler(function: Function, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
            first, rest, named = dispatch.first_arguments(function, len(kinds), args, kwargs)
            if not all(is_instance(x, kind) for x, kind in zip(first, kinds, strict=True)):
                return NOT_HANDLED
            return target(lambda *values: function(*values, *rest, **named), *first)

        for function in functions:
            dispatch.register(function, handler)
        _registered.setdefault(target, []).append(handler)
        return target

    return decorator


def _add(target: Function, api: Function, handler: dispatch.Handler) -> None:
    dispatch.register(api, handler)
    _registered.setdefault(target, []).append(handler)


def _parameters(function: Function) -> list[str]:
    return list(inspect.signature(function).parameters)


def _name(function: Function) -> str:
    return getattr(function, "__name__", repr(function))


def _annotations(target: Function) -> dict[str, Any]:
    found = typing.get_type_hints(target)
    found.pop("return", None)
    return found


def _fits(signature: dict[str, Any], given: dict[str, Any]) -> bool:
    return all(name in given and is_instance(given[name], kind) for name, kind in signature.items())


def is_instance(value: Any, kind: Any) -> bool:
    """Whether a value is of an annotated type: a class, a union, a list or a tuple of them."""
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    if kind is Any:
        return True
    if origin in (typing.Union, types.UnionType):
        return any(is_instance(value, each) for each in arguments)
    if origin is list:
        return isinstance(value, (list, tuple)) and all(is_instance(x, arguments[0]) for x in value)
    if origin is tuple:
        if not isinstance(value, tuple):
            return False
        if arguments[-1:] == (Ellipsis,):
            return all(is_instance(x, arguments[0]) for x in value)
        pairs = zip(value, arguments, strict=False)
        return len(value) == len(arguments) and all(is_instance(x, k) for x, k in pairs)
    if isinstance(kind, (list, tuple)):
        return any(is_instance(value, each) for each in kind)
    return isinstance(kind, type) and isinstance(value, kind)
