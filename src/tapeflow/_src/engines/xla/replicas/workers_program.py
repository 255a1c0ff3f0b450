"""The program of the replicas of several processes: run where all of them have agreed to, else they go in step."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from tapeflow._src.core.tensor import Tensor
from tapeflow._src.core.variables.steps import Step
from tapeflow._src.engines.xla.failures import translating_xla_errors
from tapeflow._src.engines.xla.replicas.agreement import Agreement, Refused
from tapeflow._src.engines.xla.replicas.place import Place
from tapeflow._src.engines.xla.replicas.program import Held, ReplicasProgram, shape_of
from tapeflow._src.engines.xla.sharding import everywhere, turn
from tapeflow._src.graph.graph import Graph, Value
from tapeflow._src.graph.workers import Workers
from tapeflow._src.insides.jax_state import x64_enabled


class WorkersProgram:
    """One program for the replicas of all workers, or a few: where constants differ, these are inputs of another one.

    Args:
      graph: as it was traced in this process.
      checked: whether to refuse what eager mode refuses.
      workers: of the job.
    """

    def __init__(self, graph: Graph, checked: bool, workers: Workers) -> None:
        self._graph, self._checked, self._workers = graph, checked, workers
        self._place = Place.of(graph)
        self._agreement = Agreement(graph, workers)
        self._translating = translating_xla_errors(graph.name)
        self._given = [v for v in graph.inputs if v not in graph.constants]
        self._programs: dict[frozenset[Value], ReplicasProgram] = {}
        self._first = self._with_inputs(frozenset())
        self._constants = {v: Tensor(array) for v, array in graph.constants.items()}
        self._broken: str | None = None
        self.refusals: Counter[str] = Counter()

    def _with_inputs(self, constants: frozenset[Value]) -> ReplicasProgram:
        """The program that has some constants as inputs."""
        found = self._programs.get(constants)
        if found is None:
            graph = self._graph.with_nodes(self._graph.nodes)
            graph.constants = {v: a for v, a in graph.constants.items() if v not in constants}
            found = self._programs[constants] = ReplicasProgram(graph, self._checked, self._place)
        return found

    @property
    def has_run(self) -> bool:
        """Whether it cannot be done without any more: other workers would wait for this one."""
        return True

    @property
    def calls(self) -> int:
        """How often the workers have run it together."""
        return sum(program.calls for program in self._programs.values())

    def run(self, tensors: Sequence[Tensor], step: Step | None) -> list[Tensor] | None:
        """The outputs, followed by the new values of variables; None if the workers did not agree on it."""
        held = dict(zip(self._given, tensors, strict=True))
        with self._translating, x64_enabled(), self._workers.turn():
            begun = self._first.run_early(held)
            agreed = self._agreed(held)
            if isinstance(agreed, Refused):
                if begun:
                    return self._first.in_step(held, agreed.why)
                self.refusals[agreed.why] += 1
                return None
            with turn(everywhere(self._place.mesh)), self._workers.exchanging():
                return self._programs[agreed].run_all(self._with(agreed, held), step, True)

    def _with(self, constants: frozenset[Value], held: Held) -> Held:
        """What a program is given that has some constants as inputs."""
        return {**held, **{v: self._constants[v] for v in constants}} if constants else held

    def _agreed(self, held: Held) -> frozenset[Value] | Refused:
        found = [p.refusal(self._with(c, held)) for c, p in self._programs.items()]
        why = self._broken or next((each for each in found if each is not None), None)
        if why is not None:
            self._agreement.refuse()
            return Refused(why)

        def compiled(constants: frozenset[Value]) -> None:
            try:
                program = self._with_inputs(constants)
                program.compile(self._with(constants, held))
            except Exception as error:
                self._broken = f"{type(error).__name__}: {error}".split("\n")[0][:200]
                raise
            why = program.refusal(self._with(constants, held))
            if why is not None:
                raise ValueError(why)

        shapes = " ".join(str(tuple(shape_of(x))) for x in held.values())
        return self._agreement.reached(shapes, compiled)

    # Telling.

    def details(self) -> list[str]:
        """What the devices tell one another in a call, and which calls were not made so."""
        lines = [line for program in self._programs.values() for line in program.details()]
        return lines + [f"{n} calls in step: {why}" for why, n in self.refusals.items()]

    def texts(self) -> list[str]:
        """The programs as XLA writes them."""
        return [text for program in self._programs.values() for text in program.texts()]
