"""A `while` whose number of turns is known, without the products that are better computed outside of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Sequence
from typing import Any, NamedTuple, TypeGuard

import jax.numpy as jnp

from tapeflow._src.core.sizes.dims import is_dynamic
from tapeflow._src.engines.xla.hoisting.rules import (
    FEWEST_TURNS,
    fits,
    is_part,
    is_product,
    is_sum_of_rows,
    product_of_all,
    sum_of_all,
)
from tapeflow._src.graph.graph import Graph, Node, Value
from tapeflow._src.graph.sizes import needs


class _Late(NamedTuple):
    """A result of the loop that is computed after it.

    Attributes:
      node: what would have computed it, or a part of it, in each turn.
      matrix: what all turns multiply by, if they do and the results are rows.
    """

    node: Node
    matrix: Any = None

    def of(self, turns: dict[Value, Any]) -> Any:
        """The result, by what values are in all turns."""
        if self.matrix is None:
            return sum_of_all(self.node, [turns[v] for v in self.node.inputs])
        return product_of_all(self.node, turns[self.node.inputs[0]], self.matrix)


class Hoisted:
    """The body of a loop without the products that are computed outside of it.

    Args:
      body: the graph of a turn: its inputs are the state, rows of scanned arrays, and fixed values.
      plan: how its outputs are used.
      scanned: arrays that are gone through.
      fixed: arrays that are the same in all turns.
      turns: how many there are; None if that is not known, and nothing is to be left out.

    Attributes:
      body: what is left of it. What it gives besides is what is kept, at the end.
      scanned, fixed: with what has come to them.
      sums: the entries of the plan for those that are left.
      lists: how many results are left that get a row in each turn.
    """

    def __init__(
        self,
        body: Graph,
        plan: Any,
        scanned: Sequence[Any],
        fixed: Sequence[Any],
        turns: int | None,
    ) -> None:
        self.body, self.scanned, self.fixed = body, list(scanned), list(fixed)
        self.sums, self.lists = list(plan.sums), len(plan.stacked)
        self._late_lists: dict[int, _Late] = {}
        self._late_sums: dict[int, _Late] = {}
        self._extra: list[Value] = []
        if turns is None or turns < FEWEST_TURNS or body.assigned:
            return
        inputs = [v for v in body.inputs if v not in body.constants]
        split = plan.carried + len(scanned)
        self._turns = turns
        self._inputs = inputs[: plan.carried], inputs[plan.carried : split], inputs[split:]
        self._rows = dict(zip(self._inputs[1], scanned, strict=True))
        self._known = dict(zip(self._inputs[2], fixed, strict=True))
        self._known |= {v: jnp.asarray(array) for v, array in body.constants.items()}
        self._nodes = list(body.nodes)
        self._makers = {v: node for node in body.nodes for v in node.outputs}
        self._compute_early()
        self._leave(body.outputs, plan)

    # Before the loop.

    def _compute_early(self) -> None:
        nodes: list[Node] = []
        for node in self._nodes:
            if not is_product(node) or node.inputs[1] not in self._known:
                nodes.append(node)
                continue
            x, product = node.inputs[0], node.outputs[0]
            matrix = self._known[node.inputs[1]]
            found = self._rows_by_number(x)
            if x in self._rows and fits(product, self._turns):
                self._inputs[1].append(product)
                self.scanned.append(product_of_all(node, self._rows[x], matrix))
            elif found is not None and fits(product, len(found[0])):
                array, gather = found
                products = Value((len(array), *product.shape), product.dtype)
                self._inputs[2].append(products)
                self.fixed.append(product_of_all(node, array, matrix))
                taken, attrs = [products, gather.inputs[1]], {"axis": 0, "batch_dims": 0}
                nodes.append(Node(gather.primitive, taken, attrs, [product], gather.line))
            else:
                nodes.append(node)
        self._nodes = nodes

    def _rows_by_number(self, value: Value) -> tuple[Any, Node] | None:
        """The rows of a fixed array one of which a value is, in the order of their numbers, and what takes it."""
        node = self._made_by("gather", self._unshaped(value))
        if node is None or node.attrs["batch_dims"] or node.inputs[1].shape != ():
            return None
        source = self._unshaped(node.inputs[0])
        if source not in self._known or is_dynamic((node.inputs[0].shape, node.attrs)):
            return None
        array = self._known[source].reshape(node.inputs[0].shape)
        rows = jnp.moveaxis(array, node.attrs["axis"], 0)
        # Rows that no turn looks at would be multiplied in vain.
        return (rows.reshape(-1, *value.shape), node) if len(rows) <= 2 * self._turns else None

    def _unshaped(self, value: Value) -> Value:
        node = self._made_by("reshape", value)
        return value if node is None else node.inputs[0]

    def _made_by(self, name: str, value: Value) -> Node | None:
        node = self._makers.get(value)
        return node if node is not None and node.primitive.name == name else None

    # After the loop.

    def _leave(self, outputs: Sequence[Value], plan: Any) -> None:
        given = iter(outputs)
        state = [next(given) for _ in range(plan.carried)]
        lists = [next(given) for _ in plan.stacked]
        sums = [[next(given) for _ in range(2 if rows else 1)] for rows, _ in plan.sums]
        kept = list(given)
        uses = Counter([*outputs, *[v for node in self._nodes for v in needs(node)]])
        self._turning = {*self._rows, *kept}

        for i, value in enumerate(lists):
            node = self._makers.get(value)
            if (
                is_product(node)
                and uses[value] == 1
                and node.inputs[1] in self._known
                and fits(value, self._turns)
                and self._is_kept(node.inputs[0])
            ):
                self._late_lists[i] = _Late(node, self._known[node.inputs[1]])
        # The rows that a bias adds up are kept for the sake of a product, or not at all.
        for suits in (is_part, self._is_sum_of_kept_rows):
            for i, (value, *numbers) in enumerate(sums):
                node = self._makers.get(value)
                if (
                    not numbers
                    and uses[value] == 1
                    and suits(node)
                    and all(self._is_kept(v) for v in node.inputs)
                ):
                    self._late_sums[i] = _Late(node)

        late = [each.node for each in (*self._late_lists.values(), *self._late_sums.values())]
        results = [*state, *_left(lists, self._late_lists)]
        results += [v for values in _left(sums, self._late_sums) for v in values]
        self._kept = [*kept, *self._extra]
        nodes = [node for node in self._nodes if not any(node is each for each in late)]
        self.body = self.body.with_nodes(nodes, [*results, *self._kept])
        self.body.inputs = [*self.body.constants, *[v for part in self._inputs for v in part]]
        self.sums = _left(self.sums, self._late_sums)
        self.lists -= len(self._late_lists)

    def _is_kept(self, value: Value) -> bool:
        """Whether what a value is in all turns is known after the loop; from now on it is, if it may be."""
        if value in self._turning:
            return True
        if value in self._known or not fits(value, self._turns):
            return False
        self._turning.add(value)
        self._extra.append(value)
        return True

    def _is_sum_of_kept_rows(self, node: Any) -> TypeGuard[Node]:
        return is_sum_of_rows(node) and node.inputs[0] in self._turning

    def finish(
        self, lists: Sequence[Any], sums: Sequence[Any], kept: Sequence[Any]
    ) -> tuple[list[Any], list[Any], Sequence[Any]]:
        """What the loop would have given, of what it gives now: rows of results, sums, and what is kept."""
        if not self._late_lists and not self._late_sums:
            return list(lists), list(sums), kept[: len(kept) - len(self._extra)]
        turns = {**self._rows, **dict(zip(self._kept, kept, strict=True))}
        return (
            _completed(lists, {i: late.of(turns) for i, late in self._late_lists.items()}),
            _completed(sums, {i: late.of(turns) for i, late in self._late_sums.items()}),
            kept[: len(kept) - len(self._extra)],
        )


def _left(items: Sequence[Any], without: Container[int]) -> list[Any]:
    return [item for i, item in enumerate(items) if i not in without]


def _completed(found: Sequence[Any], late: dict[int, Any]) -> list[Any]:
    """The items that were found, with others at their places among them."""
    items = iter(found)
    return [late[i] if i in late else next(items) for i in range(len(found) + len(late))]
