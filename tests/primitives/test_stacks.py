"""Products of stacks by oneDNN are those of NumPy, wherever the matrices lie."""

import numpy as np
import pytest
from tests.common import NO_PRODUCTS, in_threads, with_products

import tapeflow as tf
from tapeflow._src.insides.onednn import stacks
from tapeflow._src.insides.onednn.library import Failed
from tapeflow._src.insides.onednn.products import products
from tapeflow._src.primitives import sharing
from tapeflow._src.primitives.linalg import quickest, shared_products
from tapeflow._src.primitives.linalg.shared_products import product, tasks


@pytest.fixture
def calls(monkeypatch):
    """Everything that oneDNN can multiply is its own; which stacks it was given."""
    if products() is None:
        pytest.skip(NO_PRODUCTS)
    given = []

    def multiply(a, b, out):
        given.append((a.shape, b.shape))
        stacks.multiply_stacks(a, b, out)

    monkeypatch.setattr(shared_products, "multiply_stacks", multiply)
    for name in ("WORTH_IT", "_STACK", "_IN_STACK"):
        monkeypatch.setattr(quickest, name, 1)
    for name in ("VECTOR_ALONE", "MATRIX_ALONE"):
        monkeypatch.setattr(shared_products, name, 0)
    return given


def values(*shape):
    """Small integers, whose sums of products are exact in any order."""
    return np.random.default_rng(sum(shape)).integers(-3, 4, shape).astype(np.float32)


def expected_of(a, b):
    return np.einsum("...ij,...jk->...ik", a, b)


def _apart(x):
    wide = np.full((*x.shape[:-1], x.shape[-1] + 5), np.nan, x.dtype)
    wide[..., 2:-3] = x
    return wide[..., 2:-3]


LAID = {
    "rows": np.ascontiguousarray,
    "columns": lambda x: x.swapaxes(-1, -2).copy().swapaxes(-1, -2),
    "rows apart": _apart,
    "columns apart": lambda x: _apart(x.swapaxes(-1, -2)).swapaxes(-1, -2),
    "heads inside": lambda x: x.swapaxes(0, -2).copy().swapaxes(0, -2),
    "every second": lambda x: np.repeat(x, 2, -1)[..., ::2],
    "backwards": lambda x: x[::-1].copy()[::-1],
    "the same": lambda x: np.broadcast_to(x[:1], x.shape),
}
SIZES = [((2,), 2, 1, 2), ((3,), 3, 5, 4), ((2, 3), 17, 33, 20), ((1, 4), 8, 16, 8)]


@pytest.mark.parametrize("sizes", SIZES, ids=str)
@pytest.mark.parametrize("first", LAID)
@pytest.mark.parametrize("second", LAID)
def test_matrices_wherever_they_lie(calls, sizes, first, second):
    stack, rows, terms, columns = sizes
    a = LAID[first](values(*stack, rows, terms))
    b = LAID[second](values(*stack, terms, columns))
    expected = expected_of(a, b)
    np.testing.assert_array_equal(product(a, b), expected, strict=True)
    out = np.full(expected.shape, np.nan, np.float32)
    assert product(a, b, out) is out
    np.testing.assert_array_equal(out, expected)
    if first == "rows" and second in ("columns", "columns apart"):
        assert calls == [(a.shape, b.shape)] * 2


def test_all_digits_are_there(calls):
    random = np.random.default_rng(0)
    q, k = random.standard_normal((2, 2, 4, 40, 24)).astype(np.float32)
    for a, b in ((q, k.swapaxes(-1, -2)), (q.swapaxes(-1, -2), k)):
        bound = expected_of(abs(a).astype(np.float64), abs(b)) * 41 * np.finfo(np.float32).eps
        assert (abs(product(a, b) - expected_of(a.astype(np.float64), b)) <= bound).all()
    assert len(calls) == 2


def test_where_the_result_cannot_be_written_at_once(calls):
    a = values(3, 20, 20)
    expected = a @ a
    for out in (
        values(3, 20, 20).swapaxes(1, 2),
        np.empty((3, 20, 40), np.float32)[..., ::2],
        np.empty((3, 20, 20)),
        np.empty((3, 20, 30), np.float32)[..., :20],
        np.empty((20, 3, 20), np.float32).swapaxes(0, 1),
    ):
        assert product(a, a, out) is out
        np.testing.assert_array_equal(out, expected)
    for first in (True, False):
        x = a.copy()
        product(x if first else a, a if first else x, x)
        np.testing.assert_array_equal(x, expected)
    with pytest.raises(ValueError, match=r"matmul|broadcast|shape"):
        product(a, a, np.empty((3, 20, 21), np.float32))


def test_nothing_is_left_out_of_nan_and_infinity(calls):
    a, b = values(3, 20, 33), values(3, 33, 20)
    a[0, 2, 3], a[1, 4, 1], b[0, 32, 2], b[2, 0, 5] = np.nan, np.inf, -np.inf, np.inf
    for x, y in ((a, b), (a, LAID["columns"](b)), (LAID["columns"](a), b)):
        with np.errstate(invalid="ignore"):
            expected = expected_of(x, y)
        np.testing.assert_array_equal(product(x, y), expected)
    assert len(calls) == 3


@pytest.mark.parametrize(
    "shapes",
    [
        ((0, 4, 5), (0, 5, 4)),
        ((3, 0, 5), (3, 5, 4)),
        ((3, 4, 0), (3, 0, 4)),
        ((3, 1, 5), (3, 5, 4)),
        ((3, 4, 5), (3, 5, 1)),
        ((3, 4, 5), (1, 5, 4)),
        ((2, 3, 4, 5), (3, 5, 4)),
        ((4, 5), (3, 5, 4)),
    ],
)
def test_what_is_left_to_numpy(calls, shapes):
    a, b = (values(*shape) for shape in shapes)
    np.testing.assert_array_equal(product(a, b), expected_of(a, b), strict=True)
    wide = a.astype(np.float64), b.astype(np.float64)
    np.testing.assert_array_equal(product(*wide), expected_of(*wide), strict=True)
    assert not calls


def test_parts_for_threads_are_the_product(calls, monkeypatch):
    for stack in ((5,), (1,), (4, 3), (1, 2)):
        a, b = values(*stack, 70, 7), LAID["columns"](values(*stack, 7, 20))
        expected = expected_of(a, b)
        out = np.full_like(expected, np.nan)
        for task in tasks(a, b, out, 3):
            task()
        np.testing.assert_array_equal(out, expected)
        with monkeypatch.context() as patched:
            patched.setattr(sharing, "_SHARED", 1)
            patched.setattr(sharing, "_PART", 1)
            np.testing.assert_array_equal(product(a, b), expected)
    assert calls


def test_from_many_threads(calls):
    a, b = values(6, 30, 20), values(6, 40, 20)
    expected = expected_of(a, b.swapaxes(1, 2))

    def many():
        for _ in range(30):
            np.testing.assert_array_equal(tf.matmul(a, b, transpose_b=True), expected)

    in_threads(8, many)
    assert len(calls) == 240


@with_products
def test_the_rule_is_one_of_sizes(monkeypatch):
    monkeypatch.setattr(sharing.contention, "start", lambda: pytest.fail("it looked at the clock"))
    q, k = np.empty((2, 64, 128, 32), np.float32)
    turned, large = k.swapaxes(1, 2), np.empty((8, 128, 128), np.float32)
    assert quickest.suits_stack(q, turned)
    assert quickest.suits_stack(large, large)
    assert not quickest.suits_stack(q.swapaxes(1, 2), k)
    assert not quickest.suits_stack(q[:2], turned[:2])
    assert not quickest.suits_stack(q[:, :4], turned[..., :4])


@with_products
def test_where_the_library_cannot_do_it(monkeypatch):
    def fails(*given, alone):
        raise Failed(None, None, "no")

    a, b = values(2, 9, 5), values(2, 5, 11)
    monkeypatch.setattr(stacks, "Primitive", fails)
    out = np.empty((2, 9, 11), np.float32)
    stacks._stack_product.cache_clear()
    stacks.multiply_stacks(a, b, out)
    stacks._stack_product.cache_clear()
    np.testing.assert_array_equal(out, a @ b)


@with_products
def test_gradients_of_attention():
    random = np.random.default_rng(1)
    q, k, v = (tf.constant(x, tf.float32) for x in random.standard_normal((3, 4, 2, 64, 64)))
    assert quickest.suits_stack(q._array, k._array.swapaxes(-1, -2))

    def mixed(q, k, v):
        scores = tf.matmul(q, k, transpose_b=True) / 8.0
        return tf.reduce_sum(tf.square(tf.matmul(tf.nn.softmax(scores), v)))

    def gradients(q, k, v):
        with tf.GradientTape() as tape:
            tape.watch((q, k, v))
            y = mixed(q, k, v)
        return tape.gradient(y, (q, k, v))

    wide = gradients(*(tf.cast(x, tf.float64) for x in (q, k, v)))
    for function in (gradients, tf.function(gradients, jit_compile=False)):
        for found, exact in zip(function(q, k, v), wide, strict=True):
            np.testing.assert_allclose(found, exact, rtol=1e-4, atol=1e-4)
