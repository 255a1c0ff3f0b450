"""Batching rules of stacks.

What the turns of a loop leave behind is a stack to the graph around the loop, and an array in a batch, where the turns
are the first dimension of each example: elements of all turns and examples have one shape. So what gradients do with
such a stack is done with arrays. What a `tf.TensorArray` does with one has no rules.
"""

from __future__ import annotations

from typing import Any

from tapeflow._src.core.errors import UnimplementedError
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.primitives.array import moving, stacks
from tapeflow._src.primitives.array.stack import is_stack
from tapeflow._src.primitives.batching.batch import Batch, Rule, Shared, rule
from tapeflow._src.primitives.elementwise import binary
from tapeflow._src.primitives.table import UNLISTED


@rule("stack_empty")
def _empty(batch: Batch, **attrs: Any) -> Shared:
    return Shared(stacks.stack_empty(**attrs))


@rule("stack_add")
def _add(batch: Batch, a: Tensor, b: Tensor) -> Tensor:
    like = batch.data(a if batch.holds(a) else b)
    element = like._array.shape[2:]
    return binary.add(
        *[stacks.stack_rows(x, element=element) if is_stack(x) else batch.data(x) for x in (a, b)]
    )


@rule("stack_ones_like")
def _ones_like(batch: Batch, s: Tensor) -> Tensor:
    return moving.ones_like(batch.data(s))


def _refusing(name: str) -> Rule:
    def rule(batch: Batch, *inputs: Tensor, **attrs: Any) -> Any:
        raise UnimplementedError(
            None,
            None,
            f"{name}: a tf.TensorArray of a traced function cannot hold what differs between the examples of "
            "tf.vectorized_map, nor do vectorised Jacobians know it. Use tf.map_fn, or experimental_use_pfor=False.",
        )

    return rule


_GRADIENTS = {"stack_empty", "stack_add", "stack_ones_like"}
for _name in UNLISTED.keys() - _GRADIENTS:
    if _name.startswith("stack_"):  # and no row of strings, which may be there already
        rule(_name)(_refusing(_name))
