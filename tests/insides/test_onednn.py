"""Convolutions and pooling by oneDNN are those of our own kernels."""

import os
import subprocess
import sys

import numpy as np
import pytest

import tapeflow as tf
from tapeflow._src.insides.onednn import convolutions, library, pooling
from tapeflow._src.primitives import sharing
from tapeflow._src.primitives.nn import conv_kernels, pooling as pools

pytestmark = pytest.mark.skipif(
    library.onednn() is None,
    reason="oneDNN is not installed: pip install tapeflow[onednn], on x86-64",
)


@pytest.fixture(autouse=True)
def always(monkeypatch):
    """Everything is worth it; what is known from before is forgotten, before and after."""
    convolutions.convolution.cache_clear()
    pooling.max_pool.cache_clear()
    pooling.mean_pool.cache_clear()
    monkeypatch.setattr(convolutions, "WORTH_IT", 1)
    monkeypatch.setattr(pooling, "WORTH_IT", 1)
    yield
    convolutions.convolution.cache_clear()
    pooling.max_pool.cache_clear()
    pooling.mean_pool.cache_clear()


@pytest.fixture(params=["all threads", "one thread"])
def threads(request, monkeypatch):
    """As on a quiet machine, and as on a busy one."""
    crowded = request.param == "one thread"
    monkeypatch.setattr(sharing.Contention, "crowded", lambda self: crowded)


def values(*shape):
    """Small integers, whose sums of products are exact in any order."""
    return np.random.default_rng(sum(shape)).integers(-3, 4, shape).astype(np.float32)


# Input, filters, strides, dilations, padding, groups.
CASES = {
    "plain": ((2, 9, 8, 3), (3, 3, 3, 4), (1, 1), (1, 1), ((1, 1), (1, 1)), 1),
    "strided": ((2, 9, 8, 3), (3, 2, 3, 4), (2, 3), (1, 1), ((1, 0), (0, 2)), 1),
    "dilated": ((2, 11, 12, 3), (3, 3, 3, 16), (1, 1), (2, 3), ((2, 2), (0, 0)), 1),
    "pointwise": ((2, 5, 5, 32), (1, 1, 32, 16), (1, 1), (1, 1), ((0, 0), (0, 0)), 1),
    "grouped": ((2, 6, 6, 8), (3, 3, 2, 12), (1, 1), (1, 1), ((1, 1), (1, 1)), 4),
    "depthwise": ((2, 6, 6, 8), (3, 3, 1, 8), (2, 2), (1, 1), ((0, 1), (0, 1)), 8),
    "multiplied": ((2, 6, 6, 8), (3, 3, 1, 24), (1, 1), (1, 1), ((1, 1), (1, 1)), 8),
    "line": ((3, 20, 4), (5, 4, 6), (2,), (1,), ((2, 2),), 1),
    "volume": ((2, 5, 6, 7, 3), (2, 3, 3, 3, 4), (1, 2, 1), (1, 1, 1), ((0, 1), (1, 1), (1, 1)), 1),
}


@pytest.mark.parametrize("name", CASES)
def test_each_is_what_numpy_computes(name, threads, monkeypatch):
    x_shape, w_shape, strides, dilations, padding, groups = CASES[name]
    where = {"strides": strides, "dilations": dilations, "padding": padding, "groups": groups}
    x, w = values(*x_shape), values(*w_shape)

    def all_three():
        y = conv_kernels.conv_kernel(x, w, **where)
        g = values(*y.shape)
        return (
            y,
            conv_kernels.input_gradient_kernel(g, w, shape=x_shape, **where),
            conv_kernels.filter_gradient_kernel(x, g, shape=w_shape, **where),
        )

    found = all_three()
    assert convolutions.convolution.cache_info().currsize == 1  # the three are of one shape
    monkeypatch.setattr(conv_kernels, "convolution", lambda *shape: None)
    for ours, theirs in zip(all_three(), found, strict=True):
        np.testing.assert_array_equal(theirs, ours)


# Input, window, strides, dilations, padding.
POOLED = {
    "halved": ((2, 8, 6, 32), (2, 2), (2, 2), (1, 1), ((0, 0), (0, 0))),
    "few channels": ((3, 9, 7, 3), (3, 2), (2, 2), (1, 1), ((1, 0), (0, 1))),
    "overlapping": ((2, 9, 9, 16), (3, 3), (1, 1), (1, 1), ((1, 1), (1, 1))),
    "overlapping by steps": ((2, 11, 9, 5), (3, 3), (2, 2), (1, 1), ((0, 1), (1, 1))),
    "dilated": ((2, 9, 9, 4), (2, 2), (1, 2), (2, 3), ((0, 0), (1, 0))),
    "line": ((2, 17, 8), (3,), (2,), (1,), ((1, 1),)),
    "volume": ((2, 5, 6, 7, 3), (2, 2, 2), (2, 1, 2), (1, 1, 1), ((0, 1), (0, 0), (1, 0))),
}


@pytest.mark.parametrize("odd", [None, np.nan, -np.inf, np.inf])
@pytest.mark.parametrize("name", POOLED)
def test_gradients_of_pooling_are_what_numpy_computes(name, odd, threads, monkeypatch):
    shape, window, strides, dilations, padding = POOLED[name]
    where = {"window": window, "strides": strides, "dilations": dilations, "padding": padding}
    x = values(*shape)  # in which many are equal
    if odd is not None:
        x[:, :3, :3] = odd
    y = pools._max_pool_kernel(x, **where)
    g = values(*y.shape)
    found = pools._max_spread_kernel(g, x, y, **where)
    assert pooling.max_pool.cache_info().currsize == 1
    monkeypatch.setattr(pools, "onednn_max_pool", lambda *shapes, **where: None)
    np.testing.assert_array_equal(found, pools._max_spread_kernel(g, x, y, **where))


@pytest.mark.parametrize("odd", [None, np.nan, -np.inf, np.inf])
@pytest.mark.parametrize("name", POOLED)
def test_means_and_their_gradients_are_what_numpy_computes(name, odd, threads, monkeypatch):
    shape, window, strides, dilations, padding = POOLED[name]
    where = {"window": window, "strides": strides, "dilations": dilations, "padding": padding}
    x = values(*shape)
    if odd is not None:
        x[:, :3, :3] = odd
    y = pools._sum_pool_kernel(x, mean=True, **where)
    g = values(*y.shape)
    spread = pools._sum_spread_kernel(g, shape=x.shape, mean=True, **where)
    known = [pooling.mean_pool(shape, y.shape, **where, alone=alone) for alone in (False, True)]
    assert any(known) == (
        set(dilations) == {1} and all(max(p) < k for p, k in zip(padding, window, strict=True))
    )
    monkeypatch.setattr(pools, "mean_pool", lambda *shapes, **where: None)
    np.testing.assert_allclose(y, pools._sum_pool_kernel(x, mean=True, **where), 1e-6)
    expected = pools._sum_spread_kernel(g, shape=x.shape, mean=True, **where)
    np.testing.assert_allclose(spread, expected, 1e-6, 1e-6)


@pytest.mark.parametrize("dtype", [np.float16, np.float64])
def test_means_of_other_dtypes_gaps_and_nothing(dtype):
    x = values(4, 9, 8, 3)
    expected = tf.nn.avg_pool2d(x, 3, 2, "SAME").numpy()
    np.testing.assert_allclose(tf.nn.avg_pool2d(x.astype(dtype), 3, 2, "SAME"), expected, 1e-3)
    turned = tf.transpose(tf.constant(np.ascontiguousarray(x.transpose(0, 2, 1, 3))), [0, 2, 1, 3])
    np.testing.assert_allclose(tf.nn.avg_pool2d(turned, 3, 2, "SAME"), expected, 1e-6)
    assert tf.nn.avg_pool2d(x[:0], 3, 2, "SAME").shape == (0, 5, 4, 3)


def test_arrays_in_another_order():
    x, w = values(2, 9, 8, 3), values(3, 3, 3, 4)
    expected = tf.nn.conv2d(x, w, 1, "SAME")
    turned = tf.transpose(tf.constant(np.ascontiguousarray(x.transpose(0, 2, 1, 3))), [0, 2, 1, 3])
    np.testing.assert_array_equal(tf.nn.conv2d(turned, np.asfortranarray(w), 1, "SAME"), expected)


def test_second_derivatives():
    x, w = tf.constant(values(2, 5, 5, 3)), tf.constant(values(3, 3, 3, 4))
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as inner:
            inner.watch(w)
            y = tf.reduce_sum(tf.nn.conv2d(x, w, 1, "SAME") ** 2)
        g = tf.reduce_sum(inner.gradient(y, w) * w)
    # y is of second degree in both, so w . dy/dw = 2 y.
    found = outer.gradient(g, x)
    with tf.GradientTape() as tape:
        tape.watch(x)
        z = 2.0 * tf.reduce_sum(tf.nn.conv2d(x, w, 1, "SAME") ** 2)
    np.testing.assert_allclose(found, tape.gradient(z, x), rtol=1e-5)


def test_what_it_cannot_do_is_done_by_numpy(monkeypatch):
    def refused(self, name, *args):
        raise library.Failed(None, None, "no")

    x, w = values(2, 9, 8, 3), values(3, 3, 3, 4)
    expected = tf.nn.conv2d(x, w, 1, "SAME")
    convolutions.convolution.cache_clear()
    monkeypatch.setattr(library.OneDnn, "made", refused)
    np.testing.assert_array_equal(tf.nn.conv2d(x, w, 1, "SAME"), expected)


def test_other_dtypes():
    x, w = values(2, 9, 8, 3), values(3, 3, 3, 4)
    expected = tf.nn.conv2d(x, w, 1, "SAME").numpy()
    for dtype in (tf.float64, tf.bfloat16, tf.float16):
        found = tf.nn.conv2d(tf.cast(x, dtype), tf.cast(w, dtype), 1, "SAME")
        assert found.dtype == dtype
        np.testing.assert_array_equal(tf.cast(found, tf.float32), expected)


def test_the_number_of_threads():
    before = library.onednn().threads
    try:
        tf.config.threading.set_intra_op_parallelism_threads(1)
        assert library.onednn().threads == 1
    finally:
        tf.config.threading.set_intra_op_parallelism_threads(0)
    assert library.onednn().threads == before or os.environ.get("OMP_NUM_THREADS")


_WHERE = {"strides": (1, 1), "dilations": (1, 1), "padding": ((1, 1), (1, 1)), "groups": 1}

FORK = """
import os
import numpy as np
import tapeflow as tf

x, w = np.ones([8, 32, 32, 16], np.float32), np.ones([3, 3, 16, 16], np.float32)
expected = tf.nn.conv2d(x, w, 1, "SAME").numpy()  # its threads do not live on in a child
child = os.fork()
if child == 0:
    same = np.array_equal(tf.nn.conv2d(x, w, 1, "SAME").numpy(), expected)
    os._exit(0 if same else 1)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no forks")
def test_a_forked_process_computes_with_one_thread():
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", FORK], capture_output=True, text=True, timeout=100
    )
    assert done.stdout == "0\n", done.stderr


def test_from_many_threads():
    from tests.common import in_threads

    x, w = values(4, 16, 16, 8), values(3, 3, 8, 8)
    expected = conv_kernels.conv_kernel(x, w, **_WHERE)

    def many():
        for _ in range(20):
            np.testing.assert_array_equal(conv_kernels.conv_kernel(x, w, **_WHERE), expected)

    in_threads(8, many)
