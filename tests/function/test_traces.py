"""Traces are found in flat time, and their number is bounded."""

from __future__ import annotations

import gc
import weakref

import numpy as np
import pytest

import tapeflow as tf
from tapeflow._src.function import signature, traces


@pytest.fixture
def few(monkeypatch):
    monkeypatch.setattr(traces, "MOST", 5)


def traced_squares():
    counts = []

    @tf.function
    def f(x):
        counts.append(tuple(x.shape))
        return x * x

    return f, counts


def test_old_traces_are_dropped_and_made_again(few):
    f, counts = traced_squares()
    for n in range(1, 9):
        np.testing.assert_array_equal(f(tf.fill([n], 3.0)), np.full(n, 9.0))
    assert len(f._traces) == 5
    assert len(counts) == 8
    f(tf.ones([8]))  # the last one is there
    assert len(counts) == 8
    np.testing.assert_array_equal(f(tf.fill([1], 2.0)), [4.0])  # the first one is not
    assert len(counts) == 9
    assert len(f._traces) == 5


def test_what_is_used_is_kept(few):
    f, counts = traced_squares()
    often = tf.ones([100])
    for n in range(1, 30):
        f(often)
        f(tf.ones([n]))
    assert counts.count((100,)) == 1


def test_python_numbers_are_dropped_too(few):
    counts = []

    @tf.function
    def f(x, k):
        counts.append(k)
        return x * k

    for k in range(20):
        assert float(f(tf.constant(2.0), k)) == 2.0 * k
    assert len(f._traces) == 5
    assert float(f(tf.constant(2.0), 0)) == 0.0
    assert counts.count(0) == 2


def test_a_dropped_trace_is_freed(few):
    f, _ = traced_squares()
    f(tf.ones([1]))
    (first,) = f._traces
    gone = weakref.ref(first)
    del first
    for n in range(2, 12):
        f(tf.ones([n]))
    gc.collect()
    assert gone() is None


def test_a_concrete_function_outlives_its_place(few):
    f, _ = traced_squares()
    concrete = f.get_concrete_function(tf.TensorSpec([1]))
    for n in range(2, 12):
        f(tf.ones([n]))
    assert concrete not in list(f._traces)
    np.testing.assert_array_equal(concrete(tf.constant([5.0])), [25.0])


def test_finding_one_of_many_compares_few(monkeypatch):
    f, counts = traced_squares()
    for n in range(1, 60):
        f(tf.ones([n]))
    compared = []
    covers = signature.TensorKey.covers
    monkeypatch.setattr(
        signature.TensorKey, "covers", lambda a, b: compared.append(b) or covers(a, b)
    )
    f(tf.ones([7], tf.float64))  # a trace that is not there
    f(tf.ones([1000]))
    f(tf.ones([30]))
    assert len(counts) == 61
    assert compared == []  # no trace of many sizes is there to be looked through


def test_the_narrowest_of_wide_traces_serves():
    f = tf.function(lambda x: tf.constant(str(x.shape)))
    for shape in ([2, 3], [None, 3], [None, None]):
        f.get_concrete_function(tf.TensorSpec(shape))
    found = [f(tf.ones(shape)).numpy().decode() for shape in ([2, 3], [5, 3], [5, 4])]
    assert found == ["(2, 3)", "(None, 3)", "(None, None)"]
