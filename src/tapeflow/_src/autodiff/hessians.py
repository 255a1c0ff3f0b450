"""Second derivatives of functions: Hessians, and their products with vectors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tapeflow._src.autodiff.forward import ForwardAccumulator
from tapeflow._src.autodiff.tape import GradientTape
from tapeflow._src.core import nest
from tapeflow._src.core.convert import convert_to_tensor
from tapeflow._src.core.export import export
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.core.variables.variable import Variable
from tapeflow._src.primitives.array import moving


@export("autodiff.hessian")
def hessian(f: Callable[[Any], Any], x: Any) -> Any:
    """The second derivatives of a scalar function.

    >>> x = tf.constant([1.0, 2.0])
    >>> tf.autodiff.hessian(lambda x: x[0] ** 2 * x[1], x).numpy()
    array([[4., 2.],
           [2., 0.]], dtype=float32)

    Args:
      f: takes `x` and returns a scalar.
      x: a tensor or variable, or a structure of them.

    Returns:
      For one tensor, a tensor of shape `x.shape + x.shape`. For a structure, a structure of structures:
      `h["a"]["b"]` has shape `x["a"].shape + x["b"].shape`.
    """
    x = _converted(x)
    flat = nest.flatten(x)
    with GradientTape() as outer:
        outer.watch(flat)
        gradients = _gradients("hessian", f, x, flat)
        # One target for all gradients, so that one pass over the tape is enough.
        sizes = [g._array.size for g in gradients]
        joined = _joined(gradients)
    columns = outer.jacobian(joined, flat, unconnected_gradients="zero")
    rows = [_rows(column, sizes, flat) for column in columns]
    packed = [
        nest.pack_sequence_as(x, [rows[j][i] for j in range(len(flat))]) for i in range(len(flat))
    ]
    return nest.pack_sequence_as(x, packed)


@export("autodiff.hvp")
def hvp(f: Callable[[Any], Any], x: Any, v: Any) -> Any:
    """The product of the Hessian of a scalar function and a vector, without computing the Hessian.

    It costs about as much as two gradients (forward mode over reverse mode).

    >>> x, v = tf.constant([1.0, 2.0]), tf.constant([1.0, 0.0])
    >>> tf.autodiff.hvp(lambda x: x[0] ** 2 * x[1], x, v).numpy()
    array([4., 2.], dtype=float32)

    Args:
      f: takes `x` and returns a scalar.
      x: a tensor or variable, or a structure of them.
      v: a tensor for each of them, in the same structure.

    Returns:
      Tensors in the structure of `x`.
    """
    x = _converted(x)
    flat = nest.flatten(x)
    with ForwardAccumulator(x, _like(v, x)) as accumulator:
        gradients = _gradients("hvp", f, x, flat)
    return nest.pack_sequence_as(x, accumulator.jvp(gradients, unconnected_gradients="zero"))


@export("autodiff.gauss_newton_product")
def gauss_newton_product(
    f: Callable[[Any], Any], loss: Callable[[Any], Any], x: Any, v: Any
) -> Any:
    """The product of the Gauss-Newton matrix of `loss(f(x))` and a vector.

    The matrix is the Hessian without the curvature of `f`: the Jacobian of `f`, transposed, times the Hessian of
    `loss`, times the Jacobian. For a convex loss it has no negative eigenvalues.

    >>> x, v = tf.constant([1.0, 2.0]), tf.constant([1.0, 0.0])
    >>> tf.autodiff.gauss_newton_product(lambda x: x**2, tf.nn.l2_loss, x, v).numpy()
    array([4., 0.], dtype=float32)

    Args:
      f: takes `x` and returns a tensor, the prediction of a model.
      loss: takes what `f` returns, and returns a scalar.
      x: a tensor or variable, or a structure of them: the parameters of the model.
      v: a tensor for each of them, in the same structure.

    Returns:
      Tensors in the structure of `x`.
    """
    x = _converted(x)
    flat = nest.flatten(x)
    with ForwardAccumulator(x, _like(v, x)) as accumulator:
        with GradientTape() as tape:
            tape.watch(flat)
            y = convert_to_tensor(f(x))
        along = accumulator.jvp(y, unconnected_gradients="zero")
    curved = hvp(loss, y, along)
    found = tape.gradient(y, flat, output_gradients=curved, unconnected_gradients="zero")
    return nest.pack_sequence_as(x, [convert_to_tensor(g) for g in found])


def _converted(x: Any) -> Any:
    """Numbers and arrays as tensors. Variables stay: the function may read them by itself."""
    return nest.map_structure(
        lambda each: each if isinstance(each, (Tensor, Variable)) else convert_to_tensor(each), x
    )


def _like(v: Any, x: Any) -> Any:
    """Vectors as tensors of the dtypes of `x`. For a single tensor, a list is a vector and not a structure."""
    if not nest.is_nested(x):
        return convert_to_tensor(v, x.dtype)
    return nest.map_structure(lambda t, each: convert_to_tensor(t, each.dtype), v, x)


def _gradients(name: str, f: Callable[[Any], Any], x: Any, flat: list[Any]) -> list[Tensor]:
    with GradientTape() as tape:
        tape.watch(flat)
        y = convert_to_tensor(f(x))
    if y._array.shape:
        raise ValueError(
            f"tf.autodiff.{name}: the function must return a scalar, and it returned a tensor of shape {y.shape}. "
            "Reduce it first (tf.reduce_sum, tf.reduce_mean, ...)."
        )
    found = tape.gradient(y, flat, unconnected_gradients="zero")
    return [convert_to_tensor(g) for g in found]


def _joined(gradients: list[Tensor]) -> Tensor:
    return moving.concat(*[moving.reshape(g, shape=(g._array.size,)) for g in gradients], axis=0)


def _rows(column: Tensor, sizes: list[int], flat: list[Any]) -> list[Tensor]:
    shape = column._array.shape[1:]
    parts = moving.split(column, sizes=tuple(sizes), axis=0)
    return [
        moving.reshape(part, shape=(*tuple(x.shape), *shape))
        for part, x in zip(parts, flat, strict=True)
    ]
