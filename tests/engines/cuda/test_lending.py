"""Memory that CuPy and jax lend each other is kept until the borrower is done. Neither needs a GPU to be there."""

from __future__ import annotations

import importlib
import sys
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

pytest.importorskip("jax")

MODULE = "tapeflow._src.engines.cuda.arrays"


class Event:
    made: list[Event]

    def __init__(self, **options: Any) -> None:
        self.done = False
        self.made.append(self)

    def record(self) -> None:
        """It comes after what CuPy has begun."""


class Result:
    deleted = ready = False

    def is_deleted(self) -> bool:
        return self.deleted

    def is_ready(self) -> bool:
        assert not self.deleted
        return self.ready

    def block_until_ready(self) -> Result:
        self.ready = True
        return self


@pytest.fixture
def arrays(monkeypatch):
    """The module, with a stand-in for CuPy."""
    Event.made = []
    cupy: Any = ModuleType("cupy")
    cupy.cuda = SimpleNamespace(Event=Event)
    monkeypatch.setitem(sys.modules, "cupy", cupy)
    monkeypatch.delitem(sys.modules, MODULE, raising=False)
    yield importlib.import_module(MODULE)
    sys.modules.pop(MODULE, None)


def test_buffers_of_jax_are_kept_until_cupy_has_used_them(arrays):
    def returned(buffer):
        arrays._Loan(buffer)  # and nobody has it

    for buffer in "abc":
        returned(buffer)
    Event.made[0].done = Event.made[1].done = True
    returned("d")
    assert [loan.buffer for loan in arrays._returning] == ["c", "d"]


def test_arrays_of_cupy_are_kept_until_the_results_are_there(arrays):
    results = [Result() for _ in range(6)]

    def kept(i):
        arrays.keep_until_ready([i], [results[i]])
        return [lent.arrays[0] for lent in arrays._lent]

    assert [kept(i) for i in range(3)] == [[0], [0, 1], [0, 1, 2]]
    results[0].deleted = results[1].ready = True
    assert kept(3) == [2, 3]
    results[2].deleted = True  # the program that got it may still wait for it
    assert kept(4) == [2, 3, 4]
    results[4].ready = True
    assert kept(5) == [3, 5]


def test_a_loop_that_gives_all_its_results_away_keeps_no_more_and_more(arrays):
    for _ in range(10 * arrays._MOST):
        result = Result()
        arrays.keep_until_ready([0], [result])
        result.deleted = True
    assert len(arrays._lent) <= arrays._MOST + 1


def test_what_a_function_takes_is_moved_to_memory_of_jax_once(arrays, monkeypatch):
    import jax
    import numpy as np

    lent = SimpleNamespace(shape=(2,), dtype=np.dtype("float32"), ndim=1)
    lent.data = SimpleNamespace(device_id=0)
    seen = []
    monkeypatch.setattr(arrays, "_found", {0: jax.devices()[0]})
    monkeypatch.setattr(arrays, "_seen_by_jax", lambda array: jax.numpy.ones(2))
    monkeypatch.setattr(arrays, "_borrowed", lambda buffer: seen.append(buffer) or "borrowed")
    kept = []
    monkeypatch.setattr(arrays, "keep_until_ready", lambda *both: kept.append(both))
    array = arrays.CudaArray(lent)
    eager = array.buffer
    moved = array.buffer_of_jax
    assert moved is not eager and moved is array.buffer and moved is array.buffer_of_jax
    assert seen == [moved] and array.array == "borrowed"
    assert kept == [([lent], [moved])]
