"""One reading of a dataset by the workers of a service, which clients share."""

from __future__ import annotations

import collections
import queue
import threading
from collections.abc import Iterator
from typing import Any

import numpy as np

from tapeflow._src.core import nest
from tapeflow._src.core.errors import invalid
from tapeflow._src.data.dataset import Dataset
from tapeflow._src.distribute.service.policies import ShardingPolicy
from tapeflow._src.distribute.sharding import by_files

_AHEAD = 16  # elements that wait to be read
_WINDOW = 64  # elements that trainers find again in a cache

Element = list[np.ndarray]


class Job:
    """Elements as the workers compute them, each given to one client, or to one trainer after the other.

    Args:
      dataset: what is read.
      policy: who reads what.
      workers: how many there are.
      consumers: how many clients take elements in turn; 0 if they take what comes.
    """

    def __init__(
        self, dataset: Dataset, policy: ShardingPolicy, workers: int, consumers: int
    ) -> None:
        self._found: queue.Queue[Any] = queue.Queue(_AHEAD)
        self._over = threading.Event()
        self._guard = threading.Lock()
        self._left = workers
        self._turns: list[collections.deque[Element]] = [
            collections.deque() for _ in range(consumers)
        ]
        self._window: collections.deque[Element] = collections.deque()
        self._first = 0  # the number of the first element in the window
        self._places: dict[str, int] = {}  # of trainers
        for rows in _pipelines(dataset, policy, workers):
            threading.Thread(
                target=self._work, args=(rows,), name="tapeflow data service", daemon=True
            ).start()

    def _work(self, rows: Iterator[Any]) -> None:
        try:
            for element in rows:
                flat = nest.flatten(element, expand_composites=True)
                if not self._put([np.asarray(x) for x in flat]):
                    return
        except BaseException as error:  # it belongs to who reads
            self._put(error)
        self._put(None)

    def _put(self, item: Any) -> bool:
        while not self._over.is_set():
            try:
                self._found.put(item, timeout=0.1)
            except queue.Full:
                continue
            return True
        return False

    def close(self) -> None:
        """Ends the workers' threads."""
        self._over.set()

    def next(self, consumer: int | None = None, trainer: str | None = None) -> Element | None:
        """The next element for a client, or None when there is none."""
        with self._guard:
            if trainer is not None:
                return self._cached(trainer)
            if consumer is None:
                return self._taken()
            mine = self._turns[consumer]
            if not mine:
                rounds = [self._taken() for _ in self._turns]
                for turn, element in zip(self._turns, rounds, strict=True):
                    if (
                        element is None or rounds[-1] is None
                    ):  # a round that is not whole is left out
                        return None
                    turn.append(element)
            return mine.popleft()

    def _taken(self) -> Element | None:
        while self._left:
            item = self._found.get()
            if isinstance(item, BaseException):
                self._left = 0
                self._over.set()
                raise item
            if item is not None:
                return item
            self._left -= 1
        return None

    def _cached(self, trainer: str) -> Element | None:
        """What other trainers have read is read again, as long as it is in the window."""
        place = max(self._places.get(trainer, 0), self._first)
        if place == self._first + len(self._window):
            element = self._taken()
            if element is None:
                return None
            self._window.append(element)
            if len(self._window) > _WINDOW:
                self._window.popleft()
                self._first += 1
        self._places[trainer] = place + 1
        return self._window[min(place - self._first, len(self._window) - 1)]


class _Shared:
    """One iterator for several threads."""

    def __init__(self, rows: Iterator[Any]) -> None:
        self._rows, self._guard = rows, threading.Lock()

    def __iter__(self) -> Iterator[Any]:
        return self

    def __next__(self) -> Any:
        with self._guard:
            return next(self._rows)


def _pipelines(dataset: Dataset, policy: ShardingPolicy, workers: int) -> list[Iterator[Any]]:
    """What each worker reads."""
    if policy is ShardingPolicy.DYNAMIC:
        shared = _Shared(iter(dataset))
        return [iter(shared) for _ in range(workers)]
    if policy is ShardingPolicy.OFF:
        return [iter(dataset) for _ in range(workers)]
    found: list[Iterator[Any]] = []
    for number in range(workers):
        node = None
        if policy in (ShardingPolicy.FILE, ShardingPolicy.FILE_OR_DATA):
            node = by_files(dataset._node, workers, number)
        if node is not None:
            found.append(iter(Dataset(node)))
        elif policy is ShardingPolicy.FILE:
            raise invalid(
                "tf.data.experimental.service: the dataset reads no files that could be divided among workers. Use "
                "ShardingPolicy.DATA or DYNAMIC."
            )
        else:
            found.append(iter(dataset.shard(workers, number)))
    return found
