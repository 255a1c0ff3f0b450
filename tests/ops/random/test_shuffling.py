"""The exchanges of a shuffle, one after the other: by LAPACK, by NumPy alone, and as Fisher and Yates say it."""

import functools

import numpy as np
import pytest

import tapeflow as tf
from tapeflow._src.core.system import workers
from tapeflow._src.insides import lapack
from tapeflow._src.primitives import sharing
from tapeflow._src.primitives.random import philox, shuffling
from tapeflow._src.primitives.random.shuffling import exchanged, permutation
from tapeflow._src.primitives.table import TABLE


def one_by_one(places):
    """The order that exchanges make of numbers in order, with places that are counted from one."""
    order = list(range(len(places)))
    for i, place in enumerate(places.tolist()):
        order[i], order[place - 1] = order[place - 1], order[i]
    return order


def some_places(size):
    return np.random.default_rng(size).integers(np.arange(size), size) + 1


@pytest.fixture(params=["LAPACK", "NumPy"])
def way(request, monkeypatch):
    if request.param == "NumPy":
        monkeypatch.setattr(shuffling, "exchanges", lambda itemsize: None)
    elif lapack.exchanges(8) is None:
        pytest.skip("this NumPy has no OpenBLAS of the kind its wheels have")


@pytest.mark.parametrize("n", [1, 2, 5, 128, 129, 130, 1000, 20000])
def test_elements_are_exchanged_one_after_the_other(way, n):
    rng = np.random.default_rng(n)
    first, last = np.arange(n), n - 1
    many = [
        rng.integers(first, n),  # from its own place on
        first,  # each with itself
        np.full(n, last),  # all with the last one
        np.minimum(first + rng.integers(0, 3, n), last),  # long chains
        np.maximum(first, rng.integers(0, n, n) // 50 * 50),  # often the same
    ]
    for places in many:
        places = places + 1
        assert exchanged(np.arange(n), places).tolist() == one_by_one(places)


@pytest.mark.parametrize("n", [0, 1, 2, 3000, 2**14, 2**14 + 1, 40_000, 2**18 + 2])
def test_each_place_takes_one_of_what_is_left(way, n):
    state = philox.array_of(5, 0x0123456789ABCDEF)
    words = philox.words32(state, n)
    places = [i + word % (n - i) + 1 for i, word in enumerate(words.tolist())]
    expected = one_by_one(np.array(places))
    assert permutation(words).tolist() == expected
    shuffle = TABLE["random_shuffle"].kernel
    assert shuffle(state, np.arange(n)).tolist() == expected
    assert shuffle(state, np.arange(n)[:, None]).ravel().tolist() == expected


@pytest.mark.parametrize("threads", [1, 3])
def test_threads_choose_the_same_places(monkeypatch, threads):
    n = 3 * 2**18 + 5
    state = philox.array_of(2**32 - 70_000, 77)
    shuffle = TABLE["random_shuffle"].kernel
    expected = permutation(philox.words32(state, n))
    monkeypatch.setattr(sharing, "allowed_threads", lambda: threads)
    monkeypatch.setattr(sharing, "workers", functools.cache(lambda: workers.Workers(threads)))
    np.testing.assert_array_equal(shuffle(state, np.arange(n)), expected)


@pytest.mark.parametrize(
    "dtype", ["bool", "int8", "int32", "uint64", "float16", "float32", "complex128", "O"]
)
def test_elements_of_each_kind_keep_their_bits(way, dtype):
    bits = np.random.default_rng(2).integers(0, 256, 500 * 16, dtype=np.uint8)
    if dtype == "O":
        elements = np.array([f"element {i}" for i in range(500)], object)
    else:  # NaN with any payload and numbers next to zero among them
        elements = (bits % 2 if dtype == "bool" else bits).view(dtype)[:500]
    before, places = elements.copy(), some_places(500)
    found = exchanged(elements, places)
    assert found.dtype == before.dtype
    assert found.tobytes() == before.take(one_by_one(places)).tobytes()
    assert elements.tobytes() == before.tobytes()


@pytest.mark.parametrize("step", [1, 2, -1])
def test_elements_with_gaps(way, step):
    x = np.arange(2000, dtype=np.float32)[::step]
    places = some_places(x.size)
    assert exchanged(x, places).tolist() == x.take(one_by_one(places)).tolist()


def test_vectors_and_rows_come_in_the_same_order(way):
    numbers = tf.range(1000)
    tf.random.set_seed(7)
    alone = tf.random.shuffle(numbers, seed=3)
    tf.random.set_seed(7)
    rows = tf.random.shuffle(numbers[:, None], seed=3)
    assert alone.numpy().tolist() == rows.numpy().ravel().tolist()
    assert numbers.numpy().tolist() == list(range(1000))
