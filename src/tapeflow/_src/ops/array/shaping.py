"""What a tensor is like, and ops that change its shape or dtype: `reshape`, `cast`, ..."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tapeflow._src.core import dtypes, nest
from tapeflow._src.core.composites.composite import CompositeTensor
from tapeflow._src.core.context import context
from tapeflow._src.core.convert import convert_to_tensor
from tapeflow._src.core.dtypes import DType, as_dtype
from tapeflow._src.core.errors import shown
from tapeflow._src.core.export import export
from tapeflow._src.core.indexed_slices import IndexedSlices
from tapeflow._src.core.log import get_logger
from tapeflow._src.core.placement.remote import moved_beside
from tapeflow._src.core.shapes import TensorShape, broadcast_shapes
from tapeflow._src.core.sizes.dims import is_dynamic
from tapeflow._src.core.sizes.extremes import surely_unequal
from tapeflow._src.core.spec import TensorSpec
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.core.variables.variable import Variable
from tapeflow._src.ops.arguments import Shape, axis_of, ints
from tapeflow._src.primitives.array import moving as primitives
from tapeflow._src.primitives.array.sizes import vector_of
from tapeflow._src.primitives.elementwise import builders
from tapeflow._src.primitives.rules import DTypeError, invalid

newaxis = None
"""A new dimension, in `x[tf.newaxis]`."""

# Shape.


@export("reshape")
def reshape(tensor: Any, shape: Any, name: str | None = None) -> Tensor:
    """Gives a tensor another shape; the elements stay in their order.

    >>> tf.reshape([[1, 2, 3], [4, 5, 6]], [3, -1]).numpy()
    array([[1, 2],
           [3, 4],
           [5, 6]], dtype=int32)

    Args:
      tensor: the tensor.
      shape: the new shape, for as many elements. One dimension may be -1, to be worked out.
      name: accepted for compatibility.
    """
    if type(tensor) is not Tensor:
        tensor = convert_to_tensor(tensor)
    wanted = ints("reshape", "shape", shape, scalar=True)
    for size in wanted:
        if type(size) is int and size < 0:
            wanted = _worked_out(wanted, tensor._array)
            break
    return primitives.reshape(tensor, shape=wanted)


def _worked_out(shape: Shape, array: Any) -> Shape:
    """Replaces the -1 in `shape`."""
    known_sizes = [d for d in shape if not is_dynamic(d)]
    for axis, size in enumerate(shape):
        if not is_dynamic(size) and size < -1:
            raise invalid(f"reshape: Size {axis} must be non-negative, not {size}: {list(shape)}")
    if known_sizes.count(-1) != 1:
        raise invalid(f"reshape: Only one dimension may be -1, got shape {list(shape)}")
    # A 0 that is asked for stands for the 0 the tensor has; what is left decides, as in TensorFlow.
    known = math.prod([d for d in shape if is_dynamic(d) or d > 0])
    empty = any(type(d) is int and d == 0 for d in shape)
    total = math.prod([d for d in array.shape if is_dynamic(d) or d or not empty])
    rest = total % known
    if not is_dynamic(rest) and rest:  # sizes that are not known yet may well fit when they are
        raise invalid(
            f"reshape: Input to reshape is a tensor with {array.size} values, but the requested shape requires a "
            f"multiple of {known}. The shapes are {list(array.shape)} and {list(shape)}."
        )
    return tuple(total // known if type(d) is int and d == -1 else d for d in shape)


@export("transpose")
def transpose(
    a: Any, perm: Any = None, conjugate: bool = False, name: str | None = "transpose"
) -> Tensor:
    """Reorders the dimensions: by default, reverses them.

    >>> tf.transpose([[1, 2, 3], [4, 5, 6]]).shape
    TensorShape([3, 2])
    >>> tf.transpose(tf.zeros([2, 3, 4]), perm=[0, 2, 1]).shape
    TensorShape([2, 4, 3])

    Args:
      a: the tensor.
      perm: for each dimension of the result, the dimension of `a` it comes from.
      conjugate: whether to conjugate complex numbers too.
      name: accepted for compatibility.
    """
    a = convert_to_tensor(a)
    rank = a._array.ndim
    if perm is None:
        order = tuple(range(rank - 1, -1, -1))
    else:
        given = ints("transpose", "perm", perm)
        if len(given) != rank:
            raise invalid(
                f"transpose: perm {list(given)} must name each of the {rank} dimensions of shape "
                f"{list(a.shape)} once"
            )
        order = tuple([axis_of("transpose", d, rank, argument="perm") for d in given])
    out = primitives.transpose(a, perm=order)
    return builders.conj(out) if conjugate else out


@export("expand_dims")
def expand_dims(input: Any, axis: Any, name: str | None = None) -> Tensor:
    """Adds a dimension of size 1 at `axis`.

    >>> tf.expand_dims([1, 2, 3], axis=0).shape, tf.expand_dims([1, 2, 3], axis=-1).shape
    (TensorShape([1, 3]), TensorShape([3, 1]))

    Args:
      input: the tensor.
      axis: where, from -rank - 1 to rank.
      name: accepted for compatibility.
    """
    tensor = convert_to_tensor(input)
    shape = tensor._array.shape
    at = axis_of("expand_dims", axis, len(shape) + 1)
    return primitives.reshape(tensor, shape=(*shape[:at], 1, *shape[at:]))


@export("squeeze")
def squeeze(input: Any, axis: Any = None, name: str | None = None) -> Tensor:
    """Removes dimensions of size 1: all of them, or those in `axis`.

    >>> tf.squeeze(tf.zeros([1, 3, 1])).shape, tf.squeeze(tf.zeros([1, 3, 1]), axis=0).shape
    (TensorShape([3]), TensorShape([3, 1]))
    """
    tensor = convert_to_tensor(input)
    shape = tensor._array.shape
    if isinstance(axis, (Tensor, Variable)):
        raise TypeError(
            f"squeeze: axis must be an int or a list of ints, not a tensor: {shown(axis)}"
        )
    numbers = () if axis is None else ints("squeeze", "axis", axis, scalar=True)
    axes = {axis_of("squeeze", number, len(shape)) for number in numbers}
    for i in axes:
        if surely_unequal(shape[i], 1):
            raise invalid(
                f"squeeze: Can not squeeze dim[{i}], expected a dimension of 1, got {shape[i]} "
                f"in shape {list(shape)}"
            )
    kept = [d for i, d in enumerate(shape) if (i not in axes if axes else d != 1)]
    return primitives.reshape(tensor, shape=tuple(kept))


@export("broadcast_to")
def broadcast_to(input: Any, shape: Any, name: str | None = None) -> Tensor:
    """Repeats a tensor along dimensions of size 1 and new leading ones, as operators do.

    >>> tf.broadcast_to([1, 2, 3], [2, 3]).numpy()
    array([[1, 2, 3],
           [1, 2, 3]], dtype=int32)
    """
    return primitives.broadcast_to(
        convert_to_tensor(input), shape=ints("broadcast_to", "shape", shape, scalar=True)
    )


@export("broadcast_dynamic_shape")
def broadcast_dynamic_shape(shape_x: Any, shape_y: Any) -> Tensor:
    """The shape of an elementwise op on operands of two shapes, which are given as tensors.

    >>> tf.broadcast_dynamic_shape([2, 1], [3]).numpy()
    array([2, 3], dtype=int32)
    """
    a, b = builders.coerce(shape_x, shape_y)
    sizes = [ints("broadcast_dynamic_shape", "shape", s) for s in (a, b)]
    try:
        shape = broadcast_shapes(*sizes)
    except ValueError as error:
        raise invalid(f"broadcast_dynamic_shape: Incompatible shapes: {error}") from None
    return vector_of(shape, a.dtype)


_NOT_COMPATIBLE = (
    "ensure_shape: the tensor's shape {given} is not compatible with expected shape {wanted}"
)


@export("ensure_shape")
def ensure_shape(x: Any, shape: Any, name: str | None = None) -> Tensor:
    """Returns `x`, after checking its shape against `shape`, which may have `None`s.

    >>> tf.ensure_shape([[1, 2], [3, 4]], [None, 2]).shape
    TensorShape([2, 2])
    """
    tensor, wanted = convert_to_tensor(x), TensorShape(shape)

    def check(tensor: Tensor) -> tuple[()]:
        if not wanted.is_compatible_with(tensor.shape):
            raise invalid(_NOT_COMPATIBLE.format(given=tensor.shape, wanted=wanted))
        return ()

    check(tensor)
    held = tensor.shape
    if wanted.rank is None or held.is_subtype_of(wanted):
        return primitives.identity(tensor)
    # Again when the function runs.
    if held.rank is None:
        context.tracer.python("ensure_shape", check, [tensor], [])
    else:
        context.tracer.check_shape(_NOT_COMPATIBLE, tensor._array.shape, wanted)
    if held.rank is None:
        tensor.set_shape(wanted)
    result = primitives.identity(tensor)
    result.set_shape(wanted)
    return result


# Asking.


@export("shape")
def shape(input: Any, out_type: Any = None, name: str | None = None) -> Tensor:
    """The shape of a tensor, as a tensor.

    >>> tf.shape([[1, 2, 3], [4, 5, 6]]).numpy()
    array([2, 3], dtype=int32)
    """
    return primitives.shape_of(_tensor_or_slices(input), dtype=_index_dtype("shape", out_type))


@export("shape_n")
def shape_n(input: Any, out_type: Any = dtypes.int32, name: str | None = None) -> list[Tensor]:
    """The shapes of several tensors.

    >>> [s.numpy().tolist() for s in tf.shape_n([[1, 2], [3]])]
    [[2], [1]]
    """
    return [shape(x, out_type) for x in alike("shape_n", input)]


@export("size")
def size(input: Any, out_type: Any = None, name: str | None = None) -> Tensor:
    """The number of elements of a tensor.

    >>> tf.size([[1, 2, 3], [4, 5, 6]]).numpy()
    np.int32(6)
    """
    return primitives.size_of(_tensor_or_slices(input), dtype=_index_dtype("size", out_type))


@export("rank")
def rank(input: Any, name: str | None = None) -> Tensor:
    """The number of dimensions of a tensor.

    >>> tf.rank([[1, 2, 3], [4, 5, 6]]).numpy()
    np.int32(2)
    """
    x = _tensor_or_slices(input)
    found = Tensor(np.array(x._array.ndim, np.int32))
    return found if type(x) is Tensor else moved_beside(found, x)


def _tensor_or_slices(value: Any) -> Tensor:
    return value if type(value) is Tensor else convert_to_tensor(value)


def _index_dtype(op: str, out_type: Any) -> DType:
    dtype = dtypes.int32 if out_type is None else as_dtype(out_type)
    if dtype not in (dtypes.int32, dtypes.int64):
        raise DTypeError(None, None, f"{op}: out_type must be int32 or int64, got {dtype.name}")
    return dtype


def alike(op: str, values: Any) -> list[Tensor]:
    """Converts values to tensors of one dtype: the first tensor's, or else the first value's."""
    values = list(values) if isinstance(values, (list, tuple)) else [*convert_to_tensor(values)]
    dtype = next((v.dtype for v in values if isinstance(v, (Tensor, Variable))), None)
    if dtype is None and values:
        dtype = convert_to_tensor(values[0]).dtype
    return [v if type(v) is Tensor else _as_alike(v, dtype) for v in values]


def _as_alike(value: Any, dtype: Any) -> Tensor:
    if hasattr(value, "__tf_tensor__") or isinstance(value, Tensor):
        return convert_to_tensor(value)  # a dtype of its own, which the op checks
    return convert_to_tensor(value, dtype)


@export("is_tensor")
def is_tensor(x: Any) -> bool:
    """Whether `x` is a tensor, a variable, or a composite tensor such as `tf.IndexedSlices`.

    >>> tf.is_tensor(tf.constant(1.0)), tf.is_tensor(1.0)
    (True, False)
    """
    # A variable of Keras has one of ours inside; what acts like a tensor may say so. What has to be converted is none.
    return (
        isinstance(x, (Tensor, Variable))
        or (isinstance(x, CompositeTensor) and x._is_tensor)
        or isinstance(getattr(x, "handle", None), Variable)
        or bool(getattr(x, "is_tensor_like", False))
    )


@export("type_spec_from_value")
def type_spec_from_value(value: Any) -> Any:
    """The `tf.TypeSpec` of a tensor, of a composite one, or of what converts to a tensor.

    >>> tf.type_spec_from_value([1.0, 2.0])
    TensorSpec(shape=(2,), dtype=tf.float32, name=None)
    """
    if isinstance(value, CompositeTensor):
        return value._type_spec
    try:
        tensor = convert_to_tensor(value)
    except (TypeError, ValueError):
        raise TypeError(
            f"Could not build a TypeSpec for {shown(value)} with type {type(value).__name__}"
        ) from None
    return TensorSpec(tensor.shape, tensor.dtype)


@export("get_static_value")
def get_static_value(tensor: Any, partial: bool = False) -> Any:
    """The value of a tensor as a NumPy array, or `None` if it is not known yet.

    >>> tf.get_static_value(tf.constant([1, 2]))
    array([1, 2], dtype=int32)
    """
    if not isinstance(tensor, Tensor):
        return tensor
    if not tensor.symbolic:
        return tensor.numpy()
    # The sizes in a shape may be known before the function runs.
    known = getattr(tensor, "contents", None)
    if known is None or any(type(size) is not int for size in known.flat):
        return None
    return known.astype(tensor.dtype.as_numpy_dtype)[()]


# Passing through.


@export("identity")
def identity(input: Any, name: str | None = None) -> Any:
    """A new tensor with the same value; gradients pass.

    >>> tf.identity(tf.Variable(2.0))
    <tf.Tensor: shape=(), dtype=float32, numpy=2.0>
    """
    if isinstance(input, CompositeTensor):
        return nest.map_structure(identity, input, expand_composites=True)
    return primitives.identity(convert_to_tensor(input))


@export("identity_n")
def identity_n(input: Any, name: str | None = None) -> list[Tensor]:
    """`tf.identity` of each tensor of a list.

    >>> [x.numpy() for x in tf.identity_n([1, 2.0])]
    [np.int32(1), np.float32(2.0)]
    """
    return [identity(x) for x in input]


@export("stop_gradient")
def stop_gradient(input: Any, name: str | None = None) -> Any:
    """A new tensor with the same value, through which no gradient passes.

    >>> x = tf.Variable(3.0)
    >>> with tf.GradientTape() as tape:
    ...     y = x * tf.stop_gradient(x)
    >>> tape.gradient(y, x).numpy()
    np.float32(3.0)
    """
    if isinstance(input, CompositeTensor):
        return input._with_gradients(nest.map_structure(stop_gradient, input._differentiable()))
    return primitives.stop_gradient(convert_to_tensor(input))


# Dtype.


@export("cast", "dtypes.cast")
def cast(x: Any, dtype: Any, name: str | None = None) -> Any:
    """Converts a tensor to another dtype.

    Casting floats to integers truncates them; complex numbers lose their imaginary part.

    >>> tf.cast([1.8, -2.2], tf.int32).numpy()
    array([ 1, -2], dtype=int32)

    Gradients pass between floating and complex dtypes only.

    Args:
      x: a tensor, a value that converts to one, or `tf.IndexedSlices`.
      dtype: the dtype wanted.
      name: accepted for compatibility.
    """
    dtype = as_dtype(dtype)
    if isinstance(x, IndexedSlices):
        values = cast(x.values, dtype)
        return x if values is x.values else IndexedSlices(values, x.indices, x.dense_shape)
    if type(x) is not Tensor:
        x = convert_to_tensor(x)
    if x.dtype is dtype:
        return x
    if x.dtype.is_complex and dtype.is_floating:
        warn_of_lost_part(x.dtype, dtype)
    return (primitives.cast if dtype.is_differentiable else primitives.cast_to_discrete)(
        x, dtype=dtype
    )


def warn_of_lost_part(source: DType, dtype: DType) -> None:
    """Says that complex numbers are made real."""
    get_logger().warning(
        f"You are casting an input of type {source.name} to an incompatible dtype {dtype.name}: the imaginary part is "
        "lost. Use tf.math.real to say that it is meant."
    )


@export("bitcast")
def bitcast(input: Any, type: Any, name: str | None = None) -> Tensor:
    """Reads the bytes of a tensor as another dtype.

    >>> tf.bitcast(1.0, tf.int32).numpy()
    np.int32(1065353216)
    """
    return primitives.bitcast(convert_to_tensor(input), dtype=as_dtype(type))
