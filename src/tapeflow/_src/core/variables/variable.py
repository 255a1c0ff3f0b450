"""`tf.Variable`: a named place that holds a tensor.

Reading a variable gives the tensor it holds; assigning puts another tensor in its place. Tensors never change, so one
that was read before an assignment keeps the old value.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from tapeflow._src.core import formatting
from tapeflow._src.core.context import context, new_id, quietly
from tapeflow._src.core.convert import convert_to_tensor
from tapeflow._src.core.dtypes import DType, as_dtype
from tapeflow._src.core.export import export
from tapeflow._src.core.indexed_slices import IndexedSlices
from tapeflow._src.core.interpreter import concrete
from tapeflow._src.core.placement.remote import (
    RemoteTensor,
    deep_copy,
    fresh,
    moved_beside,
    placed,
    settled_on_device,
    to_host,
)
from tapeflow._src.core.shapes import TensorShape
from tapeflow._src.core.system.memory import keep_freed_memory
from tapeflow._src.core.tensor import Operators, Reference, Tensor
from tapeflow._src.core.variables import kinds, steps
from tapeflow._src.core.variables.combining import combine
from tapeflow._src.core.variables.creators import Created
from tapeflow._src.core.variables.fitting import assign_traced, check_fits
from tapeflow._src.core.variables.row_updates import RowUpdates
from tapeflow._src.core.variables.steps import Step


@export("Variable")
class Variable(RowUpdates, Operators, metaclass=Created):
    """A tensor that can be assigned to, and that gradient tapes watch automatically.

    >>> v = tf.Variable([1.0, 2.0], name="v")
    >>> v.assign_add([1.0, 1.0])
    <tf.Variable 'v:0' shape=(2,) dtype=float32, numpy=array([2., 3.], dtype=float32)>
    >>> v * 2.0
    <tf.Tensor: shape=(2,), dtype=float32, numpy=array([4., 6.], dtype=float32)>

    Args:
      initial_value: what the variable holds at first: a value, or a function that returns one.
      trainable: whether tapes watch the variable automatically. By default, yes.
      name: a name, which need not be unique.
      dtype: the dtype; by default it follows from the value.
      shape: a shape with unknown dimensions allows assigning values of different shapes.
      constraint: a function an optimizer applies to the value after each update.
      synchronization: when its copies are brought together, in the scope of a strategy of `tf.distribute`.
      aggregation: what becomes there of the values that several replicas assign.
    """

    __slots__ = (
        "__dict__",
        "__weakref__",
        "_constraint",
        "_created",
        "_differentiable",
        "_name",
        "_shape",
        "_trainable",
        "_value",
    )
    __array_priority__ = 100

    # Of `tf.distribute`. Most variables have the usual ones, and hold nothing for it.
    synchronization = kinds.VariableSynchronization.AUTO
    aggregation = kinds.VariableAggregation.NONE
    _has_copies = False

    def __new__(cls, *args: Any, **kwargs: Any) -> Self:
        """In the scope of a strategy, a variable with a copy for each replica."""
        if context.strategy is not None and cls is Variable:
            return context.strategy.new_variable(*args, **kwargs)
        return object.__new__(cls)

    def __init__(
        self,
        initial_value: Any = None,
        trainable: bool | None = None,
        validate_shape: bool = True,
        caching_device: Any = None,
        name: str | None = None,
        variable_def: Any = None,
        dtype: Any = None,
        import_scope: str | None = None,
        constraint: Callable[[Any], Any] | None = None,
        synchronization: Any = None,
        aggregation: Any = None,
        shape: Any = None,
        experimental_enable_variable_lifting: bool = True,
    ) -> None:
        if initial_value is None:
            raise ValueError(
                "A tf.Variable needs an initial_value: a value, or a function that returns one."
            )
        if synchronization is not None or aggregation is not None:
            kind = kinds.checked_kind(synchronization, aggregation, name)
            self.synchronization, self.aggregation = kind
        if context.tracer is not None:
            initial_value = context.tracer.initial_value(self, initial_value, dtype)
        if callable(initial_value) and not hasattr(initial_value, "__tf_tensor__"):
            initial_value = initial_value()
        keep_freed_memory()  # it will be trained
        tensor = concrete(convert_to_tensor(initial_value, dtype))
        self._value = settled_on_device(fresh(placed(tensor)))
        self._shape = TensorShape._of(tensor._array.shape)
        if shape is not None:
            self._shape = TensorShape(shape)
            if not self._shape.is_compatible_with(tensor.shape):
                raise ValueError(
                    f"The initial value's shape ({tensor.shape}) is not compatible with the explicitly supplied "
                    f"`shape` argument ({self._shape})."
                )
        on_read = self.synchronization is kinds.VariableSynchronization.ON_READ
        self._trainable = not on_read if trainable is None else bool(trainable)
        self._constraint = constraint
        self._differentiable = tensor.dtype.is_differentiable
        self._created = new_id()  # tells the order in which variables were made
        self._name = "/".join([*context.name_scopes, name or "Variable"])

    # What it is.

    @property
    def name(self) -> str:
        """The name, with TensorFlow's `:0` at its end."""
        return f"{self._name}:0"

    @property
    def dtype(self) -> DType:
        """The dtype, which never changes."""
        return self._value.dtype

    @property
    def shape(self) -> TensorShape:
        """The static shape."""
        return self._shape

    @property
    def ndim(self) -> int:
        """The number of dimensions."""
        return self._value.ndim

    @property
    def device(self) -> str:
        """The device that holds the value."""
        return self._value.device

    @property
    def trainable(self) -> bool:
        """Whether tapes watch the variable by themselves."""
        return self._trainable

    @property
    def constraint(self) -> Callable[[Any], Any] | None:
        """The function an optimizer applies after each update."""
        return self._constraint

    @property
    def handle(self) -> Variable:
        """The variable itself: there is no resource behind it."""
        return self

    @property
    def _whole(self) -> Variable:
        """What users know the variable by: of a copy for one replica, the variable that it is part of."""
        return self

    def get_shape(self) -> TensorShape:
        """The same as `shape`."""
        return self._shape

    def ref(self) -> Reference:
        """A hashable reference to the variable."""
        return Reference(self)

    # Reading.

    def value(self) -> Tensor:
        """What the variable holds now, as a tensor of its own, which later assignments do not change.

        For a tape that begins after that it is a constant:

        >>> v = tf.Variable(3.0)
        >>> before = v.value()
        >>> with tf.GradientTape() as tape:
        ...     y = v * before
        >>> tape.gradient(y, v).numpy()
        np.float32(3.0)
        """
        if not context.dispatch[1]:
            return self._value.__copy__()
        return self._apart(self._read())

    def read_value(self) -> Tensor:
        """The same as `value()`."""
        return self.value()

    def _read(self) -> Tensor:
        """The tensor inside, which tapes that are recording take for the variable from now on."""
        value = self._value
        for recorder in context.dispatch[1]:
            value = recorder.read(self, value)
        return value

    def _now(self) -> Tensor:
        """The same without telling anybody: in a function that is traced, a symbol."""
        tracer = context.tracer
        return self._value if tracer is None else tracer.held(self)

    _apart: Callable[[Tensor], Tensor]  # `tf.identity`, which is made of what is made of this

    def __tf_tensor__(self, dtype: Any = None, name: str | None = None) -> Tensor:
        value = self._read() if context.dispatch[1] else self._value.__copy__()
        if dtype is not None and value.dtype is not as_dtype(dtype):
            raise ValueError(
                f"Tensor conversion requested dtype {as_dtype(dtype).name} for Variable {self.name!r} with dtype "
                f"{value.dtype.name}. Use tf.cast to change the dtype."
            )
        return value

    def numpy(self) -> Any:
        """The value as a NumPy array of its own."""
        return self._read().numpy()

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        return self._read().__array__(dtype, copy)

    # Assigning.

    def assign(
        self,
        value: Any,
        use_locking: bool = False,
        name: str | None = None,
        read_value: bool = True,
    ) -> Any:
        """Puts `value` in the variable, which must have its shape and dtype.

        >>> v = tf.Variable(1.0)
        >>> before = v.read_value()
        >>> v.assign(2.0).numpy(), before.numpy()
        (np.float32(2.0), np.float32(1.0))
        """
        if context.tracer is not None:
            assign_traced(self, "assign", value)
            return self if read_value else None
        new = self._operand("assign", value)
        new = Tensor(new._array) if type(new) is Tensor else self._in_place(new)
        if context.dispatch[1]:
            self._store_recorded(new, value)
        else:
            steps.store(self, new)
        return self if read_value else None

    def assign_add(
        self,
        delta: Any,
        use_locking: bool = False,
        name: str | None = None,
        read_value: bool = True,
    ) -> Any:
        """Adds `delta`, a tensor or `tf.IndexedSlices`, to the value."""
        if isinstance(delta, IndexedSlices):
            self.scatter_add(delta)
            return self if read_value else None
        if context.tracer is not None:
            assign_traced(self, "assign_add", delta)
            return self if read_value else None
        combine(self, "assign_add", np.add, delta)
        return self if read_value else None

    def assign_sub(
        self,
        delta: Any,
        use_locking: bool = False,
        name: str | None = None,
        read_value: bool = True,
    ) -> Any:
        """Subtracts `delta`, a tensor or `tf.IndexedSlices`, from the value."""
        if isinstance(delta, IndexedSlices):
            self.scatter_sub(delta)
            return self if read_value else None
        if context.tracer is not None:
            assign_traced(self, "assign_sub", delta)
            return self if read_value else None
        combine(self, "assign_sub", np.subtract, delta)
        return self if read_value else None

    def _operand(self, op: str, value: Any) -> Tensor:
        """`value` as a tensor that may go where the variable's value is."""
        if type(value) is not Tensor:
            value = concrete(self._converted(value))
        check_fits(self, op, value)
        return value

    def _in_place(self, value: Tensor) -> Tensor:
        """A value that is on a device, or made by a program, where the variable is, or in its layout."""
        held = steps.settled(self._value)
        return moved_beside(fresh(value), held) if type(held) is RemoteTensor else fresh(value)

    def _converted(self, value: Any) -> Tensor:
        if hasattr(value, "__tf_tensor__"):
            return convert_to_tensor(value)
        return convert_to_tensor(value, self.dtype)

    def _change(self, compute: Callable[[Any], Any], *origins: Any) -> Variable:
        """Replaces the value by what is computed from it, with nobody coming in between.

        Args:
          compute: makes an array of the array that the variable holds.
          origins: what else it is computed from, for `explain`.
        """
        self._exchange(lambda value: Tensor(quietly(compute, value._array)), *origins)
        return self

    def _exchange(self, function: Callable[[Tensor], Tensor], *origins: Any) -> Tensor:
        """The same for a function of the tensor inside. Gives what was there before."""
        active = context.dispatch[1]
        if any(recorder.substitutes for recorder in active):
            value = self._read()
            self.assign(function(value))
            return value
        step = Step()
        with step.lock:
            try:
                value = step.claim_one(self)
                step.commit([moved_beside(function(value), value)])
            except BaseException:
                step.give_up()
                raise
        step.let_others()
        for recorder in active:
            recorder.note("assign", self, origins=(value, *origins))
        return value

    def _store_recorded(self, value: Tensor, *origins: Any) -> None:
        """Puts a tensor in the variable. `origins` are the values it was computed from, for `explain`."""
        active: Any = context.dispatch[1]
        for recorder in active:
            if recorder.substitutes:
                recorder.assign(self, value)
                return
        steps.store(self, value)
        for recorder in active:
            recorder.note("assign", self, origins=origins)

    def is_initialized(self, name: str | None = None) -> Tensor:
        """Always true: a variable has a value from the beginning."""
        return convert_to_tensor(True)

    # Python's own protocols.

    def __len__(self) -> int:
        return len(self._read())

    def __iter__(self) -> Any:
        return iter(self._read())

    def __bool__(self) -> bool:
        return bool(self._read())

    def __int__(self) -> int:
        return int(self._read())

    def __float__(self) -> float:
        return float(self._read())

    def __complex__(self) -> complex:
        return complex(self._read())

    def __index__(self) -> int:
        return self._read().__index__()

    def __format__(self, spec: str) -> str:
        return format(self._read(), spec) if spec else str(self)

    def __hash__(self) -> int:
        raise TypeError("Variable is unhashable. Instead, use variable.ref() as the key.")

    def __copy__(self) -> Variable:
        return self  # a shallow copy shares the value, and the value is all there is

    def __deepcopy__(self, memo: dict[int, Any]) -> Variable:
        copied = Variable(
            deep_copy(self._now()),
            self._trainable,
            constraint=self._constraint,
            shape=self._shape,
        )
        copied._name = self._name
        memo[id(self)] = copied
        return copied

    def __reduce__(self) -> tuple[Any, ...]:
        return _unpickle, (steps.settled(self._value), self._trainable, self._name, self._shape)

    def __repr__(self) -> str:
        array = to_host(self._now())._array
        return formatting.variable_repr(self.name, self._shape, array, self.dtype)

    def _refuse_in_place(self, other: Any) -> Any:
        raise RuntimeError(
            "Variables are not updated by +=, -= and the like, which would silently turn the name into a tensor. Use "
            "variable.assign_add(value), variable.assign_sub(value) or variable.assign(value); or write v = v + x to "
            "get a tensor."
        )

    __iadd__ = __isub__ = __imul__ = __itruediv__ = __ifloordiv__ = __ipow__ = _refuse_in_place

    if TYPE_CHECKING:

        def __getitem__(self, key: Any) -> Any: ...


def _unpickle(value: Tensor, trainable: bool, name: str, shape: TensorShape) -> Variable:
    variable = Variable(value, trainable, shape=shape)
    variable._name = name
    return variable
