"""Tracing: running a Python function on symbolic tensors, to find out which primitives it calls.

A `Tracer` is an interpreter (see `core.interpreter`): primitives that meet its tensors become nodes of its graph. It
is also the first recorder, so it says what a variable holds while the function is traced: reading one gives a symbolic
tensor, and what is assigned replaces that, in the order of the program. The variable itself keeps its value, which
other threads go on reading and assigning.

Tensors from outside (constants, tensors of a function around this one) are *captured*: they become inputs of the graph,
under the same identity, so that tapes inside and outside agree on which tensor is which.

Every trace is watched by a tape of its own, from which the derivative of the traced function is made when somebody
asks for it: see `routine`.
"""

from __future__ import annotations

import contextlib
import functools
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NoReturn

import numpy as np

from tapeflow._src.autodiff.backprop import Call
from tapeflow._src.autodiff.tape import GradientTape
from tapeflow._src.core.context import context, identify, no_recorders, quietly
from tapeflow._src.core.convert import convert_to_tensor
from tapeflow._src.core.dtypes import int64
from tapeflow._src.core.errors import (
    InaccessibleTensorError,
    InvalidArgumentError,
    OperatorNotAllowedInGraphError,
)
from tapeflow._src.core.interpreter import AbstractArray, Interpreter, new_depth
from tapeflow._src.core.scopes import setting
from tapeflow._src.core.shapes import TensorShape
from tapeflow._src.core.sizes.dims import Atom, Dim
from tapeflow._src.core.sizes.guards import Guard, noting, undecided, validity
from tapeflow._src.core.system.package import FOLDER
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.core.variables.variable import Variable
from tapeflow._src.function.python_calls import KeptTapes, PythonCall
from tapeflow._src.graph.graph import Graph, Line, Node, Value
from tapeflow._src.primitives.array.sizes import EXTREMES, size_check
from tapeflow._src.primitives.table import ArraySpec, Primitive

_WHY = (
    "A symbolic tf.Tensor (inside tf.function) has no value yet: it cannot be turned into a NumPy array or a Python "
    "number, nor decide an `if`, a loop or a shape. Use ops on it (tf.cond, tf.where, tf.print, tf.shape), let "
    "AutoGraph convert the code (tf.function does, unless it has autograph=False or cannot find the source), or run "
    "eagerly to look at values: tf.config.run_functions_eagerly(True)."
)


class TracingError(InvalidArgumentError, ValueError):
    """A mistake in an op that is found while its function is traced."""


class NoValueError(NotImplementedError, AttributeError):
    """A value was asked for of a symbolic tensor.

    It is an AttributeError, so that `hasattr(x, "numpy")` tells whether there is a value, as in TensorFlow.
    """


class SymbolicTensor(Tensor):
    """A tensor inside a traced function: a shape and a dtype, and a value only when the function runs."""

    __slots__ = ("contents", "interpreter", "value")

    interpreter: Tracer

    def __init__(self, value: Value, tracer: Tracer, contents: Any = None) -> None:
        dtype = value.dtype.np_dtype
        self._array: Any = UnknownRank(dtype)
        if value.shape is not None:
            self._array = AbstractArray(value.shape, dtype, _WHY)
        self._id = 0
        self.value = value
        self.interpreter = tracer
        self.contents = (
            contents  # for small integer tensors: what is known of the elements, ints and `Dim`s
        )

    @property
    def shape(self) -> TensorShape:
        """The static shape, with None for sizes that are known only when the function runs."""
        if isinstance(self._array, UnknownRank):
            return TensorShape(None)
        return TensorShape._of(tuple([None if type(d) is Dim else d for d in self._array.shape]))

    @property
    def name(self) -> str:
        """A name, which has no meaning."""
        return f"{self.interpreter.graph.name}/{id(self.value):x}:0"

    @property
    def graph(self) -> Graph:
        """The graph it belongs to."""
        return self.interpreter.graph

    def _elements(self) -> Any:
        found = sizes_of(self)
        return self._array._refuse() if found is None else found

    def set_shape(self, shape: Any) -> None:
        """Checks that the shape is possible, and takes over what was not known before: sizes, or even the rank."""
        shape = TensorShape(shape)
        super().set_shape(shape)
        if shape.rank is None:
            return
        dims: Any = shape._dims
        if not isinstance(self._array, UnknownRank):
            held = self._array.shape
            dims = tuple(
                d if type(d) is not Dim or told is None else told
                for d, told in zip(held, dims, strict=True)
            )
        self.value.shape = dims
        self._array = AbstractArray(dims, self._array.dtype, _WHY)
        self.interpreter._name_sizes(self)

    @property
    def numpy(self) -> NoReturn:  # pyright: ignore[reportIncompatibleMethodOverride]
        """Symbolic tensors have no value."""
        raise NoValueError(_WHY)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NoReturn:
        raise NoValueError(f"Cannot convert a symbolic tf.Tensor to a NumPy array. {_WHY}")

    def __len__(self) -> int:
        shape = self._array.shape
        if shape and type(shape[0]) is Dim:
            raise TypeError(
                f"len() of a symbolic tensor of shape {self.shape} is known only when the function runs. Use "
                "tf.shape(x)[0]."
            )
        return super().__len__()

    def __iter__(self) -> Iterator[Tensor]:
        shape = self._array.shape
        if shape and type(shape[0]) is Dim:
            raise OperatorNotAllowedInGraphError(
                f"Iterating over a symbolic tensor of shape {self.shape} needs AutoGraph, because the number of turns "
                "is known only when the function runs. Use tf.map_fn or tf.while_loop, or leave autograph on."
            )
        return super().__iter__()

    def __bool__(self) -> NoReturn:
        raise OperatorNotAllowedInGraphError(
            f"Using a symbolic tf.Tensor as a Python bool is not allowed. {_WHY}"
        )

    def __format__(self, spec: str) -> str:
        return repr(self)

    def __copy__(self) -> Tensor:
        return SymbolicTensor(self.value, self.interpreter, self.contents)

    def __deepcopy__(self, memo: dict[int, Any]) -> Tensor:
        return self.__copy__()

    def __reduce__(self) -> NoReturn:
        raise TypeError(_WHY)

    def __repr__(self) -> str:
        shape = "(" + ", ".join(map(str, self.shape.as_list()))
        shape += ",)" if self._array.ndim == 1 else ")"
        return f"<tf.Tensor 'symbolic' shape={shape} dtype={self.dtype.name}>"

    __str__ = __repr__


class SymbolicPart(SymbolicTensor):
    """A part of a variable, which can be assigned to."""

    __slots__ = ("_assign",)

    def assign(self, value: Any, name: str | None = None, read_value: bool = True) -> Variable:
        """Replaces this part of the variable."""
        return self._assign(value)


class UnknownRank:
    """In the place of an array of which only the dtype is known."""

    def __init__(self, dtype: Any) -> None:
        self.dtype = dtype

    @property
    def shape(self) -> NoReturn:
        """Not even the rank is known."""
        raise ValueError(
            "The shape of what tf.py_function and tf.numpy_function return is not known inside tf.function. Say it: "
            "Tout=tf.TensorSpec(shape, dtype), or call set_shape on the result. None stands for unknown sizes."
        )

    ndim = size = shape


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
        self.actual: dict[
            Value, Tensor
        ] = {}  # what the arguments are in the call that is traced for
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

    def argument(
        self, shape: Sequence[Any], dtype: Any, hints: Sequence[tuple[int | None, bool]]
    ) -> SymbolicTensor:
        """A new input. Sizes that are None are unknown; `hints` are typical ones, and whether they are made up."""
        number = len(self.arguments)
        symbol = SymbolicTensor(Value(tuple(shape), dtype), self)
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
        symbol = SymbolicTensor(Value(shape, x.dtype), self)
        self.arguments.append(symbol)
        self._watch(symbol)
        return symbol

    def _reshaped(self, symbol: SymbolicTensor, dims: tuple[Any, ...]) -> SymbolicTensor:
        symbol.value.shape = dims
        symbol._array = AbstractArray(dims, symbol._array.dtype, _WHY)
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
        symbol = SymbolicTensor(Value(shape, value.dtype), self)
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
        if tensor.interpreter is None:
            return tensor
        with self.suspended():
            known = {value: x._array for value, x in root.actual.items()}
            known.update(
                (c.symbol.value, c.variable._value._array) for c in root.variables.values()
            )
            return Tensor(computed(self.value_of(tensor), self.graph, known))

    # Control flow, for ops that cannot decide while they are traced. It is built on this file.

    def choose(self, *arguments: Any) -> Any:
        """The result of one of several functions: see `control_flow.statements.choose`."""
        from tapeflow._src.function.control_flow.statements import choose

        return choose(*arguments)

    def repeat(self, *arguments: Any) -> Any:
        """A loop: see `control_flow.statements.repeat`."""
        from tapeflow._src.function.control_flow.statements import repeat

        return repeat(*arguments)

    def sweep(self, *arguments: Any) -> Any:
        """A loop over the rows of tensors: see `control_flow.statements.sweep`."""
        from tapeflow._src.function.control_flow.statements import sweep

        return sweep(*arguments)

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
        return setting(context, hot=(context.hot[0], ()), interpreters=(), tracer=None)

    # Interpreting.

    def interpret(self, primitive: Primitive, inputs: tuple[Tensor, ...], attrs: Any) -> Any:
        """Adds a node, and tells the recorders."""
        tracer = context.tracer
        if tracer is not self:  # all inputs come from outside
            return self._current().interpret(primitive, inputs, attrs)
        values = [self.value_of(x) for x in inputs]
        for x in inputs:
            x._array.shape  # noqa: B018  # raises where not even the rank is known
        specs = _result(primitive, values, attrs)
        several = primitive.outputs != 1
        outputs = self.node(
            primitive, values, attrs, list(specs) if several else [specs], user_line()
        )
        if not several:
            outputs[0].contents = _contents(primitive, inputs, attrs, outputs[0])
        output = tuple(outputs) if several else outputs[0]
        for recorder in context.hot[1]:
            recorder.record(primitive, inputs, output, attrs)
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
        self.graph.nodes.append(Node(primitive, inputs, attrs, [s.value for s in symbols], line))
        return symbols

    def check_size(self, guard: Guard) -> None:
        """Adds a check of an answer about sizes that follow from values."""
        self.node(size_check, [], guard._asdict(), [], user_line())

    def python(
        self,
        name: str,
        function: Callable[..., Sequence[Any]],
        inputs: Sequence[Tensor],
        outputs: Sequence[ArraySpec],
    ) -> list[SymbolicTensor]:
        """Adds a call of a Python function, which gets tensors when the graph runs and returns them."""
        values = [self.value_of(x) for x in inputs]
        row = PythonCall(name, function, outputs)
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
        for recorder in context.hot[1]:
            if recorder is not self:
                recorder.record_call(call)

    def note(self, event: str, subject: Any, **details: Any) -> None:
        """Other events do not matter here."""

    def follows(self, identity: int) -> bool:
        """A tracer needs no pullbacks."""
        return False


class _Tracing(setting):
    def __init__(self, tracer: Tracer) -> None:
        hot = (context.hot[0], (tracer, tracer.tape))
        super().__init__(context, hot=hot, interpreters=(tracer,), tracer=tracer)
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


def _result(primitive: Primitive, values: Sequence[Value], attrs: dict[str, Any]) -> Any:
    """What a primitive returns. A mistake found while tracing is a ValueError too, as in TensorFlow."""
    try:
        with validity():
            return primitive.result(*[v.spec for v in values], **attrs)
    except InvalidArgumentError as error:
        if isinstance(error, (ValueError, TypeError)):
            raise
        raise TracingError(error.node_def, error.op, error.message) from None


def computed(wanted: Value, graph: Graph, known: dict[Value, Any]) -> Any:
    """The array of a value, from those of constants and of inputs that are known."""
    arrays = {**graph.constants, **known}

    def find(value: Value) -> Any:
        if value not in arrays:
            node = next((n for n in graph.nodes if value in n.outputs), None)
            if node is None:
                raise ValueError(
                    "The initial value of a tf.Variable that is made inside tf.function depends on a tensor that has "
                    "no value while the function is traced. Make the variable outside, or pass a function: "
                    "tf.Variable(lambda: ...)."
                )
            result = quietly(node.primitive.kernel, *map(find, node.inputs), **node.attrs)
            several = node.primitive.outputs != 1
            arrays.update(zip(node.outputs, result if several else (result,), strict=True))
        return arrays[value]

    return find(wanted)


# What is known of small integer tensors: shapes, and what is computed from them.

_SMALL = 64


def _contents(
    primitive: Primitive, inputs: tuple[Tensor, ...], attrs: Any, output: SymbolicTensor
) -> Any:
    shape = output._array.shape
    if len(shape) > 1 or output._array.dtype.kind not in "iu":
        return None
    if shape and (type(shape[0]) is Dim or shape[0] > _SMALL):
        return None
    if primitive.name == "shape":
        return _objects(inputs[0]._array.shape)
    if primitive.name == "size":
        return _objects(inputs[0]._array.size)
    known = [contents_of(x) for x in inputs]
    if any(k is None for k in known) or not known:
        return None
    if primitive.name == "cast_to_discrete":
        return _wrapped(known[0], output._array.dtype)
    kernel = EXTREMES.get(primitive.name, primitive.kernel)
    try:
        with undecided():  # what depends on which size is larger is computed when the function runs
            result = np.asarray(kernel(*known, **attrs), object)
    except Exception:  # the kernel does not take objects: then nothing is known
        return None
    return _wrapped(result, output._array.dtype) if result.shape == shape else None


def _wrapped(contents: np.ndarray, dtype: Any) -> np.ndarray | None:
    """The numbers as a dtype holds them. A size that is not known need not fit in 16 bits: then nothing is known."""
    limits = np.iinfo(dtype)
    out = np.empty_like(contents)
    for i, number in enumerate(contents.flat):
        if type(number) is Dim:
            if limits.bits < 32:
                return None
            out.flat[i] = number
        else:
            out.flat[i] = (int(number) - limits.min) % 2**limits.bits + limits.min
    return out


def contents_of(x: Tensor) -> Any:
    """The elements of a small integer tensor, as an array of ints and `Dim`s, or None if they are not known."""
    if isinstance(x, SymbolicTensor):
        return x.contents
    if type(x) is Tensor and x._array.dtype.kind in "iu" and x._array.size <= _SMALL:
        return np.asarray(x._array).astype(object)
    return None


def _objects(values: Any) -> np.ndarray:
    out = np.empty(np.shape(values) if isinstance(values, tuple) else (), object)
    out[...] = values
    return out


def sizes_of(x: SymbolicTensor) -> np.ndarray | None:
    """The elements of a symbolic integer tensor as ints and `Dim`s, for the shape or index arguments of ops."""
    if x.contents is not None:
        return x.contents
    shape = x._array.shape
    if len(shape) > 1 or any(type(d) is Dim for d in shape):
        return None
    size = shape[0] if shape else 1
    out = np.empty(size, object)
    for position in range(size):
        out[position] = Dim.of(Atom(f"v{position}", (x, None, position)))
    x.contents = out.reshape(shape)
    return x.contents


# Where the user is.

_generated: Callable[[str, int], tuple[str, int] | None] | None = None
"""Finds the user's line behind a line of converted code; AutoGraph sets it."""


def user_line() -> Line | None:
    """The line of the user's code that is running."""
    frame = sys._getframe(1)
    while frame is not None:
        code = frame.f_code
        if not code.co_filename.startswith(FOLDER) and "/malt/" not in code.co_filename:
            file, number = code.co_filename, frame.f_lineno
            if _generated is not None:
                file, number = _generated(file, number) or (file, number)
            return Line(file, number, code.co_name)
        frame = frame.f_back
    return None
