"""`tf.TensorArray`: a list of tensors of one dtype, to be filled in loops.

Run eagerly it is a Python list. Inside `tf.function` writing gives a new array and leaves the old one as it is, because
a write may be in a branch or a loop. There it holds one of three things: a list, as long as all indices are known; a
tensor whose rows are the elements, after `unstack`; or a stack, a value of the traced function (see
`primitives.array.stacks`), once an index or the size is known only when the function runs.
"""

from __future__ import annotations

import copy
import operator
from typing import Any

from tapeflow._src.core import dtypes, nest
from tapeflow._src.core.context import context
from tapeflow._src.core.convert import convert_to_tensor
from tapeflow._src.core.dtypes import DType, as_dtype
from tapeflow._src.core.errors import InvalidArgumentError, OutOfRangeError, invalid, no_row, shown
from tapeflow._src.core.export import export
from tapeflow._src.core.placement.remote import beside
from tapeflow._src.core.shapes import TensorShape
from tapeflow._src.core.sizes.dims import is_dynamic
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.ops.arguments import integer, ints, vector
from tapeflow._src.primitives.array import moving, patterns, stacks
from tapeflow._src.primitives.array.stack import is_stack
from tapeflow._src.primitives.indexing import picking


@export("TensorArray")
class TensorArray:
    """A list of tensors that gradients flow through.

    >>> squares = tf.TensorArray(tf.float32, size=3)
    >>> for i in range(3):
    ...     squares = squares.write(i, float(i) ** 2)
    >>> squares.stack().numpy()
    array([0., 1., 4.], dtype=float32)

    Every method that writes returns the array to go on with. Use that one: a traced program knows no other.

    Args:
      dtype: the dtype of all elements.
      size: how many elements there are at first.
      dynamic_size: whether writing past the end makes the array longer.
      clear_after_read: whether reading an element lets go of it, so that it can be read once. By default, yes.
      tensor_array_name: accepted for compatibility.
      handle: not supported.
      flow: not supported.
      infer_shape: whether all elements must have one shape.
      element_shape: the shape of the elements, if it is known; it may have unknown dimensions.
      colocate_with_first_write_call: accepted for compatibility.
      name: accepted for compatibility.
    """

    def __init__(
        self,
        dtype: Any,
        size: Any = None,
        dynamic_size: bool | None = None,
        clear_after_read: bool | None = None,
        tensor_array_name: str | None = None,
        handle: Any = None,
        flow: Any = None,
        infer_shape: bool = True,
        element_shape: Any = None,
        colocate_with_first_write_call: bool = True,
        name: str | None = None,
    ) -> None:
        if handle is not None or flow is not None:
            raise ValueError("TensorArray: handle and flow are not supported; give a size")
        if size is None:
            raise ValueError(
                "TensorArray: size must be given; use size=0, dynamic_size=True to grow"
            )
        self._dtype = as_dtype(dtype)
        self._dynamic_size = bool(dynamic_size)
        self._clear_after_read = True if clear_after_read is None else bool(clear_after_read)
        self._infer_shape = infer_shape
        self._element_shape = TensorShape(element_shape)
        self._held: Any = None
        self._values: list[Tensor | None] = []
        self._read: set[int] = set()
        length = integer("TensorArray", "size", size)
        if is_dynamic(length):
            self._held = stacks.stack_empty(
                length=length, element=self._element(), dtype=self._dtype
            )
        else:
            self._values = [None] * length

    # What it is.

    @property
    def dtype(self) -> DType:
        """The dtype of all elements."""
        return self._dtype

    @property
    def dynamic_size(self) -> bool:
        """Whether writing past the end makes the array longer."""
        return self._dynamic_size

    @property
    def element_shape(self) -> TensorShape:
        """The shape of every element, as far as it is known."""
        return self._element_shape

    @property
    def handle(self) -> None:
        """There is no resource behind the array."""
        return None

    @property
    def flow(self) -> Tensor:
        """A placeholder: the order of the program is the order of reads and writes."""
        return convert_to_tensor(0)

    def size(self, name: str | None = None) -> Tensor:
        """How many elements there are."""
        if self._held is None:
            return convert_to_tensor(len(self._values))
        if is_stack(self._held):
            return stacks.stack_length(self._held)
        return picking.getitem(moving.shape_of(self._held, dtype=dtypes.int32), index=(0,))

    def identity(self) -> TensorArray:
        """The array itself."""
        return self

    # One element.

    def read(self, index: Any, name: str | None = None) -> Tensor:
        """The element at `index`, which is let go unless `clear_after_read=False`."""
        if self._traced():
            return self._read_traced(index)
        index = self._index(index)
        if index < 0:
            raise OutOfRangeError(None, None, f"TensorArray.read: index {index} is negative")
        if index >= len(self._values):
            raise OutOfRangeError(
                None,
                None,
                f"TensorArray.read: index {index} is past the end; the array has size {len(self._values)}",
            )
        if self._values[index] is None and index in self._read:
            raise invalid(
                f"TensorArray.read: element {index} was read before and let go. To read it again, make the array with "
                "clear_after_read=False."
            )
        value = self._value(index)
        if self._clear_after_read:
            self._values[index] = None
            self._read.add(index)
        return value

    def write(self, index: Any, value: Any, name: str | None = None) -> TensorArray:
        """Puts `value` at `index`, and returns the array to go on with."""
        if self._traced():
            return self._write_traced(index, value)
        index = self._index(index)
        tensor = self._checked(value)
        if index < 0:
            raise OutOfRangeError(None, None, f"TensorArray.write: index {index} is negative")
        if index >= len(self._values):
            if not self._dynamic_size:
                raise OutOfRangeError(
                    None,
                    None,
                    f"TensorArray.write: index {index} is past the end; the array has size {len(self._values)} and "
                    "cannot grow. Make it with dynamic_size=True, or larger.",
                )
            self._values.extend([None] * (index + 1 - len(self._values)))
        self._values[index] = tensor
        return self

    # All elements.

    def stack(self, name: str | None = None) -> Tensor:
        """All elements as one tensor. Those that were never written are zeros.

        >>> tf.TensorArray(tf.int32, size=2).write(1, [5, 6]).stack().numpy()
        array([[0, 0],
               [5, 6]], dtype=int32)
        """
        if self._held is not None:
            if is_stack(self._held):
                return stacks.stack_rows(self._held, element=self._element())
            return self._held
        if not self._values:
            inner = self._known_shape() if self._element_shape.is_fully_defined() else ()
            return patterns.zeros((0, *inner), self._dtype)
        return moving.stack(*[self._value(i) for i in range(len(self._values))], axis=0)

    def gather(self, indices: Any, name: str | None = None) -> Tensor:
        """Some elements as one tensor."""
        if self._held is not None or _symbolic(indices):
            return picking.gather(self.stack(), convert_to_tensor(indices), axis=0, batch_dims=0)
        wanted = ints("TensorArray.gather", "indices", indices)
        for i in wanted:
            if not 0 <= i < len(self._values):
                raise no_row(
                    f"TensorArray.gather: index {i} is out of range for an array of size {len(self._values)}"
                )
        if not wanted:
            return patterns.zeros((0, *self._known_shape()), self._dtype)
        return moving.stack(*[self._value(i) for i in wanted], axis=0)

    def concat(self, name: str | None = None) -> Tensor:
        """All elements joined along their first dimension."""
        if self._held is not None:
            return stacks.stack_concat(self._as_stack(), element=self._element())
        if not self._values:
            raise invalid("TensorArray.concat: the array has no elements")
        parts = [self._value(i) for i in range(len(self._values))]
        for i, part in enumerate(parts):
            if not part.ndim:
                raise invalid(
                    f"TensorArray.concat: element {i} is a scalar, and scalars cannot be joined. Use stack()."
                )
        return moving.concat(*parts, axis=0)

    def unstack(self, value: Any, name: str | None = None) -> TensorArray:
        """Puts the rows of `value` in the array.

        >>> rows = tf.TensorArray(tf.float32, size=2).unstack([[1.0, 2.0], [3.0, 4.0]])
        >>> rows.read(1).numpy()
        array([3., 4.], dtype=float32)
        """
        tensor = self._converted(value)
        if not tensor.ndim:
            raise ValueError("TensorArray.unstack: the value is a scalar, and has no rows")
        if self._traced():
            new = self._copy()
            new._merge(tensor.shape[1:])
            new._held, new._values = tensor, []
            return new
        if len(tensor) > len(self._values) and not self._dynamic_size:
            raise ValueError(
                f"TensorArray.unstack: {len(tensor)} rows do not fit an array of size {len(self._values)} that cannot "
                "grow. Make it with dynamic_size=True, or larger."
            )
        return self._replace(moving.unstack(tensor, axis=0))

    def scatter(self, indices: Any, value: Any, name: str | None = None) -> TensorArray:
        """Puts the rows of `value` at `indices`."""
        tensor = self._converted(value)
        if self._held is not None or _symbolic(indices):
            new = self._copy()
            new._merge(tensor.shape[1:])
            new._held, new._values = (
                stacks.stack_scatter(
                    self._as_stack(), tensor, convert_to_tensor(indices), grow=self._dynamic_size
                ),
                [],
            )
            return new
        rows = moving.unstack(tensor, axis=0)
        result = self
        for index, row in zip(ints("TensorArray.scatter", "indices", indices), rows, strict=False):
            result = result.write(index, row)
        return result

    def split(self, value: Any, lengths: Any, name: str | None = None) -> TensorArray:
        """Cuts `value` along its first dimension, and puts the pieces in the array."""
        tensor = self._converted(value)
        if _symbolic(lengths):
            new = self._copy()
            new._merge(TensorShape([None, *tensor.shape[1:]]))
            pieces = stacks.stack_split(tensor, vector("TensorArray.split", "lengths", lengths))
            new._held, new._values = pieces, []
            return new
        sizes = ints("TensorArray.split", "lengths", lengths)
        if not tensor.ndim or sum(sizes) != tensor._array.shape[0]:
            raise invalid(
                f"TensorArray.split: the lengths {list(sizes)} add up to {sum(sizes)}, and the value has shape "
                f"{tensor.shape}"
            )
        if len(sizes) != len(self._values) and not self._dynamic_size:
            raise invalid(
                f"TensorArray.split: {len(sizes)} pieces do not fit an array of size {len(self._values)}"
            )
        new = self._copy() if self._traced() else self
        new._values, new._held = list(moving.split(tensor, sizes=sizes, axis=0)), None
        return new

    def close(self, name: str | None = None) -> None:
        """Lets go of all elements."""
        self._values, self._held = [], None

    def grad(self, source: Any, flow: Any = None, name: str | None = None) -> TensorArray:
        """Tapes differentiate through the array; there is no array of gradients to ask for."""
        raise NotImplementedError("TensorArray.grad: use tf.GradientTape")

    # Inside `tf.function`.

    def _traced(self) -> bool:
        return context.tracer is not None or self._held is not None

    def _copy(self) -> TensorArray:
        new = copy.copy(self)
        new._values = list(self._values)
        return new

    def _as_stack(self) -> Tensor:
        """The array as a value of the traced function."""
        if self._held is not None:
            return self._held if is_stack(self._held) else stacks.stack_from(self._held)
        stack = stacks.stack_empty(
            length=len(self._values), element=self._element(), dtype=self._dtype
        )
        for i, value in enumerate(self._values):
            if value is not None:
                stack = stacks.stack_set(stack, value, i, grow=False)
        return stack

    def _with_stack(self, stack: Tensor) -> TensorArray:
        """The array with other elements."""
        new = self._copy()
        new._held, new._values = stack, []
        return new

    def _read_traced(self, index: Any) -> Tensor:
        symbolic = _symbolic(index)
        if self._held is None and not symbolic:
            number = self._index(index)
            if not 0 <= number < len(self._values):
                raise invalid(
                    f"TensorArray.read: index {number} is not in the range [0, {len(self._values)})"
                )
            return self._value(number)
        index = self._index_tensor(index)
        if self._held is not None and not is_stack(self._held):
            return picking.gather(self._held, index, axis=0, batch_dims=0)
        return stacks.stack_get(self._as_stack(), index, element=self._element())

    def _write_traced(self, index: Any, value: Any) -> TensorArray:
        new = self._copy()
        tensor = new._checked(value)
        if self._held is not None or _symbolic(index):
            index = self._index_tensor(index)
            new._held = stacks.stack_set(self._as_stack(), tensor, index, grow=self._dynamic_size)
            new._values = []
            return new
        number = self._index(index)
        if number < 0 or (number >= len(self._values) and not self._dynamic_size):
            raise invalid(
                f"TensorArray.write: index {number} is out of range; the array has size {len(self._values)}"
                + (
                    ""
                    if number < 0
                    else " and cannot grow. Make it with dynamic_size=True, or larger."
                )
            )
        new._values.extend([None] * (number + 1 - len(new._values)))
        new._values[number] = tensor
        return new

    def _element(self) -> tuple[Any, ...] | None:
        """The shape of the elements, with None for unknown sizes; None if not even the rank is known."""
        if self._held is not None and is_stack(self._held):
            known = self._held._array.shape.element
            if known is not None:
                return known
        return self._element_shape._dims

    def _merge(self, shape: TensorShape) -> None:
        if not self._element_shape.is_compatible_with(shape):
            raise ValueError(
                f"TensorArray: Inconsistent shapes: the elements have shape {self._element_shape}, and those to be put "
                f"in have shape {shape}"
            )
        if self._infer_shape:
            self._element_shape = self._element_shape.merge_with(shape)

    # The pieces.

    @staticmethod
    def _index(index: Any) -> int:
        if isinstance(index, Tensor) and not index.dtype.is_integer:
            raise TypeError(f"TensorArray: an index must be an integer, got {shown(index)}")
        return operator.index(index)

    @staticmethod
    def _index_tensor(index: Any) -> Tensor:
        tensor = convert_to_tensor(index)
        if not tensor.dtype.is_integer:
            raise TypeError(f"TensorArray: an index must be an integer, got {shown(index)}")
        return tensor

    def _converted(self, value: Any) -> Tensor:
        tensor = convert_to_tensor(value, dtype_hint=self._dtype)
        if tensor.dtype is not self._dtype:
            raise InvalidArgumentError(
                None,
                None,
                f"TensorArray dtype is {self._dtype.name}, and the value to write has dtype {tensor.dtype.name}. Use "
                "tf.cast to change it.",
            )
        return tensor

    def _checked(self, value: Any) -> Tensor:
        tensor = self._converted(value)
        if not self._element_shape.is_compatible_with(tensor.shape):
            raise ValueError(
                f"TensorArray.write: Incompatible shape: the elements have shape {self._element_shape}, and the value "
                f"has shape {tensor.shape}"
            )
        if self._infer_shape:
            self._element_shape = self._element_shape.merge_with(tensor.shape)
        return tensor

    def _replace(self, values: Any) -> TensorArray:
        self._values = [self._checked(v) for v in values]
        self._read = set()
        return self

    def _value(self, index: int) -> Tensor:
        value = self._values[index]
        if value is not None:
            return value
        with beside(*[x for x in self._values if x is not None]):
            return patterns.zeros(self._known_shape(), self._dtype)

    def _known_shape(self) -> tuple[int, ...]:
        if not self._element_shape.is_fully_defined():
            raise ValueError(
                f"TensorArray: an element that was not written is read as zeros, and its shape {self._element_shape} "
                "is not known. Give element_shape, or write first."
            )
        return tuple(int(d or 0) for d in self._element_shape.as_list())


def _symbolic(value: Any) -> bool:
    """Whether an index has no value yet."""
    return (
        is_dynamic(value)
        or (isinstance(value, Tensor) and value.symbolic)
        or (isinstance(value, (list, tuple)) and any(map(_symbolic, nest.flatten(value))))
    )
