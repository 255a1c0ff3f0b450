"""Replicas in step: they run one after another, each until it has to wait for the others.

Each replica has a thread, and only one of all threads ever runs. Where replicas meet (to add up gradients, say), the
first runs until it is there, then the second, and so on. What they have met for is then done once, by the thread that
called `run`, outside of any replica. Nothing depends on how threads are scheduled: a program gives the same bits again.

It works while a function is traced, too. Then the graph has the nodes of all replicas, one after another, with the sums
between them. Who traces holds `tracing_lock`; it goes from hand to hand with the turn. The graph is told whose
nodes are whose, so that an engine may find the one program that all replicas share (`engines.xla.replicas`).
"""

from __future__ import annotations

import contextvars
import threading
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from tapeflow._src.core.carried import state_of_thread, take_over
from tapeflow._src.core.context import context
from tapeflow._src.core.scopes import setting
from tapeflow._src.function.tracing.tracer import tracing_lock

Meeting = Callable[[Sequence[Any]], Sequence[Any]]
"""What is done where replicas meet: takes what each has brought, and gives each its part."""

DIFFERENT_GRAPH = (
    "`merge_call` called while defining a new graph or a tf.function: replicas cannot meet in a tf.function that one "
    "of them calls, nor in a branch or loop of the program, because each has a graph of its own there. Put the "
    "tf.function around `strategy.run`, or around the function that is passed to it, and the `if` or `while` around "
    "the run. Gradients are added up by optimizers (`apply_gradients`), so this holds for them, too."
)


class Abandoned(BaseException):
    """Raised in a replica whose step has failed elsewhere."""


class Brought(NamedTuple):
    """What a replica has come to a meeting with."""

    meeting: Meeting
    value: Any


class Steps:
    """A run of one function by all replicas of a strategy.

    Args:
      contexts: what `context.replica` is in each replica. They are told of this run.
      functions: what each replica calls.
      devices: those of the replicas, if one program may run them all.
    """

    def __init__(
        self,
        contexts: Sequence[Any],
        functions: Sequence[Callable[[], Any]],
        devices: tuple[str, ...],
    ) -> None:
        self._devices = devices
        self.tracer = context.tracer
        self.recorders = context.dispatch[1]
        # Variables that a replica has made, by their names: the others get the same.
        self.made: dict[str | None, list[Any]] = {}
        self._baton = threading.Condition(tracing_lock if self.tracer is not None else None)
        self._turn: _Replica | None = None  # None: that of the thread that has called
        self._given_up = False
        self._replicas = [_Replica(self, c, f) for c, f in zip(contexts, functions, strict=True)]

    def results(self) -> list[Any]:
        """What the function has returned in each replica."""
        with self._baton:
            for replica in self._replicas:
                replica.thread.start()
            try:
                self._play()
            finally:
                self._given_up = True  # does nothing where all are done
                for replica in self._replicas:
                    self._let(replica)
        return [replica.result for replica in self._replicas]

    def _play(self) -> None:
        while not self._round():
            pass

    def _round(self) -> bool:
        """Lets each replica go on to where it meets the others. Gives whether all are done."""
        for replica in self._replicas:
            self._let(replica)
            if replica.error is not None:
                raise replica.error
        done = [replica.done for replica in self._replicas]
        if all(done):
            return True
        if any(done):
            raise RuntimeError(
                "Some replicas made a different number of replica_context().merge_call() calls."
            )
        brought: list[Any] = [replica.brought for replica in self._replicas]
        answers = brought[0].meeting([b.value for b in brought])
        for replica, answer in zip(self._replicas, answers, strict=True):
            replica.answer = answer
        return False

    def _let(self, replica: _Replica) -> None:
        if replica.done:
            return
        graph = None if self.tracer is None else self.tracer.graph
        begin = 0 if graph is None else len(graph.nodes)
        self._turn = replica
        self._baton.notify_all()
        self._baton.wait_for(lambda: self._turn is None)
        if graph is not None and self._devices:
            graph.note_replica(begin, replica.index, self._devices)

    # In the thread of a replica.

    def wait_for_turn(self, replica: _Replica) -> None:
        """Waits until a replica may run."""
        self._baton.wait_for(lambda: self._turn is replica)
        if self._given_up:
            raise Abandoned

    def give_turn_back(self) -> None:
        """Lets the thread that has called go on."""
        self._turn = None
        self._baton.notify_all()

    def work(self, replica: _Replica) -> None:
        """Runs a replica from its beginning to its end."""
        with self._baton:
            try:
                self.wait_for_turn(replica)
                replica.result = replica.function()
            except Abandoned:
                pass
            except BaseException as error:
                replica.error = error
            finally:
                replica.done = True
                self.give_turn_back()


class _Replica:
    """One of the replicas of a run, with its thread."""

    def __init__(self, steps: Steps, replica_context: Any, function: Callable[[], Any]) -> None:
        self.function = function
        self.result: Any = None
        self.error: BaseException | None = None
        self.done = False
        self.brought: Brought | None = None
        self.answer: Any = None
        self._steps = steps
        self._context = replica_context
        self.index = replica_context.index
        replica_context.joined(steps, self)
        self._held = {name: value for name, value in vars(context).items() if name != "quiet"}
        self._quiet = context.dispatch[0] is context.quiet
        self._carried = state_of_thread()
        variables = contextvars.copy_context()
        self.thread = threading.Thread(
            target=variables.run,
            args=(self._begin,),
            name=f"replica {replica_context.index}",
            daemon=True,
        )

    def _begin(self) -> None:
        take_over(self._carried)
        run, recorders = self._held["dispatch"]
        self._held["dispatch"] = (context.quiet if self._quiet else run, recorders)
        vars(context).update(self._held, replica=self._context)
        self._steps.work(self)

    def meet(self, meeting: Meeting, value: Any) -> Any:
        """Waits for the others, and gives what has become of what all have brought."""
        self.brought = Brought(meeting, value)
        self._steps.give_turn_back()
        self._steps.wait_for_turn(self)
        self.brought = None
        answer, self.answer = self.answer, None
        return answer


class Alone:
    """A run by one replica, which meets nobody, in the thread that calls it."""

    def __init__(self, replica_context: Any, function: Callable[[], Any]) -> None:
        self.tracer = context.tracer
        self.recorders = context.dispatch[1]
        self.made: dict[str | None, list[Any]] = {}
        self._context = replica_context
        self._function = function
        replica_context.joined(self, self)

    def results(self) -> list[Any]:
        """What the function returns, in a list."""
        with setting(context, replica=self._context):
            return [self._function()]

    def meet(self, meeting: Meeting, value: Any) -> Any:
        """Does at once what others would be waited for."""
        with setting(context, replica=None, dispatch=(context.dispatch[0], self.recorders)):
            return meeting([value])[0]


def in_step(
    contexts: Sequence[Any],
    functions: Sequence[Callable[[], Any]],
    devices: tuple[str, ...] = (),
) -> list[Any]:
    """What functions return that are called in step, each in one replica. One program may run them on `devices`."""
    if len(contexts) == 1:
        return Alone(contexts[0], functions[0]).results()
    return Steps(contexts, functions, devices).results()
