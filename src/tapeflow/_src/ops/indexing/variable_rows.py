"""Updates of rows and elements of a variable inside `tf.function`, by the ops for tensors."""

from __future__ import annotations

from tapeflow._src.core.tensor import Tensor
from tapeflow._src.ops.indexing import gathering, scattering


def scattered(op: str, now: Tensor, indices: Tensor, updates: Tensor) -> Tensor:
    """A value after an update: `op` ends in what is done (`scatter_add`, `scatter_nd_update`, ...)."""
    kind = op.rsplit("_", 1)[1]
    if kind in ("mul", "div"):
        rows = gathering.gather_nd(now, indices)
        updates = rows * updates if kind == "mul" else rows / updates
        kind = "update"
    elif not updates.ndim:  # one number for all the rows
        updates = gathering.gather_nd(now, indices) * 0 + updates
    return getattr(scattering, f"tensor_scatter_nd_{kind}")(now, indices, updates)
