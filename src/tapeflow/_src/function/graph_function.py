"""Traced functions that can be called on tensors and differentiated.

A `GraphFunction` owns a graph. Called on plain tensors it runs it with an executor; called on symbolic tensors (inside
another traced function) or batched ones it calls the primitives of its graph one by one, which copies them into the
function around it.

Its derivative is another graph function. The trace was watched by a tape, and a backward pass over the records of that
tape, traced in its turn, is the backward graph. What that graph captures from the forward trace is what the forward
pass has to keep: nothing more is kept. Derivatives of any order follow, because the backward graph is a graph function,
too.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from tapeflow._src.autodiff.backprop import Call, record_call, summed, zeros_like
from tapeflow._src.core.context import context, no_recorders
from tapeflow._src.core.convert import convert_to_tensor
from tapeflow._src.core.errors import shown
from tapeflow._src.core.placement.device_tensor import DeviceTensor
from tapeflow._src.core.placement.remote import beside_variables
from tapeflow._src.core.sizes.guards import Sizes, Variants, hinted
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.core.variables.steps import Step, settled
from tapeflow._src.core.variables.variable import Variable
from tapeflow._src.function.forward import Forward
from tapeflow._src.function.gradient_parts import parts_of, total
from tapeflow._src.function.outer_sizes import capture_outer_sizes, sizes_in
from tapeflow._src.function.replaying import replay
from tapeflow._src.function.replicas import copies_in
from tapeflow._src.function.tracing.symbols import SymbolicTensor
from tapeflow._src.function.tracing.tracer import Tracer, tracing_lock
from tapeflow._src.graph.graph import Value
from tapeflow._src.graph.workers import workers_of
from tapeflow._src.primitives.batched import BatchedTensor, behind

_WITH_VALUES = frozenset({Tensor, DeviceTensor})


def _are_symbolic(inputs: Sequence[Any]) -> bool:
    for x in inputs:
        if not isinstance(x, Tensor):
            raise TypeError(f"tf.function: a call takes tensors, and {shown(x)} only describes one")
    return any(x.symbolic for x in inputs)


class GraphFunction:
    """A graph with what it takes besides arguments: variables, and tensors captured from outside.

    Args:
      tracer: has traced it.
      outputs: symbolic tensors, in the order in which `call` returns them.
      jit_compile: which engine to use: XLA, NumPy, or (None) whichever is faster.
    """

    def __init__(
        self, tracer: Tracer, outputs: Sequence[Tensor], jit_compile: bool | None = None
    ) -> None:
        self.name = tracer.graph.name
        self.tracer = tracer
        self.tracers = [tracer]  # and those of the passes that it is a derivative of
        self.jit_compile = jit_compile
        self.arguments = list(tracer.arguments)
        self.symbols = [symbol_of(tracer, x) for x in outputs]
        self.variables: list[Variable] = [c.variable for c in tracer.variables.values()]
        self.captured: list[Tensor] = [x for x, _ in tracer.captures.values()]
        graph = tracer.graph
        graph.inputs = [
            *(x.value for x in self.arguments),
            *(c.symbol.value for c in tracer.variables.values()),
            *(symbol.value for _, symbol in tracer.captures.values()),
        ]
        graph.outputs = [x.value for x in self.symbols]
        if graph.replicas or workers_of(graph) is not None:
            graph.copies = copies_in(tracer)
        self.graph = graph
        self._assigned_at = [
            i for i, c in enumerate(tracer.variables.values()) if c.symbol.value in graph.assigned
        ]
        rules = [rule for _, rule, _ in tracer.tape._records or ()]
        # Whether the operations of the graph alone do not tell its derivative.
        self.has_custom_gradient = any(getattr(rule, "custom", False) for rule in rules)
        self._forwards: dict[tuple[int, ...], Forward] = {}
        self._plain: Forward | None = None  # the one that keeps nothing
        self._backwards: dict[tuple[Any, ...], Variants] = {}

    # Calling.

    def call(
        self,
        arguments: Sequence[Tensor],
        variables: Sequence[Variable] | None = None,
        captured: Sequence[Tensor] | None = None,
        forward_call: ForwardCall | None = None,
    ) -> list[Tensor]:
        """The outputs for these arguments. Recorders are told, and variables assigned.

        Args:
          arguments: the tensors it takes.
          variables: in the place of those it was traced with.
          captured: in the place of the tensors it has captured.
          forward_call: of a backward pass, the call that it belongs to.
        """
        held = self.variables if variables is None else variables
        others = self.captured if captured is None else captured
        active = context.dispatch[1]
        if not self._assigned_at or (active and any(r.substitutes for r in active)):
            if not active:
                return self._alone([*arguments, *[v._value for v in held], *others], held, None)
            inputs = [*arguments, *[v._read() for v in held], *others]
            return self._called(inputs, held, None, forward_call)
        step = Step()
        with step.lock:
            try:
                values = step.claim(held, self._assigned_at)
                for recorder in active:
                    for v, value in zip(held, values, strict=True):
                        recorder.read(v, value)
                inputs = [*arguments, *values, *others]
                if active:
                    results = self._called(inputs, held, step, forward_call)
                else:
                    results = self._alone(inputs, held, step)
            except BaseException:
                step.give_up()
                raise
        step.let_others()
        return results

    def _alone(
        self, inputs: list[Tensor], held: Sequence[Variable], step: Step | None
    ) -> list[Tensor]:
        """The outputs for these inputs where nobody is told: mostly, the executor is all that is asked."""
        forward = self._plain or self._forward(())
        if (
            forward.is_single
            and context.place is None
            and context.tracer is None
            and _WITH_VALUES.issuperset(map(type, inputs))
        ):
            return forward.executor.run(inputs, step)
        return self._run(forward, inputs, held, step)

    def _called(
        self,
        inputs: list[Tensor],
        held: Sequence[Variable],
        step: Step | None,
        forward_call: ForwardCall | None,
    ) -> list[Tensor]:
        """The same where somebody is. `step`, if there is one, has claimed the variables that are assigned."""
        active = context.dispatch[1]
        inputs = [*map(settled, inputs)]
        if context.tracer is not None:  # whose tape follows what it has captured
            for x in [behind(x, context.tracer.depth) for x in inputs]:
                if not x.symbolic or isinstance(x, SymbolicTensor):
                    context.tracer.value_of(x)
        following = [r for r in active if any(_followed(x, r) for x in inputs)]
        if not following:
            return self._run(self._forward(()), inputs, held, step)
        wanted = tuple(
            i
            for i, x in enumerate(inputs)
            if x.dtype.is_differentiable and any(_followed(x, r) for r in following)
        )
        once = len(following) == 1 and _first_order(following)
        if forward_call is None:
            forward_call = ForwardCall(sizes_in(self.arguments, inputs[: len(self.arguments)]), {})
        return self._recorded(inputs, wanted, once, held, step, forward_call)

    def with_outputs(self, more: Sequence[SymbolicTensor]) -> GraphFunction:
        """The same with more outputs."""
        new = copy.copy(self)
        new.symbols = [*self.symbols, *more]
        new.graph = self.graph.with_nodes(self.graph.nodes, [x.value for x in new.symbols])
        new._forwards, new._plain, new._backwards = {}, None, {}
        return new

    def on_arrays(self) -> Callable[[Sequence[Any]], Sequence[Any]] | None:
        """A short way from arrays to arrays for who calls it a million times, and records nothing.

        None if there is none: before the first call, or where it takes more than its arguments.
        """
        constant = all(type(x) is Tensor for x in self.captured)
        if self._plain is None or self.variables or not constant:
            return None
        return self._plain.executor.on_arrays()

    def _recorded(
        self,
        inputs: list[Tensor],
        wanted: tuple[int, ...],
        once: bool,
        held: Sequence[Variable],
        step: Step | None,
        forward_call: ForwardCall,
    ) -> list[Tensor]:
        count = len(self.symbols)
        differentiable = tuple(i for i, x in enumerate(self.symbols) if x.dtype.is_differentiable)
        sizes = forward_call.sizes
        kept = self._kept(wanted, differentiable, once, sizes)
        if step is not None:  # the backward pass reads what variables held
            step.private = [False] * len(step.private)
        results = self._run(self._forward(tuple(x.value for x in kept)), inputs, held, step)
        outputs = results[:count]
        symbols = [*self.symbols, *kept, *self.inputs()]
        values = {id(x): y for x, y in zip(symbols, [*results, *inputs], strict=True)}
        values = {**forward_call.tensors, **values}
        given_at_most = {
            i for i, y in enumerate(outputs if once else results) if y.dtype.is_differentiable
        }

        def pullback(*g: Tensor | None) -> list[Any]:
            given = tuple(i for i, part in enumerate(g) if part is not None)
            backward = self._backward(wanted, given, kept, sizes)
            if any(id(x) not in values for x in backward.kept):
                # It asks for the form of an output that has no gradient. With all of them it needs what is kept.
                more = given_at_most.difference(given)
                g = tuple(zeros_like(results[i]) if i in more else p for i, p in enumerate(g))
                given = tuple(sorted(given_at_most))
                backward = self._backward(wanted, given, kept, sizes)
            arguments = [g[i] for i in given] + [values[id(x)] for x in backward.kept]
            with beside_variables(arguments, [part for part in g if part is not None]):
                found = backward.call(arguments, ForwardCall(sizes, values))
            parts: list[Any] = [None] * len(inputs)
            for i, part in zip(wanted, found, strict=True):
                parts[i] = part
            return parts

        def lost() -> set[int]:
            return self._backward(wanted, differentiable, [], sizes).lost(wanted)

        custom = self.has_custom_gradient
        call = Call(self.name, inputs, results, pullback, partial=True, custom=custom, lost=lost)
        record_call(call)
        return outputs

    def _run(
        self,
        forward: Forward,
        inputs: list[Tensor],
        held: Sequence[Variable],
        step: Step | None = None,
    ) -> list[Tensor]:
        plain = _WITH_VALUES.issuperset(map(type, inputs))
        if not plain:
            inputs = [*map(settled, inputs)]
            plain = _WITH_VALUES.issuperset(map(type, inputs))
        if context.tracer is not None or (not plain and _are_symbolic(inputs)):
            return self._inlined(forward, inputs, held)
        watchers: Sequence[Any] = ()
        if context.dispatch[1]:
            for watcher in _watchers():
                watcher.met(self, forward.graph, inputs, held)
            watchers = _watchers()  # they may be others now
            for recorder in context.dispatch[1]:
                if look := getattr(recorder, "look", None):  # somebody wants to see every value
                    return self._inlined(forward, inputs, held, look)
        try:
            results = forward.run(inputs, step, plain, len(self.arguments), len(held))
        finally:
            for watcher in watchers:
                watcher.ran()
        if step is not None:
            for recorder in context.dispatch[1]:
                for i in self._assigned_at:
                    recorder.note("assign", held[i], origins=())
        elif self._assigned_at:
            count = len(forward.graph.outputs)
            for i, new in zip(self._assigned_at, results[count:], strict=True):
                held[i].assign(new)
            return results[:count]
        return results

    def _inlined(
        self,
        forward: Forward,
        inputs: list[Tensor],
        held: Sequence[Variable],
        look: Callable[..., None] | None = None,
    ) -> list[Tensor]:
        """Calls the primitives of the graph one by one, whoever interprets them."""
        with no_recorders():
            values = replay(forward.graph, inputs, look)
        for i, new in zip(self._assigned_at, forward.graph.assigned.values(), strict=True):
            held[i].assign(values[new])
        return [_fresh(values[v]) for v in forward.graph.outputs]

    def _forward(self, kept: tuple[Value, ...]) -> Forward:
        key = tuple(map(id, kept))
        if key not in self._forwards:
            graph = self.graph
            if kept:
                graph = graph.with_nodes(graph.nodes, [*graph.outputs, *kept])
            self._forwards[key] = Forward(graph, self.jit_compile)
            if not kept:
                self._plain = self._forwards[key]
        return self._forwards[key]

    # Differentiating.

    def _kept(
        self, wanted: tuple[int, ...], given: tuple[int, ...], once: bool, sizes: Sizes
    ) -> list[SymbolicTensor]:
        """The tensors of the forward pass that a backward pass needs: for derivatives of any order, unless `once`."""
        there = {id(x) for x in (*self.symbols, *self.inputs())}
        kept = self._own(self._backward(wanted, given, [], sizes).kept, there)
        while not once:
            outputs = [*self.symbols, *kept]
            there.update(map(id, kept))
            all_given = tuple(i for i, x in enumerate(outputs) if x.dtype.is_differentiable)
            new = self._own(self._backward(wanted, all_given, kept, sizes).kept, there)
            if not new:
                break
            kept = [*kept, *new]
        return kept

    def _own(self, tensors: list[SymbolicTensor], there: set[int]) -> list[SymbolicTensor]:
        """Those that it computes itself, and that are not there yet."""
        return [x for x in tensors if x.interpreter is self.tracer and id(x) not in there]

    def _backward(
        self,
        wanted: tuple[int, ...],
        given: tuple[int, ...],
        kept: Sequence[SymbolicTensor],
        sizes: Sizes,
    ) -> _Backward:
        """The backward pass from some outputs (kept tensors count as such, after the outputs) to some inputs."""
        targets = [*self.symbols, *kept]
        key = (wanted, tuple(id(targets[i]) for i in given))
        variants = self._backwards.setdefault(key, Variants())
        found = variants.found(sizes)
        if found is None:
            with tracing_lock:
                found = variants.found(sizes)
                if found is None:
                    with hinted(sizes):
                        found = _Backward(self, wanted, [targets[i] for i in given])
                    variants.add(found.graph_function.tracer.guards.values(), found)
                    variants.found(sizes)  # a trace around this one has to rely on the same answers
        return found

    def programs(self) -> set[str]:
        """The kinds of programs that run it now, by the names of their engines."""
        return {kind for forward in self._forwards.values() for kind in forward.programs()}

    def report(self) -> str:
        """What runs it, forward and backward."""
        texts = [forward.report() for forward in self._forwards.values()]
        texts += [
            b.graph_function.report() for variants in self._backwards.values() for b in variants
        ]
        return "\n".join(text for text in texts if text)

    def sources(self, i: int) -> list[SymbolicTensor]:
        """The symbols that stand for an input: for a variable also those it got by assignments."""
        later = [c.later for c in self.tracer.variables.values()]
        position = i - len(self.arguments)
        assigned = later[position] if 0 <= position < len(later) else []
        return [self.inputs()[i], *assigned]

    def inputs(self) -> list[SymbolicTensor]:
        """The symbols of all inputs: arguments, variables, captured tensors."""
        return [
            *self.arguments,
            *(c.symbol for c in self.tracer.variables.values()),
            *(symbol for _, symbol in self.tracer.captures.values()),
        ]


def _watchers() -> list[Any]:
    """The recorders that want to know which graphs run."""
    return [recorder for recorder in context.dispatch[1] if hasattr(recorder, "met")]


class ForwardCall(NamedTuple):
    """The call that backward passes belong to: what unknown sizes are, and tensors by the `id` of their symbols."""

    sizes: Sizes
    tensors: dict[int, Tensor]


class _Backward:
    """The traced backward pass of a graph function."""

    def __init__(
        self, graph_function: GraphFunction, wanted: tuple[int, ...], targets: list[SymbolicTensor]
    ) -> None:
        tracer = Tracer(f"gradient of {graph_function.name}", outer=graph_function.tracer)
        with tracing_lock, tracer.whole():
            seeds = summed([(x, tracer.argument_like(x)) for x in targets])
            groups = [graph_function.sources(i) for i in wanted]
            found = iter(
                graph_function.tracer.tape._backward(
                    seeds, [x for group in groups for x in group], release=False
                )
            )
            sums = [total([next(found) for _ in group]) for group in groups]
            self.template = [parts_of(g) for g in sums]
            outputs = [symbol_of(tracer, part) for group in self.template for part in group.tensors]
        capture_outer_sizes(tracer, of_results=True)
        # What comes from the forward trace is an argument; the rest is captured from further outside.
        self.kept: list[SymbolicTensor] = []
        for key, (x, symbol) in list(tracer.captures.items()):
            if isinstance(x, SymbolicTensor):
                inside = graph_function.tracer.known.get(id(x), x)
                if inside.interpreter in graph_function.tracers:
                    self.kept.append(inside)
                    tracer.arguments.append(symbol)
                    del tracer.captures[key]
        self.graph_function = GraphFunction(tracer, outputs, graph_function.jit_compile)
        self.graph_function.tracers += graph_function.tracers

    def call(self, arguments: Sequence[Any], forward_call: ForwardCall) -> list[Any]:
        """For each wanted input its gradient, or None."""
        results = iter(self.graph_function.call(arguments, forward_call=forward_call))
        return [group.packed([next(results) for _ in group.tensors]) for group in self.template]

    def lost(self, wanted: Sequence[int]) -> set[int]:
        """The wanted inputs that have no gradient, whatever they hold."""
        return {i for i, group in zip(wanted, self.template, strict=True) if not group.tensors}


def symbol_of(tracer: Tracer, x: Any) -> SymbolicTensor:
    """A tensor as one of this trace."""
    x = convert_to_tensor(x)
    if isinstance(x, SymbolicTensor) and x.interpreter is tracer:
        return x
    return tracer.capture(x)


def _fresh(x: Tensor) -> Tensor:
    """The same value under another identity: what a call returns is not what it was given."""
    return x.__copy__()


def _followed(x: Tensor, recorder: Any) -> bool:
    """Whether a recorder follows a tensor, or from outside of a batch the full tensor that it is an example of."""
    if x._id and recorder.follows(x._id):
        return True
    return isinstance(x, BatchedTensor) and _followed(x._full, recorder)


def _first_order(following: Sequence[Any]) -> bool:
    """Whether whoever follows asks for one derivative only."""
    return not getattr(following[0], "_persistent", True)
