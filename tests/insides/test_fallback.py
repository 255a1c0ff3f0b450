"""What is not there in another library is said in the log, once."""

import logging
import sys

import numpy as np
import pytest

import tapeflow as tf
from tapeflow._src.core.log import forget_warnings
from tapeflow._src.insides import blas, blas_threads, fallback


@pytest.fixture(autouse=True)
def nothing_said_yet():
    def forget():
        forget_warnings()
        fallback.slower.cache_clear()
        blas.product_update.cache_clear()
        blas_threads.library_of_numpy.cache_clear()

    forget()
    yield
    forget()
    tf.config.threading.set_intra_op_parallelism_threads(0)


def test_what_is_only_slower_is_noted_once(caplog):
    with caplog.at_level(logging.INFO, "tapeflow"):
        for _ in range(3):
            fallback.slower("no such thing", "it takes longer")
    assert [r.levelname for r in caplog.records] == ["INFO"]
    assert caplog.records[0].getMessage() == "no such thing: it takes longer"


def test_what_is_lacking_is_a_warning_once(caplog):
    for _ in range(3):
        fallback.lacking("no such thing", "do without")
    assert [(r.levelname, r.getMessage()) for r in caplog.records] == [
        ("WARNING", "no such thing: do without")
    ]


def test_a_numpy_without_its_library(caplog, monkeypatch):
    monkeypatch.setattr(blas, "library", lambda: None)
    monkeypatch.setattr(blas_threads, "library", lambda: None)
    monkeypatch.setitem(sys.modules, "threadpoolctl", None)
    with caplog.at_level(logging.INFO, "tapeflow"):
        for dtype in (np.float32, np.float64, np.float32):
            assert blas.product_update(np.dtype(dtype)) is None
        for _ in range(2):
            tf.config.threading.set_intra_op_parallelism_threads(1)
    x = np.ones((300, 300), np.float32)
    np.testing.assert_array_equal(tf.matmul(x, x), x @ x)
    assert [r.levelname for r in caplog.records] == ["INFO", "WARNING"]
