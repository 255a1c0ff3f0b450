"""The XLA executor: a graph compiled by XLA through jax, with what XLA cannot run on the host in between."""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp

import tapeflow._src.engines.xla.subjects  # noqa: F401  # fills the table of lowerings
from tapeflow._src.core.context import context
from tapeflow._src.core.placement.device_tensor import DeviceTensor
from tapeflow._src.core.placement.devices import devices
from tapeflow._src.core.placement.layouts import is_at, mesh_of
from tapeflow._src.core.placement.remote import RemoteTensor, to_device
from tapeflow._src.core.sizes.dims import is_dynamic, key_of_shape
from tapeflow._src.core.system.memory import keep_freed_memory
from tapeflow._src.core.system.timeline import span, timeline
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.core.variables.steps import Step
from tapeflow._src.engines.numpy.program import NumpyProgram
from tapeflow._src.engines.xla.call import REFUSED, Call
from tapeflow._src.engines.xla.checked_program import Unwatched, Watch, finish
from tapeflow._src.engines.xla.checks import doubtful
from tapeflow._src.engines.xla.collectives import between_workers, in_words
from tapeflow._src.engines.xla.eager import (
    HOST,
    IS_ALONE,
    back,
    is_in_this_computer,
    placed,
)
from tapeflow._src.engines.xla.engine import TOO_LONG
from tapeflow._src.engines.xla.failures import translating_xla_errors
from tapeflow._src.engines.xla.lower import lower_nodes, lowerable
from tapeflow._src.engines.xla.one_pass import lower_in_one_pass, updates
from tapeflow._src.engines.xla.options import options
from tapeflow._src.engines.xla.partition import Stage, stages
from tapeflow._src.engines.xla.sharding import turn, whole
from tapeflow._src.engines.xla.short_way import short_way
from tapeflow._src.graph.graph import Graph, Node, Value
from tapeflow._src.graph.repeats.forms import form
from tapeflow._src.graph.repeats.rolling import parts
from tapeflow._src.graph.sizes import needs
from tapeflow._src.insides.jax_state import x64_enabled
from tapeflow._src.insides.multi_output_fusion import with_multi_output_fusion

Values = dict[Value, Any]
StageRun = Callable[[Values], Any]


def keep_compiled_programs() -> None:
    """Lets jax keep compiled programs on disk, unless the user has said where or that it should not."""
    config: Any = jax.config
    if config.jax_compilation_cache_dir is None and config.jax_enable_compilation_cache:
        base = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
        config.update("jax_compilation_cache_dir", os.path.join(base, "tapeflow", "xla"))


class XlaProgram:
    """A graph as a few XLA programs, mostly one, and host code between them.

    Args:
      graph: the graph.
      on_host: which nodes to run on the host although XLA could.
      checked: whether to refuse what eager mode refuses; otherwise values are what XLA makes of them.
    """

    run_arrays = None  # its arrays may be anywhere

    def __init__(
        self,
        graph: Graph,
        on_host: Callable[[Node], bool] | None = None,
        checked: bool = True,
    ) -> None:
        self._graph = graph
        self._translating = translating_xla_errors(graph.name)
        self._checked = checked
        self._leads = devices.policy != "cpu" and devices.any_accelerator()
        keep_compiled_programs()
        keep_freed_memory()

        def host(node: Node) -> bool:
            return not lowerable(node) or (on_host is not None and on_host(node))

        self._stages = stages(
            graph,
            host,
            updates(graph, divided=on_host is not None),
            doubtful(graph.nodes, graph.constants) if checked else (),
            self._parts if len(graph.nodes) > TOO_LONG and not self._leads else None,
        )
        self._inputs = [v for v in graph.inputs if v not in graph.constants]
        self._outputs = [*graph.outputs, *graph.assigned.values()]
        # All but the strings, which XLA has not.
        self._numbers = [v for v in self._outputs if v.dtype.np_dtype.kind != "O"]
        self._donated = self._find_donated()
        # By the places of those variables: their new values. Where two are assigned one, the second has another name
        # for it, as each comes out as it went in if the program refuses.
        assigned = list(graph.assigned.values())
        named: dict[Value, int] = {}
        for _, position in self._donated:
            v = assigned[position]
            named[Value(v.shape, v.dtype) if v in named else v] = position
        self._given_to = {position: v for v, position in named.items()}
        # What runs the stages, by how the variables lie that they assign; off a mesh, None.
        self._steps: dict[Any, list[StageRun]] = {}
        self._calls: list[Call] = []
        self._alike: dict[Any, Call] = {}
        self._steps_for(None)
        self._short_way = None
        alone = self._calls and len(self._stages) == 1 and len(self._numbers) == len(self._outputs)
        if alone and len(self._donated) == len(assigned) and not self._leads and HOST is None:
            wrapped = DeviceTensor if IS_ALONE else as_tensor
            given = self._calls[0], graph.outputs, self._donated, wrapped, self._translating
            self._short_way = short_way(*given)

    def _parts(self, nodes: list[Node], wanted: set[Value]) -> list[list[Node]]:
        return parts(nodes, wanted, self._graph.constants)

    def _find_donated(self) -> list[tuple[int, int]]:
        """The variables that give their memory to their new values: places among inputs and among assigned ones."""
        assigned = self._graph.assigned
        if len(self._stages) == 1:
            found = list(assigned)
        else:
            # What is given away is gone. If a stage refuses values, those before it must not have given any.
            refusing = [i for i, stage in enumerate(self._stages) if self._may_refuse(stage)]
            found = [
                v
                for stage in self._stages[max(refusing, default=0) :]
                if not stage.on_host
                for v in (stage.inputs[i] for i in stage.last_use)
                if v in assigned and assigned[v] in stage.outputs
            ]
        order = list(assigned)
        fit = [v for v in found if key_of_shape(v.shape) == key_of_shape(assigned[v].shape)]
        return [(self._inputs.index(v), order.index(v)) for v in fit]

    def _may_refuse(self, stage: Stage) -> bool:
        if stage.on_host and any(not lowerable(node) for node in stage.nodes):
            return True
        return self._checked and bool(doubtful(stage.nodes, self._graph.constants))

    def run(self, tensors: Sequence[Tensor], step: Step | None = None) -> list[Tensor]:
        """The outputs, followed by the new values of the variables that `step` has claimed."""
        if self._short_way is not None and context.place is None:
            results = self._short_way.run(tensors, step)
            if results is not None:
                return results
        with self._translating, x64_enabled():
            device = None
            if self._leads or context.place is not None or RemoteTensor in map(type, tensors):
                arrays, device = placed(self._graph.name, tensors)
            else:
                arrays = [buffer_of(x) for x in tensors]
            # Arrays that are there tell jax where to compute. Those of NumPy's do not, nor does the lack of any.
            default = HOST if device is None else None if arrays else device
            if mesh_of(device) is not None:
                return self._run_on_mesh(tensors, arrays, step, device)
            if default is None:
                results = self._run(tensors, arrays, step, device)
            else:
                with jax.default_device(default):
                    results = self._run(tensors, arrays, step, device)
            if device is None:
                return results
            # Constants, and what the host has computed of it, go there as well.
            return [x if type(x) is RemoteTensor else back(x, device) for x in results]

    def _run_on_mesh(
        self, tensors: Sequence[Tensor], arrays: list[Any], step: Step | None, home: Any
    ) -> list[Tensor]:
        """The same on several devices. What is assigned to a variable lies as the variable does."""
        assigned = self._graph.assigned
        held = dict(zip(self._inputs, tensors, strict=True))
        layouts = tuple([_layout(held[v], home) for v in assigned])
        with turn(home) as waits:
            results = self._run(tensors, arrays, step, None, layouts)
            if waits:
                self.finish(results)
        count = len(results) - len(layouts)
        wanted = [*(_layout(x, home) for x in results[:count]), *layouts]
        return [to_device(x, layout) for x, layout in zip(results, wanted, strict=True)]

    def _run(
        self,
        tensors: Sequence[Tensor],
        arrays: list[Any],
        step: Step | None,
        device: Any,
        layouts: tuple[Any, ...] | None = None,
    ) -> list[Tensor]:
        private = () if step is None else step.private
        for i, position in self._donated:
            x = tensors[i]
            if private and private[position] and not is_seen_by_others(x):
                continue
            if arrays[i] is getattr(x, "_buffer", None):
                # Somebody else can see the old value of the variable, which is to be overwritten.
                arrays[i] = jnp.array(arrays[i], copy=True)
        values = dict(zip(self._inputs, arrays, strict=True))
        arrays.clear()
        if step is not None:
            step.made = self._new_values(values)
        self._run_stages(values, self._steps_for(layouts))
        constants = self._graph.constants
        if len(self._stages) > 1:
            device = None  # each of them may have its results somewhere else
        return [
            as_tensor(values[v] if v in values else constants[v], device) for v in self._outputs
        ]

    def _new_values(self, values: Values) -> Callable[[int], Tensor | None]:
        """What gives the new value of a variable whose memory is given away, from the moment on that it is there."""
        given_to = self._given_to

        def made(i: int) -> Tensor | None:
            found = values.get(given_to[i]) if i in given_to else None
            return None if found is None else as_tensor(found)

        return made

    def finish(self, results: Sequence[Tensor]) -> None:
        """Waits until the results are there."""
        buffers = [buffer_of(x) for x in results if type(x) is not Tensor]
        with self._translating:
            jax.block_until_ready(buffers)

    def details(self) -> list[str]:
        """Its stages, if there are several; on a mesh, what its devices tell one another."""
        found = _descriptions(self._stages)
        with x64_enabled():
            told = [
                f"{mesh}: {in_words(text)}" for call in self._calls for mesh, text in call.texts()
            ]
        return [
            *(found if len(self._stages) > 1 else []),
            *told,
            *between_workers(self._graph.nodes),
        ]

    # Stages.

    def _steps_for(self, layouts: tuple[Any, ...] | None) -> list[StageRun]:
        found = self._steps.get(layouts)
        if found is None:
            wanted = None
            if layouts is not None:
                wanted = dict(zip(self._graph.assigned.values(), layouts, strict=True))
            found = [self._step(stage, i, wanted) for i, stage in enumerate(self._stages)]
            self._steps[layouts] = found
        return found

    def _run_stages(self, values: Values, steps: list[StageRun]) -> None:
        for number, (stage, step) in enumerate(zip(self._stages, steps, strict=True)):
            if timeline.watcher is not None and len(steps) > 1:
                step = _watched(step, stage, number)
            if step(values) is REFUSED:
                # NumPy decides about the values that XLA has met, and runs the program from here on.
                left = [node for stage in self._stages[number:] for node in stage.nodes]
                finish(self._graph, left, values, self._outputs)
                return
            for i in stage.last_use:
                del values[stage.inputs[i]]

    def _step(self, stage: Stage, number: int, layouts: dict[Value, Any] | None) -> StageRun:
        """What takes the inputs of a stage from a table of values, and puts its outputs there.

        On a mesh, `layouts` says how some of them must lie.
        """
        if stage.on_host:
            return self._host_step(stage)
        # Where there is one stage, it gives all outputs, those that are inputs or constants, too.
        outputs = self._numbers if len(self._stages) == 1 else stage.outputs
        inputs = self._inputs if len(self._stages) == 1 else stage.inputs
        return self._compiled(stage, number, inputs, outputs, layouts).run

    def _compiled(
        self,
        stage: Stage,
        number: int,
        inputs: list[Value],
        outputs: list[Value],
        layouts: dict[Value, Any] | None,
    ) -> Call:
        """A stage as an XLA program."""
        lower = lower_in_one_pass if stage.in_one_pass else lower_nodes
        constants = self._constants_of(stage.nodes, outputs)
        assigned = self._graph.assigned
        overwritten = {self._inputs[i]: self._given_to[position] for i, position in self._donated}
        there = dict.fromkeys(outputs)
        giving = [i for i, v in enumerate(inputs) if v in overwritten and assigned[v] in there]
        # jax gives memory to the first result that has the same shape: that is to be the variable's own new value.
        own = [assigned[inputs[i]] for i in giving]
        others = list(dict.fromkeys([*own, *there]))[len(set(own)) :]
        outputs = [*own, *others]
        names = [*(overwritten[inputs[i]] for i in giving), *others]
        donated = {i: place for place, i in enumerate(giving)}
        watch = Watch(stage.nodes, inputs, constants) if self._checked else Unwatched()
        kind = self._kind(stage, inputs, outputs, constants, donated, watch, layouts)
        alike = self._alike.get(kind)
        if alike is not None:
            return alike.on(inputs, names, watch)
        function = lower(stage.nodes, inputs, outputs, constants, watch.inside)
        function = watch.flagged(function, donated)
        function.__name__ = identifier(self._graph.name) + (f"_{number}" if number else "")
        call = Call(
            function,
            inputs,
            names,
            watch,
            donated,
            options=options(self._checked, () if layouts is not None else stage.nodes),
            known_sizes=not any(is_dynamic(v.shape) for v in inputs),
            cold=with_multi_output_fusion if stage.in_one_pass else None,
            layouts=None if layouts is None else tuple([layouts.get(v) for v in outputs]),
        )
        self._calls.append(call)
        if kind is not None:
            self._alike[kind] = call
        return call

    def _kind(
        self,
        stage: Stage,
        inputs: list[Value],
        outputs: list[Value],
        constants: dict[Value, Any],
        donated: dict[int, int],
        watch: Watch | Unwatched,
        layouts: dict[Value, Any] | None,
    ) -> Any:
        """What is the same for stages that one program serves; None where each has its own."""
        if layouts is not None or len(self._stages) == 1:
            return None
        watched = set(map(id, watch.inside))
        looked_at = [i for i, node in enumerate(stage.nodes) if id(node) in watched]
        return (
            form(stage.nodes, inputs, outputs, constants),
            tuple(donated.items()),
            tuple(looked_at),
            stage.in_one_pass,
        )

    def _host_step(self, stage: Stage) -> StageRun:
        part = Graph(self._graph.name)
        part.constants = self._constants_of(stage.nodes)
        part.inputs = [*stage.inputs, *part.constants]
        part.nodes = stage.nodes
        part.outputs = stage.outputs
        run = NumpyProgram(part).run_arrays

        def step(values: Values) -> None:
            found = run([on_host(values[v]) for v in stage.inputs])
            values.update(zip(stage.outputs, found, strict=True))

        return step

    def _constants_of(
        self, nodes: Sequence[Node], outputs: Sequence[Value] = ()
    ) -> dict[Value, Any]:
        constants = self._graph.constants
        used = [*(v for node in nodes for v in needs(node)), *outputs]
        return {v: constants[v] for v in used if v in constants}


def _ops_of(stage: Stage) -> str:
    names = list(dict.fromkeys(node.primitive.name for node in stage.nodes))
    return ", ".join(names[:6]) + (", ..." if len(names) > 6 else "")


def _descriptions(stages: Sequence[Stage]) -> list[str]:
    """A line for each stage, or for several that follow each other and look alike."""
    lines: list[str] = []
    number = 0
    for text, alike in itertools.groupby(map(_described, stages)):
        last = number + len(list(alike)) - 1
        who = f"stage {number}" if last == number else f"stages {number} to {last}"
        lines.append(f"{who}: {text}")
        number = last + 1
    return lines


def _described(stage: Stage) -> str:
    count = len(stage.nodes)
    runs = "host" if stage.on_host else "xla"
    return f"{runs:4} {count} op{'' if count == 1 else 's'} ({_ops_of(stage)})"


def _watched(step: StageRun, stage: Stage, number: int) -> StageRun:
    """A stage that is waited for, because a profile is told of it."""
    details = {"runs": "host" if stage.on_host else "xla", "ops": _ops_of(stage)}

    def run(values: Values) -> Any:
        with span("stage", f"stage {number} ({details['runs']})", **details):
            answer = step(values)
            jax.block_until_ready(list(map(values.get, stage.outputs)))
            return answer

    return run


def buffer_of(x: Tensor) -> Any:
    """The memory of a tensor, wherever it is. jax reads NumPy's without a copy where its place allows."""
    if type(x) is DeviceTensor or type(x) is RemoteTensor:
        return x._buffer
    return x._array


def is_seen_by_others(x: Tensor) -> bool:
    """Whether there is an array of NumPy's, or of another library's, that may be a view of its buffer."""
    if type(x) is RemoteTensor:
        return x._array.is_shared
    return getattr(x, "_host", None) is not None


def on_host(array: Any) -> Any:
    """A value as a NumPy array: without a copy, if it is in this computer's memory."""
    return whole(array) if isinstance(array, jax.Array) else array


def _layout(x: Tensor, home: Any) -> Any:
    """How a tensor lies on a mesh; what is not there is to be whole on each device."""
    if type(x) is RemoteTensor and is_at(x._array.device, home):
        return x._array.device
    return home


def as_tensor(array: Any, device: Any = None) -> Tensor:
    """A result of a program, which ran on a device; None if that has to be found out."""
    if not isinstance(array, jax.Array):
        return Tensor(array)
    if device is not None:
        return RemoteTensor(array, device=device)
    return DeviceTensor(array) if is_in_this_computer(array) else RemoteTensor(array)


def identifier(name: str) -> str:
    """What a program is called by XLA."""
    return "".join(c if c.isalnum() else "_" for c in name).strip("_") or "function"
