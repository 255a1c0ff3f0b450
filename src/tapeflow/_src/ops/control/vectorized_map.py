"""`tf.vectorized_map`: a function of one example, run on all examples at once."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from tapeflow._src.core import nest
from tapeflow._src.core.convert import convert_to_tensor
from tapeflow._src.core.export import export
from tapeflow._src.core.sizes.dims import same_size
from tapeflow._src.core.sizes.extremes import broadcast
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.primitives.array import moving
from tapeflow._src.primitives.indexing import picking


@export("vectorized_map")
def vectorized_map(
    fn: Callable[[Any], Any],
    elems: Any,
    fallback_to_while_loop: bool = True,
    warn: bool = True,
) -> Any:
    """Applies a function to each row of a tensor, all rows at once.

    The function is written for one row and called once. Its operations run on whole batches, so it is as fast as a
    function written for batches by hand.

    >>> def outer_product(row):
    ...     return tf.tensordot(row, row, axes=0)
    >>> tf.vectorized_map(outer_product, tf.ones([5, 3])).shape
    TensorShape([5, 3, 3])

    Tapes work inside: this gives the gradient for each example by itself.

    >>> w = tf.Variable([1.0, 2.0])
    >>> def gradient(example):
    ...     with tf.GradientTape() as tape:
    ...         loss = tf.reduce_sum(w * example) ** 2
    ...     return tape.gradient(loss, w)
    >>> tf.vectorized_map(gradient, tf.constant([[1.0, 0.0], [0.0, 1.0]])).numpy()
    array([[2., 0.],
           [0., 4.]], dtype=float32)

    Random ops draw other numbers for each row. What depends on the values of a row in Python (an `if`, a loop, a
    shape) cannot be done for all rows at once, and raises: use `tf.cond` or `tf.where`.

    Args:
      fn: takes a row of `elems` (a structure of rows, if `elems` is one) and returns tensors in any structure.
      elems: a tensor, or a structure of tensors, with the rows along the first dimension. All have as many, or 1,
        which is used for all.
      fallback_to_while_loop: accepted for compatibility: there is a rule for every op, and nothing to fall back from.
      warn: accepted for compatibility.

    Returns:
      What `fn` returns, with the results of all rows stacked along the first dimension.
    """
    from tapeflow._src.primitives.batching import Batch

    elems = nest.map_structure(convert_to_tensor, elems)
    size = _rows(nest.flatten(elems))
    batch = Batch(size)

    def example(x: Tensor) -> Tensor:
        own, *rest = x._array.shape
        if same_size(own, size):
            return batch.wrap(x)
        if type(own) is int:
            return picking.getitem(x, index=(0,))
        return batch.wrap(moving.broadcast_to(x, shape=(size, *rest)))  # it may be one row, or all

    with batch.entered(draws=True):
        result = fn(nest.map_structure(example, elems))
        # Slices of a table become tables: those of different examples need not have the same rows.
        return nest.map_structure(
            lambda y: None if y is None else batch.outer(convert_to_tensor(y)), result
        )


def _rows(elems: list[Tensor]) -> int:
    if not elems:
        raise ValueError("vectorized_map: elems has no tensors, so there is nothing to map over")
    for x in elems:
        if not x._array.shape:
            raise ValueError(
                "vectorized_map: every tensor in elems needs a first dimension to map over, got a scalar"
            )
    sizes = [x._array.shape[0] for x in elems]
    try:
        return functools.reduce(broadcast, sizes)
    except ValueError:
        raise ValueError(
            "vectorized_map: all tensors in elems must have as many rows, or one row for all; got "
            f"shapes {', '.join(str(x.shape) for x in elems)}"
        ) from None
