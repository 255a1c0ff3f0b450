"""`tf.Variable`: a named place that holds a tensor.

Reading a variable gives the tensor it holds; assigning puts another tensor in its place. Tensors never change, so one
that was read before an assignment keeps the old value.
"""

from __future__ import annotations

from collections.abc import Callable
from sys import getrefcount
from typing import TYPE_CHECKING, Any

import numpy as np

from tapeflow.core import formatting
from tapeflow.core.context import context, new_id
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.dtypes import DType, as_dtype
from tapeflow.core.errors import invalid
from tapeflow.core.indexed_slices import IndexedSlices
from tapeflow.core.interpreter import concrete
from tapeflow.core.rows import INDEX_DTYPES, add_rows, places
from tapeflow.core.shapes import TensorShape
from tapeflow.core.tensor import Operators, Reference, Tensor

_WORTH_REUSING = 2**14
_ONLY_HERE = 2  # the variable's reference, and the one `getrefcount` holds while it counts


class Variable(Operators):
    """A tensor that can be assigned to, and that gradient tapes watch by themselves.

    >>> v = tf.Variable([1.0, 2.0], name="v")
    >>> v.assign_add([1.0, 1.0])
    <tf.Variable 'v:0' shape=(2,) dtype=float32, numpy=array([2., 3.], dtype=float32)>
    >>> v * 2.0
    <tf.Tensor: shape=(2,), dtype=float32, numpy=array([4., 6.], dtype=float32)>

    Args:
      initial_value: what the variable holds at first: a value, or a function that returns one.
      trainable: whether tapes watch the variable by themselves. By default, yes.
      name: a name, which need not be unique.
      dtype: the dtype; by default it follows from the value.
      shape: a shape with unknown dimensions allows assigning values of different shapes.
      constraint: a function an optimizer applies to the value after each update.
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
        if context.tracer is not None:
            initial_value = context.tracer.initial_value(self, initial_value, dtype)
        if callable(initial_value) and not hasattr(initial_value, "__tf_tensor__"):
            initial_value = initial_value()
        tensor = concrete(convert_to_tensor(initial_value, dtype))
        self._value = Tensor(tensor._array)
        self._shape = TensorShape._of(tensor._array.shape)
        if shape is not None:
            self._shape = TensorShape(shape)
            if not self._shape.is_compatible_with(tensor.shape):
                raise ValueError(
                    f"The initial value's shape ({tensor.shape}) is not compatible with the explicitly supplied "
                    f"`shape` argument ({self._shape})."
                )
        self._trainable = True if trainable is None else bool(trainable)
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
        if not context.hot[1]:
            return self._value.__copy__()
        return self._apart(self._read())

    def read_value(self) -> Tensor:
        """The same as `value()`."""
        return self.value()

    def _read(self) -> Tensor:
        """The tensor inside, which tapes that are recording take for the variable from now on."""
        for recorder in context.hot[1]:
            recorder.read(self)
        return self._value

    _apart: Callable[[Tensor], Tensor]  # `tf.identity`, which is made of what is made of this

    def __tf_tensor__(self, dtype: Any = None, name: str | None = None) -> Tensor:
        value = self._read() if context.hot[1] else self._value.__copy__()
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
            return self._assign_traced("assign", value, read_value)
        self._replace(self._operand("assign", value), value)
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
            return self._assign_traced("assign_add", delta, read_value)
        self._replace(self._combine("assign_add", np.add, delta), self._value, delta)
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
            return self._assign_traced("assign_sub", delta, read_value)
        self._replace(self._combine("assign_sub", np.subtract, delta), self._value, delta)
        return self if read_value else None

    def _assign_traced(self, op: str, value: Any, read_value: bool) -> Any:
        """Assigns inside `tf.function`, where nothing has a value yet."""
        value = self._converted(value)
        self._check_fits(op, value)
        if op != "assign":
            now = self._read()
            value = now + value if op == "assign_add" else now - value
        context.tracer.assign(self, value)
        return self if read_value else None

    def _operand(self, op: str, value: Any) -> Any:
        """`value` as an array that may go where the variable's value is."""
        if type(value) is not Tensor:
            value = concrete(self._converted(value))
        self._check_fits(op, value)
        return value._array

    def _check_fits(self, op: str, value: Tensor) -> None:
        array = value._array
        held = self._value._array
        if array.dtype is not held.dtype and array.dtype != held.dtype:
            raise ValueError(
                f"{op}: the variable {self.name!r} has dtype {self.dtype.name}, and the value has dtype "
                f"{value.dtype.name}. Use tf.cast to change it."
            )
        if array.shape != held.shape and not self._shape.is_compatible_with(array.shape):
            message = (
                f"{op}: Cannot assign value to variable {self.name!r}: Shape mismatch. The variable shape "
                f"{self._shape}, and the assigned value shape {TensorShape._of(array.shape)} are incompatible."
            )
            raise ValueError(message) if op == "assign" else invalid(message)

    def _converted(self, value: Any) -> Tensor:
        if hasattr(value, "__tf_tensor__"):
            return convert_to_tensor(value)
        return convert_to_tensor(value, self.dtype)

    def _combine(self, op: str, ufunc: Any, delta: Any) -> Any:
        array = self._operand(op, delta)
        held = self._value._array
        # Where nothing but this variable can see the old value, it is overwritten: a large one costs as much to
        # allocate as to compute. Whoever has read it, a tape or a view of it holds a reference, and keeps it as it is.
        if (
            array.shape == held.shape
            and held.nbytes >= _WORTH_REUSING
            and getrefcount(self._value) == _ONLY_HERE
            and getrefcount(held) == _ONLY_HERE + 1  # this function's `held` is one more
            and held.flags.owndata
            and held.flags.writeable
        ):
            return context.hot[0](ufunc, held, array, held)
        return context.hot[0](ufunc, held, array)

    def _replace(self, array: Any, *origins: Any) -> Variable:
        """Puts `array` in the variable. `origins` are the values it was computed from, for `explain`."""
        self._value = Tensor(array)
        for recorder in context.hot[1]:
            recorder.note("assign", self, origins=origins)
        return self

    # Updating rows, and elements by their coordinates.

    def _scatter(self, op: str, combine: Any, slices: IndexedSlices) -> Variable:
        if not isinstance(slices, IndexedSlices):
            raise TypeError(f"{op} takes tf.IndexedSlices, got {slices!r}")
        rows = convert_to_tensor(slices.indices)
        values = convert_to_tensor(slices.values, self.dtype)
        if context.tracer is not None:
            return self._scatter_traced(op, rows[..., None], values)
        rows = np.asarray(rows._array)
        if not values.ndim:  # one number for all the rows
            shape = rows.shape + self._value._array.shape[1:]
            values = Tensor(np.broadcast_to(values._array, shape))
        return self._scatter_nd(op, combine, rows[..., None], values)

    def _scatter_traced(self, op: str, indices: Any, updates: Any) -> Variable:
        """Updates rows or elements inside `tf.function`, by the ops for tensors."""
        from tapeflow.ops import gathering, scattering

        kind = op.rsplit("_", 1)[1]
        indices, updates = convert_to_tensor(indices), convert_to_tensor(updates, self.dtype)
        now = self._read()
        if kind in ("mul", "div"):
            rows = gathering.gather_nd(now, indices)
            updates = rows * updates if kind == "mul" else rows / updates
            kind = "update"
        elif not updates.ndim:  # one number for all the rows
            updates = gathering.gather_nd(now, indices) * 0 + updates
        named = (
            scattering.tensor_scatter_nd_update
            if kind == "update"
            else getattr(scattering, f"tensor_scatter_nd_{kind}")
        )
        context.tracer.assign(self, named(now, indices, updates))
        return self

    def _scatter_nd(self, op: str, combine: Any, indices: Any, updates: Any) -> Variable:
        """Puts `updates` at coordinates, by `combine(rows of a copy, row numbers, updates)`."""
        if context.tracer is not None:
            return self._scatter_traced(op, indices, updates)
        indices = np.asarray(convert_to_tensor(indices)._array)
        values = convert_to_tensor(updates, self.dtype)._array
        held = self._value._array
        if indices.dtype not in INDEX_DTYPES:
            raise invalid(f"{op}: indices must be int32 or int64, got {indices.dtype}")
        depth = indices.shape[-1] if indices.ndim else held.ndim + 1
        if depth > held.ndim:
            raise invalid(
                f"{op}: the last dimension of indices {list(indices.shape)} counts coordinates, and the variable "
                f"{self.name!r} has shape {list(held.shape)}"
            )
        wanted = indices.shape[:-1] + held.shape[depth:]
        if values.shape != wanted:
            raise invalid(
                f"{op}: updates must have shape {list(wanted)} for these indices into the variable {self.name!r} of "
                f"shape {list(held.shape)}, got {list(values.shape)}"
            )
        rows, table = places(op, indices, held.shape)
        array = np.array(held, order="C")  # so that the table of rows is a view of it
        context.hot[0](combine, array.reshape(table), rows, values.reshape(rows.size, *table[1:]))
        return self._replace(array, self._value, updates)

    def scatter_add(
        self, sparse_delta: IndexedSlices, use_locking: bool = False, name: str | None = None
    ) -> Variable:
        """Adds rows; rows that repeat add up."""
        return self._scatter("scatter_add", add_rows, sparse_delta)

    def scatter_sub(
        self, sparse_delta: IndexedSlices, use_locking: bool = False, name: str | None = None
    ) -> Variable:
        """Subtracts rows."""
        return self._scatter("scatter_sub", _subtract_rows, sparse_delta)

    def scatter_mul(
        self, sparse_delta: IndexedSlices, use_locking: bool = False, name: str | None = None
    ) -> Variable:
        """Multiplies rows."""
        return self._scatter("scatter_mul", np.multiply.at, sparse_delta)

    def scatter_div(
        self, sparse_delta: IndexedSlices, use_locking: bool = False, name: str | None = None
    ) -> Variable:
        """Divides rows."""
        return self._scatter("scatter_div", np.divide.at, sparse_delta)

    def scatter_max(
        self, sparse_delta: IndexedSlices, use_locking: bool = False, name: str | None = None
    ) -> Variable:
        """Keeps the larger of the rows and the given ones."""
        return self._scatter("scatter_max", np.maximum.at, sparse_delta)

    def scatter_min(
        self, sparse_delta: IndexedSlices, use_locking: bool = False, name: str | None = None
    ) -> Variable:
        """Keeps the smaller of the rows and the given ones."""
        return self._scatter("scatter_min", np.minimum.at, sparse_delta)

    def scatter_update(
        self, sparse_delta: IndexedSlices, use_locking: bool = False, name: str | None = None
    ) -> Variable:
        """Replaces rows."""
        return self._scatter("scatter_update", _replace_rows, sparse_delta)

    def scatter_nd_add(self, indices: Any, updates: Any, name: str | None = None) -> Variable:
        """Adds to elements or slices named by coordinates."""
        return self._scatter_nd("scatter_nd_add", add_rows, indices, updates)

    def scatter_nd_sub(self, indices: Any, updates: Any, name: str | None = None) -> Variable:
        """Subtracts from elements or slices named by coordinates."""
        return self._scatter_nd("scatter_nd_sub", _subtract_rows, indices, updates)

    def scatter_nd_max(self, indices: Any, updates: Any, name: str | None = None) -> Variable:
        """Keeps the larger of the elements named by coordinates and the given ones."""
        return self._scatter_nd("scatter_nd_max", np.maximum.at, indices, updates)

    def scatter_nd_min(self, indices: Any, updates: Any, name: str | None = None) -> Variable:
        """Keeps the smaller of the elements named by coordinates and the given ones."""
        return self._scatter_nd("scatter_nd_min", np.minimum.at, indices, updates)

    def scatter_nd_update(self, indices: Any, updates: Any, name: str | None = None) -> Variable:
        """Replaces elements or slices named by coordinates."""
        return self._scatter_nd("scatter_nd_update", _replace_rows, indices, updates)

    def batch_scatter_update(
        self, sparse_delta: IndexedSlices, use_locking: bool = False, name: str | None = None
    ) -> Variable:
        """Replaces elements along the last dimension of the indices, batch by batch."""
        from tapeflow.ops.scattering import batch_coordinates

        coordinates = batch_coordinates(sparse_delta.indices)
        return self._scatter_nd(
            "batch_scatter_update", _replace_rows, coordinates, sparse_delta.values
        )

    def sparse_read(self, indices: Any, name: str | None = None) -> Tensor:
        """The rows at `indices`, as `tf.gather` gives them."""
        from tapeflow.ops.gathering import gather

        return gather(self, indices)

    def gather_nd(self, indices: Any, name: str | None = None) -> Tensor:
        """The elements at `indices`, as `tf.gather_nd` gives them."""
        from tapeflow.ops.gathering import gather_nd

        return gather_nd(self, indices)

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
            Tensor(np.array(self._value._array)),
            self._trainable,
            constraint=self._constraint,
            shape=self._shape,
        )
        copied._name = self._name
        memo[id(self)] = copied
        return copied

    def __reduce__(self) -> tuple[Any, ...]:
        return _unpickle, (self._value, self._trainable, self._name, self._shape)

    def __repr__(self) -> str:
        return formatting.variable_repr(self.name, self._shape, self._value._array, self.dtype)

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


def _subtract_rows(out: Any, rows: Any, values: Any) -> None:
    add_rows(out, rows, np.negative(values))


def _replace_rows(out: Any, rows: Any, values: Any) -> None:
    out[rows] = values
