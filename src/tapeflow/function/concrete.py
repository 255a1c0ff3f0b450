"""`ConcreteFunction`: one trace of a function, for one kind of arguments."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tapeflow.core import nest
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.dims import Dim, holds
from tapeflow.core.indexed_slices import IndexedSlices
from tapeflow.core.spec import TensorSpec
from tapeflow.core.tensor import Tensor
from tapeflow.core.variable import Variable
from tapeflow.function.graph import Graph
from tapeflow.function.routine import Routine
from tapeflow.function.signature import TensorKey, is_tensor, key_of
from tapeflow.function.tracing import SymbolicTensor, Tracer


class ConcreteFunction:
    """A traced function: a graph, the variables it uses, and the structure of what it takes and returns.

    `tf.function` makes these; `get_concrete_function` hands one out.

    >>> @tf.function
    ... def f(x):
    ...     return x * 2.0
    >>> double = f.get_concrete_function(tf.TensorSpec([None], tf.float32))
    >>> double(tf.constant([1.0, 2.0])).numpy()
    array([2., 4.], dtype=float32)
    """

    def __init__(
        self,
        function: Callable[..., Any],
        name: str,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        *,
        jit_compile: bool | None = None,
        creation_allowed: bool = True,
        hints: Sequence[Any] | None = None,
    ) -> None:
        tracer = Tracer(name)
        tracer.creation_allowed = creation_allowed
        self.name = name
        self._arguments = (args, kwargs)
        leaves = nest.flatten((args, kwargs))
        self._positions = [i for i, leaf in enumerate(leaves) if is_tensor(leaf)]
        actual = leaves if hints is None else hints
        with tracer.whole():
            for i in self._positions:
                leaves[i] = _symbol(tracer, leaves[i], actual[i])
            symbolic_args, symbolic_kwargs = nest.pack_sequence_as((args, kwargs), leaves)
            result = function(*symbolic_args, **symbolic_kwargs)
            self._outputs, tensors = _flat_outputs(result, name)
            symbols = [
                x
                if isinstance(x, SymbolicTensor) and x.interpreter is tracer
                else tracer.capture(x)
                for x in tensors
            ]
        self._result = result
        self.created = tracer.created
        self._routine = Routine(tracer, symbols, jit_compile)
        self._guards = tracer.guards
        self._arity = len(self._positions)
        self.graph: Graph = self._routine.graph
        for symbol, spec in zip(self._routine.arguments, self.inputs, strict=True):
            if spec.name:
                self.graph.notes[symbol.value] = spec.name

    # Calling.

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        leaves = nest.flatten((args, kwargs))
        tensors = [
            x if isinstance(x, Tensor) else convert_to_tensor(x) for x in leaves if _passed(x)
        ]
        if len(tensors) != self._arity:
            raise TypeError(
                f"{self.name}: this concrete function takes {self._arity} tensors, got {len(tensors)}: {args!r} "
                f"{kwargs!r}"
            )
        for spec, tensor in zip(self.inputs, tensors, strict=True):
            if not TensorSpec(spec.shape, spec.dtype).is_compatible_with(tensor):
                raise TypeError(f"{self.name}: expected {spec}, got {tensor!r}")
        return self.call_flat(tensors)

    def call_flat(self, tensors: Sequence[Tensor]) -> Any:
        """The results for tensor arguments, in the order of the signature."""
        return self._outputs(self._routine.call(tensors))

    def fits(self, leaves: Sequence[Any]) -> bool:
        """Whether the answers this trace relies on hold for the sizes of these arguments."""
        if not self._guards:
            return True
        tensors = [leaves[i] for i in self._positions]
        sizes: dict[Any, int] = {}
        for symbol, tensor in zip(self._routine.arguments, tensors, strict=True):
            if not isinstance(tensor, Tensor):
                return True
            for mine, size in zip(symbol._array.shape, tensor._array.shape, strict=True):
                if type(mine) is Dim and isinstance(size, int):
                    for atom in mine.atoms:
                        sizes[atom] = size
        return all(holds(guard, sizes.get) for guard in self._guards)

    # What it is.

    @property
    def inputs(self) -> list[TensorSpec]:
        """The tensors it takes."""
        leaves = nest.flatten(self._arguments)
        names = [
            getattr(leaves[i], "name", None) if isinstance(leaves[i], TensorSpec) else None
            for i in self._positions
        ]
        return [
            TensorSpec(symbol.shape, symbol.dtype, name)
            for symbol, name in zip(self._routine.arguments, names, strict=True)
        ]

    @property
    def outputs(self) -> list[TensorSpec]:
        """The tensors it returns."""
        return [TensorSpec(x.shape, x.dtype) for x in self._routine.symbols]

    @property
    def structured_input_signature(self) -> Any:
        """The arguments, with a `tf.TensorSpec` for each tensor."""
        leaves = nest.flatten(self._arguments)
        for i, spec in zip(self._positions, self.inputs, strict=True):
            leaves[i] = spec
        return nest.pack_sequence_as(self._arguments, leaves)

    @property
    def structured_outputs(self) -> Any:
        """What it returns, with a `tf.TensorSpec` for each tensor."""
        return self._outputs(self.outputs)

    @property
    def variables(self) -> tuple[Variable, ...]:
        """The variables it uses."""
        return tuple(self._routine.variables)

    @property
    def trainable_variables(self) -> tuple[Variable, ...]:
        """Those of them that are trainable."""
        return tuple(v for v in self._routine.variables if v.trainable)

    @property
    def captured_inputs(self) -> list[Any]:
        """Variables and tensors that it takes from around it."""
        return [*self._routine.variables, *self._routine.captured]

    def pretty_printed_signature(self, verbose: bool = True) -> str:
        """The signature as text.

        >>> f = tf.function(lambda x: x + 1.0)
        >>> print(f.get_concrete_function(tf.constant(1.0)).pretty_printed_signature())
        <lambda>(x: TensorSpec(shape=(), dtype=tf.float32, name=None)) -> TensorSpec(shape=(), dtype=tf.float32, name=None)
        """
        return self.text

    text = ""

    def keys(self) -> list[Any]:
        """The key of each argument."""
        return [key_of(leaf) for leaf in nest.flatten(self._arguments)]

    def report(self) -> str:
        """Which executor runs it, and what it was chosen from."""
        return self._routine.report()

    def __repr__(self) -> str:
        return f"<ConcreteFunction {self.text or self.name}>"


def _symbol(tracer: Tracer, leaf: Any, actual: Any) -> Tensor:
    key = key_of(leaf)
    assert isinstance(key, TensorKey)
    if key.shape is None:
        if not isinstance(actual, Tensor):
            raise ValueError(
                "tf.function: a TensorSpec of unknown rank needs a call with a tensor to be traced: the ops inside "
                "depend on the rank."
            )
        shape: tuple[Any, ...] = (None,) * actual._array.ndim
    else:
        shape = key.shape
    sizes = actual._array.shape if isinstance(actual, Tensor) else (None,) * len(shape)
    hints = [
        _hint(number, axis, size) if d is None else None
        for number, (axis, (d, size)) in enumerate(
            enumerate(zip(shape, sizes, strict=True)), len(tracer.arguments) * 3
        )
    ]
    return tracer.argument(shape, key.dtype, hints)


def _hint(number: int, axis: int, size: Any) -> int:
    """A typical size: that of the call, or a made-up one that is unlikely to be equal to another."""
    return size if isinstance(size, int) else _PRIMES[number % len(_PRIMES)]


_PRIMES = (7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47)


def _passed(leaf: Any) -> bool:
    """Whether an argument of a concrete function stands for a tensor: Python values were part of the trace."""
    return isinstance(leaf, (Tensor, Variable)) or hasattr(leaf, "__array__")


def _flat_outputs(result: Any, name: str) -> tuple[Callable[[Sequence[Any]], Any], list[Tensor]]:
    """The tensors of a result, and a function that puts others in their place."""
    tensors: list[Tensor] = []
    slots: list[Callable[[Sequence[Any]], Any]] = []

    def add(value: Any) -> int:
        tensors.append(value)
        return len(tensors) - 1

    for leaf in nest.flatten(result):
        if leaf is None:
            slots.append(lambda new: None)
        elif isinstance(leaf, IndexedSlices):
            at = [add(convert_to_tensor(x)) for x in (leaf.values, leaf.indices)]
            shape = leaf.dense_shape
            if shape is not None:
                at.append(add(convert_to_tensor(shape)))
            slots.append(lambda new, at=at: IndexedSlices(*[new[i] for i in at]))
        else:
            i = add(_as_tensor(leaf, name))
            slots.append(lambda new, i=i: new[i])
    if (
        not nest.is_nested(result)
        and len(tensors) == 1
        and slots
        and not isinstance(result, IndexedSlices)
    ):
        return (lambda new: new[0]), tensors
    if result is None:
        return (lambda new: None), tensors
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
