"""A graph and what runs it: on this computer, on devices, and on those of several replicas at once."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from typing import Any

from tapeflow._src.core.context import context
from tapeflow._src.core.errors import OpError
from tapeflow._src.core.interpreter import innermost
from tapeflow._src.core.log import get_logger
from tapeflow._src.core.placement.devices import devices
from tapeflow._src.core.placement.remote import beside_variables, to_host
from tapeflow._src.core.system import jax_loading
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.core.variables.steps import Step
from tapeflow._src.engines.choice import Executor
from tapeflow._src.graph.graph import Graph, subgraphs
from tapeflow._src.graph.workers import Workers, workers_of


class Forward:
    """A graph and what runs it.

    Attributes:
      executor: runs it on this computer.
      is_single: whether there are no replicas, which might run as one program on several devices.
    """

    def __init__(self, graph: Graph, jit_compile: bool | None) -> None:
        self.graph = graph
        self.executor = Executor(graph, jit_compile)
        self._on_devices: Executor | None = None
        workers = workers_of(graph)
        among = graph.replicas or workers is not None
        self._replicas = _Replicas(graph, jit_compile, workers) if among else None
        self.is_single = self._replicas is None

    def run(
        self,
        inputs: list[Tensor],
        step: Step | None,
        plain: bool,
        arguments: int,
        variables: int,
    ) -> list[Tensor]:
        """The outputs for these inputs. What is assigned goes where `step` says, or follows them.

        Args:
          inputs: all that the graph takes.
          step: the change of variables that this is, if they may be changed.
          plain: whether all inputs are in the memory of this computer.
          arguments: how many of the inputs are what the function was called with; they come first,
          variables: and how many are variables, which follow them.
        """
        results = None if self._replicas is None else self._replicas.run(inputs, step)
        if results is not None:
            return results
        if self._replicas is not None and step is not None:
            # The copies of a variable change together, or none does if the step is interrupted.
            step.private = [False] * len(step.private)
        if self._replicas is not None and self._replicas.are_on_processors:
            plain, inputs = True, list(map(to_host, inputs))
        if plain and context.place is None:
            return self.executor.run(inputs, step)
        executor = self.executor
        if context.place is not None and context.place.buffers is None:
            inputs = [to_host(x) for x in inputs]
        else:
            executor = self._executor_on_devices(innermost(inputs))
        following = inputs[arguments:]
        with beside_variables(inputs[:arguments], following[:variables]):
            return executor.run(inputs, step)

    def _executor_on_devices(self, interpreter: Any) -> Executor:
        """What runs it on tensors of an engine's own, or in the scope of a device."""
        engine = devices.engine if interpreter is None else interpreter
        if self._on_devices is None or not self._on_devices.is_of(engine):
            self._on_devices = Executor(self.graph, self.executor.jit_compile, engine)
        return self._on_devices

    def programs(self) -> set[str]:
        """The kinds of programs that run it now."""
        executors = [e for e in (self.executor, self._on_devices) if e is not None and e.has_begun]
        return {e.running for e in executors}

    @property
    def seconds(self) -> float | None:
        """The time of a typical call, where it was measured last."""
        times = [e.seconds for e in (self._on_devices, self.executor) if e is not None]
        return next((t for t in times if t is not None), None)

    def report(self) -> str:
        """What runs it."""
        executors = [e for e in (self.executor, self._on_devices) if e is not None and e.has_begun]
        found = self._inside() if self._replicas is None else self._replicas.report()
        if not any("calls on" in line for line in found):
            executors = executors or [self.executor]
        return "\n".join([*found, *[e.report() for e in executors]])

    def _inside(self) -> list[str]:
        """What is said of replicas that are inside of a loop or a branch."""
        counts = dict.fromkeys(map(len, _replicas_inside(self.graph)))
        why = "they run inside of a loop or a branch of the function"
        return [f"{self.graph.name}: {count} replicas in step: {why}" for count in counts]


def _replicas_inside(graph: Graph) -> Iterator[tuple[str, ...]]:
    for node in graph.nodes:
        for block in subgraphs(node):
            if block.replicas:
                yield block.replicas
            yield from _replicas_inside(block)


class _Replicas:
    """What runs all replicas of a graph as one program, if anything does."""

    def __init__(self, graph: Graph, jit_compile: bool | None, workers: Workers | None) -> None:
        self._graph = graph
        self._jit_compile = jit_compile
        self._workers = workers
        self._names = graph.replicas if workers is None else workers.devices
        # They share the memory of this computer: going in step, they need not be where each has its own.
        self.are_on_processors = workers is None and all("CPU" in name for name in self._names)
        self._positions = [i for i, v in enumerate(graph.inputs) if v not in graph.constants]
        self._making = threading.RLock()
        self._program: Any = None
        self._why: str | None = None  # there is no program
        self._process = jax_loading.forks

    def run(self, inputs: Sequence[Tensor], step: Step | None) -> list[Tensor] | None:
        """The outputs, or None: then replicas run one after another."""
        program = self._ready()
        if program is None:
            if self._workers is not None:  # the others may have one
                with self._workers.turn():
                    what = f"the others to run the function {self._graph.name!r}"
                    self._workers.agree(None, what)
            return None
        try:
            results = program.run([inputs[i] for i in self._positions], step)
        except Exception as error:
            if program.has_run or isinstance(error, OpError) or hasattr(error, "from_users_code"):
                raise
            self._give_up(error)
            if step is not None:
                step.made = None
            return None
        if results is None or step is None:
            return results
        count = len(self._graph.outputs)
        step.commit(results[count:])
        return results[:count]

    def _give_up(self, error: Exception) -> None:
        """Does without a program that XLA cannot compile."""
        self._why = f"{type(error).__name__}: {error}".split("\n")[0][:200]
        self._program = None
        get_logger().warning(
            "%s: replicas run one after another, because XLA cannot run them together (%s)",
            self._graph.name,
            self._why,
        )

    def _ready(self) -> Any:
        if self._process != jax_loading.forks and jax_loading.lost_in_fork():
            self._program, self._why = None, "XLA was in use when this process was forked"
        if self._program is None and self._why is None:
            with self._making:
                if self._program is None and self._why is None:
                    self._make()
        return self._program

    def _make(self) -> None:
        there = {d.name.removeprefix("/device:") for d in devices.logical()}
        names = [name.rpartition("device:")[2] for name in self._names]
        absent = [name for name in names if name not in there] if len(names) > 1 else []
        if self._jit_compile is False:
            self._why = "jit_compile=False asks for NumPy"
        elif absent:  # so that jax is not loaded for nothing
            self._why = f"there is no device {absent[0]} to run a replica on"
        elif devices.engine.missing() is not None:
            self._why = "XLA is not there: pip install 'tapeflow[xla]'"
        else:
            found = devices.engine.replicated(self._graph, checked=not self._jit_compile)
            if isinstance(found, str):
                self._why = found
            else:
                self._program = found

    def report(self) -> list[str]:
        """What runs them, and why."""
        count = len(self._names)
        head = f"{self._graph.name}: {count} replicas"
        if self._workers is not None:
            count *= self._workers.count
            head = f"{self._graph.name}: {count} replicas of {self._workers.count} workers"
        if self._why is not None:
            return [f"{head} in step: {self._why}"]
        if self._program is None:
            return []
        calls = f"{self._program.calls} calls on {count} devices"
        return [f"{head} in one program, {calls}", *[f"  {x}" for x in self._program.details()]]
