"""The user's functions in a pipeline: map, filter, scan, take_while, flat_map, interleave."""

from __future__ import annotations

import copy
import time
from collections.abc import Callable, Mapping
from typing import Any

from tapeflow._src.core import nest
from tapeflow._src.core.errors import invalid
from tapeflow._src.core.spec import TensorSpec
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.data.runtime import background
from tapeflow._src.data.runtime.functions import ElementFunction, arguments, sample
from tapeflow._src.data.runtime.node import UNKNOWN, Alike, Node, Run
from tapeflow._src.data.runtime.rows import Row, Rows, gathered
from tapeflow._src.data.specs import DatasetSpec, box, common, for_pipeline, spec_of

AUTOTUNE = -1
_TRIALS = 16
# Seconds for an element: below that, handing it to a thread costs more than it gains.
_WORTH_A_THREAD = 5e-4


class Map(Node):
    """A function of each element."""

    name = "_MapDataset"

    def __init__(
        self, source: Node, function: Callable[..., Any], calls: int | None, deterministic: bool
    ) -> None:
        self.inputs = (source,)
        self.function = ElementFunction(function, arguments(source.spec), "map")
        self.calls = calls
        self.deterministic = deterministic
        if calls is not None:
            self.name = "_ParallelMapDataset"

    @property
    def spec(self) -> Any:  # pyright: ignore[reportIncompatibleVariableOverride]
        """That of the function's results."""
        return self.function.spec(sample(self.inputs[0]))

    def cardinality(self) -> int:
        """That of the input."""
        return self.inputs[0].cardinality()

    def rows(self, run: Run) -> Rows:
        """With threads, if there are parallel calls."""
        source, function = self.inputs[0].rows(run), self.function.within(run)
        if self.calls is None or self.calls == 1 or background.debugging.on:
            return MapRows(source, function)
        if self.calls == AUTOTUNE:
            return TunedRows(source, function, self.deterministic)
        return background.ParallelRows(source, function, self.calls, self.deterministic)


class MapRows(Rows):
    """A function of each row."""

    def __init__(self, source: Rows, function: Callable[[Row], Row]) -> None:
        self._source, self._function = source, function

    def __next__(self) -> Row:
        return self._function(next(self._source))

    def skip(self, n: int) -> int:
        """Without calling the function."""
        return self._source.skip(n)


class TunedRows(Rows):
    """A function of each row, in threads if it takes long enough to make up for them."""

    def __init__(self, source: Rows, function: Callable[[Row], Row], deterministic: bool) -> None:
        self._source, self._function, self._deterministic = source, function, deterministic
        self._times: list[float] = []
        self._rows: Rows | None = None

    def __next__(self) -> Row:
        if self._rows is not None:
            return next(self._rows)
        row = next(self._source)
        start = time.perf_counter()
        result = self._function(row)
        self._times.append(time.perf_counter() - start)
        if len(self._times) == _TRIALS:
            if sorted(self._times)[_TRIALS // 2] < _WORTH_A_THREAD:
                self._rows = MapRows(self._source, self._function)
            else:
                self._rows = background.ParallelRows(
                    self._source, self._function, background.cores(), self._deterministic
                )
        return result

    def skip(self, n: int) -> int:
        """Without calling the function."""
        return (self._rows or self._source).skip(n)


class Filter(Alike):
    """The elements for which a predicate holds."""

    name = "_FilterDataset"

    def __init__(self, source: Node, predicate: Callable[..., Any], op: str = "filter") -> None:
        super().__init__(source)
        self.function = ElementFunction(predicate, arguments(source.spec), op)
        if self.function._known:
            spec = self.function._spec
            if not (
                isinstance(spec, TensorSpec) and spec.dtype.is_bool and spec.shape.rank in (0, None)
            ):
                raise ValueError(
                    f"Invalid `predicate`. `predicate` must return a `tf.bool` scalar tensor, but its return type is "
                    f"{spec}."
                )

    def cardinality(self) -> int:
        """Not known before reading."""
        return UNKNOWN

    def rows(self, run: Run) -> Rows:
        """Some of the rows."""
        return FilterRows(self.source.rows(run), self.function.within(run))


class FilterRows(Rows):
    """The rows for which a predicate holds."""

    def __init__(self, source: Rows, predicate: Callable[[Row], Row]) -> None:
        self._source, self._predicate = source, predicate

    def __next__(self) -> Row:
        for row in self._source:
            if self._predicate(row)[0]:
                return row
        raise StopIteration


class TakeWhile(Filter):
    """The elements before the first for which a predicate does not hold."""

    name = "_TakeWhileDataset"

    def rows(self, run: Run) -> Rows:
        """Rows until then."""
        return TakeWhileRows(self.source.rows(run), self.function.within(run))


class TakeWhileRows(Rows):
    """Rows until a predicate does not hold."""

    def __init__(self, source: Rows, predicate: Callable[[Row], Row]) -> None:
        self._source, self._predicate = source, predicate
        self._over = False

    def __next__(self) -> Row:
        if not self._over:
            row = next(self._source)
            if self._predicate(row)[0]:
                return row
            self._over = True
        raise StopIteration


# With a state.


def _row_of(structure: Any) -> Row:
    """A structure of tensors as the components of a row."""
    return tuple(x._array if isinstance(x, Tensor) else box(x) for x in nest.flatten(structure))


class StateFunction:
    """A function of a state and an element, whose state may change its shape but not its dtype."""

    def __init__(self, function: Callable[..., Any], state: Any, spec: Any, op: str) -> None:
        self.initial = for_pipeline(state)
        self.state_spec = spec_of(self.initial)
        self.spec: Any = None
        while True:  # again if a size that was thought to stay has changed
            self.call = ElementFunction(function, (self.state_spec, spec), op)
            after = self._after(op)
            if after is None:
                break
            wider = self._wider(after, op)
            if wider == self.state_spec:
                break
            self.state_spec = wider
        self.first = _row_of(self.initial)

    @property
    def captured(self) -> list[Any]:
        """What it takes from a function around it that is traced."""
        return [*nest.flatten(self.initial, expand_composites=True), *self.call.captured]

    def substituted(self, values: Mapping[int, Any]) -> StateFunction:
        """The same with other tensors in the place of these."""
        new = copy.copy(self)
        new.initial = nest.map_structure(
            lambda x: values.get(id(x), x), self.initial, expand_composites=True
        )
        new.first = _row_of(new.initial)
        new.call = self.call.substituted(values)
        return new

    def _after(self, op: str) -> Any:
        """The spec of the new state."""
        if not self.call._known:
            return None
        result = self.call._spec
        if op == "reduce":
            return result
        if type(result) is not tuple or len(result) != 2:
            raise TypeError(
                f"Dataset.{op}: the function must return a pair (new_state, output_element), got {result}"
            )
        self.spec = result[1]
        return result[0]

    def _wider(self, after: Any, op: str) -> Any:
        try:
            return common(self.state_spec, after)
        except TypeError:
            raise TypeError(
                f"Dataset.{op}: the new state must have the structure and dtypes of the initial one. The initial state "
                f"is {self.state_spec}, and the function returns {after}. Use tf.cast, or another initial state."
            ) from None


class Scan(Node):
    """A function of a state and each element, which gives the next state and an element."""

    name = "_ScanDataset"

    def __init__(self, source: Node, state: Any, function: Callable[..., Any]) -> None:
        self.inputs = (source,)
        self.function = StateFunction(function, state, source.spec, "scan")

    @property
    def spec(self) -> Any:  # pyright: ignore[reportIncompatibleVariableOverride]
        """That of the second result."""
        function = self.function
        if function.spec is None:
            first = sample(self.inputs[0])
            function.spec = function.call.spec(lambda: (*function.first, *first()))[1]
        return function.spec

    def cardinality(self) -> int:
        """That of the input."""
        return self.inputs[0].cardinality()

    def rows(self, run: Run) -> Rows:
        """One after the other."""
        return ScanRows(self.inputs[0].rows(run), self.function, run)


class ScanRows(Rows):
    """Rows made with a state."""

    def __init__(self, source: Rows, function: StateFunction, run: Run) -> None:
        self._source, self._state = source, function.first
        self._call = function.call.within(run)

    def __next__(self) -> Row:
        result = self._call((*self._state, *next(self._source)))
        count = len(self._state)
        self._state = result[:count]
        return result[count:]


# Datasets from elements.

_READ_AHEAD = 1024  # elements of each dataset, at most


class FlatMap(Node):
    """The elements of the datasets that a function makes of each element, several of them in turn."""

    name = "_FlatMapDataset"

    def __init__(
        self,
        source: Node,
        function: Callable[..., Any],
        op: str = "flat_map",
        cycle: int = 1,
        block: int = 1,
        threads: bool = False,
    ) -> None:
        if cycle <= 0 or block <= 0:
            name = "cycle_length" if cycle <= 0 else "block_length"
            raise invalid(
                f"Dataset.{op}: {name} must be greater than zero, got {min(cycle, block)}"
            )
        self.inputs = (source,)
        self.function = ElementFunction(function, arguments(source.spec), op)
        self.cycle, self.block, self.threads = cycle, block, threads
        self._op = op
        if self.function._known:
            self.spec  # noqa: B018  # raises unless it is a dataset
        if op == "interleave":
            self.name = "_ParallelInterleaveDataset" if threads else "_InterleaveDataset"

    @property
    def spec(self) -> Any:  # pyright: ignore[reportIncompatibleVariableOverride]
        """That of the datasets."""
        found = self.function.spec(sample(self.inputs[0]))
        if not isinstance(found, DatasetSpec):
            raise TypeError(
                f"Dataset.{self._op}: the function must return a `tf.data.Dataset` object, got {found}"
            )
        return found.element_spec

    def cardinality(self) -> int:
        """Not known before reading."""
        return UNKNOWN

    def rows(self, run: Run) -> Rows:
        """Those of the datasets in turn."""
        function = self.function.within(run)

        def opened(element: Row) -> Rows:
            (inner,) = function(element)
            rows = inner.rows(run)
            if self.threads and not background.debugging.on:
                return background.PrefetchRows(rows, min(2 * self.block, _READ_AHEAD))
            return rows

        return InterleavedRows(self.inputs[0].rows(run), opened, self.cycle, self.block)


class InterleavedRows(Rows):
    """Rows of several passes in turn.

    Args:
      source: the elements that passes are made of.
      opened: makes a pass of an element.
      cycle: how many passes are read in turn.
      block: how many rows of each at a time.
    """

    def __init__(self, source: Rows, opened: Callable[[Row], Rows], cycle: int, block: int) -> None:
        self._source, self._opened = source, opened
        self._cycle, self._block = cycle, block
        # Up to the length of the cycle, as far as there are passes.
        self._open: list[Rows | None] = []
        self._place = self._taken = 0
        self._more = True

    def __next__(self) -> Row:
        while True:
            rows = self._current()
            try:
                row = next(rows)
            except StopIteration:
                self._open[self._place] = None
                self._on()
                continue
            self._taken += 1
            if self._taken == self._block:
                self._on()
            return row

    def chunk(self, n: int) -> list[Any]:
        """As long as there is one pass after the other, chunks of them."""
        return gathered(n, self._part) if self._cycle == 1 else super().chunk(n)

    def _part(self, n: int) -> list[Any]:
        while True:
            rows = self._current()
            try:
                return rows.chunk(n)
            except StopIteration:
                self._open[self._place] = None

    def _current(self) -> Rows:
        """The pass whose turn it is."""
        while True:
            if self._place == len(self._open):
                self._open.append(None)
            rows = self._open[self._place]
            if rows is not None:
                return rows
            if self._more:
                self._begin()
            elif any(r is not None for r in self._open):
                self._on()
            else:
                raise StopIteration

    def _on(self) -> None:
        self._place += 1
        if self._place == (self._cycle if self._more else len(self._open)):
            self._place = 0
        self._taken = 0

    def _begin(self) -> None:
        try:
            element = next(self._source)
        except StopIteration:
            self._more = False
            return
        self._open[self._place] = self._opened(element)
