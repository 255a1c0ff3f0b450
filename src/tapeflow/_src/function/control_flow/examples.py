"""Whether conditionals and loops are computed for many examples at once: then `batching` is loaded, and does it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from tapeflow._src.core.context import context
from tapeflow._src.core.interpreter import innermost
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.primitives.batched import BatchedTensor

if TYPE_CHECKING:
    from tapeflow._src.primitives.batching import Batch


def batch_of(tensors: Sequence[Tensor]) -> Batch | None:
    """The batch that some of these tensors are examples of, if there is one inside of the trace."""
    found = innermost(tensors)
    if found is None or (context.tracer is not None and context.tracer.depth > found.depth):
        return None  # what is from around the trace is captured
    for x in tensors:
        if isinstance(x, BatchedTensor) and x.interpreter is found:
            return x.interpreter
    return None


def unsupported(what: str) -> NotImplementedError:
    """The error for what cannot be done for all examples at once."""
    return NotImplementedError(
        f"A conditional or loop of a traced function cannot be vectorised with {what}. Pass "
        "experimental_use_pfor=False to jacobian, or use tf.map_fn in the place of tf.vectorized_map."
    )
