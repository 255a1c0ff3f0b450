"""Updates of rows and elements of a variable inside `tf.function`, by the ops for tensors."""

from __future__ import annotations

from tapeflow._src.core.tensor import Tensor
from tapeflow._src.ops.indexing import gathering, scattering, segments
from tapeflow._src.primitives.array import moving


def scattered(op: str, now: Tensor, indices: Tensor, updates: Tensor) -> Tensor:
    """A value after an update: `op` ends in what is done (`scatter_add`, `scatter_nd_update`, ...)."""
    kind = op.rsplit("_", 1)[1]
    if kind in ("mul", "div"):
        rows = gathering.gather_nd(now, indices)
        if not updates.ndim:
            updates = moving.zeros_like(rows) + updates
        factors = _of_each_row(now, indices, updates)
        updates = rows * factors if kind == "mul" else rows / factors
        kind = "update"
    elif not updates.ndim:  # one number for all the rows
        updates = moving.zeros_like(gathering.gather_nd(now, indices)) + updates
    return getattr(scattering, f"tensor_scatter_nd_{kind}")(now, indices, updates)


def _of_each_row(now: Tensor, indices: Tensor, updates: Tensor) -> Tensor:
    """For each update, the product of all that are for the same row: whichever is stored last, it is that."""
    depth = indices._array.shape[-1]
    numbers, count = indices[..., :1] * 0, 1
    for axis in reversed(range(depth)):
        numbers += indices[..., axis : axis + 1] * count
        count *= now._array.shape[axis]
    numbers = numbers[..., 0]
    return gathering.gather(segments.unsorted_segment_prod(updates, numbers, count), numbers)
