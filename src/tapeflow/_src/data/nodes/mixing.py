"""Elements by choice, by chance and by key: choose, sample, group_by_window."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tapeflow._src.core import dtypes
from tapeflow._src.core.errors import invalid
from tapeflow._src.core.spec import TensorSpec
from tapeflow._src.data.nodes.sources import Listed
from tapeflow._src.data.runtime.functions import ElementFunction, arguments
from tapeflow._src.data.runtime.node import INFINITE, UNKNOWN, Node, Randomness, Run
from tapeflow._src.data.runtime.rows import Row, Rows
from tapeflow._src.data.specs import DatasetSpec, common
from tapeflow._src.primitives.random.numbers import categorical_kernel
from tapeflow._src.primitives.random.philox import WordStream, array_of, scrambled


class Directed(Node):
    """Each element is taken from one of several datasets, which another one tells.

    Args:
      choices: a dataset of numbers, or None to choose by chance.
      nodes: what to choose from.
      stop: whether to end with the first dataset that ends. If not, it is passed over from then on.
      weights: how likely each dataset is: numbers, or a dataset of them for each choice.
      randomness: for a choice by chance.
    """

    name = "_DirectedInterleaveDataset"

    def __init__(
        self,
        choices: Node | None,
        nodes: Sequence[Node],
        stop: bool,
        weights: np.ndarray | Node | None = None,
        randomness: Randomness | None = None,
    ) -> None:
        if not nodes:
            raise ValueError("Invalid `datasets`. `datasets` should not be empty.")
        if choices is not None:
            spec = choices.spec
            if spec != TensorSpec((), dtypes.int64):
                raise TypeError(
                    "Invalid `choice_dataset`. Elements of `choice_dataset` must be scalar `tf.int64` tensors but are "
                    f"{spec}."
                )
        first = weights if isinstance(weights, Node) else choices
        self.inputs = tuple(nodes) if first is None else (first, *nodes)
        self.by_chance = choices is None
        self.stop, self.weights, self.randomness = stop, weights, randomness
        self.spec = nodes[0].spec
        for node in nodes[1:]:
            self.spec = common(self.spec, node.spec)

    def cardinality(self) -> int:
        """Known only if all are infinite, as in TensorFlow."""
        sizes = [node.cardinality() for node in self.inputs]
        if all(s == INFINITE for s in sizes) or (self.stop and 0 in sizes):
            return min(sizes) if 0 not in sizes else 0
        return UNKNOWN

    def rows(self, run: Run) -> Rows:
        """Rows of all."""
        if self.by_chance:
            assert self.randomness is not None and self.weights is not None
            passes = [node.rows(run) for node in self.inputs]
            weights = passes.pop(0) if isinstance(self.weights, Node) else self.weights
            chance = ChanceRows(weights, run.words(self.randomness))
            return DirectedRows(chance, passes, self.stop)
        choices, *others = [node.rows(run) for node in self.inputs]
        return DirectedRows(choices, others, self.stop)


class ChanceRows(Rows):
    """Numbers by chance: as in TensorFlow, two random words are the seeds of each draw of a class."""

    def __init__(self, weights: np.ndarray | Rows, words: WordStream) -> None:
        self._weights = weights if isinstance(weights, Rows) else None
        if not isinstance(weights, Rows):
            self._logits = _logits(weights)
        self._words = words

    def __next__(self) -> Row:
        if self._weights is not None:
            self._logits = _logits(np.ravel(next(self._weights)[0]))
        state = array_of(*scrambled(self._words.one(), self._words.one()))
        row = categorical_kernel(state, self._logits, num_samples=1, dtype=dtypes.int64)
        return (row[0, 0],)


def _logits(weights: np.ndarray) -> np.ndarray:
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.log(weights.astype(np.float32))[None]


class DirectedRows(Rows):
    """Rows of several passes, by choice."""

    def __init__(self, choices: Rows, passes: Sequence[Rows], stop: bool) -> None:
        self._choices, self._stop = choices, stop
        self._passes: list[Rows | None] = list(passes)

    def __next__(self) -> Row:
        while any(rows is not None for rows in self._passes):
            number = int(next(self._choices)[0])
            if not 0 <= number < len(self._passes):
                raise invalid(
                    f"choice_dataset: selector index out of range: {number} >= {len(self._passes)}, the number of "
                    "datasets"
                )
            rows = self._passes[number]
            if rows is None:
                continue
            try:
                return next(rows)
            except StopIteration:
                self._passes = (
                    [None] * len(self._passes)
                    if self._stop
                    else [None if i == number else r for i, r in enumerate(self._passes)]
                )
        raise StopIteration


class GroupByWindow(Node):
    """Elements with the same key, `size` at a time, made into datasets by a function."""

    name = "_GroupByWindowDataset"

    def __init__(
        self,
        source: Node,
        key: Callable[..., Any],
        reduce: Callable[..., Any],
        size: Callable[[Any], Any],
    ) -> None:
        self.inputs = (source,)
        self.key = ElementFunction(key, arguments(source.spec), "group_by_window")
        found_key = self.key._spec
        if not isinstance(found_key, TensorSpec) or not found_key.dtype.is_integer:
            raise ValueError(
                f"Dataset.group_by_window: key_func must return a scalar of tf.int64, got {found_key}"
            )
        key_spec = TensorSpec((), dtypes.int64)
        given = DatasetSpec(source.spec)
        self.reduce = ElementFunction(reduce, (key_spec, given), "group_by_window")
        self.size = ElementFunction(size, (key_spec,), "group_by_window")
        found = self.reduce._spec
        if not isinstance(found, DatasetSpec):
            raise TypeError(
                f"Dataset.group_by_window: reduce_func must return a `tf.data.Dataset` object, got {found}"
            )
        self.spec = found.element_spec

    def rows(self, run: Run) -> Rows:
        """Those of the groups."""
        return GroupRows(self.inputs[0].rows(run), self, run)


class GroupRows(Rows):
    """Rows of groups, in the order in which these are full; what is left comes last."""

    def __init__(self, source: Rows, node: GroupByWindow, run: Run) -> None:
        self._source, self._node, self._run = source, node, run
        self._key, self._reduce = node.key.within(run), node.reduce.within(run)
        self._size_of = node.size.within(run)
        self._groups: dict[int, list[Row]] = {}
        self._sizes: dict[int, int] = {}
        self._current: Rows | None = None

    def __next__(self) -> Row:
        while True:
            if self._current is not None:
                try:
                    return next(self._current)
                except StopIteration:
                    self._current = None
            self._current = self._next_group()

    def _next_group(self) -> Rows:
        for row in self._source:
            key = int(self._key(row)[0])
            group = self._groups.setdefault(key, [])
            group.append(row)
            if len(group) >= self._size(key):
                return self._rows(key)
        if not self._groups:
            raise StopIteration
        return self._rows(min(self._groups))

    def _size(self, key: int) -> int:
        if key not in self._sizes:
            self._sizes[key] = size = int(self._size_of((np.int64(key),))[0])
            if size <= 0:
                raise invalid(f"group_by_window: window size must be greater than zero, got {size}")
        return self._sizes[key]

    def _rows(self, key: int) -> Rows:
        rows = self._groups.pop(key)
        given = Listed(rows, self._node.inputs[0].spec)
        (made,) = self._reduce((np.int64(key), given))
        return made.rows(self._run)
