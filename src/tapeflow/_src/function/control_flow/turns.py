"""The examples of a batch that have another turn of a loop, where others have finished."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from tapeflow._src.core.dtypes import int32
from tapeflow._src.core.sizes.dims import same_sizes
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.function.control_flow.examples import unsupported
from tapeflow._src.function.graph_function import GraphFunction
from tapeflow._src.function.replaying import replay
from tapeflow._src.graph.graph import Graph, subgraphs
from tapeflow._src.ops.array.creation import range as range_, zeros_like
from tapeflow._src.ops.array.shaping import cast, shape as shape_of
from tapeflow._src.ops.elementwise.arithmetic import maximum
from tapeflow._src.ops.elementwise.logic import logical_and
from tapeflow._src.ops.indexing.gathering import where
from tapeflow._src.ops.reduction.reducing import reduce_max
from tapeflow._src.primitives.array.stack import is_stack
from tapeflow._src.primitives.indexing import picking

if TYPE_CHECKING:
    from tapeflow._src.primitives.batching import Batch


class Turn:
    """A turn that not all examples of a batch have. The others keep their values.

    They compute all the same, with what another one computes with that has the turn. Their own values may be none
    that the body can do with: it could fail, or make NaNs, which would be in gradients even where nobody selects them.

    Args:
      batch: whose examples they are.
      active: for each example, whether it has the turn.
    """

    def __init__(self, batch: Batch, active: Tensor) -> None:
        self.batch = batch
        self.active = active
        own = range_(shape_of(active)[0])
        another = reduce_max(where(active, own, zeros_like(own)))
        self._example = where(active, own, another)
        self._has = batch.wrap(active)

    def given(self, x: Tensor) -> Tensor:
        """What the turn is computed with, in the place of a tensor."""
        if not self.batch.holds(x):
            return x
        full = picking.gather(self.batch.data(x), self._example, axis=0, batch_dims=0)
        return self.batch.wrap(full)

    def kept(self, new: Tensor, before: Tensor, given: Tensor) -> Tensor:
        """A loop variable after the turn: what the body made of what was given in the place of `before`."""
        if new is given:
            return before
        if is_stack(new):
            raise unsupported("lists of tensors in a loop whose turns differ between examples")
        if not same_sizes(new._array.shape, before._array.shape):
            raise unsupported(
                "a loop variable whose shape changes, where the turns differ between examples"
            )
        return where(self._has, new, before)

    def part(self, x: Tensor) -> Tensor:
        """What the turn adds to a sum."""
        return where(self._has, x, zeros_like(x))


def may_differ(graph: Graph) -> bool:
    """Whether the turns of a loop may differ that has this graph in it.

    An effect would see examples that have finished. Random numbers are drawn for them, too, and nobody looks at those.
    """
    return all(_may_differ(node) for node in graph.nodes)


def _may_differ(node: Any) -> bool:
    inside = list(subgraphs(node))
    if inside:
        return all(map(may_differ, inside))
    draws = node.primitive.name.startswith("random_") and not node.attrs.get("effect")
    return draws or not node.has_effect


def goes_on(batch: Batch, condition: GraphFunction, inputs: Sequence[Tensor]) -> Any:
    """For each example, whether the condition of a loop holds."""
    return batch.full(replay(condition.graph, inputs)[condition.graph.outputs[0]])


def still(active: Tensor, going_on: Tensor) -> Tensor:
    """Which examples have the next turn, too."""
    return logical_and(active, going_on)


def as_number(active: Tensor) -> Tensor:
    """One for examples that have a turn, else zero."""
    return cast(active, int32)


def most(turns: Tensor) -> Tensor:
    """How many turns there are until all examples have finished."""
    return maximum(reduce_max(turns), 0)
