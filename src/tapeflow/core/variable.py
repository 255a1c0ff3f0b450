"""`tf.Variable`: a named place that holds a tensor.

Reading a variable gives the tensor it holds; assigning puts another tensor in its place. Tensors never change, so one
that was read before an assignment keeps the old value.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from tapeflow.core import formatting
from tapeflow.core.context import context, recorders
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.dtypes import DType, as_dtype
from tapeflow.core.shapes import TensorShape
from tapeflow.core.tensor import Reference, Tensor

if TYPE_CHECKING:
    from tapeflow.core.indexed_slices import IndexedSlices


class Variable:
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
            raise ValueError("A tf.Variable needs an initial_value: a value, or a function that returns one.")
        if callable(initial_value) and not hasattr(initial_value, "__tf_tensor__"):
            initial_value = initial_value()
        tensor = convert_to_tensor(initial_value, dtype)
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
        """The tensor the variable holds now."""
        for recorder in recorders():
            recorder.read(self)
        return self._value

    def read_value(self) -> Tensor:
        """The same as `value()`."""
        return self.value()

    def __tf_tensor__(self, dtype: Any = None, name: str | None = None) -> Tensor:
        value = self.value()
        if dtype is not None and value.dtype is not as_dtype(dtype):
            raise ValueError(
                f"Tensor conversion requested dtype {as_dtype(dtype).name} for Variable {self.name!r} with dtype "
                f"{value.dtype.name}. Use tf.cast to change the dtype."
            )
        return value

    def numpy(self) -> Any:
        """The value as a NumPy array of its own."""
        return self.value().numpy()

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        return self.value().__array__(dtype, copy)

    # Assigning.

    def assign(
        self, value: Any, use_locking: bool = False, name: str | None = None, read_value: bool = True
    ) -> Variable:
        """Puts `value` in the variable, which must have its shape and dtype.

        >>> v = tf.Variable(1.0)
        >>> before = v.read_value()
        >>> v.assign(2.0).numpy(), before.numpy()
        (np.float32(2.0), np.float32(1.0))
        """
        return self._replace(self._operand("assign", value))

    def assign_add(
        self, delta: Any, use_locking: bool = False, name: str | None = None, read_value: bool = True
    ) -> Variable:
        """Adds `delta`, a tensor or `tf.IndexedSlices`, to the value."""
        if is_slices(delta):
            return self.scatter_add(delta)
        return self._replace(self._combine("assign_add", np.add, delta))

    def assign_sub(
        self, delta: Any, use_locking: bool = False, name: str | None = None, read_value: bool = True
    ) -> Variable:
        """Subtracts `delta`, a tensor or `tf.IndexedSlices`, from the value."""
        if is_slices(delta):
            return self.scatter_sub(delta)
        return self._replace(self._combine("assign_sub", np.subtract, delta))

    def _operand(self, op: str, value: Any) -> Any:
        """`value` as an array that may go where the variable's value is."""
        if type(value) is not Tensor:
            value = self._converted(op, value)
        array = value._array
        held = self._value._array
        if array.dtype is not held.dtype and array.dtype != held.dtype:
            raise ValueError(
                f"{op}: the variable {self.name!r} has dtype {self.dtype.name}, and the value has dtype "
                f"{value.dtype.name}. Use tf.cast to change it."
            )
        if array.shape != held.shape and not self._shape.is_compatible_with(array.shape):
            raise ValueError(
                f"{op}: Cannot assign value to variable {self.name!r}: Shape mismatch. The variable shape "
                f"{self._shape}, and the assigned value shape {TensorShape._of(array.shape)} are incompatible."
            )
        return array

    def _converted(self, op: str, value: Any) -> Tensor:
        if hasattr(value, "__tf_tensor__"):
            return convert_to_tensor(value)
        return convert_to_tensor(value, self.dtype)

    def _combine(self, op: str, ufunc: Any, delta: Any) -> Any:
        array = self._operand(op, delta)
        return context.hot[0](ufunc, self._value._array, array)

    def _replace(self, array: Any) -> Variable:
        for recorder in recorders():
            recorder.note("assign", self)
        self._value = Tensor(array)
        return self

    # Updating rows.

    def _scatter(self, op: str, ufunc: Any, slices: IndexedSlices) -> Variable:
        indices = np.asarray(convert_to_tensor(slices.indices)._array)
        rows = convert_to_tensor(slices.values, self.dtype)._array
        array = np.array(self._value._array)
        check_rows(op, indices, array.shape[0])
        if ufunc is None:
            array[indices] = rows
        else:
            context.hot[0](ufunc.at, array, indices, rows)
        return self._replace(array)

    def scatter_add(self, sparse_delta: IndexedSlices, use_locking: bool = False, name: str | None = None) -> Variable:
        """Adds rows; rows that repeat add up."""
        return self._scatter("scatter_add", np.add, sparse_delta)

    def scatter_sub(self, sparse_delta: IndexedSlices, use_locking: bool = False, name: str | None = None) -> Variable:
        """Subtracts rows."""
        return self._scatter("scatter_sub", np.subtract, sparse_delta)

    def scatter_mul(self, sparse_delta: IndexedSlices, use_locking: bool = False, name: str | None = None) -> Variable:
        """Multiplies rows."""
        return self._scatter("scatter_mul", np.multiply, sparse_delta)

    def scatter_div(self, sparse_delta: IndexedSlices, use_locking: bool = False, name: str | None = None) -> Variable:
        """Divides rows."""
        return self._scatter("scatter_div", np.divide, sparse_delta)

    def scatter_max(self, sparse_delta: IndexedSlices, use_locking: bool = False, name: str | None = None) -> Variable:
        """Keeps the larger of the rows and the given ones."""
        return self._scatter("scatter_max", np.maximum, sparse_delta)

    def scatter_min(self, sparse_delta: IndexedSlices, use_locking: bool = False, name: str | None = None) -> Variable:
        """Keeps the smaller of the rows and the given ones."""
        return self._scatter("scatter_min", np.minimum, sparse_delta)

    def scatter_update(self, sparse_delta: IndexedSlices, use_locking: bool = False, name: str | None = None) -> Variable:
        """Replaces rows."""
        return self._scatter("scatter_update", None, sparse_delta)

    # Python's own protocols.

    def __len__(self) -> int:
        return len(self.value())

    def __iter__(self) -> Any:
        return iter(self.value())

    def __bool__(self) -> bool:
        return bool(self.value())

    def __int__(self) -> int:
        return int(self.value())

    def __float__(self) -> float:
        return float(self.value())

    def __complex__(self) -> complex:
        return complex(self.value())

    def __index__(self) -> int:
        return self.value().__index__()

    def __format__(self, spec: str) -> str:
        return format(self.value(), spec) if spec else str(self)

    def __hash__(self) -> int:
        raise TypeError("Variable is unhashable. Instead, use variable.ref() as the key.")

    def __deepcopy__(self, memo: dict[int, Any]) -> Variable:
        copied = Variable(
            Tensor(np.array(self._value._array)), self._trainable, constraint=self._constraint, shape=self._shape
        )
        copied._name = self._name
        memo[id(self)] = copied
        return copied

    def __reduce__(self) -> tuple[Any, ...]:
        return _unpickle, (self._value, self._trainable, self._name, self._shape)

    def __repr__(self) -> str:
        return formatting.variable_repr(self.name, self._value._array, self.dtype)

    if TYPE_CHECKING:

        def __getitem__(self, key: Any) -> Any: ...
        def __add__(self, other: Any) -> Tensor: ...
        def __radd__(self, other: Any) -> Tensor: ...
        def __sub__(self, other: Any) -> Tensor: ...
        def __rsub__(self, other: Any) -> Tensor: ...
        def __mul__(self, other: Any) -> Tensor: ...
        def __rmul__(self, other: Any) -> Tensor: ...
        def __truediv__(self, other: Any) -> Tensor: ...
        def __rtruediv__(self, other: Any) -> Tensor: ...
        def __pow__(self, other: Any) -> Tensor: ...
        def __matmul__(self, other: Any) -> Tensor: ...
        def __rmatmul__(self, other: Any) -> Tensor: ...
        def __neg__(self) -> Tensor: ...


def _unpickle(value: Tensor, trainable: bool, name: str, shape: TensorShape) -> Variable:
    variable = Variable(value, trainable, shape=shape)
    variable._name = name
    return variable


def is_slices(value: Any) -> bool:
    """Whether `value` is a gradient in rows."""
    return hasattr(value, "indices") and hasattr(value, "dense_shape")


def check_rows(op: str, indices: Any, size: int) -> None:
    """Raises if a row number is out of range."""
    from tapeflow.core.errors import InvalidArgumentError

    if indices.size and (indices.min() < 0 or indices.max() >= size):
        bad = indices.min() if indices.min() < 0 else indices.max()
        raise InvalidArgumentError(None, None, f"{op}: index {bad} is not in [0, {size})")


