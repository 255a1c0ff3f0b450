"""Symbolic tensors: a shape and a dtype, and a value only when the function runs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from tapeflow._src.core.errors import (
    InvalidArgumentError,
    OperatorNotAllowedInGraphError,
    TracingError,
)
from tapeflow._src.core.interpreter import AbstractArray
from tapeflow._src.core.shapes import TensorShape
from tapeflow._src.core.sizes.dims import Atom, Dim, is_dynamic
from tapeflow._src.core.sizes.guards import validity
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.core.variables.variable import Variable
from tapeflow._src.function.tracing.late_ranks import known_length, rank_of
from tapeflow._src.graph.graph import Graph, Value
from tapeflow._src.graph.operations import Operation
from tapeflow._src.primitives.table import Primitive

if TYPE_CHECKING:
    from tapeflow._src.function.tracing.tracer import Tracer

NO_VALUE = (
    "A symbolic tf.Tensor (inside tf.function) has no value yet: it cannot be turned into a NumPy array or a Python "
    "number, nor decide an `if`, a loop or a shape. Use ops on it (tf.cond, tf.where, tf.print, tf.shape), let "
    "AutoGraph convert the code (tf.function does, unless it has autograph=False or cannot find the source), or run "
    "eagerly to look at values: tf.config.run_functions_eagerly(True)."
)


class NoValueError(NotImplementedError, AttributeError):
    """A value was asked for of a symbolic tensor.

    It is an AttributeError, so that `hasattr(x, "numpy")` tells whether there is a value, as in TensorFlow.
    """


class SymbolicTensor(Tensor):
    """A tensor inside a traced function: a shape and a dtype, and a value only when the function runs."""

    __slots__ = ("contents", "interpreter", "value")

    interpreter: Tracer
    symbolic = True

    def __init__(self, value: Value, tracer: Tracer, contents: Any = None) -> None:
        dtype = value.dtype.np_dtype
        self._array: Any = UnknownRank(dtype, value, tracer)
        if value.shape is not None:
            self._array = AbstractArray(value.shape, dtype, NO_VALUE)
        self._id = 0
        self.value = value
        self.interpreter = tracer
        # For small integer tensors: what is known of the elements, ints and `Dim`s.
        self.contents = contents

    @property
    def shape(self) -> TensorShape:
        """The static shape, with None for sizes that are known only when the function runs."""
        if isinstance(self._array, UnknownRank):
            return TensorShape(None)
        return TensorShape._of(tuple([None if is_dynamic(d) else d for d in self._array.shape]))

    @property
    def name(self) -> str:
        """The name of the operation that it is an output of, and which output it is."""
        return self.interpreter.graph.tensor_of(self.value).name

    @property
    def graph(self) -> Graph:
        """The graph it belongs to."""
        return self.interpreter.graph

    @property
    def op(self) -> Operation:
        """The operation that it is an output of."""
        return self.interpreter.graph.operation_of(self.value)

    def consumers(self) -> list[Operation]:
        """The operations so far that it is an input of."""
        return self.interpreter.graph.tensor_of(self.value).consumers()

    def _elements(self) -> Any:
        found = sizes_of(self)
        if found is None and len(self._array.shape) == 1 and self.dtype.is_integer:
            # A shape of unknown length: the trace is for its length in the call that is traced for.
            found = elements_of(self, known_length(self._array.shape[0]))
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
                d if not is_dynamic(d) or given is None else given
                for d, given in zip(held, dims, strict=True)
            )
        self.value.shape = dims
        self._array = AbstractArray(dims, self._array.dtype, NO_VALUE)
        self.interpreter._name_sizes(self)

    @property
    def numpy(self) -> NoReturn:  # pyright: ignore[reportIncompatibleMethodOverride]
        """Symbolic tensors have no value."""
        raise NoValueError(NO_VALUE)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NoReturn:
        raise NoValueError(f"Cannot convert a symbolic tf.Tensor to a NumPy array. {NO_VALUE}")

    def __len__(self) -> int:
        shape = self._array.shape
        if shape and is_dynamic(shape[0]):
            raise TypeError(
                f"len() of a symbolic tensor of shape {self.shape} is known only when the function runs. Use "
                "tf.shape(x)[0]."
            )
        return super().__len__()

    def __iter__(self) -> Iterator[Tensor]:
        shape = self._array.shape
        if shape and is_dynamic(shape[0]):
            raise OperatorNotAllowedInGraphError(
                f"Iterating over a symbolic tensor of shape {self.shape} needs AutoGraph, because the number of turns "
                "is known only when the function runs. Use tf.map_fn or tf.while_loop, or leave autograph on."
            )
        return super().__iter__()

    def __bool__(self) -> NoReturn:
        raise OperatorNotAllowedInGraphError(
            f"Using a symbolic tf.Tensor as a Python bool is not allowed. {NO_VALUE}"
        )

    def __format__(self, spec: str) -> str:
        return repr(self)

    def __copy__(self) -> Tensor:
        return SymbolicTensor(self.value, self.interpreter, self.contents)

    def __deepcopy__(self, memo: dict[int, Any]) -> Tensor:
        return self.__copy__()

    def __reduce__(self) -> NoReturn:
        raise TypeError(NO_VALUE)

    def __repr__(self) -> str:
        if self.shape.rank is None:
            return f"<tf.Tensor 'symbolic' shape=<unknown> dtype={self.dtype.name}>"
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

    def __init__(self, dtype: Any, value: Value, tracer: Tracer) -> None:
        self.dtype = dtype
        self._value, self._tracer = value, tracer

    @property
    def shape(self) -> Any:
        """Of the rank that the tensor has in the call that is traced for; an UnknownRankError if there is none."""
        if self._value.shape is None:
            rank = rank_of(self._value, self._tracer)
            symbol = SymbolicTensor(self._value, self._tracer)
            symbol.set_shape([None] * rank)
        return self._value.shape

    @property
    def ndim(self) -> int:
        """The rank."""
        return len(self.shape)

    @property
    def size(self) -> Any:
        """The number of elements."""
        return AbstractArray(self.shape, self.dtype, NO_VALUE).size


def sizes_of(x: SymbolicTensor) -> np.ndarray | None:
    """The elements of a symbolic integer tensor as ints and `Dim`s, for the shape or index arguments of ops."""
    if x.contents is not None:
        return x.contents
    shape = x._array.shape
    if len(shape) > 1 or is_dynamic(shape):
        return None
    return elements_of(x, shape[0] if shape else 1)


def elements_of(x: SymbolicTensor, size: int) -> np.ndarray:
    """The elements of a vector of a length, or of a scalar, as sizes that follow from values."""
    shape = (size,) if x._array.shape else ()
    out = np.empty(size, object)
    for position in range(size):
        out[position] = Dim.of(Atom(f"v{position}", (x, None, position)))
    x.contents = out.reshape(shape)
    return x.contents


def new_input(tracer: Tracer, shape: Any, dtype: Any) -> SymbolicTensor:
    """A symbol that no node makes. The graph is told at once, so that it has one name from beginning to end."""
    symbol = SymbolicTensor(Value(shape, dtype), tracer)
    tracer.graph.inputs.append(symbol.value)
    return symbol


def result_of(primitive: Primitive, values: Sequence[Value], attrs: dict[str, Any]) -> Any:
    """What a primitive returns. A mistake found while tracing is a ValueError too, as in TensorFlow."""
    try:
        with validity():
            return primitive.result(*[v.spec for v in values], **attrs)
    except InvalidArgumentError as error:
        if isinstance(error, (ValueError, TypeError)):
            raise
        raise TracingError(error.node_def, error.op, error.message) from None
