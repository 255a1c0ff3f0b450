"""The execution context: what the running thread knows besides its tensors.

Every thread has its own recorders (the tapes that are open in it) and its own quiet NumPy state, so tapes in different
threads never see each other.
"""

from __future__ import annotations

import contextvars
import itertools
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from tapeflow._src.core.export import export
from tapeflow._src.core.scopes import setting
from tapeflow._src.core.system.timeline import timeline

if TYPE_CHECKING:
    from tapeflow._src.core.interpreter import Interpreter
    from tapeflow._src.core.tensor import Tensor
    from tapeflow._src.core.variables.variable import Variable


class Recorder(Protocol):
    """Anything that follows operations as they happen, such as a gradient tape.

    Attributes:
      substitutes: whether it gives variables values of its own, as a trace does. Then `read` returns them, and a method
        `assign(variable, value)` takes what is assigned.
    """

    substitutes: bool

    def record(self, primitive: Any, inputs: Any, output: Any, attrs: Any) -> None:
        """Takes note that `primitive` turned `inputs` into `output`."""
        ...

    def record_call(self, call: Any) -> None:
        """Takes note of a computation that brings its own pullback."""
        ...

    def read(self, variable: Variable, value: Tensor) -> Tensor:
        """Takes note that `value` was read from `variable`, and says what the reader gets."""
        ...

    def note(self, event: str, subject: Any, **details: Any) -> None:
        """Takes note of something that is not an operation, for `GradientTape.explain`."""
        ...

    def follows(self, identity: int) -> bool:
        """Whether it wants the pullback of an operation on the tensor of this identity."""
        ...


class Witness(Protocol):
    """Anything that is told of rare events that are no operations, also while a function is traced."""

    def asked(self, tape: Any, target: Any, sources: Any, found: list[Any]) -> None:
        """Takes note that a tape was asked for gradients by `sources`, and what it found for each of them."""
        ...

    def traced(self, function: Any, trace: Any) -> None:
        """Takes note that a `tf.function` was traced."""
        ...


def quiet_runner() -> Callable[..., Any]:
    """A function that calls another one without NumPy's floating-point warnings. It cannot be used inside itself."""
    quiet = contextvars.Context()
    quiet.run(np.seterr, all="ignore")
    return quiet.run


def elsewhere(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """Stands for a quiet runner where kernels are not to be run: in the scope of another device, or of a graph."""
    raise RuntimeError("in this scope, ops do not run at once on this computer")


def is_busy(run: Callable[..., Any]) -> bool:
    """Whether we are inside of a call of a quiet runner, so that what it was to call now has not been called.

    That happens where a signal handler or a destructor, which Python may run in the middle of a kernel, computes with
    tensors. It is found out when it has failed: asking before would slow down every operation. Use another runner then.
    """
    try:
        run(int)
    except RuntimeError:
        return True
    return False


class _Context(threading.local):
    """Thread-local state.

    `dispatch` is what every operation needs, in one attribute because reading a thread-local is not free: a function
    that runs a kernel without NumPy's floating-point warnings, and the recorders.

    The quiet state is a `contextvars.Context` of our own in which NumPy's error state is set once. Entering it costs
    20 ns, against 2 us for `np.errstate`, and the user's own NumPy code keeps its warnings. It is also left whatever
    happens, which `np.errstate` is not: it is written in Python, and an interruption at its end leaves the state set.
    """

    def __init__(self) -> None:
        self.quiet = quiet_runner()
        if timeline.watcher is not None:
            self.quiet = timeline.watcher.runner(self.quiet)
        self.dispatch: tuple[Callable[..., Any], tuple[Recorder, ...]] = (self.quiet, ())
        # The device that a scope asks for, if one does.
        self.place: Any = None
        self.name_scopes: tuple[str, ...] = ()
        # Who runs primitives that have no inputs to choose an interpreter by; the innermost is last.
        self.interpreters: tuple[Interpreter, ...] = ()
        # The tracer of the function that is running, if one is being traced.
        self.tracer: Any = None
        # Who wants to know of traces, and of questions to tapes.
        self.witness: Witness | None = None
        # The user's own context variables, while a compiled program that calls Python is running.
        self.outside: contextvars.Context | None = None
        # Of `tf.distribute`: the strategy whose scope is open, and the replica that is running.
        self.strategy: Any = None
        self.replica: Any = None


context = _Context()

new_id: Callable[[], int] = itertools.count(1).__next__
"""Gives a fresh identity. Tensors get one when a recorder first cares; 0 means none yet."""


def recorders() -> tuple[Recorder, ...]:
    """The recorders of this thread, outermost first."""
    return context.dispatch[1]


def push_recorder(recorder: Recorder) -> None:
    """Adds the innermost recorder."""
    run, active = context.dispatch
    context.dispatch = (run, (*active, recorder))


def pop_recorder(recorder: Recorder) -> None:
    """Removes a recorder, wherever it stands: tapes may be closed out of order."""
    run, active = context.dispatch
    context.dispatch = (run, tuple(r for r in active if r is not recorder))


def no_recorders() -> setting:
    """Within this context nothing is recorded in this thread. Tracing goes on, and variables hold what they held."""
    run, active = context.dispatch
    return setting(context, dispatch=(run, tuple([r for r in active if r.substitutes])))


def quietly(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """What a function returns, called without NumPy's floating-point warnings."""
    run = context.dispatch[0]
    try:
        return run(function, *args, **kwargs)
    except RuntimeError as error:
        return apart(run, error, function, *args, **kwargs)


def apart(
    run: Callable[..., Any],
    error: Exception,
    function: Callable[..., Any],
    *args: Any,
    **kwargs: Any,
) -> Any:
    """What a function returns that a quiet runner could not call because it is busy. Raises `error` if it is not."""
    if not is_busy(run):
        raise error
    return quiet_runner()(function, *args, **kwargs)


def identify(tensor: Tensor) -> int:
    """The identity of a tensor, given on first demand: one, also where tapes of two threads ask at the same time."""
    if not tensor._id:
        identity = new_id()
        # Python changes threads at calls, and from here to the assignment there is none.
        if not tensor._id:
            tensor._id = identity
    return tensor._id


@export("executing_eagerly")
def executing_eagerly() -> bool:
    """Whether ops run at once. Inside `tf.function` they are traced first.

    >>> tf.executing_eagerly()
    True
    """
    return context.tracer is None
