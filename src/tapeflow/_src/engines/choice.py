"""Choosing what runs a graph, by measuring.

The NumPy executor needs no compilation, so it begins. XLA is tried once NumPy has run for about as long as compiling
will take: then a function that is called a few times never waits for a compiler, and one that is called often waits no
longer than it has run already. Each candidate is timed on real calls, and the fastest stays.

`jit_compile=True` and `False` choose XLA and NumPy by hand. On a GPU everything is XLA's from the beginning.

One call at a time is a measurement. Calls in other threads meanwhile are run by the best program that is known.
"""

from __future__ import annotations

import importlib.util
import statistics
import sys
import threading
import time
from collections.abc import Callable, Sequence
from typing import Any

from tapeflow._src.core import settings
from tapeflow._src.core.errors import FailedPreconditionError, OpError
from tapeflow._src.core.log import logger
from tapeflow._src.core.system.loading import loaded
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.core.variables.steps import Step
from tapeflow._src.engines import loading
from tapeflow._src.engines.hybrid.shared_work import is_large
from tapeflow._src.engines.numpy.program import NumpyProgram
from tapeflow._src.graph.graph import Graph
from tapeflow._src.graph.passes import optimized

_CALLS = 12  # how many calls of a candidate are timed; only the later half of them counts
_FEW = 6  # after so many a candidate that is far behind is given up
_FAR_BEHIND = 1.5
_IMPORT_SECONDS = 1.0
_COMPILE_SECONDS = 0.3
_COMPILE_SECONDS_A_NODE = 0.002
_TOO_LONG = (
    2500  # nodes: the time XLA takes grows faster than the program, and an unrolled loop is long
)


class Candidate:
    """A program that might run the graph, and how long its calls took."""

    def __init__(self, name: str, make: Callable[[], Any]) -> None:
        self.name = name
        self.make = make
        self.program: Any = None
        self.times: list[float] = []
        self.failed: str | None = None
        self._making = threading.RLock()

    def ready(self) -> Any:
        """The program, which is made when it is first needed."""
        program = self.program
        if program is None:
            with self._making:
                if self.program is None:
                    self.program = self.make()
                program = self.program
        return program

    @property
    def seconds(self) -> float | None:
        """The time of a typical call, or None before it is known."""
        if len(self.times) < 2:
            return None
        # The first calls of a program are slow: caches are cold, and jax has more to look up.
        return statistics.median(self.times[(len(self.times) + 1) // 2 :])


class Executor:
    """Runs a graph on tensors, and puts new values into variables."""

    def __init__(self, graph: Graph, jit_compile: bool | None) -> None:
        self.traced = graph
        self._jit_compile = jit_compile
        self._count = len(graph.outputs)
        self._positions = [i for i, v in enumerate(graph.inputs) if v not in graph.constants]
        self._graph: Graph | None = None
        self._candidates: list[Candidate] = []
        self._waiting: list[Candidate] = []
        self._current: Candidate | None = None
        self._spent = 0.0
        self._price = 0.0
        self._decided = False
        self._failed: list[Candidate] = []
        self._making = threading.RLock()
        self._measurer: object | None = None  # stands for the call that is measured
        self._process = loading.forks

    @property
    def graph(self) -> Graph:
        """The graph after the passes."""
        if self._graph is None:
            self._graph = optimized(self.traced)
        return self._graph

    def run(self, inputs: Sequence[Tensor], step: Step | None = None) -> list[Tensor]:
        """The outputs for these inputs. The new values of variables go where `step` says, or follow the outputs."""
        tensors = [inputs[i] for i in self._positions]
        if self._process != loading.forks:
            self._begin_in_child()
        if self._decided:
            results = self._current.program.run(tensors, step)  # type: ignore[union-attr]
        else:
            results = self._measured(tensors, step)
        if step is None:
            return results
        step.commit(results[self._count :])
        return results[: self._count]

    def on_arrays(self) -> Callable[[Sequence[Any]], Sequence[Any]] | None:
        """The outputs as arrays for inputs as arrays, constants left out; None if NumPy does not run it."""
        if not self._decided or self._current is None or self._current.name != "numpy":
            return None
        run, positions, count = self._current.program.run_arrays, self._positions, self._count
        return lambda arrays: run([arrays[i] for i in positions])[:count]

    # Choosing.

    def _measured(self, tensors: list[Tensor], step: Step | None) -> list[Tensor]:
        if self._measurer is not None:
            return self._meanwhile().run(tensors, step)
        self._measurer = (
            object()
        )  # Python gives other threads no chance between the question and this
        try:
            self._begin_once()
            return self._measurement(tensors, step)
        finally:
            self._measurer = None

    def _measurement(self, tensors: list[Tensor], step: Step | None) -> list[Tensor]:
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

    def _meanwhile(self) -> Any:
        """The best program that is known while another call is measured."""
        self._begin_once()  # the other thread may not have
        known = [c for c in self._candidates if c.program is not None and c.seconds is not None]
        best = min(known, key=lambda c: c.seconds or 0.0, default=self._candidates[0])
        return best.ready()

    def _give_up(self, candidate: Candidate, error: Exception) -> None:
        """Does without a program that cannot run the graph."""
        candidate.failed = f"{type(error).__name__}: {error}".split("\n")[0][:200]
        logger.warning(
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
        """After a fork: XLA's threads are not there any more, and NumPy can do without."""
        self._process = loading.forks
        self._measurer = None
        self._making = threading.RLock()
        if loading.lost_in_fork():
            self._candidates, self._waiting = [], []
            self._current, self._decided = None, False

    def _begin_once(self) -> None:
        """Finds the candidates. Who came second would take back what was decided meanwhile."""
        if self._current is None:
            with self._making:
                if self._current is None:
                    self._begin()

    def _begin(self) -> None:
        graph = self.graph
        numpy = Candidate("numpy", lambda: NumpyProgram(graph))
        too_long = len(graph.nodes) > _TOO_LONG and not self._jit_compile and not on_accelerator()
        fixed = settings.deterministic and not self._jit_compile and not on_accelerator()
        if self._jit_compile is False or too_long or fixed or not xla_available():
            if self._jit_compile and loading.lost_in_fork():
                raise FailedPreconditionError(
                    None,
                    None,
                    "tf.function(jit_compile=True): XLA was in use when this process was forked, and its threads are "
                    "not in the child. Start processes by 'spawn' or 'forkserver' (multiprocessing.set_start_method), "
                    "or fork before XLA is used. Without jit_compile, functions run on NumPy here.",
                )
            if self._jit_compile:
                raise ModuleNotFoundError(
                    "tf.function(jit_compile=True) compiles with XLA through jax, which is not installed. Install it "
                    "with: pip install 'tapeflow[xla]'. Without jit_compile, functions run on NumPy."
                )
            self._candidates = [numpy]
        elif self._jit_compile or on_accelerator():
            checked = not self._jit_compile
            self._candidates = [Candidate("xla", lambda: _xla(graph, checked))]
        else:
            self._candidates = [numpy, Candidate("xla", lambda: _xla(graph))]
            if any(map(is_large, graph.nodes)):
                self._candidates.append(Candidate("hybrid", lambda: _hybrid(graph)))
            self._waiting = self._candidates[1:]
            self._price = _COMPILE_SECONDS + _COMPILE_SECONDS_A_NODE * len(graph.nodes)
            if "jax" not in sys.modules:
                self._price += _IMPORT_SECONDS
        self._current = self._candidates[0]
        self._decided = not self._waiting and self._current.program is not None

    def _consider(self, candidate: Candidate) -> None:
        """Goes on to the next candidate when it is time, and decides when all are known."""
        if not self._waiting and len(self._candidates) == 1:
            self._decided = True
            return
        if len(candidate.times) < _CALLS and not self._is_far_behind(candidate):
            return
        if candidate is self._candidates[0] and self._spent < self._price and self._waiting:
            candidate.times = candidate.times[-50:]
            return
        if self._waiting:
            self._current = self._waiting[0]
            del self._waiting[0]
        else:
            known = [c for c in self._candidates if c.seconds is not None]
            self._current = min(known, key=lambda c: c.seconds or 0.0)
            for other in self._candidates:
                if other is not self._current:
                    other.program = None
            self._decided = True

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

    def report(self) -> str:
        """What runs the graph, and what was measured."""
        lines = [
            f"{self.traced.name}: {len(self.traced.nodes)} ops traced, {len(self.graph.nodes)} after passes"
        ]
        for candidate in self._candidates:
            chosen = "chosen" if self._decided and candidate is self._current else ""
            seconds = candidate.seconds
            shown = "not measured" if seconds is None else f"{seconds * 1e3:.3f} ms a call"
            if candidate.times:
                shown += f", first call {candidate.times[0] * 1e3:.0f} ms"
            lines.append(f"  {candidate.name:7} {shown} {chosen}".rstrip())
        lines += [
            f"  {candidate.name:7} given up: {candidate.failed}" for candidate in self._failed
        ]
        if not self._decided and self._waiting:
            lines.append(
                f"  xla is tried after {self._price:.1f} s of running; {self._spent:.1f} s so far"
            )
        return "\n".join(lines)


def _is_users(error: Exception) -> bool:
    """Whether an error is about the user's values or code, and not about a program that cannot run the graph."""
    return isinstance(error, OpError) or hasattr(error, "from_users_code")


def _hybrid(graph: Graph, checked: bool = True) -> Any:
    loading.load()
    program = loaded("tapeflow._src.engines.hybrid.program")
    return program.HybridProgram(graph, checked=checked)


def _xla(graph: Graph, checked: bool = True) -> Any:
    loading.load()
    return loaded("tapeflow._src.engines.xla.program").XlaProgram(graph, checked=checked)


def xla_available() -> bool:
    """Whether jax is installed, and can be used in this process."""
    if loading.lost_in_fork():
        return False
    return "jax" in sys.modules or importlib.util.find_spec("jax") is not None


def on_accelerator() -> bool:
    """Whether jax has something faster than the CPU. Asked only where jax is loaded, or has a plugin for one."""
    global _accelerator
    if _accelerator is None:
        plugins = any(
            importlib.util.find_spec(name) is not None
            for name in ("jax_cuda12_plugin", "jax_cuda13_plugin", "jax_rocm7_plugin", "libtpu")
        )
        _accelerator = plugins and loading.load().default_backend() != "cpu"
    return bool(_accelerator)


_accelerator: bool | None = None
