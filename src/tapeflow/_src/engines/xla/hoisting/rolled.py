"""A loop that was found in a graph, without the products that are better computed outside of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, NamedTuple

import jax.numpy as jnp

from tapeflow._src.engines.xla.hoisting.rules import (
    FEWEST_TURNS,
    fits,
    in_order,
    is_part,
    is_product,
    is_sum_of_rows,
    product_of_all,
    sum_of_all,
)
from tapeflow._src.graph.graph import Node, Value
from tapeflow._src.graph.repeats.loops import Carried, Loop, Moving, Stacked
from tapeflow._src.graph.sizes import needs


class LateSum(NamedTuple):
    """What a loop would have added up.

    Attributes:
      node: what computes a part.
      operands: for each of its inputs the values outside that it is in the turns.
      carried: the sum.
    """

    node: Node
    operands: list[tuple[Value, ...]]
    carried: Carried

    def of(self, values: Any) -> Any:
        """The sum."""
        total = sum_of_all(self.node, [_rows(values, each) for each in self.operands])
        start = self.carried.start
        return total if start is None else jnp.asarray(values[start], total.dtype) + total


class LateRows(NamedTuple):
    """Products that only leave a loop.

    Attributes:
      node: what computes them.
      operand: the values outside that its first input is in the turns.
      kept: what they are outside.
    """

    node: Node
    operand: tuple[Value, ...]
    kept: Stacked

    def of(self, values: Any) -> Any:
        """The products of all turns."""
        return product_of_all(self.node, _rows(values, self.operand), values[self.node.inputs[1]])


class Hoisted:
    """A loop without the products that are computed outside of it.

    Args:
      loop: the loop.
      values: the arrays that are known before it. Early products are added.

    Attributes:
      loop: what is left of it.
    """

    def __init__(self, loop: Loop, values: Any) -> None:
        self.loop = loop
        self._values = values
        self._sums: list[LateSum] = []
        self._products: list[LateRows] = []
        if loop.turns < FEWEST_TURNS:
            return
        self._compute_early()
        self._uses = Counter(_taken(self.loop))
        self._makers = {
            v: item for item in self.loop.body if type(item) is Node for v in item.outputs
        }
        self._known = {each.inside: each.outside for each in self.loop.stacked}
        self._leave_products()
        # The rows that a bias adds up are kept for the sake of a product, or not at all.
        for suits in (is_part, lambda node: is_sum_of_rows(node) and node.inputs[0] in self._known):
            self._leave_sums(suits)

    def finish(self) -> None:
        """Adds what is computed after the loop to the values."""
        for each in self._sums:
            self._values[each.carried.result] = each.of(self._values)
        for each in self._products:
            self._values.add_rows(each.kept.outside, each.of(self._values))

    def _compute_early(self) -> None:
        loop, values = self.loop, self._values
        rows: dict[Value, Callable[[], Any]] = {
            each.inside: partial(_rows, values, each.outside) for each in loop.stacked
        }
        body: list[Any] = []
        stacked = list(loop.stacked)
        for item in loop.body:
            if type(item) is Moving:
                axis = _axis_of(item)
                if axis is not None and item.node.inputs[0] in loop.fixed:
                    rows[item.node.outputs[0]] = partial(_windows, values, item, axis)
            if (
                is_product(item)
                and item.inputs[0] in rows
                and item.inputs[1] in loop.fixed
                and fits(item.outputs[0], loop.turns)
            ):
                outside = _outside(item.outputs[0], loop.turns)
                found = product_of_all(item, rows[item.inputs[0]](), values[item.inputs[1]])
                values.add_rows(outside, found)
                stacked.append(Stacked(item.outputs[0], outside))
            else:
                body.append(item)
        self.loop = loop._replace(body=body, stacked=stacked)

    def _leave_products(self) -> None:
        """Leaves out products that are kept of each turn, and used by nobody in it."""
        late = [each for each in self.loop.kept if self._is_late(each.inside)]
        self.loop = self.loop._replace(kept=[k for k in self.loop.kept if k not in late])
        for each in late:
            node = self._makers[each.inside]
            self._products.append(LateRows(node, self._of_all_turns(node.inputs[0]), each))
            self._drop(node)

    def _is_late(self, value: Value) -> bool:
        node = self._makers.get(value)
        return (
            is_product(node)
            and self._uses[value] == 1
            and node.inputs[1] in self.loop.fixed
            and all(fits(v, self.loop.turns) for v in (value, node.inputs[0]))
        )

    def _leave_sums(self, suits: Callable[[Any], bool]) -> None:
        """Leaves out what is only added up, and computed by a node that suits."""
        carried: list[Carried] = []
        for each in self.loop.carried:
            node = self._part_of(each)
            if (
                node is None
                or not suits(node)
                or not all(fits(v, self.loop.turns) for v in node.inputs)
                or any(v in self.loop.fixed for v in node.inputs)
            ):
                carried.append(each)
                continue
            operands = [self._of_all_turns(v) for v in node.inputs]
            self._sums.append(LateSum(node, operands, each))
            self._drop(node, self._makers[each.following])
        self.loop = self.loop._replace(carried=carried)

    def _part_of(self, carried: Carried) -> Node | None:
        """What computes the part of a sum, if it is one that nobody looks at before the end."""
        total = self._makers.get(carried.following)
        if carried.result is None or total is None or total.primitive.name != "add":
            return None
        if self._uses[carried.inside] != 1 or self._uses[carried.following] != 1:
            return None
        if carried.inside not in total.inputs:
            return None
        part = total.inputs[carried.inside is total.inputs[0]]
        if self._uses[part] != 1 or part.shape != carried.inside.shape:
            return None
        return self._makers.get(part)

    def _of_all_turns(self, value: Value) -> tuple[Value, ...]:
        """What a value of the body is outside in all turns; from now on it is kept, if it was not."""
        if value not in self._known:
            found = [each.outside for each in self.loop.kept if each.inside is value]
            self._known[value] = found[0] if found else _outside(value, self.loop.turns)
            if not found:
                kept = [*self.loop.kept, Stacked(value, self._known[value])]
                self.loop = self.loop._replace(kept=kept)
        return self._known[value]

    def _drop(self, *nodes: Node) -> None:
        body = [item for item in self.loop.body if not any(item is node for node in nodes)]
        self.loop = self.loop._replace(body=body)


def _taken(loop: Loop) -> Iterator[Value]:
    """What is used in a loop, as often as it is; values from outside, too."""
    for item in loop.body:
        if type(item) is Loop:
            yield from item.fixed
            yield from [c.start for c in item.carried if c.start is not None]
            yield from [v for each in item.stacked for v in each.outside]
            yield from _taken(item)
        else:
            yield from needs(item.node if type(item) is Moving else item)
    yield from [each.following for each in loop.carried]
    yield from [each.inside for each in loop.kept]


def _outside(value: Value, turns: int) -> tuple[Value, ...]:
    """Values for what a value of a body is in all turns."""
    return tuple([Value(value.shape, value.dtype) for _ in range(turns)])


def _rows(values: Any, outside: tuple[Value, ...]) -> Any:
    """Values as the rows of one array."""
    array = values.stacked(outside)
    return in_order(*values.rows(outside)) if array is None else array


def _axis_of(moving: Moving) -> int | None:
    """The one dimension along which a window moves, if it is one thick there and takes all of the others."""
    node = moving.node
    if node.primitive.name != "getitem":
        return None
    axes = [
        axis for axis, starts in enumerate(zip(*moving.starts, strict=True)) if len(set(starts)) > 1
    ]
    whole = [
        span.taken == size and not span.backwards
        for axis, (span, size) in enumerate(zip(moving.spans, node.inputs[0].shape, strict=True))
        if axis not in axes
    ]
    return axes[0] if len(axes) == 1 and moving.spans[axes[0]].taken == 1 and all(whole) else None


def _windows(values: Any, moving: Moving, axis: int) -> Any:
    """What a window (see `_axis_of`) is in all turns."""
    node, numbers = moving.node, [starts[axis] for starts in moving.starts]
    array = jnp.moveaxis(values[node.inputs[0]], axis, 0)
    return in_order(array, numbers).reshape(len(numbers), *node.outputs[0].shape)
