"""Functions that bring their own gradient: `tf.custom_gradient` and `tf.grad_pass_through`."""

from __future__ import annotations

import copy
import functools
import inspect
from collections.abc import Callable, Sequence
from typing import Any, ParamSpec, TypeVar, overload

from tapeflow._src.autodiff.backprop import Call, dense, record_call
from tapeflow._src.autodiff.targets_and_sources import variable_of
from tapeflow._src.core import nest
from tapeflow._src.core.composites.composite import like_one, one_tensor
from tapeflow._src.core.context import pop_recorder, push_recorder, recorders
from tapeflow._src.core.convert import convert_to_tensor
from tapeflow._src.core.export import export
from tapeflow._src.core.scopes import Scope
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.core.variables.variable import Variable


class VariableWatcher(Scope):
    """A recorder that only notes which trainable variables are read."""

    def __init__(self) -> None:
        self._seen: dict[int, Variable] = {}

    def __enter__(self) -> VariableWatcher:
        self._guard = self._latest
        push_recorder(self)
        return self

    def _leave(self, *exception: Any) -> None:
        pop_recorder(self)
        self._guard = None

    def variables(self, besides: Sequence[Any] = ()) -> list[Variable]:
        """The variables that were read, except those in `besides`."""
        passed = {id(variable_of(x)) for x in besides}
        return [v for v in self._seen.values() if id(v) not in passed]

    substitutes = False

    def read(self, variable: Variable, value: Tensor) -> Tensor:
        """Notes a trainable variable."""
        if variable.trainable:
            self._seen[id(variable)] = variable
        return value

    def record(self, primitive: Any, inputs: Any, output: Any, attrs: Any) -> None:
        """Operations do not matter here."""

    def record_call(self, call: Call) -> None:
        """Operations do not matter here."""

    def note(self, event: str, subject: Any, **details: Any) -> None:
        """Other events do not matter here."""

    def follows(self, identity: int) -> bool:
        """It needs no pullbacks."""
        return False


P = ParamSpec("P")
R = TypeVar("R")


@overload
def custom_gradient(f: Callable[P, tuple[R, Callable[..., Any]]]) -> Callable[P, R]: ...


@overload
def custom_gradient(
    f: None = None,
) -> Callable[[Callable[P, tuple[R, Callable[..., Any]]]], Callable[P, R]]: ...


@export("custom_gradient")
def custom_gradient(f: Callable[..., Any] | None = None) -> Callable[..., Any]:
    """Gives a function a gradient of its own.

    The function returns its result and a function that turns the gradient of the result into the gradients of the
    arguments, one for each. If it reads variables, that function must also take `variables` as a keyword argument and
    return a second list, with their gradients. If no tape watches any of its arguments, tensors that it captures get
    the gradients of the ops inside.

    >>> @tf.custom_gradient
    ... def clip_gradient(x):
    ...     return x, lambda g: tf.clip_by_value(g, -1.0, 1.0)
    >>> x = tf.Variable(2.0)
    >>> with tf.GradientTape() as tape:
    ...     y = clip_gradient(x) * 10.0
    >>> tape.gradient(y, x).numpy()
    np.float32(1.0)
    """
    if f is None:
        return custom_gradient
    function = f

    def decorated(*args: Any, **kwargs: Any) -> Any:
        with VariableWatcher() as watcher:
            result, gradient = function(*args, **kwargs)
        flat_args = nest.flatten(args) + nest.flatten(kwargs)
        variables = watcher.variables(besides=flat_args)
        if variables and not _accepts(gradient, "variables"):
            names = [v.name for v in variables]
            raise TypeError(
                f"{name_of(function)}: the gradient function of @tf.custom_gradient must accept the keyword argument "
                f"'variables', since the function uses variables: {names}"
            )
        inside = [convert_to_tensor(x) for x in nest.flatten(result)]
        outputs = [copy.copy(x) for x in inside]
        if recorders():
            count = len(nest.flatten(args))
            inputs = [_as_input(x) for x in [*flat_args[:count], *variables]]

            def pullback(*g: Tensor) -> list[Any]:
                return _gradients(function, gradient, g, inputs[:count], variables)

            call = Call(name_of(function), inputs, outputs, pullback, custom=True, inside=inside)
            record_call(call)
        return nest.pack_sequence_as(result, list(map(like_one, nest.flatten(result), outputs)))

    # Libraries ask for the function by this name, to call it without the tape.
    vars(decorated)["__original_wrapped__"] = function
    return wrapped_as(decorated, function)


@export("grad_pass_through")
def grad_pass_through(f: Callable[P, R]) -> Callable[P, R]:
    """Makes the gradient skip a function, as if it returned its arguments.

    >>> rounded = tf.grad_pass_through(tf.round)
    >>> x = tf.Variable(2.6)
    >>> with tf.GradientTape() as tape:
    ...     y = rounded(x) ** 2
    >>> y.numpy(), tape.gradient(y, x).numpy()
    (np.float32(9.0), np.float32(6.0))
    """

    @custom_gradient
    def passing(*args: Any, **kwargs: Any) -> Any:
        def gradient(*g: Any, variables: Sequence[Variable] | None = None) -> Any:
            return g if variables is None else (g, [None] * len(variables))

        return f(*args, **kwargs), gradient

    return wrapped_as(passing, f)


def _as_input(value: Any) -> Tensor:
    """An argument as the tape knows it. What is not a tensor is one that no tape follows."""
    value = one_tensor(value)
    if isinstance(value, Tensor):
        return value
    variable = variable_of(value)
    if variable is not None:
        return variable._read()
    return _NOT_A_TENSOR


_NOT_A_TENSOR = Tensor(None)


def _gradients(
    function: Callable[..., Any],
    gradient: Callable[..., Any],
    g: tuple[Tensor, ...],
    inputs: Sequence[Tensor],
    variables: Sequence[Variable],
) -> list[Any]:
    """Calls the user's gradient function and checks what it returns."""
    for_variables: list[Any] = []
    if variables:
        for_inputs, for_variables = gradient(*g, variables=variables)
        for_variables = nest.flatten(for_variables)
        if len(for_variables) != len(variables):
            raise ValueError(
                f"{name_of(function)}: must return a gradient for each of the {len(variables)} variables, but returned "
                f"{len(for_variables)}"
            )
    else:
        for_inputs = gradient(*g)
    flat = nest.flatten(for_inputs)
    if len(flat) != len(inputs):
        raise ValueError(
            f"{name_of(function)}: custom_gradient function expected to return {len(inputs)} gradients, one for each "
            f"argument, but returned {len(flat)} instead."
        )
    return [
        *(
            _checked(function, i, x, part)
            for i, (x, part) in enumerate(zip(inputs, flat, strict=True))
        ),
        *for_variables,
    ]


def _checked(function: Callable[..., Any], position: int, x: Tensor, part: Any) -> Any:
    if part is None or x is _NOT_A_TENSOR or not x.dtype.is_differentiable:
        return None
    part = dense(part) if not isinstance(part, (int, float)) else x * 0 + part
    part = convert_to_tensor(part, dtype_hint=x.dtype)
    if part._array.shape != x._array.shape:
        raise ValueError(
            f"{name_of(function)}: the gradient of argument {position} must have its shape {x.shape}, but the gradient "
            f"function returned one of shape {part.shape}"
        )
    return part


def _accepts(f: Callable[..., Any], keyword: str) -> bool:
    parameters = inspect.signature(f).parameters
    return keyword in parameters or any(p.kind is p.VAR_KEYWORD for p in parameters.values())


def name_of(f: Callable[..., Any]) -> str:
    """What to call a function in messages; modules and partials have no `__name__`."""
    return getattr(f, "__name__", type(f).__name__)


def wrapped_as(wrapper: Callable[..., Any], f: Callable[..., Any]) -> Callable[..., Any]:
    """`functools.wraps` for any callable: the attributes of an object (a `tf.Module`, say) are not copied."""
    return functools.update_wrapper(wrapper, f, updated=())
