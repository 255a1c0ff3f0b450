"""What is shared out between threads is what one thread computes."""

import numpy as np
import pytest

import tapeflow as tf
from tapeflow._src.core.system import workers
from tapeflow._src.primitives import sharing
from tapeflow._src.primitives.linalg import quickest, shared_products
from tapeflow._src.primitives.linalg.shared_products import product


@pytest.fixture
def shared(monkeypatch):
    """Everything is worth sharing, among three; how often it was is counted."""
    pool, runs = workers.Workers(3), []
    run = pool.run

    def counted(tasks):
        runs.append(len(tasks))
        run(tasks)

    monkeypatch.setattr(pool, "run", counted)
    monkeypatch.setattr(sharing, "workers", lambda: pool)
    monkeypatch.setattr(sharing.settings, "deterministic", True)
    monkeypatch.setattr(sharing, "_SHARED", 1)
    monkeypatch.setattr(sharing, "_PART", 1)
    monkeypatch.setattr(sharing.one_blas_thread, "__enter__", lambda self: 3)
    for name in ("VECTOR_ALONE", "MATRIX_ALONE"):
        monkeypatch.setattr(f"tapeflow._src.primitives.linalg.shared_products.{name}", 0)
    monkeypatch.setattr("tapeflow._src.primitives.linalg.products.VECTOR_ALONE", 0)
    monkeypatch.setattr("tapeflow._src.engines.numpy.fusions.MATRIX_ALONE", 0)
    return runs


def values(*shape, dtype="float32"):
    return np.random.default_rng(sum(shape)).integers(-4, 5, shape).astype(dtype)


SHAPES = [
    ((50, 7), (7, 20)),
    ((20, 7), (7, 50)),
    ((1, 7), (7, 90)),
    ((90, 7), (7, 1)),
    ((2, 3), (3, 2)),
    ((5, 33, 7), (5, 7, 20)),
    ((2, 33, 7), (2, 7, 20)),
    ((33, 7), (5, 7, 60)),
    ((1, 4, 40, 7), (6, 1, 7, 33)),
    ((4, 40, 0), (0, 33)),
    # As many matrices as something else has rows, or matrices further in.
    ((5, 7), (5, 7, 60)),
    ((3, 4, 7), (3, 3, 7, 20)),
    ((3, 3, 4, 7), (3, 7, 20)),
]


@pytest.mark.parametrize(("a", "b"), SHAPES)
@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64"])
def test_products(shared, a, b, order, dtype):
    a, b = (np.asarray(values(*s, dtype=dtype), order=order) for s in (a, b))
    expected = np.einsum("...ij,...jk->...ik", a, b)
    np.testing.assert_array_equal(product(a, b), expected)
    out = np.empty_like(expected)
    assert product(a, b, out) is out
    np.testing.assert_array_equal(out, expected)
    assert bool(shared) == (a.size > 6)  # a few elements are not cut


@pytest.mark.parametrize("strides", [1, 2])
@pytest.mark.parametrize(("window", "groups"), [(1, 1), (3, 1), (3, 2), (3, 4)])
def test_convolutions_and_their_gradients(shared, monkeypatch, strides, window, groups):
    x = tf.constant(values(5, 9, 8, 4))
    w = tf.constant(values(window, window, 4 // groups, 8))

    def results():
        with tf.GradientTape() as tape:
            tape.watch((x, w))
            y = tf.nn.conv2d(x, w, strides, "SAME")
        return y, *tape.gradient(y, (x, w), tf.constant(values(*y.shape)))

    parts = results()
    assert shared or groups > 1
    monkeypatch.setattr(sharing, "_SHARED", 2**60)
    for part, whole in zip(parts, results(), strict=True):
        np.testing.assert_array_equal(part, whole)


def test_updates_by_products_inside_functions(shared):
    w = tf.Variable(values(40, 24))
    a, b = values(40, 9), values(9, 24)
    expected = w.numpy() - 0.5 * (a @ b)

    @tf.function(jit_compile=False)
    def step(a, b):
        w.assign(w - 0.5 * tf.matmul(a, b))

    step(a, b)
    np.testing.assert_array_equal(w, expected)
    step(np.asfortranarray(a), b)
    np.testing.assert_array_equal(w, expected - 0.5 * (a @ b))
    assert 3 in shared


@pytest.mark.parametrize(("first", "second"), [(False, False), (True, False), (False, True)])
def test_products_inside_functions(shared, first, second):
    a = values(*((9, 40) if first else (40, 9)))
    b = values(*((24, 9) if second else (9, 24)))

    @tf.function(jit_compile=False)
    def multiply(a, b):
        return tf.matmul(a, b, transpose_a=first, transpose_b=second)

    expected = (a.T if first else a) @ (b.T if second else b)
    np.testing.assert_array_equal(multiply(a, b), expected)
    assert shared == [3]


@pytest.mark.parametrize("keepdims", [False, True])
@pytest.mark.parametrize("axis", [0, 1, None])
@pytest.mark.parametrize("shape", [(7, 3), (1, 9), (64, 256), (2000, 33), (5, 2000)])
def test_sums_inside_functions_have_the_same_bits(shape, axis, keepdims):
    x = np.random.default_rng(0).standard_normal(shape).astype(np.float32)
    for reduce in (tf.reduce_sum, tf.reduce_mean):
        traced = tf.function(reduce, jit_compile=False)
        found, expected = traced(x, axis, keepdims), reduce(x, axis, keepdims)
        np.testing.assert_array_equal(found, expected, strict=True)


def test_an_error_in_a_part_is_an_error(shared):
    with pytest.raises(ValueError, match="matmul"):
        product(values(50, 7), values(8, 20))
    product(values(50, 7), values(7, 20))
    assert shared[-1] > 1


class TestContention:
    @pytest.fixture
    def clock(self, monkeypatch):
        """A clock that goes on when it is told."""
        now = [100.0]
        monkeypatch.setattr(sharing, "perf_counter", lambda: now[0])
        monkeypatch.setattr(sharing, "_time_of_one", lambda: 1e-9)
        return now

    def test_products_that_take_too_long_are_left_to_one_thread_for_a_while(self, clock):
        found = sharing.Contention()

        def take(seconds):
            start = found.start()
            assert start
            clock[0] += seconds
            found.took(start, 10**6)

        take(0.001)
        assert found.start()
        pauses = []
        for _ in range(12):
            take(0.016)
            assert not found.start()
            end = clock[0]
            while not found.start():
                clock[0] += 0.001
            pauses.append(clock[0] - end)
        assert pauses[0] < 0.03
        assert 1.9 < pauses[-1] < 2.1
        for _ in range(100):
            take(0.0005)
        take(0.016)
        assert found.until - clock[0] < 0.03

    def test_a_wait_now_and_then_is_worth_it(self, clock):
        found = sharing.Contention()

        def take(seconds):
            start = found.start()
            assert start
            clock[0] += seconds
            found.took(start, 10**6)  # a millisecond by one thread

        for _ in range(200):
            for _ in range(50):
                take(0.0005)
            take(0.016)  # 41 ms for what would be 51
        for _ in range(8):  # 24 ms for 17
            for _ in range(16):
                if not found.start():
                    return
                take(0.0005)
            if found.start():
                take(0.016)
        raise AssertionError("BLAS's threads were never left alone")

    def test_a_large_product_may_take_its_time(self, clock):
        found = sharing.Contention()
        start = found.start()
        clock[0] += 3.0
        found.took(start, 10**9)
        assert found.start()

    def test_other_libraries_are_compared_with_their_best(self, clock):
        found = sharing.Contention()

        class Library:
            def compute(self, seconds):
                clock[0] += seconds
                return seconds

        library = Library()
        for seconds in (0.3, 0.01, 0.012, 0.011):  # the first one writes its machine code, too
            assert found.compared(library.compute, seconds) == seconds
            assert not found.crowded()
        found.compared(library.compute, 0.05)
        assert found.crowded()
        clock[0] += 0.03
        assert not found.crowded()

    def test_while_it_is_quiet_few_products_are_looked_at_and_none_of_the_light_ones(
        self, monkeypatch
    ):
        found = sharing.Contention()
        monkeypatch.setattr(shared_products, "contention", found)
        monkeypatch.setattr(quickest, "contention", found)
        monkeypatch.setattr(quickest, "WORTH_IT", 2**18)
        looked, took = [], []
        monkeypatch.setattr(found, "took", lambda start, work: took.append(work) or found.looked())
        monkeypatch.setattr(
            sharing.Contention,
            "looked",
            lambda self, original=sharing.Contention.looked: looked.append(1) or original(self),
        )
        light, heavy = tf.constant(values(4, 4)), tf.constant(values(100, 100))
        for _ in range(300):  # a program that does the same again and again
            for _ in range(7):
                tf.matmul(light, light)
            tf.matmul(heavy, heavy)
        assert 5 < len(took) < 100  # of 300
        assert set(took) == {10**6}
        assert len(looked) == len(took)
        found.unwatched = -1  # threads that counted at the same time
        before = len(looked)
        tf.matmul(heavy, heavy)
        assert len(looked) == before + 1
        found._learn(False, 0.0)  # not quiet
        before = len(took)
        for _ in range(20):
            tf.matmul(heavy, heavy)
        assert len(took) == before + 20

    def test_determinism_leaves_no_choice(self, clock, monkeypatch):
        monkeypatch.setattr(sharing.settings, "deterministic", True)
        assert not sharing.Contention().start()
        monkeypatch.setattr(sharing.contention, "unwatched", 100)
        for a in (values(100, 100), values(3, 100, 100)):
            tf.matmul(a, a)
        tf.reduce_sum(tf.constant(values(100, 200)), 0)
        assert sharing.contention.unwatched == 100

    def test_both_ways_give_the_product(self, monkeypatch):
        a, b = values(300, 200), values(200, 100)
        expected = np.einsum("ij,jk->ik", a, b)
        for until in (0.0, float("inf")):
            monkeypatch.setattr(sharing.contention, "until", until)
            np.testing.assert_array_equal(tf.matmul(a, b), expected)
            np.testing.assert_array_equal(tf.reduce_sum(tf.constant(a), 0), a.sum(0))


@pytest.mark.parametrize("window", [2, 3])
def test_pooling(shared, monkeypatch, window):
    x = tf.constant(values(7, 9, 8, 4))

    def results():
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.nn.max_pool2d(x, window, 2, "SAME")
        return y, tape.gradient(y, x, tf.constant(values(*y.shape)))

    whole = results()
    assert not shared
    monkeypatch.setattr(sharing, "_ELEMENTS", 1)
    monkeypatch.setattr(sharing, "allowed_threads", lambda: 3)
    for part, expected in zip(results(), whole, strict=True):
        np.testing.assert_array_equal(part, expected)
    assert shared == [3, 3]
