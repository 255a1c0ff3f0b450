"""Loops that were found in a graph (`graph.repeats`), as jax's own.

What is kept of all turns stays one array, and whoever needs it in turn, as the backward pass does, reads it from there,
by a number: nothing is copied, or turned round. Weights of different layers have to be put into one array first.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import lax

from tapeflow._src.engines.xla.checks import all_of, is_noting, note, noting
from tapeflow._src.engines.xla.hoisting.rolled import Hoisted
from tapeflow._src.engines.xla.indexing.picking import put_at, taken
from tapeflow._src.engines.xla.remembered import remembering
from tapeflow._src.graph.graph import Node, Value
from tapeflow._src.graph.repeats.loops import Loop, Moving, Stacked

RunItems = Callable[[Sequence[Any], "Arrays"], None]


class Arrays(dict[Value, Any]):
    """Arrays by the value that they are. Some are rows of others, and taken from there when somebody asks."""

    def __init__(self) -> None:
        super().__init__()
        self._rows: dict[Value, tuple[Any, int]] = {}

    def __missing__(self, value: Value) -> Any:
        array, row = self._rows[value]
        found = self[value] = lax.index_in_dim(array, row, keepdims=False)
        return found

    def get(self, value: Value, default: Any = None) -> Any:
        """The array, or the default."""
        return self[value] if value in self or value in self._rows else default

    def add_rows(self, values: Sequence[Value], array: Any) -> None:
        """Says that values are the rows of an array."""
        self._rows.update((v, (array, i)) for i, v in enumerate(values))

    def rows(self, values: Sequence[Value]) -> tuple[Any, list[int]]:
        """An array that has these values among its rows, and the numbers of these rows."""
        pieces: list[Any] = []
        offsets: dict[int, int] = {}
        numbers: list[int] = []
        height = 0
        for value in values:
            array, row = self._rows.get(value, (None, 0))
            key = id(value) if array is None else id(array)
            if key not in offsets:
                offsets[key] = height
                pieces.append(self[value][None] if array is None else array)
                height += pieces[-1].shape[0]
            numbers.append(offsets[key] + row)
        return pieces[0] if len(pieces) == 1 else jnp.concatenate(pieces), numbers

    def stacked(self, values: Sequence[Value]) -> Any:
        """The array whose rows these are, in this order; None if there is none yet."""
        array, _ = self._rows.get(values[0], (None, 0))
        if array is None or array.shape[0] != len(values):
            return None
        for i, value in enumerate(values):
            other, row = self._rows.get(value, (None, 0))
            if other is not array or row != i:
                return None
        return array


def run_loop(loop: Loop, values: Arrays, run: RunItems) -> None:
    """Adds what a loop makes to the values."""
    hoisted = Hoisted(loop, values)
    loop = hoisted.loop
    tables = _Tables()
    stacks = [_Row(each, values, tables) for each in loop.stacked]
    moving = {
        id(m): [tables.add(each) for each in zip(*m.starts, strict=True)]
        for m in loop.body
        if type(m) is Moving
    }
    fixed = {v: values[v] for v in loop.fixed}
    watched = is_noting()

    def turn(carry: Any, numbers: Any) -> tuple[Any, Any]:
        state, *fine = carry
        inside = Arrays()
        inside.update(fixed)
        inside.update((c.inside, x) for c, x in zip(loop.carried, state, strict=True))
        inside.update((s.inside, s.at(numbers)) for s in stacks)
        with noting(watched) as found, remembering():
            for item in loop.body:
                if type(item) is Moving:
                    starts = [find(numbers) for find in moving[id(item)]]
                    inside[item.node.outputs[0]] = _moved(item, starts, inside)
                else:
                    run([item], inside)
        following = tuple([_as(inside[c.following], c.inside) for c in loop.carried])
        fine = [all_of([*fine, *found])] if watched else []
        return (following, *fine), tuple([inside[k.inside] for k in loop.kept])

    start = tuple([_start(c, values) for c in loop.carried])
    first = (start, jnp.array(True)) if watched else (start,)
    (state, *fine), kept = lax.scan(turn, first, tables.arrays(), length=loop.turns)
    for ok in fine:
        note(ok)
    values.update((c.result, x) for c, x in zip(loop.carried, state, strict=True) if c.result)
    for each, array in zip(loop.kept, kept, strict=True):
        values.add_rows(each.outside, array)
    hoisted.finish()


class _Tables:
    """Integers that are different in each turn."""

    def __init__(self) -> None:
        self._places: dict[tuple[int, ...], int] = {}

    def add(self, numbers: Sequence[int]) -> Callable[[Any], Any]:
        """What finds the number of a turn among those that the turn is given."""
        if len(set(numbers)) == 1:
            return lambda found: np.int32(numbers[0])
        place = self._places.setdefault(tuple(numbers), len(self._places))
        return lambda found: found[place]

    def arrays(self) -> tuple[Any, ...]:
        """What a loop goes through."""
        return tuple([jnp.asarray(numbers, np.int32) for numbers in self._places])


class _Row:
    """A stacked value: a row of an array in each turn."""

    def __init__(self, stacked: Stacked, values: Arrays, tables: _Tables) -> None:
        self.inside = stacked.inside
        self._array, numbers = values.rows(stacked.outside)
        self._find = tables.add(numbers)

    def at(self, numbers: Sequence[Any]) -> Any:
        """The row of this turn."""
        return lax.dynamic_index_in_dim(self._array, self._find(numbers), keepdims=False)


def _moved(moving: Moving, starts: Sequence[Any], values: Arrays) -> Any:
    node, x = moving.node, values[moving.node.inputs[0]]
    if node.primitive.name == "put":
        return put_at(x, node.attrs["shape"], starts, moving.spans)
    return taken(x, starts, moving.spans).reshape(node.outputs[0].shape)


def _start(carried: Any, values: Arrays) -> Any:
    if carried.start is None:
        return jnp.zeros(carried.inside.shape, carried.inside.dtype.np_dtype)
    return _as(values[carried.start], carried.inside)


def _as(x: Any, value: Value) -> Any:
    return jnp.asarray(x, value.dtype.np_dtype)


def run_by_rows(node: Node, values: Arrays) -> bool:
    """Does what a node does without a copy for each row, if its values are rows; says whether it has."""
    if node.primitive.name == "unstack":
        values.add_rows(node.outputs, jnp.moveaxis(values[node.inputs[0]], node.attrs["axis"], 0))
        return True
    if node.primitive.name == "stack":
        array = values.stacked(node.inputs)
        if array is not None:
            values[node.outputs[0]] = jnp.moveaxis(array, 0, node.attrs["axis"])
            return True
    return False
