"""Choosing what runs a graph, by measuring.

The engine that needs no preparation begins. Another one is tried once the first has run for about as long as its
preparation will take: then a function that is called a few times never waits for a compiler, and one that is called
often waits no longer than it has run already. Each candidate is timed on real calls, and the fastest stays.

`jit_compile=True` and `False` choose by hand. An engine that leads, as XLA's does on a GPU, runs everything from the
beginning.

One call at a time is a measurement. Calls in other threads meanwhile are run by the best program that is known.
"""

from __future__ import annotations

import statistics
import threading
import time
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any

from tapeflow._src.core import settings
from tapeflow._src.core.errors import OpError
from tapeflow._src.core.log import get_logger
from tapeflow._src.core.system import jax_loading
from tapeflow._src.core.system.memory import give_freed_memory_back
from tapeflow._src.core.system.timeline import span, timeline
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.core.variables.steps import Step
from tapeflow._src.engines.hybrid.engine import HybridEngine
from tapeflow._src.engines.numpy.engine import NumpyEngine
from tapeflow._src.engines.protocol import NEVER, Engine, Program
from tapeflow._src.engines.xla.engine import XLA
from tapeflow._src.graph.graph import Graph
from tapeflow._src.graph.passes import optimized

jax_loading.watch_forks()

ENGINES: list[Engine] = [NumpyEngine(), XLA, HybridEngine()]
"""In the order in which they are tried."""

_CALLS = 12  # how many calls of a candidate are timed; only the later half of them counts
_FEW = 6  # after so many a candidate that is far behind is given up
_FAR_BEHIND = 1.5


def engines_for(graph: Graph, jit_compile: bool | None) -> list[Engine]:
    """The engines that may run a graph."""
    if jit_compile:
        compiler = next(e for e in ENGINES if e.compiles)
        missing = compiler.missing()
        if missing is not None:
            raise missing
        return [compiler]
    plain = [e for e in ENGINES if not e.compiles]
    if jit_compile is False:
        return plain[:1] if settings.alike else plain
    leader = next((e for e in ENGINES if e.leads()), None)
    if leader is not None:
        return [leader]
    if settings.deterministic:  # which is the fastest may differ from run to run
        return plain[:1]
    if settings.alike:  # and from process to process
        compiler = next(e for e in ENGINES if e.compiles)
        return [compiler if compiler.price(graph) < NEVER else plain[0]]
    return [e for e in ENGINES if e.may_run(graph)]


class Candidate:
    """A program that might run the graph, and how long its calls took."""

    def __init__(self, engine: Engine, graph: Graph, checked: bool = True) -> None:
        self.name = engine.name
        self._find_price = lambda: engine.price(graph)
        self.program: Program | None = None
        self._graph_name = graph.name
        self._make = lambda: engine.program(graph, checked)
        self.times: list[float] = []
        self.failed: str | None = None
        self._making = threading.RLock()

    def ready(self) -> Program:
        """The program, which is made when it is first needed."""
        program = self.program
        if program is None:
            with self._making:
                program = self.program
                if program is None:
                    with span("compile", f"make the {self.name} program of {self._graph_name}"):
                        program = self.program = self._make()
        return program

    @cached_property
    def price(self) -> float:
        """What its engine asks for a try. The first call of a function does not wait for that."""
        return self._find_price()

    @property
    def seconds(self) -> float | None:
        """The time of a typical call, or None before it is known."""
        if len(self.times) < 2:
            return None
        # The first calls of a program are slow: caches are cold, and jax has more to look up.
        return statistics.median(self.times[(len(self.times) + 1) // 2 :])


class Executor:
    """Runs a graph on tensors, and puts new values into variables."""

    def __init__(
        self, graph: Graph, jit_compile: bool | None, engine: Engine | None = None
    ) -> None:
        self.traced = graph
        self.jit_compile = jit_compile
        self._only = engine
        self._count = len(graph.outputs)
        self._positions = [i for i, v in enumerate(graph.inputs) if v not in graph.constants]
        self._takes_all = len(self._positions) == len(graph.inputs)
        self._graph: Graph | None = None
        self._candidates: list[Candidate] = []
        self._waiting: list[Candidate] = []
        self._current: Candidate | None = None
        self._spent = 0.0
        self._decided = False
        self._failed: list[Candidate] = []
        self._making = threading.RLock()
        self._measurer: object | None = None  # stands for the call that is measured
        self._process = jax_loading.forks

    @property
    def graph(self) -> Graph:
        """The graph after the passes."""
        if self._graph is None:
            self._graph = optimized(self.traced)
        return self._graph

    def run(self, inputs: Sequence[Tensor], step: Step | None = None) -> list[Tensor]:
        """The outputs for these inputs. The new values of variables go where `step` says, or follow the outputs."""
        tensors = inputs if self._takes_all else [inputs[i] for i in self._positions]
        if self._process != jax_loading.forks:
            self._begin_in_child()
        if timeline.watcher is not None:
            results = self._watched(tensors, step)
        elif self._decided:
            results = self._current.program.run(tensors, step)  # type: ignore[union-attr]
        else:
            results = self._measured(tensors, step)
        if step is None:
            return results
        step.commit(results[self._count :])
        return results[: self._count]

    def _watched(self, tensors: Sequence[Tensor], step: Step | None) -> list[Tensor]:
        """The same while a profile is open, which is told of it."""
        self._begin_once()
        candidate = self._current
        assert candidate is not None
        with span("program", self.traced.name, program=candidate.name, ops=len(self.graph.nodes)):
            if not self._decided:
                return self._measured(tensors, step)
            results = candidate.ready().run(tensors, step)
            candidate.ready().finish(results)
            return results

    def on_arrays(self) -> Callable[[Sequence[Any]], Sequence[Any]] | None:
        """The outputs as arrays for inputs as arrays, if the program that was chosen is quicker so."""
        program = self._current.program if self._decided and self._current is not None else None
        run = None if program is None else program.run_arrays
        if run is None:
            return None
        positions, count = self._positions, self._count
        return lambda arrays: run([arrays[i] for i in positions])[:count]

    def is_of(self, engine: Engine) -> bool:
        """Whether it was told to use this engine."""
        return self._only is engine

    @property
    def has_begun(self) -> bool:
        """Whether it has been used."""
        return self._current is not None

    # Choosing.

    def _measured(self, tensors: Sequence[Tensor], step: Step | None) -> list[Tensor]:
        if self._measurer is not None:
            return self._meanwhile().run(tensors, step)
        # Python gives other threads no chance between the question and this.
        self._measurer = object()
        try:
            self._begin_once()
            return self._measurement(tensors, step)
        finally:
            self._measurer = None

    def _measurement(self, tensors: Sequence[Tensor], step: Step | None) -> list[Tensor]:
        candidate = self._current
        assert candidate is not None
        start = time.perf_counter()
        try:
            results = candidate.ready().run(tensors, step)
        except Exception as error:
            if candidate is self._candidates[0] or _is_users(error):
                raise
            self._give_up(candidate, error)
            if any(node.has_effect for node in self.graph.nodes):  # which may have happened
                raise
            if step is not None:
                step.made = None
            return self._candidates[0].ready().run(tensors, step)
        if not self._decided:
            candidate.ready().finish(results)
            seconds = time.perf_counter() - start
            candidate.times.append(seconds)
            self._spent += seconds
            self._consider(candidate)
        return results

    def _meanwhile(self) -> Program:
        """The best program that is known while another call is measured."""
        self._begin_once()  # the other thread may not have
        known = [c for c in self._candidates if c.program is not None]
        return (_fastest(known) or self._candidates[0]).ready()

    def _give_up(self, candidate: Candidate, error: Exception) -> None:
        """Does without a program that cannot run the graph."""
        candidate.failed = f"{type(error).__name__}: {error}".split("\n")[0][:200]
        get_logger().warning(
            "%s: %s cannot run this function, which goes on without it (%s)",
            self.traced.name,
            candidate.name,
            candidate.failed,
        )
        self._waiting = [c for c in self._waiting if c is not candidate]
        self._candidates = [c for c in self._candidates if c is not candidate]
        self._failed.append(candidate)
        self._current = self._candidates[0]
        if not self._waiting and len(self._candidates) == 1:
            self._decided = True

    def _begin_in_child(self) -> None:
        """After a fork the threads of programs are not there. Engines that need theirs say that they are missing."""
        self._process = jax_loading.forks
        self._measurer = None
        self._making = threading.RLock()
        if jax_loading.lost_in_fork():
            self._candidates, self._waiting = [], []
            self._current, self._decided = None, False

    def _begin_once(self) -> None:
        """Finds the candidates. Who came second would take back what was decided meanwhile."""
        if self._current is None:
            with self._making:
                if self._current is None:
                    self._begin()

    def _begin(self) -> None:
        checked = not self.jit_compile
        engines = engines_for(self.graph, self.jit_compile) if self._only is None else [self._only]
        self._candidates = [Candidate(engine, self.graph, checked) for engine in engines]
        first, *self._waiting = self._candidates
        self._current = first  # last: from now on others find that it has begun

    def _consider(self, candidate: Candidate) -> None:
        """Goes on to the next candidate when it is time, and decides when all are known."""
        if len(self._candidates) == 1:
            self._decided = True
            return
        if len(candidate.times) < _CALLS and not self._is_far_behind(candidate):
            return
        while self._waiting and self._waiting[0].price == NEVER:
            hopeless = self._waiting.pop(0)
            self._candidates = [c for c in self._candidates if c is not hopeless]
        if self._waiting and self._spent < self._waiting[0].price:
            candidate.times = candidate.times[-50:]
        elif self._waiting:
            self._current = self._waiting[0]
            del self._waiting[0]
        else:
            self._current = _fastest(self._candidates)
            for other in self._candidates:
                if other is not self._current:
                    other.program = None
            self._decided = True
            give_freed_memory_back()  # compilers have used much

    def _is_far_behind(self, candidate: Candidate) -> bool:
        others = [
            c.seconds for c in self._candidates if c is not candidate and c.seconds is not None
        ]
        return (
            len(candidate.times) >= _FEW
            and bool(others)
            and min(candidate.times) > _FAR_BEHIND * min(others)
        )

    # Telling.

    @property
    def seconds(self) -> float | None:
        """The time of a typical call, or None before it is known."""
        return None if self._current is None else self._current.seconds

    @property
    def running(self) -> str:
        """The name of the engine whose program runs it now, or nothing before the first call."""
        return "" if self._current is None else self._current.name

    def report(self) -> str:
        """What runs the graph, and what was measured."""
        lines = [
            f"{self.traced.name}: {len(self.traced.nodes)} ops traced, {len(self.graph.nodes)} after passes"
        ]
        hopeless = [c for c in self._waiting if c.price == NEVER]
        for candidate in self._candidates:
            if candidate in hopeless:
                continue
            chosen = "chosen" if self._decided and candidate is self._current else ""
            seconds = candidate.seconds
            shown = "not measured" if seconds is None else f"{seconds * 1e3:.3f} ms a call"
            if candidate.times:
                shown += f", first call {candidate.times[0] * 1e3:.0f} ms"
            lines.append(f"  {candidate.name:7} {shown} {chosen}".rstrip())
            if candidate.program is not None:
                lines += [f"          {line}" for line in candidate.program.details()]
        lines += [
            f"  {candidate.name:7} given up: {candidate.failed}" for candidate in self._failed
        ]
        following = next((c for c in self._waiting if c not in hopeless), None)
        if not self._decided and following is not None:
            lines.append(
                f"  {following.name} is tried after {following.price:.1f} s of running; {self._spent:.1f} s so far"
            )
        return "\n".join(lines)


def _fastest(candidates: Sequence[Candidate]) -> Candidate | None:
    known = [(c.seconds, i) for i, c in enumerate(candidates) if c.seconds is not None]
    return candidates[min(known)[1]] if known else None


def _is_users(error: Exception) -> bool:
    """Whether an error is about the user's values or code, and not about a program that cannot run the graph."""
    return isinstance(error, OpError) or hasattr(error, "from_users_code")
