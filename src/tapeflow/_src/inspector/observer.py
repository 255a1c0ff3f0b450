"""Watching a computation op by op: lines, values, memory, and what tapes keep.

It holds no tensor and no array, so memory is what it would be without it.
"""

from __future__ import annotations

import sys
import tracemalloc
import weakref
from collections.abc import Callable
from types import FrameType
from typing import Any

import numpy as np

from tapeflow._src.autodiff import backprop
from tapeflow._src.autodiff.tape import GradientTape
from tapeflow._src.core.context import context, identify
from tapeflow._src.core.placement.transfers import LIBRARIES
from tapeflow._src.core.system.package import FOLDER
from tapeflow._src.core.system.timeline import now
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.core.user_lines import Line
from tapeflow._src.core.variables.variable import Variable
from tapeflow._src.inspector import kept
from tapeflow._src.inspector.clock import Watching
from tapeflow._src.inspector.steps import (
    BACKWARD,
    FORWARD,
    UPDATE,
    Alive,
    Numbers,
    Step,
    numbers_of,
    shape_text,
)
from tapeflow._src.profiler.memory import arrays_in, owner_of
from tapeflow._src.profiler.noting import kernel_names
from tapeflow._src.profiler.ways import Place

_WALK = backprop.backward.__code__
_ASKING = {_WALK, GradientTape.gradient.__code__}
_SMALL = 4096  # bytes: less is Python's own objects
_NOT_THE_USER = (FOLDER, "<frozen")


def is_users(file: str) -> bool:
    """Whether a file is the user's: neither ours, nor Keras's, nor NumPy's."""
    return not file.startswith(_NOT_THE_USER) and not any(part in file for part in LIBRARIES)


class Observer(Watching):
    """Watches this thread within a `with` block. Traced functions run op by op in it.

    Attributes:
      steps: what ran.
      arrays: the arrays that steps made, and how long they lived.
      variables: those that were read, by `id`.
      measured_peak: bytes that were allocated at most beyond those at the beginning, as Python counts them.
      gradients: what the gradients by variables are like, by `id`.
      functions: the traced functions that ran, by `id`.
      calls: of each call of a traced function, the numbers of its steps.
      scopes: the name scopes that were open when a variable was first read, by `id`.
    """

    def __init__(self) -> None:
        super().__init__()
        self.steps: list[Step] = []
        self.arrays: list[Alive] = []
        self.variables: dict[int, Variable] = {}
        self.measured_peak = 0
        self._made: dict[int, int] = {}  # identity of a tensor -> the step that made it
        self._reads: dict[int, Variable] = {}  # identity of a tensor -> what it was read from
        self.scopes: dict[int, str] = {}  # `id` of a variable -> where it was first read
        self._held: dict[int, weakref.ref[Any]] = {}
        self._keys: list[int] = []  # of each array, the `id` of what holds its memory
        self.calls: list[list[int]] = []
        self._kept: set[int] = set()
        self._donated: set[int] = set()  # `id` of arrays that are about to be variables
        self._is_finite = True  # as far as is known
        self._traces_memory = False
        self._traced: dict[
            int, int
        ] = {}  # identity of a symbol -> the step that made what it stands for
        self._bare: Step | None = None  # the last one, if it was seen by the runner alone
        self._walk: Any = None  # the gradients that a walk back has found so far, by identity
        self.gradients: dict[int, Numbers | None] = {}
        self.functions: dict[int, Any] = {}
        self._is_arriving = False  # a function is about to run node by node
        self._wanted: dict[
            Any, list[int]
        ] = {}  # value in a graph -> the variables it is the gradient by
        self._numbers: dict[Any, Numbers | None] = {}  # what values in graphs were like

    # Beginning and ending.

    def begin_after(self, steps: list[Step], made: dict[int, int]) -> None:
        """Goes on after steps that are known; `made` says which of them made the tensor of an identity."""
        self.steps = list(steps)
        self._made = dict(made)

    def __enter__(self) -> Observer:
        if not tracemalloc.is_tracing():
            tracemalloc.start()
            self._traces_memory = True
        self._base = tracemalloc.get_traced_memory()[0]
        super().__enter__()
        return self

    def __exit__(self, *exception: Any) -> None:
        super().__exit__(*exception)
        self._note_peak()
        self._end_walk()
        if self._traces_memory:
            tracemalloc.stop()
        self._held.clear()  # what dies from here on has stayed
        self._settle_phases()

    def _runner(self, plain: Callable[..., Any]) -> Callable[..., Any]:
        names = kernel_names()

        def run(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
            self._note_peak()
            before = tracemalloc.get_traced_memory()[0]
            tracemalloc.reset_peak()
            begin = now()
            if self._is_arriving:
                self._resumed, self._is_arriving = begin, False
            found = plain(function, *args, **kwargs)
            end = now()
            after, peak = tracemalloc.get_traced_memory()
            workspace = peak - max(before, after)
            self._note_peak()
            self._last = (begin, end, workspace if workspace >= _SMALL else 0)
            if self not in context.dispatch[1] and function in names:
                self._unseen(names[function], args, found)
            return found

        return run

    def _note_peak(self) -> None:
        peak = tracemalloc.get_traced_memory()[1] - self._base
        self.measured_peak = max(self.measured_peak, peak)

    # The protocol of recorders.

    def record(self, primitive: Any, inputs: Any, output: Any, attrs: Any) -> None:
        """Takes note of an op. It is still told of one at whose beginning it was closed."""
        if context.tracer is not None or self._is_over:
            return
        outputs = output if isinstance(output, tuple) else (output,)
        step = self._begin(primitive.name)
        self._describe(step, inputs, outputs)
        tapes: Any = [r for r in context.dispatch[1] if isinstance(r, GradientTape)]
        tensors, rules = kept.kept_tensors(tapes, primitive, inputs, output, attrs)
        self._keep(step, tensors)
        step.keeps = kept.words(primitive, rules)
        step.formula = kept.formula(rules)
        self._finish()

    def record_call(self, call: Any) -> None:
        """Takes note of what a computation with its own pullback keeps, with the last op of it."""
        if context.tracer is not None or self._is_over or not self.steps:
            return
        self.steps[-1].before += now() - self._resumed
        tapes: Any = [r for r in context.dispatch[1] if isinstance(r, GradientTape)]
        if any(tape.follows(x._id) for tape in tapes for x in call.inputs):
            last = self.steps[-1]
            self._keep(last, list(kept.tensors_behind(call.pullback)))
            last.formula = last.formula or f"the gradient of {call.name}"
        for x in call.outputs:
            self._made.setdefault(identify(x), len(self.steps) - 1)
        self._resumed = now()

    def met(self, function: Any, graph: Any, inputs: Any, variables: Any) -> None:
        """Takes note of a traced function that is about to run, node by node. What is done until it does is ours."""
        if self._is_over:
            return
        self._is_arriving = True
        self.calls.append([])
        self.functions[id(function)] = function
        actual = dict(zip(map(id, function.variables), variables, strict=True))
        values = dict(zip(graph.inputs, inputs, strict=True))
        for variable, value in zip(variables, inputs[len(function.arguments) :], strict=False):
            self._meet(variable, value)
        for variable, value in graph.gradients:
            key = id(actual.get(id(variable), variable))
            self._wanted.setdefault(value, []).append(key)
            if value in values:
                self.gradients[key] = numbers_of(values[value])

    def look(self, node: Any, inputs: Any, outputs: Any, donated: bool) -> None:
        """Takes note of a node of a traced function.

        The result of one that is `donated` is a variable's next value, and a program writes it where the last one is.
        """
        step, self._bare = self._bare or self._begin(node.primitive.name), None
        self.calls[-1].append(step.number)
        line = node.line
        self._describe(step, inputs, outputs)
        for value, x in zip(node.outputs, outputs, strict=True):
            for key in self._wanted.get(value, ()):
                self.gradients[key] = numbers_of(x)
        if line is not None:
            if is_users(line.file):
                step.place = Place(line.file, line.number)
            step.scope = line.scope or step.scope
            step.phase = BACKWARD if line.backward else step.phase
            self._traced[line.made or -1] = step.number
            self._link_traced(step, line, dict(zip(node.inputs, inputs, strict=True)))
        if node.outputs:
            self._numbers[node.outputs[0]] = step.values
        if donated:
            self._replace(outputs[0], step.number)
            self._donated.add(id(owner_of(outputs[0]._array)))
        self._finish()

    def _link_traced(self, step: Step, line: Line, given: dict[Any, Tensor]) -> None:
        """In a function, the trace knows of which op a gradient is. What it takes of the forward pass was kept."""
        number = self._traced.get(line.of)
        if number is None or step.phase != BACKWARD:
            return
        forward = self.steps[number]
        if forward.gradient is None:
            known = self._numbers.get(line.gradient)
            forward.gradient = known or numbers_of(given.get(line.gradient))
        step.of, step.scope = number, forward.scope
        for made in step.inputs:
            if isinstance(made, int) and self.steps[made].phase == FORWARD:
                self.steps[made].kept = self.steps[made].made

    def _unseen(self, name: str, given: Any, found: Any) -> None:
        """Takes note of an op of which recorders are not told, such as those of `tf.recompute_grad`."""
        step = self._bare = self._begin(name)
        self._find_place(step)
        for array in arrays_in(found):
            step.made += self._follow(array, step.number, given)
            if isinstance(array, np.ndarray):
                step.shapes.append(f"{array.dtype.name}{list(array.shape)}")
        self._finish()

    def read(self, variable: Variable, value: Tensor) -> Tensor:
        """Takes note of a variable."""
        if not self._is_over:
            self._meet(variable, value)
        return value

    def note(self, event: str, subject: Any, **details: Any) -> None:
        """Takes note of an assignment."""
        if event != "assign" or context.tracer is not None:
            return
        step = self._begin("assign")
        value = subject._now()
        self._meet(subject, value)
        self._describe(step, (), (value,))
        self._replace(value, step.number + 1)
        self._donated.discard(id(owner_of(value._array)))
        step.inputs = [subject.name]
        step.phase = UPDATE
        self._finish()

    # Taking note.

    def _meet(self, variable: Variable, value: Tensor) -> None:
        self.variables[id(variable)] = variable
        self.scopes.setdefault(id(variable), "/".join(context.name_scopes))
        self._reads[identify(value)] = variable

    def _replace(self, value: Tensor, number: int) -> None:
        """A variable has a new value: from a step on it counts as the old one did, as there before."""
        holder = owner_of(value._array)
        if holder is not None and self._held.pop(id(holder), None) is not None:
            place = next(
                i for i in reversed(range(len(self.arrays))) if self._keys[i] == id(holder)
            )
            self.arrays[place] = self.arrays[place]._replace(died=number)

    def _begin(self, name: str) -> Step:
        self._bare = None
        step = Step(len(self.steps), name)
        step.kernel, step.before, step.workspace = self._times(now())
        self.steps.append(step)
        return step

    def _finish(self) -> None:
        tracemalloc.reset_peak()  # what we have used ourselves does not count
        self._resumed = now()

    def _describe(self, step: Step, inputs: Any, outputs: Any) -> None:
        self._find_place(step)
        step.inputs = [self._made.get(x._id, self._name(x._id)) for x in inputs]
        for x in outputs:
            self._made[identify(x)] = step.number
            step.made += self._follow(x._array, step.number, [y._array for y in inputs])
        step.shapes = [shape_text(x) for x in outputs if x._array is not None]
        step.device = outputs[0].device if outputs else ""
        step.values = numbers_of(outputs[0]) if outputs else None
        if self._is_finite and step.values is not None and step.values.bad:
            self._is_finite = False
            step.spoilt = self._spoilt(inputs)

    def _spoilt(self, inputs: Any) -> str:
        """The input with numbers that are not finite which no step has made."""
        for x in inputs:
            known = None if x._id in self._made else numbers_of(x)
            if known is not None and known.bad:
                return (self._name(x._id) or "a tensor").removesuffix(":0")
        return ""

    def _name(self, identity: int) -> str | None:
        found = self._reads.get(identity)
        return None if found is None else found.name

    def _find_place(self, step: Step) -> None:
        """The line, the scope, and in the backward pass the forward op whose gradient is being computed."""
        frame: FrameType | None = sys._getframe(2)
        while frame is not None:
            code = frame.f_code
            if code in _ASKING:
                step.phase = BACKWARD
                if code is _WALK:
                    self._link(step, frame)
                    break
            elif step.place is None and is_users(code.co_filename):
                step.place = Place(code.co_filename, frame.f_lineno)
            frame = frame.f_back
        step.scope = step.scope or "/".join(context.name_scopes)
        if step.phase != BACKWARD:
            self._end_walk()

    def _end_walk(self) -> None:
        """A walk back is over: what is left of its gradients are those that were asked for."""
        if self._walk is not None:
            for identity, g in self._walk.items():
                variable = self._reads.get(identity)
                if variable is not None:
                    self.gradients[id(variable)] = numbers_of(g)
            self._walk = None

    def _link(self, step: Step, frame: FrameType) -> None:
        held = frame.f_locals
        self._walk, output = held["gradients"], held.get("output")
        identity = output if isinstance(output, int) else output[0] if output else None
        number = self._made.get(identity) if identity is not None else None
        if number is not None:
            step.of = number
            forward = self.steps[number]
            step.scope = forward.scope
            step.place = forward.place
            if forward.gradient is None and isinstance(output, int):
                forward.gradient = numbers_of(held.get("g"))
        if type(held) is dict:  # a copy, which would hold tensors until somebody asks again
            held.clear()

    def _keep(self, step: Step, tensors: list[Tensor]) -> None:
        """Adds what tapes keep of a step. What no step made is there anyway, such as a variable."""
        for x in tensors:
            holder = owner_of(getattr(x, "_array", None))
            if holder is not None and id(holder) in self._held and id(holder) not in self._kept:
                self._kept.add(id(holder))
                step.kept += holder.nbytes

    def _follow(self, array: Any, number: int, given: Any) -> int:
        """Notes an array that a step made, until it dies. Gives its bytes; a view has none."""
        holder = owner_of(array)
        if holder is None or id(holder) in self._held or id(holder) in self._donated:
            return 0
        if any(owner_of(other) is holder for other in given):
            return 0
        key, place = id(holder), len(self.arrays)
        self.arrays.append(Alive(number, None, holder.nbytes))
        self._keys.append(key)

        def gone(_: Any) -> None:
            if self._held.pop(key, None) is not None:
                self._kept.discard(key)
                self.arrays[place] = self.arrays[place]._replace(died=len(self.steps))

        self._held[key] = weakref.ref(holder, gone)
        return holder.nbytes

    def _settle_phases(self) -> None:
        """Ops after the first gradient that none is computed of, and that keep nothing, make updates."""
        linked = {step.of for step in self.steps}
        seen = False
        for step in self.steps:
            seen = seen or step.phase == BACKWARD
            if seen and step.phase == FORWARD and step.number not in linked and not step.kept:
                step.phase = UPDATE
