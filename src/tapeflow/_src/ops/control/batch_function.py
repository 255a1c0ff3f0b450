"""`tf.nondifferentiable_batch_function`: calls of several threads, computed as one."""

from __future__ import annotations

import functools
import threading
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tapeflow._src.core import nest
from tapeflow._src.core.context import no_recorders
from tapeflow._src.core.errors import UnavailableError, shown
from tapeflow._src.core.export import export
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.ops.array import moving
from tapeflow._src.ops.control.scopes import init_scope
from tapeflow._src.ops.effects.host import on_host
from tapeflow._src.primitives.rules import invalid
from tapeflow._src.primitives.specs import ArraySpec


@export("nondifferentiable_batch_function")
def nondifferentiable_batch_function(
    num_batch_threads: int,
    max_batch_size: int,
    batch_timeout_micros: int,
    allowed_batch_sizes: Sequence[int] | None = None,
    max_enqueued_batches: int = 10,
    autograph: bool = True,
    enable_large_batch_splitting: bool = True,
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """A decorator for functions that many threads call: what comes together is computed together.

    The arguments of several calls are concatenated along their first axis, the function is called once, and each call
    gets its rows of the result.

    >>> @tf.nondifferentiable_batch_function(1, 8, 1000, allowed_batch_sizes=[4, 8])
    ... def double(x):
    ...     return x * 2.0, tf.fill([tf.shape(x)[0]], tf.shape(x)[0])
    >>> values, size = double(tf.constant([[1.0], [2.0]]))
    >>> values.numpy().ravel(), size.numpy()
    (array([2., 4.], dtype=float32), array([4, 4], dtype=int32))

    Args:
      num_batch_threads: how many batches are computed at a time.
      max_batch_size: the most rows of a batch.
      batch_timeout_micros: how many microseconds the first call of a batch waits for others.
      allowed_batch_sizes: sizes that batches are filled up to, in rising order; the last one is `max_batch_size`.
      max_enqueued_batches: how many batches may wait. One more is an error.
      autograph: accepted for compatibility: the function runs as Python.
      enable_large_batch_splitting: whether a call may have more rows than a batch, and is then computed in parts.

    Returns:
      The decorator. The arguments and results of the function are tensors with a first axis; no gradients flow.
    """
    sizes = [int(n) for n in allowed_batch_sizes or ()]
    if sizes and (sorted(set(sizes)) != sizes or sizes[-1] != max_batch_size):
        raise invalid(
            "nondifferentiable_batch_function: allowed_batch_sizes must rise and end with max_batch_size = "
            f"{max_batch_size}, got {sizes}"
        )
    if num_batch_threads < 1 or max_batch_size < 1:
        raise invalid(
            "nondifferentiable_batch_function: num_batch_threads and max_batch_size must be at least 1, got "
            f"{num_batch_threads} and {max_batch_size}"
        )

    def decorator(function: Callable[..., Any]) -> Callable[..., Any]:
        batches = _Batches(
            function,
            num_batch_threads,
            max_batch_size,
            batch_timeout_micros / 1e6,
            sizes,
            max_enqueued_batches,
        )

        @functools.wraps(function)
        def decorated(*args: Any) -> Any:
            for x in args:
                if not isinstance(x, Tensor):
                    raise ValueError(
                        "All arguments to functions decorated with `nondifferentiable_batch_function` are supposed "
                        f"to be Tensors; found {shown(x)}."
                    )
            if not args or any(not x.shape.rank for x in args):
                raise invalid(
                    "nondifferentiable_batch_function: each argument must have a first axis, the rows of the batch"
                )
            if any(x.symbolic for x in args):
                return _in_graph(batches, args)
            with no_recorders():
                return batches.call([np.asarray(x) for x in args], enable_large_batch_splitting)

        return decorated

    return decorator


def _in_graph(batches: _Batches, args: tuple[Tensor, ...]) -> Any:
    """A node of a function that is traced. What the results are like is learnt from rows of zeros."""
    sample = [np.zeros([2, *[n or 1 for n in x.shape[1:]]], x.dtype.np_dtype) for x in args]
    with init_scope():
        example = batches.computed(sample)
    flat = nest.flatten(example)
    rows = args[0]._array.shape[0]
    specs = [ArraySpec((rows, *x.shape[1:]), x.dtype) for x in flat]

    def run(*arrays: Any) -> list[Any]:
        result = batches.call([np.asarray(a) for a in arrays], True)
        return [np.asarray(x) for x in nest.flatten(result)]

    found = on_host("nondifferentiable_batch_function", run, list(args), specs)
    return nest.pack_sequence_as(example, list(found))


class _Batch:
    """Calls that are computed together."""

    def __init__(self, until: float) -> None:
        self.until = until
        self.parts: list[list[np.ndarray]] = []
        self.rows = 0
        self.done = False
        self.results: list[Any] = []
        self.error: BaseException | None = None


class _Batches:
    def __init__(
        self,
        function: Callable[..., Any],
        threads: int,
        most: int,
        patience: float,
        sizes: list[int],
        waiting: int,
    ) -> None:
        self._function, self._most, self._patience = function, most, patience
        self._sizes, self._waiting = sizes, waiting
        self._open: dict[Any, _Batch] = {}  # by what the rows are like
        self._closed = 0
        self._news = threading.Condition()
        self._running = threading.Semaphore(threads)

    def call(self, arrays: list[np.ndarray], splits: bool) -> Any:
        rows = {len(a) for a in arrays}
        if len(rows) != 1:
            raise invalid(
                "nondifferentiable_batch_function: all arguments must have as many rows, got "
                f"{[list(a.shape) for a in arrays]}"
            )
        (count,) = rows
        if count <= self._most:
            return self._together(arrays, count)
        if not splits:
            raise invalid(
                f"nondifferentiable_batch_function: {count} rows are more than max_batch_size = {self._most}"
            )
        parts = [
            self._together([a[i : i + self._most] for a in arrays], min(self._most, count - i))
            for i in range(0, count, self._most)
        ]
        flat = [moving.concat(column, 0) for column in zip(*map(nest.flatten, parts), strict=True)]
        return nest.pack_sequence_as(parts[0], flat)

    def _wait_for_others(self, batch: _Batch) -> None:
        while (left := batch.until - time.monotonic()) > 0:
            self._news.wait(left)

    def _together(self, arrays: list[np.ndarray], count: int) -> Any:
        """Joins a batch, and computes it if it is the first of it."""
        kind = tuple((a.shape[1:], a.dtype) for a in arrays)
        with self._news:
            batch = self._open.get(kind)
            if batch is None or batch.rows + count > self._most:
                if batch is not None:
                    batch.until = 0.0  # it is full
                    self._news.notify_all()
                if self._closed >= self._waiting:
                    raise UnavailableError(
                        None,
                        None,
                        "nondifferentiable_batch_function: the batch scheduling queue is full: "
                        f"{self._closed} batches wait, and max_enqueued_batches is {self._waiting}",
                    )
                batch = self._open[kind] = _Batch(time.monotonic() + self._patience)
                self._closed += 1
            number, first = len(batch.parts), batch.rows
            batch.parts.append(arrays)
            batch.rows += count
            if batch.rows == self._most:
                batch.until = 0.0
                self._news.notify_all()
            if number == 0:
                self._wait_for_others(batch)
                if self._open.get(kind) is batch:
                    del self._open[kind]
        if number == 0:
            self._compute(batch)
        with self._news:
            self._news.wait_for(lambda: batch.done)
        if batch.error is not None:
            raise batch.error
        flat = [x[first : first + count] for x in nest.flatten(batch.results)]
        return nest.pack_sequence_as(batch.results, flat)

    def _compute(self, batch: _Batch) -> None:
        try:
            with self._running:
                with self._news:
                    self._closed -= 1
                columns = zip(*batch.parts, strict=True)
                batch.results = self.computed([np.concatenate(column) for column in columns])
        except BaseException as error:
            batch.error = error
        with self._news:
            batch.done = True
            self._news.notify_all()

    def computed(self, arrays: list[np.ndarray]) -> Any:
        """The function of a batch, which is filled up with copies of its first row."""
        rows = len(arrays[0])
        wanted = next((n for n in self._sizes if n >= rows), rows)
        if wanted > rows:
            arrays = [np.concatenate([a, *[a[:1]] * (wanted - rows)]) for a in arrays]
        result = self._function(*map(Tensor, arrays))
        for x in nest.flatten(result):
            if not isinstance(x, Tensor) or not x.shape.rank or x.shape[0] != wanted:
                raise invalid(
                    f"nondifferentiable_batch_function: the results must be tensors with {wanted} rows, as the "
                    f"batch, got {shown(x)}"
                )
        return nest.map_structure(lambda x: x[:rows], result)
