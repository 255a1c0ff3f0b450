"""Tracing: running a Python function on symbolic tensors, to find out which primitives it calls.

A `Tracer` is an interpreter (see `core.interpreter`): primitives that meet its tensors become nodes of its graph. It
is also the first recorder, so it says what a variable holds while the function is traced: reading one gives a symbolic
tensor, and what is assigned replaces that, in the order of the program. The variable itself keeps its value, which
other threads go on reading and assigning.

Tensors from outside (constants, tensors of a function around this one) are *captured*: they become inputs of the graph,
under the same identity, so that tapes inside and outside agree on which tensor is which.

Every trace is watched by a tape of its own, from which the derivative of the traced function is made when somebody
asks for it: see `GraphFunction`.
"""

from __future__ import annotations

import contextlib
import functools
import threading
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from tapeflow._src.autodiff.backprop import Call
from tapeflow._src.autodiff.tape import GradientTape
from tapeflow._src.core.context import context, identify, no_recorders
from tapeflow._src.core.convert import convert_to_tensor
from tapeflow._src.core.dtypes import int64, string
from tapeflow._src.core.errors import (
    InaccessibleTensorError,
)
from tapeflow._src.core.interpreter import AbstractArray, Interpreter, new_depth
from tapeflow._src.core.scopes import setting
from tapeflow._src.core.sizes.dims import Atom, Dim
from tapeflow._src.core.sizes.guards import Guard, noting
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.core.user_lines import Line, user_line
from tapeflow._src.core.variables.variable import Variable
from tapeflow._src.function.python_calls import HostCall, KeptTapes, PythonCall
from tapeflow._src.function.tracing.contents import contents_after
from tapeflow._src.function.tracing.overrides import tell_recorders
from tapeflow._src.function.tracing.symbols import (
    NO_VALUE,
    SymbolicPart,
    SymbolicTensor,
    new_input,
    result_of,
)
from tapeflow._src.graph.evaluation import computed
from tapeflow._src.graph.graph import Graph, Node, Value
from tapeflow._src.primitives.array.sizes import shape_check, size_check
from tapeflow._src.primitives.specs import ArraySpec
from tapeflow._src.primitives.table import Primitive


class CapturedVariable:
    """A variable that a trace has met: its symbol, what it holds now, and symbols of all that was assigned to it."""

    __slots__ = ("later", "now", "symbol", "variable")

    def __init__(self, variable: Variable, symbol: SymbolicTensor) -> None:
        self.variable = variable
        self.symbol = symbol
        self.now: Tensor = symbol
        self.later: list[SymbolicTensor] = []


class Tracer(Interpreter):
    """Builds a graph from the primitives that are called.

    Args:
      name: of the function.
      outer: the tracer whose tensors this one may capture: that of the function around a branch or a loop body, or
        that of the forward pass when a backward pass is traced.
      inline: whether variables belong to the outer tracer, as in a branch or a loop body.
    """

    def __init__(self, name: str, outer: Tracer | None = None, inline: bool = False) -> None:
        self.graph = Graph(name)
        self.depth = new_depth()
        self.outer = outer
        self.inline = inline
        self.enclosing: Tracer | None = None  # that of a function in whose trace this one began
        self.actual: dict[Value, Tensor] = {}  # the arguments, in the call that is traced for
        self.given_variables = False  # whether some of these are variables, which have values, too
        self.guards: dict[Any, Guard] = {}  # what was guessed of sizes
        self.tape = GradientTape(persistent=True, watch_accessed_variables=False, debug=False)
        self.arguments: list[SymbolicTensor] = []
        self.variables: dict[int, CapturedVariable] = {}
        self.captures: dict[int, tuple[Tensor, SymbolicTensor]] = {}
        self.known: dict[int, SymbolicTensor] = {}  # all that was ever captured
        self.created: list[Variable] = []
        self.creation_allowed = True
        self.running = False

    # Inputs.

    # Control flow, for ops that cannot decide while they are traced: `control_flow.statements` puts it here.
    switch: Any
    while_loop: Any
    scan: Any

    def argument(
        self, shape: Sequence[Any], dtype: Any, hints: Sequence[tuple[int | None, bool]]
    ) -> SymbolicTensor:
        """A new input. Sizes that are None are unknown; `hints` are typical ones, and whether they are made up."""
        number = len(self.arguments)
        symbol = new_input(self, tuple(shape), dtype)
        dims = tuple(
            Dim.of(Atom(f"n{number}_{axis}", (symbol, axis, 0), *hint)) if d is None else d
            for axis, (d, hint) in enumerate(zip(shape, hints, strict=True))
        )
        symbol = self._reshaped(symbol, dims)
        self.arguments.append(symbol)
        self._watch(symbol)
        return symbol

    def argument_like(self, x: Tensor) -> Tensor:
        """A new input of the shape and dtype of a tensor, whose sizes may be unknown here too."""
        shape = x.value.shape if isinstance(x, SymbolicTensor) else x._array.shape
        symbol = new_input(self, shape, x.dtype)
        self.arguments.append(symbol)
        self._watch(symbol)
        return symbol

    def _reshaped(self, symbol: SymbolicTensor, dims: tuple[Any, ...]) -> SymbolicTensor:
        symbol.value.shape = dims
        symbol._array = AbstractArray(dims, symbol._array.dtype, NO_VALUE)
        return symbol

    def _watch(self, symbol: SymbolicTensor) -> None:
        if symbol.dtype.is_differentiable:
            self.tape._tracked.add(identify(symbol))

    # Variables.

    substitutes = True

    def read(self, variable: Variable, value: Tensor) -> Tensor:
        """A reader gets the symbol of what the variable holds."""
        return self.held(variable)

    def held(self, variable: Variable) -> Tensor:
        """What a variable holds in this trace. It becomes an input at its first use.

        A backward pass that is made while the function around it is being traced sees what that one does.
        """
        found = self.variables.get(id(variable))
        if found is not None:
            return found.now
        around = self.outer
        while around is not None and not around.running:
            around = around.outer
        return self._met(variable).now if around is None else around.held(variable)

    def _met(self, variable: Variable) -> CapturedVariable:
        value = variable._value
        dims = variable._shape._dims
        shape = (None,) * value.ndim if dims is None else dims
        symbol = new_input(self, shape, value.dtype)
        self.graph.notes[symbol.value] = variable._name
        symbol._id = identify(value)
        self._name_sizes(symbol)
        captured = self.variables[id(variable)] = CapturedVariable(variable, symbol)
        self._watch(symbol)
        return captured

    def assign(self, variable: Variable, value: Tensor) -> None:
        """Makes `value` what the variable holds from here on."""
        symbol = SymbolicTensor(self.value_of(value), self)
        captured = self.variables.get(id(variable)) or self._met(variable)
        captured.now = symbol
        # What is read from here on counts as the variable, too, for tapes outside.
        captured.later.append(symbol)
        self._watch(symbol)

    @contextlib.contextmanager
    def holding(self, variables: Sequence[Variable], values: Sequence[Tensor]) -> Iterator[None]:
        """Within this context variables hold other values. What is assigned meanwhile is forgotten afterwards."""
        for variable in variables:
            self.held(variable)
        saved = {key: captured.now for key, captured in self.variables.items()}
        for variable, value in zip(variables, values, strict=True):
            self.variables[id(variable)].now = value
        try:
            yield
        finally:
            for key, captured in self.variables.items():
                captured.now = saved.get(key, captured.symbol)

    def _name_sizes(self, symbol: SymbolicTensor) -> None:
        """Gives unknown sizes of a tensor atoms without hints: they follow from values."""
        shape: Any = symbol.value.shape
        if shape is not None and None in shape:
            named = tuple(
                Dim.of(Atom(f"m{axis}", (symbol, axis, 0))) if d is None else d
                for axis, d in enumerate(shape)
            )
            self._reshaped(symbol, named if type(shape) is tuple else shape.with_sizes(named))

    def initial_value(self, variable: Variable, value: Any, dtype: Any) -> Any:
        """What a variable that is made while tracing holds at first: made outside of the trace."""
        root = self
        while root.outer is not None:
            root = root.outer
        if not root.creation_allowed:
            raise ValueError(
                "tf.function only supports singleton tf.Variables created on the first call. Make the variable outside "
                "of the function, or keep it: if self.v is None: self.v = tf.Variable(...)."
            )
        root.created.append(variable)
        if callable(value) and not hasattr(value, "__tf_tensor__"):
            with self.suspended():
                return convert_to_tensor(value(), dtype)
        tensor = convert_to_tensor(value, dtype)
        if not tensor.symbolic:
            return tensor
        with self.suspended():
            known = {value: x._array for value, x in root.actual.items()}
            known.update(
                (c.symbol.value, c.variable._value._array) for c in root.variables.values()
            )
            return Tensor(computed(self.value_of(tensor), self.graph, known))

    def assignable(self, x: Tensor, assign: Callable[[Any], Variable]) -> Tensor:
        """The same tensor with a method `assign`, if it is one of a trace."""
        if not isinstance(x, SymbolicTensor):
            return x
        part = SymbolicPart(x.value, x.interpreter, x.contents)
        part._id = x._id
        part._assign = assign
        return part

    def value_of(self, x: Tensor) -> Value:
        """The value of a tensor in this graph. What comes from outside is captured."""
        if isinstance(x, SymbolicTensor) and x.interpreter is self:
            return x.value
        return self.capture(x).value

    def capture(self, x: Tensor) -> SymbolicTensor:
        """A tensor from outside as an input."""
        found = self.captures.get(id(x))
        if found is not None:
            return found[1]
        if isinstance(x, SymbolicTensor) and not self._may_see(x.interpreter):
            raise InaccessibleTensorError(
                f"The tensor {x!r} belongs to another function ({x.interpreter.graph.name!r}), or to a branch or loop "
                "body that has ended, and cannot be used here. Return it from there, pass it as an argument, or keep "
                "it in a tf.Variable."
            )
        symbol = SymbolicTensor(Value(x._array.shape, x.dtype), self, getattr(x, "contents", None))
        symbol._id = identify(x)
        self.captures[id(x)] = (x, symbol)
        self.known[id(x)] = symbol
        self._watch(symbol)
        if type(x) is Tensor:
            self.graph.constants[symbol.value] = x._array
        else:
            self.graph.inputs.append(symbol.value)
        return symbol

    def _may_see(self, other: Tracer) -> bool:
        tracer = self._around()
        while tracer is not None and tracer is not other:
            tracer = tracer._around()
        return tracer is not None

    def _around(self) -> Tracer | None:
        return self.enclosing if self.outer is None else self.outer

    def sees(self, other: Tracer) -> bool:
        """Whether tensors of the other tracer can be used here: it is this one, or one around it."""
        return other is self or self._may_see(other)

    def _knows(self, atom: Atom) -> bool:
        return self.sees(atom.origin[0].interpreter)

    # Running the function.

    def tracing(self) -> setting:
        """Within this context primitives become nodes of the graph."""
        return _Tracing(self)

    def whole(self) -> setting:
        """A trace from its beginning to its end. Hold `tracing_lock` around it."""
        return _Whole(self)

    def _finish(self) -> None:
        """What variables hold in the end is what the function assigns."""
        for captured in self.variables.values():
            if captured.now is not captured.symbol:
                self.graph.assigned[captured.symbol.value] = self.value_of(captured.now)

    def suspended(self) -> setting:
        """Outside of the trace for a while: variables hold their values, and ops run at once."""
        return setting(context, dispatch=(context.dispatch[0], ()), interpreters=(), tracer=None)

    # Interpreting.

    def interpret(self, primitive: Primitive, inputs: tuple[Tensor, ...], attrs: Any) -> Any:
        """Adds a node, and tells the recorders."""
        tracer = context.tracer
        if tracer is not self:  # all inputs come from outside
            return self._current().interpret(primitive, inputs, attrs)
        if primitive.for_strings is not None and inputs[0].dtype is string:
            primitive = primitive.for_strings
        values = [self.value_of(x) for x in inputs]
        for x in inputs:
            x._array.shape  # noqa: B018  # raises where not even the rank is known
        specs = result_of(primitive, values, attrs)
        several = primitive.outputs != 1
        outputs = self.node(primitive, values, attrs, [*specs] if several else [specs], user_line())
        node = self.graph.nodes[-1]
        if not several:
            outputs[0].contents = contents_after(primitive, inputs, attrs, outputs[0])
        output = tuple(outputs) if several else outputs[0]
        tell_recorders(self, node, inputs, output)
        node.note_identity(outputs)
        return output

    def _current(self) -> Tracer:
        tracer = context.tracer
        if tracer is None or not tracer._may_see(self):
            raise InaccessibleTensorError(
                f"A symbolic tensor of the function {self.graph.name!r} is used outside of it. Symbolic tensors live "
                "while their function is traced: return the tensor from the function, or keep its value in a "
                "tf.Variable."
            )
        return tracer

    def node(
        self,
        primitive: Any,
        inputs: Sequence[Value],
        attrs: dict[str, Any],
        outputs: Sequence[ArraySpec],
        line: Line | None = None,
    ) -> list[SymbolicTensor]:
        """Adds a node and gives its outputs."""
        symbols = []
        for spec in outputs:
            symbol = SymbolicTensor(Value(spec.shape, spec.dtype), self)
            self._name_sizes(symbol)
            symbols.append(symbol)
        node = Node(primitive, inputs, attrs, [s.value for s in symbols], line)
        self.graph.nodes.append(node)
        if context.name_scopes:
            self.graph.scopes[node] = "/".join(context.name_scopes)
        return symbols

    def check_size(self, guard: Guard) -> None:
        """Adds a check of an answer about sizes that follow from values."""
        self.node(size_check, [], guard._asdict(), [], user_line())

    def check_shape(self, message: str, shape: Sequence[Any], wanted: Sequence[Any]) -> None:
        """Adds a check of a shape, where None may be any size. The message may name `{given}` and `{wanted}`."""
        attrs = {"message": message, "shape": tuple(shape), "wanted": tuple(wanted)}
        self.node(shape_check, [], attrs, [], user_line())

    def python(
        self,
        name: str,
        function: Callable[..., Sequence[Any]],
        inputs: Sequence[Tensor],
        outputs: Sequence[ArraySpec],
        of_users: bool = True,
    ) -> list[SymbolicTensor]:
        """Adds a call of a Python function, which gets tensors when the graph runs and returns them."""
        values = [self.value_of(x) for x in inputs]
        row = (PythonCall if of_users else HostCall)(name, function, outputs)
        return self.node(row, values, {"effect": True}, outputs, user_line())

    def python_function(
        self,
        name: str,
        function: Callable[..., list[Tensor]],
        inputs: Sequence[Tensor],
        outputs: Sequence[ArraySpec],
    ) -> list[SymbolicTensor]:
        """The same for a function that can be differentiated: gradients flow through the ops it calls."""
        tapes = KeptTapes(function)
        specs = [ArraySpec((), int64), *outputs]
        with no_recorders():
            number, *results = self.python(name, tapes.forward, inputs, specs)

        def pullback(*g: Tensor | None) -> list[Any]:
            tapes.wanted = True
            given = [i for i, part in enumerate(g) if part is not None]
            back = functools.partial(tapes.backward, given)
            sources = [x for x in inputs if x.dtype.is_differentiable]
            specs = [ArraySpec(x._array.shape, x.dtype) for x in sources]
            tensors = [number, *inputs, *(g[i] for i in given)]
            found = iter(context.tracer.python(f"gradient of {name}", back, tensors, specs))
            return [next(found) if x.dtype.is_differentiable else None for x in inputs]

        self.record_call(Call(name, list(inputs), results, pullback, partial=True))
        return results

    # Being a recorder: only reads matter.

    def record(self, primitive: Any, inputs: Any, output: Any, attrs: Any) -> None:
        """Nodes are added where primitives are interpreted."""

    def record_call(self, call: Any) -> None:
        """Tells the recorders inside, its own tape among them, of a computation with a pullback of its own."""
        for recorder in context.dispatch[1]:
            if recorder is not self:
                recorder.record_call(call)

    def note(self, event: str, subject: Any, **details: Any) -> None:
        """Other events do not matter here."""

    def follows(self, identity: int) -> bool:
        """A tracer needs no pullbacks."""
        return False


class _Tracing(setting):
    def __init__(self, tracer: Tracer) -> None:
        dispatch = (context.quiet, (tracer, tracer.tape))
        super().__init__(context, dispatch=dispatch, interpreters=(tracer,), tracer=tracer)
        self._tracer = tracer

    def __enter__(self) -> None:
        tape = self._tracer.tape
        tape._records = [] if tape._records is None else tape._records
        self._tracer.running = True
        super().__enter__()

    def _leave(self, *exception: Any) -> None:
        self._tracer.running = False
        super()._leave(*exception)


class _Whole(_Tracing):
    def __enter__(self) -> None:
        self._noting = noting(self._tracer._knows)
        super().__enter__()
        self._tracer.guards = self._noting.__enter__()

    def _leave(self, *exception: Any) -> None:
        if exception[:1] == (None,):
            self._tracer._finish()
        self._noting._leave()
        super()._leave(*exception)


tracing_lock = threading.RLock()
