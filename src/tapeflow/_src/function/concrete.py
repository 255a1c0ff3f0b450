"""`ConcreteFunction`: one trace of a function, for one kind of arguments."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import tapeflow._src.function.control_flow.statements  # noqa: F401  # what a tracer does with branches and loops
from tapeflow._src.core import nest
from tapeflow._src.core.composites.composite import CompositeTensor
from tapeflow._src.core.context import context
from tapeflow._src.core.convert import convert_to_tensor
from tapeflow._src.core.shapes import TensorShape
from tapeflow._src.core.sizes.dims import atoms_of
from tapeflow._src.core.sizes.extremes import hint_of
from tapeflow._src.core.sizes.guards import Guard, failing
from tapeflow._src.core.spec import TensorSpec
from tapeflow._src.core.system.timeline import span
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.core.variables import steps
from tapeflow._src.core.variables.variable import Variable
from tapeflow._src.function import description
from tapeflow._src.function.argument_names import names_by_argument, names_of_leaves, told_apart
from tapeflow._src.function.atomic import AtomicFunction
from tapeflow._src.function.binding import Binding
from tapeflow._src.function.graph_function import GraphFunction, symbol_of
from tapeflow._src.function.outer_sizes import sizes_in
from tapeflow._src.function.signature import (
    ObjectKey,
    Signature,
    TensorKey,
    VariableKey,
    composed,
    flattened,
    form_of,
    packed,
)
from tapeflow._src.function.trace_types import SAID, SpecKey
from tapeflow._src.function.tracing.symbols import SymbolicTensor
from tapeflow._src.function.tracing.tracer import Tracer, tracing_lock
from tapeflow._src.graph.graph import Graph


class ConcreteFunction:
    """A traced function: a graph, the variables it uses, and the structure of what it takes and returns.

    `tf.function` makes these; `get_concrete_function` hands one out.

    >>> @tf.function
    ... def f(x):
    ...     return x * 2.0
    >>> double = f.get_concrete_function(tf.TensorSpec([None], tf.float32))
    >>> double(tf.constant([1.0, 2.0])).numpy()
    array([2., 4.], dtype=float32)

    Args:
      function: what to trace.
      signature: its parameters.
      structure: the arguments, positional ones and keywords, in canonical form.
      leaves: the arguments one by one.
      keys: for each of them what to trace it for.
      jit_compile: which engine to use.
      creation_allowed: whether it may make variables.
      by_identity: whether the variables among the arguments are these alone, and not any of their kind.
    """

    def __init__(
        self,
        function: Callable[..., Any],
        signature: Signature,
        structure: tuple[Any, Any],
        leaves: Sequence[Any],
        keys: Sequence[Any],
        *,
        jit_compile: bool | None = None,
        creation_allowed: bool = True,
        by_identity: bool = False,
    ) -> None:
        self.name = signature.name
        self._signature = signature
        self._keys = list(keys)
        self._positions = [i for i, key in enumerate(keys) if type(key) is TensorKey]
        self._variable_positions = [i for i, key in enumerate(keys) if type(key) is VariableKey]
        tracer = Tracer(signature.name)
        tracer.creation_allowed = creation_allowed
        tracer.enclosing = outside = context.tracer
        tracer.given_variables = bool(self._variable_positions)
        self._leaf_names = names_of_leaves(signature, structure)
        self._argument_names = names_by_argument(signature, structure)
        doubles = list(leaves) if by_identity else _stand_ins(leaves)
        given = [k.traced(x) if type(k) in SAID else x for k, x in zip(keys, doubles, strict=True)]
        around = contextlib.nullcontext() if outside is None else outside.suspended()
        with span("trace", f"trace {signature.name}"), tracing_lock, around, tracer.whole():
            for i in self._positions:
                given[i] = argument_symbol(tracer, keys[i], leaves[i])
                tracer.graph.notes[given[i].value] = keys[i].name or self._leaf_names[i]
            args, kwargs = packed(structure, given)
            before = _parameters(signature, args, kwargs)
            result = function(*args, **kwargs)
            _check_unchanged(signature, before, _parameters(signature, args, kwargs))
            self._outputs, tensors = _flat_outputs(result, self.name)
            symbols = [symbol_of(tracer, x) for x in tensors]
        self._outer_symbols = [
            x for x, _ in tracer.captures.values() if isinstance(x, SymbolicTensor)
        ]
        tracer.actual.clear()
        if not self._outer_symbols:
            tracer.enclosing = None
        self._created = tracer.created
        self._graph_function = GraphFunction(tracer, symbols, jit_compile)
        self._guards = _own_guards(tracer)
        self._variants: list[ConcreteFunction] = []
        if self._guards:  # for other sizes it is traced again
            self._function = function
            self._options = {"jit_compile": jit_compile, "by_identity": by_identity}
        self.graph: Graph = self._graph_function.graph
        self._describe(structure, keys)
        self._binding = Binding(
            signature,
            self._arguments,
            form_of(structure),
            self._keys,
            self._signature_names(),
            lambda: self.pretty_printed_signature(verbose=False),
        )
        self._substitute(leaves, doubles, by_identity)

    def _describe(self, structure: tuple[Any, Any], keys: Sequence[Any]) -> None:
        """Keeps what the arguments were like, without keeping objects alive."""
        symbols = iter(self._graph_function.arguments)
        described: list[Any] = []
        self.inputs: list[TensorSpec] = []
        for key, leaf, name in zip(keys, flattened(structure), self._leaf_names, strict=True):
            if type(key) is TensorKey:
                symbol = next(symbols)
                spec = TensorSpec(symbol.shape, symbol.dtype, key.name or name)
                self.inputs.append(spec)
                described.append(spec)
            else:
                leaf = key.spec if type(key) is SpecKey else leaf
                described.append(key if isinstance(key, (VariableKey, ObjectKey)) else leaf)
        self._arguments = packed(structure, described)

    def _signature_names(self) -> list[str]:
        """A name for each tensor, in a signature of a saved model: that of its spec, or of its argument.

        A name that is taken gets a number, as in TensorFlow: x, x_1, x_2.
        """
        given = zip(self._keys, self._argument_names, strict=True)
        return told_apart([key.name or name for key, name in given if type(key) is TensorKey])

    def _substitute(
        self, leaves: Sequence[Any], stand_ins: Sequence[Any], by_identity: bool
    ) -> None:
        """Finds out which of the graph function's variables are arguments, and which are its own."""
        numbers = {id(stand_ins[i]): i for i in reversed(self._variable_positions)}
        own = [v for v in self._graph_function.variables if id(v) not in numbers]
        # For each variable of the graph function the position of an argument, or the variable itself.
        self._slots = [numbers.get(id(v), v) for v in self._graph_function.variables]
        self._only: list[Variable] | None = None
        if by_identity:
            self._only = [leaves[i] for i in self._variable_positions]
        self._own = own
        self._own_ids = {id(v) for v in own}
        if not by_identity:
            for i in self._variable_positions:  # a trace keeps no values alive
                held = steps.settled(stand_ins[i]._value)._array
                stand_ins[i]._value = Tensor(np.broadcast_to(np.zeros((), held.dtype), held.shape))

    # Calling.

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """The results. Python values may be left out: they are part of the trace."""
        leaves = self._binding.leaves(args, kwargs)
        return (self._variant(leaves) if self._guards else self)._call_leaves(leaves)

    def _variant(self, leaves: list[Any]) -> ConcreteFunction:
        """The trace for sizes like these: this one, or one that is made for them."""
        if self._failing(leaves) is None:
            return self
        with tracing_lock:
            known = next((v for v in self._variants if v._failing(leaves) is None), None)
            if known is not None:
                return known
            given = [
                x if x is not None else y.value if isinstance(y, ObjectKey) else y
                for x, y in zip(leaves, flattened(self._arguments), strict=True)
            ]
            variant = ConcreteFunction(
                self._function,
                self._signature,
                self._arguments,
                given,
                self._keys,
                creation_allowed=False,
                **self._options,
            )
            self._variants.append(variant)
        return variant

    def _call_leaves(self, leaves: Sequence[Any]) -> Any:
        """The results for arguments one by one."""
        tensors = [leaves[i] for i in self._positions]
        if not self._variable_positions or self._only is not None:
            return self._outputs(self._graph_function.call(tensors))
        variables = [leaves[s] if isinstance(s, int) else s for s in self._slots]
        return self._outputs(self._graph_function.call(tensors, variables))

    def _call_tensors(self, tensors: Sequence[Tensor]) -> Any:
        """The same for a function all of whose arguments are tensors."""
        return self._outputs(self._graph_function.call(tensors))

    @property
    def _is_plain(self) -> bool:
        """Whether it depends on nothing but the shapes and dtypes of tensors."""
        return not self._outer_symbols and len(self._positions) == len(self._keys)

    def _mixes(self, leaves: Sequence[Any]) -> bool:
        """Whether one of these variables is also used as one of its own."""
        return any(id(leaves[i]) in self._own_ids for i in self._variable_positions)

    def _fits(self, leaves: Sequence[Any]) -> bool:
        """Whether the answers this trace relies on hold for these arguments."""
        for n, i in enumerate(self._variable_positions):
            if leaves[i] is not self._only[n] if self._only else id(leaves[i]) in self._own_ids:
                return False
        for x in self._outer_symbols:
            if context.tracer is None or not context.tracer.sees(x.interpreter):
                return False
        return not self._guards or self._failing(leaves) is None

    def _failing(self, leaves: Sequence[Any]) -> Guard | None:
        """The first of the answers that does not hold for these arguments."""
        tensors = [leaves[i] for i in self._positions]
        if not all(isinstance(x, Tensor) for x in tensors):  # sizes are not given yet
            return None
        return failing(self._guards, sizes_in(self._graph_function.arguments, tensors))

    _alternative: Callable[[], None] | None = None

    def add_to_graph(self, g: Any = None, overwrite: bool = False) -> None:
        """Puts it in the place of a function of which it is the implementation for CPUs; else nothing is to be done."""
        if self._alternative is not None:
            self._alternative()

    def add_gradient_functions_to_graph(self, g: Any = None) -> None:
        """Nothing: derivatives are traced when somebody asks for them."""

    # What it is.

    @property
    def outputs(self) -> list[TensorSpec]:
        """The tensors it returns."""
        return [TensorSpec(x.shape, x.dtype) for x in self._graph_function.symbols]

    @property
    def structured_input_signature(self) -> Any:
        """The arguments, with a `tf.TensorSpec` for each tensor."""
        return self._arguments

    function_type = property(description.described)
    inference_fn = property(AtomicFunction)

    @property
    def structured_outputs(self) -> Any:
        """What it returns, with a `tf.TensorSpec` for each tensor."""
        return self._outputs(self.outputs)

    @property
    def output_shapes(self) -> Any:
        """The shapes of what it returns."""
        return nest.map_structure(
            lambda x: getattr(x, "shape", TensorShape(None)), self.structured_outputs
        )

    @property
    def output_dtypes(self) -> Any:
        """The dtypes of what it returns."""
        return nest.map_structure(lambda x: getattr(x, "dtype", None), self.structured_outputs)

    @property
    def variables(self) -> tuple[Variable, ...]:
        """The variables it uses besides its arguments."""
        return tuple(self._own)

    @property
    def trainable_variables(self) -> tuple[Variable, ...]:
        """Those of them that are trainable."""
        return tuple(v for v in self._own if v.trainable)

    @property
    def captured_inputs(self) -> list[Any]:
        """Variables and tensors that it takes from around it."""
        return [*self._own, *self._graph_function.captured]

    def pretty_printed_signature(self, verbose: bool = True) -> str:
        """The signature as text.

        >>> f = tf.function(lambda x: x + 1.0)
        >>> print(f.get_concrete_function(tf.constant(1.0)).pretty_printed_signature())
        Input Parameters:
          x (POSITIONAL_OR_KEYWORD): TensorSpec(shape=(), dtype=tf.float32, name=None)
        Output Type:
          TensorSpec(shape=(), dtype=tf.float32, name=None)
        Captures:
          None
        """
        if not verbose:
            return str(self.function_type)
        return description.long(self.function_type, self._own)

    def report(self) -> str:
        """Which executor runs it, and what it was chosen from."""
        return self._graph_function.report()

    def __repr__(self) -> str:
        return f"<ConcreteFunction {self.pretty_printed_signature(verbose=False)} at {id(self):#x}>"

    def __str__(self) -> str:
        return f"ConcreteFunction {self.pretty_printed_signature()}"


def _stand_ins(leaves: Sequence[Any]) -> list[Any]:
    """The arguments with another variable for each variable: what is traced on it holds for any of its kind."""
    made: dict[int, Variable] = {}
    found: list[Any] = []
    for leaf in leaves:
        if isinstance(leaf, Variable) and not leaf._has_copies:
            if id(leaf) not in made:
                made[id(leaf)] = _stand_in(leaf)
            found.append(made[id(leaf)])
        else:
            found.append(leaf)
    return found


def _stand_in(variable: Variable) -> Variable:
    new = object.__new__(type(variable))
    for name in Variable.__slots__:
        if not name.startswith("__"):
            setattr(new, name, getattr(variable, name))
    vars(new).update(vars(variable))
    return new


def _parameters(signature: Signature, args: Any, kwargs: Any) -> dict[str, tuple[Any, list[Any]]]:
    """For each argument its form and its leaves."""
    named = [*zip(signature.names(len(args)), args, strict=True), *kwargs.items()]
    return {name: (form_of(value), nest.flatten(value)) for name, value in named}


def _check_unchanged(signature: Signature, before: Any, after: Any) -> None:
    """A function gets copies of lists and dicts: what it does to them would be lost."""
    changed = [
        name
        for name, (form, leaves) in before.items()
        if form != after[name][0]
        or any(x is not y for x, y in zip(leaves, after[name][1], strict=True))
    ]
    if changed:
        raise ValueError(
            f"{signature.name}{signature.parameters} should not modify its Python input arguments. Modifying a copy is "
            f"allowed. The following parameter(s) were modified: {', '.join(changed)}"
        )


def argument_symbol(tracer: Tracer, key: TensorKey, actual: Any) -> Tensor:
    if key.shape is None:
        if not isinstance(actual, Tensor):
            raise ValueError(
                "tf.function: a TensorSpec of unknown rank needs a call with a tensor to be traced: the ops inside "
                "depend on the rank."
            )
        shape: tuple[Any, ...] = (None,) * actual.ndim
    else:
        shape = key.shape
    sizes = actual._array.shape if isinstance(actual, Tensor) else (None,) * len(shape)
    symbol = tracer.argument(shape, key.dtype, [_hint(size) for size in sizes])
    if isinstance(actual, Tensor) and not actual.symbolic:
        tracer.actual[symbol.value] = actual
    return symbol


def _hint(size: Any) -> tuple[int | None, bool]:
    """A typical size: that of the call, or a made-up one, the same for all so that those that must be equal are."""
    if size is None:
        return _MADE_UP, True
    return hint_of(size), any(atom.made_up for atom in atoms_of(size))


def _own_guards(tracer: Tracer) -> tuple[Guard, ...]:
    """The guards of a trace that are about its own arguments. Others are about those of the function around it."""

    def own(guard: Guard) -> bool:
        tracers = [atom.origin[0].interpreter for x in guard[1:3] for atom in atoms_of(x)]
        return tracer in tracers and all(map(tracer.sees, tracers))

    return tuple(filter(own, tracer.guards.values()))


_MADE_UP = 840
"""Larger than windows and offsets mostly are, so that something is left by slices and convolutions; and a multiple of
what people mostly divide a size by."""


def _flat_outputs(result: Any, name: str) -> tuple[Callable[[Sequence[Any]], Any], list[Tensor]]:
    """The tensors of a result, and a function that puts others in their place."""
    tensors: list[Tensor] = []
    slots: list[Callable[[Sequence[Any]], Any]] = []

    def add(value: Any) -> int:
        tensors.append(value)
        return len(tensors) - 1

    if isinstance(result, TensorShape):
        result = _as_tensor(result.as_list(), name)
    for leaf in nest.flatten(result):
        if leaf is None:
            slots.append(lambda new: None)
        elif isinstance(leaf, CompositeTensor):
            leaf = leaf._convert_variables_to_tensors()
            at = [add(convert_to_tensor(x)) for x in nest.flatten(leaf, expand_composites=True)]
            spec = leaf._type_spec
            slots.append(lambda new, at=at, spec=spec: composed(spec, [new[i] for i in at]))
        else:
            i = add(_as_tensor(leaf, name))
            slots.append(lambda new, i=i: new[i])
    if result is None:
        return (lambda new: None), tensors
    if not nest.is_nested(result):
        return slots[0], tensors
    template = nest.map_structure(lambda _: None, result)
    return (lambda new: nest.pack_sequence_as(template, [slot(new) for slot in slots])), tensors


def _as_tensor(leaf: Any, name: str) -> Tensor:
    try:
        return convert_to_tensor(leaf)
    except (TypeError, ValueError):
        raise TypeError(
            "To be compatible with tf.function, Python functions must return zero or more tensors, numbers or None; "
            f"{name} returned a value of type {type(leaf).__name__}: {leaf!r}"
        ) from None
