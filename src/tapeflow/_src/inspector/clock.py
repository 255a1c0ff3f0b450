"""How long the ops of a computation take: a recorder, and a runner of kernels that looks at the clock.

What they do themselves between two ops is not counted as time of the computation.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from tapeflow._src.core.context import context, pop_recorder, push_recorder
from tapeflow._src.core.system.timeline import now
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.core.variables.variable import Variable
from tapeflow._src.profiler.noting import kernel_names


class Watching:
    """What all have in common that watch this thread within a `with` block, and the times of kernels."""

    substitutes = False

    def __init__(self) -> None:
        self._is_over = False
        self._last: tuple[int, int, int] | None = None  # begin, end and workspace of a kernel
        self._resumed = 0  # when it last gave control back
        self._plain: Any = None

    def __enter__(self) -> Any:
        run, recorders = context.dispatch
        self._plain = context.quiet
        context.quiet = self._runner(self._plain)
        if run is self._plain:
            context.dispatch = (context.quiet, recorders)
        push_recorder(self)
        self._resumed = now()
        return self

    def __exit__(self, *exception: Any) -> None:
        self._is_over = True
        pop_recorder(self)
        run, recorders = context.dispatch
        mine, context.quiet = context.quiet, self._plain
        if run is mine:
            context.dispatch = (self._plain, recorders)

    def _runner(self, plain: Callable[..., Any]) -> Callable[..., Any]:
        raise NotImplementedError

    def _times(self, arrived: int) -> tuple[int, int, int]:
        """The nanoseconds of the last kernel and of the Python around it, and the bytes that it used meanwhile."""
        if self._last is None:  # no kernel has run here: it ran elsewhere
            return arrived - self._resumed, 0, 0
        begin, end, workspace = self._last
        self._last = None
        return end - begin, max(0, begin - self._resumed) + arrived - end, workspace

    # The protocol of recorders. It is still told of an op at whose beginning it was closed.

    def record(self, primitive: Any, inputs: Any, output: Any, attrs: Any) -> None:
        """Takes note of an op."""

    def record_call(self, call: Any) -> None:
        """Takes note of a computation with its own pullback."""

    def read(self, variable: Variable, value: Tensor) -> Tensor:
        """Lets a variable be read."""
        return value

    def follows(self, identity: int) -> bool:
        """It needs no pullbacks."""
        return False

    def note(self, event: str, subject: Any, **details: Any) -> None:
        """Takes note of an assignment."""

    # What traced functions ask for.

    look: Callable[..., None] | None = (
        None  # or it is shown each node, and functions run node by node
    )

    def met(self, function: Any, graph: Any, inputs: Any, variables: Any) -> None:
        """Takes note of a traced function that is about to run."""

    def ran(self) -> None:
        """Takes note that it has ended or failed, if its program has run it."""


class Timed(NamedTuple):
    """The nanoseconds of an op, in its kernel and in the Python around it. A traced function is one, without a name."""

    name: str | None
    kernel: int
    before: int


class Clock(Watching):
    """Takes the times of a run that is otherwise as if nobody watched: traced functions run by their programs.

    Attributes:
      ops: what ran.
      elapsed: nanoseconds from beginning to end, without those of the clock itself.
    """

    def __init__(self) -> None:
        super().__init__()
        self.ops: list[Timed] = []
        self.elapsed = 0
        self._begun: int | None = None  # when the program began that is running

    def __exit__(self, *exception: Any) -> None:
        self.elapsed += now() - self._resumed
        super().__exit__(*exception)

    def _runner(self, plain: Callable[..., Any]) -> Callable[..., Any]:
        names = kernel_names()

        def run(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
            begin = now()
            found = plain(function, *args, **kwargs)
            self._last = (begin, now(), 0)
            if self._begun is None and self not in context.dispatch[1] and function in names:
                self._note(names[function])
            return found

        return run

    def _note(self, name: str) -> None:
        if context.tracer is None and not self._is_over:
            arrived = now()
            kernel, before, _ = self._times(arrived)
            self.ops.append(Timed(name, kernel, before))
            self._go_on(arrived)

    def _go_on(self, arrived: int) -> None:
        self.elapsed += arrived - self._resumed
        self._resumed = now()

    def record(self, primitive: Any, inputs: Any, output: Any, attrs: Any) -> None:
        """Takes note of an op."""
        self._note(primitive.name)

    def record_call(self, call: Any) -> None:
        """What it took counts for the last op of it."""
        if context.tracer is None and not self._is_over and self.ops:
            arrived = now()
            last = self.ops[-1]
            self.ops[-1] = last._replace(before=last.before + arrived - self._resumed)
            self._go_on(arrived)

    def note(self, event: str, subject: Any, **details: Any) -> None:
        """Takes note of an assignment."""
        if event == "assign":
            self._note("assign")

    def met(self, function: Any, graph: Any, inputs: Any, variables: Any) -> None:
        """A traced function begins."""
        self._begun = now()

    def ran(self) -> None:
        """It has ended."""
        if self._begun is not None and not self._is_over:
            arrived = now()
            self.ops.append(Timed(None, arrived - self._begun, self._begun - self._resumed))
            self._last = self._begun = None
            self._go_on(arrived)
