"""`tf.recompute_grad`: trade time for memory."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from typing import Any, ParamSpec, TypeVar

from tapeflow._src.autodiff.backprop import Call, record_call
from tapeflow._src.autodiff.custom_gradient import VariableWatcher, name_of, wrapped_as
from tapeflow._src.autodiff.tape import GradientTape
from tapeflow._src.autodiff.targets_and_sources import variable_of
from tapeflow._src.core import nest
from tapeflow._src.core.composites.composite import like_one, one_tensor
from tapeflow._src.core.context import context, no_recorders, pop_recorder, push_recorder, recorders
from tapeflow._src.core.convert import convert_to_tensor
from tapeflow._src.core.export import export
from tapeflow._src.core.scopes import Scope
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.core.variables.variable import Variable
from tapeflow._src.primitives.array import moving
from tapeflow._src.primitives.random.streams import streams

P = ParamSpec("P")
R = TypeVar("R")


@export("recompute_grad")
def recompute_grad(f: Callable[P, R]) -> Callable[P, R]:
    """Makes a function keep only its arguments for the backward pass, and compute the rest again there.

    A deep network wrapped block by block needs memory for one block's intermediate results instead of all of them. Any
    callable will do, a `tf.Module` included, and derivatives of any order work.

    >>> w = tf.Variable(2.0)
    >>> block = tf.recompute_grad(lambda x: tf.sin(x * w))
    >>> x = tf.Variable(0.0)
    >>> with tf.GradientTape() as tape:
    ...     y = block(x)
    >>> [g.numpy() for g in tape.gradient(y, [x, w])]
    [np.float32(2.0), np.float32(0.0)]
    """

    def recomputing(*args: P.args, **kwargs: P.kwargs) -> Any:
        if not recorders():
            return f(*args, **kwargs)
        flat = [_read(x) for x in nest.flatten((args, kwargs))]
        with no_recorders(), VariableWatcher() as watcher, streams.noted() as draws:
            result = f(*args, **kwargs)
        variables = watcher.variables(besides=nest.flatten((args, kwargs)))
        values = [v._read() for v in variables]  # read where the tapes see it
        outputs = [copy.copy(convert_to_tensor(x)) for x in nest.flatten(result)]
        tensors = [x for x in map(one_tensor, flat) if isinstance(x, Tensor)]

        def pullback(*g: Tensor) -> list[Any]:
            own = list(map(_apart, flat))
            own_tensors = [x for x in map(one_tensor, own) if isinstance(x, Tensor)]
            held = [_apart(x) for x in values]
            own_args, own_kwargs = nest.pack_sequence_as((args, kwargs), own)
            watched = [t for t in own_tensors if t.dtype.is_differentiable]
            with _as_it_was(variables, held), streams.replayed(draws), GradientTape() as tape:
                tape.watch(watched)
                again: Any = f(*own_args, **own_kwargs)  # pyright: ignore[reportCallIssue]
            return tape.gradient(again, [*own_tensors, *variables], output_gradients=list(g))

        record_call(Call(name_of(f), [*tensors, *values], outputs, pullback))
        return nest.pack_sequence_as(result, list(map(like_one, nest.flatten(result), outputs)))

    return wrapped_as(recomputing, f)


def _read(value: Any) -> Any:
    variable = variable_of(value)
    return value if variable is None else variable._read()


def _apart(value: Any) -> Any:
    """Inside a traced function, a tensor as another one: else what is computed twice would be merged."""
    inside = one_tensor(value)
    if context.tracer is None or not isinstance(inside, Tensor):
        return value
    return like_one(value, moving.barrier(inside))


def _as_it_was(variables: Sequence[Variable], values: Sequence[Tensor]) -> Any:
    """A context in which the variables hold what they held in the forward pass, whatever was assigned since."""
    if context.tracer is not None:
        return context.tracer.holding(variables, values)
    return _Earlier(variables, values)


class _Earlier(Scope):
    """A recorder for which some variables hold earlier values. What is assigned meanwhile is forgotten afterwards."""

    substitutes = True

    def __init__(self, variables: Sequence[Variable], values: Sequence[Tensor]) -> None:
        self._values = {id(v): value for v, value in zip(variables, values, strict=True)}

    def __enter__(self) -> None:
        self._guard = self._latest
        push_recorder(self)

    def _leave(self, *exception: Any) -> None:
        pop_recorder(self)
        self._guard = None

    def read(self, variable: Variable, value: Tensor) -> Tensor:
        """Gives the earlier value."""
        return self._values.get(id(variable), value)

    def assign(self, variable: Variable, value: Tensor) -> None:
        """Makes it the value for the rest of the recomputation."""
        self._values[id(variable)] = value

    def record(self, primitive: Any, inputs: Any, output: Any, attrs: Any) -> None:
        """Operations do not matter here."""

    def record_call(self, call: Call) -> None:
        """Operations do not matter here."""

    def note(self, event: str, subject: Any, **details: Any) -> None:
        """Other events do not matter here."""

    def follows(self, identity: int) -> bool:
        """It needs no pullbacks."""
        return False
