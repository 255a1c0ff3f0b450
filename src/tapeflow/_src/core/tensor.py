"""`tf.Tensor`: an immutable array with TensorFlow's interface.

The operators (`x + y`, `x[1:]`, ...) are ops, and ops live above this layer: `ops/methods.py` puts them on the class.
They are declared here so that readers and type checkers see them.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from tapeflow._src.core import dtypes, formatting
from tapeflow._src.core.context import context, recorders
from tapeflow._src.core.dtypes import DType
from tapeflow._src.core.export import export
from tapeflow._src.core.shapes import TensorShape

DEVICE = "/job:localhost/replica:0/task:0/device:CPU:0"


_BOTH_SIDES = "add and div floordiv matmul mod mul or pow sub truediv xor"
_ONE_SIDE = "abs eq ge getitem gt invert le lt ne neg"
_LISTED_OPERATORS = frozenset(
    f"__{name}__"
    for name in _ONE_SIDE.split()
    + [side + name for side in ("", "r") for name in _BOTH_SIDES.split()]
)


class Operators:
    """The operators of tensors and variables, for readers and type checkers: `ops/methods.py` defines them."""

    __slots__ = ()

    if TYPE_CHECKING:

        def __add__(self, other: Any) -> Tensor: ...
        def __radd__(self, other: Any) -> Tensor: ...
        def __sub__(self, other: Any) -> Tensor: ...
        def __rsub__(self, other: Any) -> Tensor: ...
        def __mul__(self, other: Any) -> Tensor: ...
        def __rmul__(self, other: Any) -> Tensor: ...
        def __truediv__(self, other: Any) -> Tensor: ...
        def __rtruediv__(self, other: Any) -> Tensor: ...
        def __floordiv__(self, other: Any) -> Tensor: ...
        def __rfloordiv__(self, other: Any) -> Tensor: ...
        def __mod__(self, other: Any) -> Tensor: ...
        def __rmod__(self, other: Any) -> Tensor: ...
        def __pow__(self, other: Any) -> Tensor: ...
        def __rpow__(self, other: Any) -> Tensor: ...
        def __matmul__(self, other: Any) -> Tensor: ...
        def __rmatmul__(self, other: Any) -> Tensor: ...
        def __and__(self, other: Any) -> Tensor: ...
        def __rand__(self, other: Any) -> Tensor: ...
        def __or__(self, other: Any) -> Tensor: ...
        def __ror__(self, other: Any) -> Tensor: ...
        def __xor__(self, other: Any) -> Tensor: ...
        def __rxor__(self, other: Any) -> Tensor: ...
        def __lt__(self, other: Any) -> Tensor: ...
        def __le__(self, other: Any) -> Tensor: ...
        def __gt__(self, other: Any) -> Tensor: ...
        def __ge__(self, other: Any) -> Tensor: ...
        def __eq__(self, other: Any) -> Any: ...
        def __ne__(self, other: Any) -> Any: ...
        def __neg__(self) -> Tensor: ...
        def __abs__(self) -> Tensor: ...
        def __invert__(self) -> Tensor: ...


@export("Tensor")
class Tensor(Operators):
    """An immutable multi-dimensional array.

    Tensors come from `tf.constant`, `tf.convert_to_tensor` and from ops; the class is not called directly.

    >>> x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
    >>> x.shape
    TensorShape([2, 2])
    >>> (x @ x + 1.0)[0]
    <tf.Tensor: shape=(2,), dtype=float32, numpy=array([ 8., 11.], dtype=float32)>
    """

    # With a `__dict__`: programs hang what they like on tensors.
    __slots__ = ("__dict__", "__weakref__", "_array", "_id")

    # What a class that wraps tensors has to pass on, as TensorFlow lists it.
    OVERLOADABLE_OPERATORS = _LISTED_OPERATORS

    # NumPy asks who answers `ndarray + tensor`: the tensor does.
    __array_priority__ = 100

    # Tensors of a subclass may hand the primitives they meet to an `Interpreter`: see there.
    interpreter: Any = None

    # Whether it has no value: it stands for one that is known when a function runs, or for each example of a batch.
    symbolic: bool = False

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        # Where `import tensorflow` gives tapeflow, tensors are from there: libraries know them by that.
        if Tensor.__module__ == "tensorflow" and cls.__module__.startswith("tapeflow."):
            cls.__module__ = "tensorflow"

    def __init__(self, array: Any) -> None:
        self._array = array  # ndarray, or a NumPy scalar for rank 0: NumPy's ufuncs return those
        self._id = 0

    @property
    def shape(self) -> TensorShape:
        """The shape, as a `tf.TensorShape`."""
        return TensorShape._of(self._array.shape)

    @property
    def dtype(self) -> DType:
        """The type of the elements, as a `tf.DType`."""
        return dtypes.from_numpy(self._array.dtype)

    @property
    def ndim(self) -> int:
        """The number of dimensions."""
        return self._array.ndim

    @property
    def device(self) -> str:
        """The name of the device that holds the value."""
        return DEVICE

    @property
    def name(self) -> str:
        """Eager tensors have no name; asking is an error, as in TensorFlow."""
        raise AttributeError("Tensor.name is undefined when executing eagerly.")

    @property
    def graph(self) -> Any:
        """The graph of the function that is being traced, to which a constant belongs as well."""
        if context.tracer is None:
            raise AttributeError("Tensor.graph is undefined when eager execution is enabled.")
        return context.tracer.graph

    def get_shape(self) -> TensorShape:
        """The same as `shape`."""
        return self.shape

    def set_shape(self, shape: Any) -> None:
        """Checks that the tensor has `shape`."""
        if not self.shape.is_compatible_with(shape):
            raise ValueError(
                f"Tensor's shape {self.shape} is not compatible with supplied shape {shape}."
            )

    def numpy(self) -> Any:
        """The value as a NumPy array of its own, or as a NumPy scalar if the tensor is one.

        >>> tf.constant([1, 2]).numpy()
        array([1, 2], dtype=int32)
        """
        self._note_escape(".numpy()")
        array = self._array
        if not array.ndim:
            return array[()]
        return array.copy()

    def ref(self) -> Reference:
        """A hashable reference, for use in sets and as a dictionary key.

        >>> x = tf.constant(1.0)
        >>> names = {x.ref(): "x"}
        >>> names[x.ref()]
        'x'
        """
        return Reference(self)

    def _elements(self) -> Any:
        """The elements of an integer tensor, for the shape, axis and index arguments of ops."""
        return np.asarray(self._array)

    def _note_escape(self, how: str) -> None:
        """Tells the tapes that the value went where they cannot follow, so that `explain` can say so."""
        for recorder in recorders():
            recorder.note("escape", self, how=how)

    # Python's own protocols.

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        self._note_escape("a NumPy conversion")
        if copy:
            return np.array(self._array, dtype)
        array = np.asarray(self._array, dtype)
        if array is self._array:  # the same memory: a tensor must not be changed through it
            array = array.view()
        array.flags.writeable = False
        return array

    def __len__(self) -> int:
        if not self._array.ndim:
            raise TypeError("Scalar tensor has no `len()`")
        return self._array.shape[0]

    def __iter__(self) -> Iterator[Tensor]:
        if not self._array.ndim:
            raise TypeError("Cannot iterate over a scalar tensor.")
        return (self[i] for i in range(self._array.shape[0]))

    def _scalar(self, how: str) -> Any:
        if self._array.ndim:
            raise TypeError(
                f"{how} takes a scalar tensor, and this one has shape {self.shape}. Reduce it first "
                "(tf.reduce_sum, tf.reduce_mean, ...), or pick an element: x[0]."
            )
        self._note_escape(how)
        return self._array[()]

    def __bool__(self) -> bool:
        if self._array.size > 1:
            raise ValueError(
                "The truth value of an array with more than one element is ambiguous: this tensor has shape "
                f"{self.shape}. Use tf.reduce_any() or tf.reduce_all()."
            )
        self._note_escape("bool()")
        return self._array.size == 1 and bool(self._array)

    __nonzero__ = __bool__  # as Python 2 called it: libraries that wrap tensors pass it on

    def __int__(self) -> int:
        return int(self._scalar("int()"))

    def __float__(self) -> float:
        return float(self._scalar("float()"))

    def __complex__(self) -> complex:
        return complex(self._scalar("complex()"))

    def __round__(self, ndigits: int | None = None) -> Any:
        return round(self._scalar("round()").item(), ndigits)

    def __index__(self) -> int:
        if self._array.ndim or self._array.dtype.kind not in "iu":
            raise TypeError(f"only integer scalar tensors can be an index; this one is {self!r}")
        return int(self._array)

    def __format__(self, spec: str) -> str:
        """A format specification is meant for the value inside, as in `f"{loss:.3f}"`."""
        self._note_escape("format()")
        return format(self._array[()] if not self._array.ndim else self._array, spec)

    def __hash__(self) -> int:
        raise TypeError("Tensor is unhashable. Instead, use tensor.ref() as the key.")

    def __copy__(self) -> Tensor:
        return Tensor(self._array)

    def __deepcopy__(self, memo: dict[int, Any]) -> Tensor:
        return Tensor(self._array.copy())

    def __reduce__(self) -> tuple[Any, ...]:
        return Tensor, (self._array,)

    def __repr__(self) -> str:
        return formatting.tensor_repr(self._array, self.dtype)

    def __str__(self) -> str:
        return formatting.tensor_str(self._array, self.dtype)

    if TYPE_CHECKING:

        def __getitem__(self, key: Any) -> Tensor: ...
        def cpu(self) -> Tensor: ...
        def gpu(self, gpu_index: int = 0) -> Tensor: ...
        def __dlpack__(self, **wishes: Any) -> Any: ...
        def __dlpack_device__(self) -> tuple[int, int]: ...


class Reference:
    """A hashable stand-in for a tensor or variable: equal exactly when it is the same object."""

    __slots__ = ("_referent",)

    def __init__(self, referent: Any) -> None:
        self._referent = referent

    def deref(self) -> Any:
        """The tensor or variable this refers to."""
        return self._referent

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Reference) and self._referent is other._referent

    def __lt__(
        self, other: Reference
    ) -> bool:  # so that dictionaries with such keys can be put in an order
        return id(self._referent) < id(other._referent)

    def __hash__(self) -> int:
        return id(self._referent)

    def __repr__(self) -> str:
        return f"<Reference wrapping {self._referent!r}>"
