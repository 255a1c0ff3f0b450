"""Products by oneDNN are those of NumPy, and which of them computes one is a matter of its shape alone."""

import os
import subprocess
import sys

import numpy as np
import pytest
from tests.common import NO_PRODUCTS, in_threads, with_products

import tapeflow as tf
from tapeflow._src.engines.numpy import fusions
from tapeflow._src.insides.blas_threads import one_blas_thread
from tapeflow._src.insides.onednn import library
from tapeflow._src.insides.onednn.products import Products, address, order, products
from tapeflow._src.primitives import sharing
from tapeflow._src.primitives.linalg import quickest, shared_products
from tapeflow._src.primitives.linalg.shared_products import product, tasks
from tapeflow._src.primitives.reduction import reducing


@pytest.fixture
def calls(monkeypatch):
    """Everything is oneDNN's; which products it was given."""
    if products() is None:
        pytest.skip(NO_PRODUCTS)
    given = []
    original = Products.add

    def add(self, a, b, out, *how):
        given.append((a.shape, b.shape))
        original(self, a, b, out, *how)

    monkeypatch.setattr(Products, "add", add)
    monkeypatch.setattr(quickest, "WORTH_IT", 1)
    monkeypatch.setattr(quickest, "_TURNED", 1)
    monkeypatch.setattr(quickest, "_FEW", 0)
    monkeypatch.setattr(quickest, "_MANY", 2**30)
    for name in ("VECTOR_ALONE", "MATRIX_ALONE"):
        monkeypatch.setattr(f"tapeflow._src.primitives.linalg.shared_products.{name}", 0)
    monkeypatch.setattr("tapeflow._src.primitives.linalg.products.MATRIX_ALONE", 0)
    monkeypatch.setattr("tapeflow._src.primitives.linalg.products.VECTOR_ALONE", 0)
    return given


@pytest.fixture(params=["all threads", "one thread", "threads of ours", "by size alone"])
def threads(request, monkeypatch):
    """As on a quiet machine, as on a busy one, and as where nothing is left to the clock."""
    way = request.param
    monkeypatch.setattr(sharing.contention, "unwatched", 0)
    if way == "by size alone":
        monkeypatch.setattr(sharing.settings, "deterministic", True)
    elif way != "all threads":
        monkeypatch.setattr(sharing.contention, "until", float("inf"))
    if way == "threads of ours":
        monkeypatch.setattr(sharing, "_SHARED", 1)
        monkeypatch.setattr(sharing, "_PART", 1)


def values(*shape):
    """Small integers, whose sums of products are exact in any order."""
    return np.random.default_rng(sum(shape)).integers(-3, 4, shape).astype(np.float32)


def spread(x):
    """The same matrix in memory with gaps between its rows."""
    rows, columns = x.shape
    wide = np.full((rows, columns + 5), np.nan, x.dtype)
    wide[:, 2:-3] = x
    return wide[:, 2:-3]


LAID = {
    "rows": np.ascontiguousarray,
    "columns": np.asfortranarray,
    "rows apart": spread,
    "columns apart": lambda x: spread(x.T.copy()).T,
    "every second": lambda x: np.repeat(x, 2, 1)[:, ::2],
    "backwards": lambda x: np.ascontiguousarray(x[::-1])[::-1],
    "the same row": lambda x: np.broadcast_to(x[:1], x.shape),
}

SIZES = [(2, 1, 2), (3, 5, 4), (17, 33, 65), (64, 48, 80), (5, 300, 7), (130, 2, 97)]


@pytest.mark.parametrize("sizes", SIZES, ids=str)
@pytest.mark.parametrize("first", LAID)
@pytest.mark.parametrize("second", LAID)
def test_matrices_wherever_they_lie(calls, sizes, first, second):
    rows, terms, columns = sizes
    a, b = LAID[first](values(rows, terms)), LAID[second](values(terms, columns))
    expected = np.einsum("ij,jk->ik", a, b)
    np.testing.assert_array_equal(product(a, b), expected, strict=True)
    out = np.full((rows, columns), np.nan, np.float32)
    assert product(a, b, out) is out
    np.testing.assert_array_equal(out, expected)
    plain = {"rows", "rows apart"}
    if first in plain and second in plain:
        assert calls == [(a.shape, b.shape)] * 2


@pytest.mark.parametrize("sizes", SIZES, ids=str)
@pytest.mark.parametrize(("first", "second"), [(0, 0), (1, 0), (0, 1), (1, 1)])
def test_all_digits_are_there(calls, threads, sizes, first, second):
    rows, terms, columns = sizes
    random = np.random.default_rng(rows)
    a = random.standard_normal((terms, rows) if first else (rows, terms)).astype(np.float32)
    b = random.standard_normal((columns, terms) if second else (terms, columns)).astype(np.float32)
    found = tf.matmul(a, b, transpose_a=bool(first), transpose_b=bool(second))
    a, b = a.T if first else a, b.T if second else b
    bound = np.abs(a).astype(np.float64) @ np.abs(b) * (terms + 1) * np.finfo(np.float32).eps
    assert (np.abs(found - a.astype(np.float64) @ b) <= bound).all()


def test_where_the_result_cannot_be_written_at_once(calls):
    a = values(20, 20)
    expected = a @ a
    for out in (
        values(20, 20).T,
        np.empty((20, 40), np.float32)[:, ::2],
        np.empty((20, 20)),
        np.empty((20, 30), np.float32)[:, :20],
    ):
        assert product(a, a, out) is out
        np.testing.assert_array_equal(out, expected)
    x = a.copy()
    product(x, a, x)
    np.testing.assert_array_equal(x, expected)
    x = a.copy()
    product(a, x, x)
    np.testing.assert_array_equal(x, expected)
    with pytest.raises(ValueError, match=r"matmul|broadcast|shape"):
        product(a, a, np.empty((20, 21), np.float32))


def test_nothing_is_left_out_of_nan_and_infinity(calls):
    for size in (7, 33, 70):
        a, b = values(size, size), values(size, size)
        a[2, 3], a[4, 1], b[size - 1, 2], b[0, 5] = np.nan, np.inf, -np.inf, np.inf
        for x, y in ((a, b), (a.T, b), (a, b.T)):
            with np.errstate(invalid="ignore"):
                expected = np.einsum("ij,jk->ik", x, y)
            np.testing.assert_array_equal(product(x, y), expected)


@pytest.mark.parametrize("shapes", [((0, 5), (5, 4)), ((5, 0), (0, 4)), ((5, 4), (4, 0))])
def test_nothing_to_multiply(calls, shapes):
    a, b = (tf.zeros(shape) for shape in shapes)
    np.testing.assert_array_equal(tf.matmul(a, b), np.zeros((shapes[0][0], shapes[1][1])))
    assert not calls


def test_vectors_stacks_and_other_dtypes_are_numpys(calls, threads):
    for a, b in [
        (values(1, 50), values(50, 40)),
        (values(50, 40), values(40, 1)),
        (values(3, 20, 30), values(3, 30, 40)),
        (values(20, 30).astype(np.float64), values(30, 40).astype(np.float64)),
        (values(20, 30).astype(">f4"), values(30, 40).astype(">f4")),
    ]:
        np.testing.assert_array_equal(product(a, b), np.einsum("...ij,...jk->...ik", a, b))
    assert not calls
    x = values(9, 30)
    np.testing.assert_array_equal(tf.reduce_sum(tf.constant(x), 0), x.sum(0))


def test_operands_that_do_not_fit(calls):
    with pytest.raises(tf.errors.InvalidArgumentError, match="inner dimensions 5 and 6"):
        tf.matmul(values(4, 5), values(6, 7))


UPDATES = {
    "plain": lambda w, a, b: a @ b,
    "turned": lambda w, a, b: tf.matmul(a, b, transpose_a=True),
    "itself": lambda w, a, b: w @ b,
    "its transpose": lambda w, a, b: tf.matmul(a, w, transpose_b=True),
}


@pytest.mark.parametrize("name", UPDATES)
def test_updates_by_products(calls, threads, name):
    w, a, b = tf.Variable(values(40, 40)), values(40, 40).T.copy(), values(40, 40)
    expected = w.numpy() - 0.5 * np.asarray(UPDATES[name](tf.constant(w.numpy()), a, b))

    @tf.function(jit_compile=False)
    def step(a, b):
        before = w.read_value()
        w.assign(w - 0.5 * UPDATES[name](w, a, b))
        return before

    calls.clear()
    before = step(a, b)
    np.testing.assert_array_equal(before, values(40, 40))
    np.testing.assert_array_equal(w, expected)
    assert calls


@with_products
def test_a_shape_has_one_library_eager_and_in_functions(monkeypatch):
    random = np.random.default_rng(0)
    for rows, terms, columns in [(64, 784, 256), (784, 64, 256), (130, 257, 300), (40, 40, 40)]:
        a = tf.constant(random.standard_normal((rows, terms)), tf.float32)
        b = tf.constant(random.standard_normal((terms, columns)), tf.float32)
        monkeypatch.setattr(sharing.settings, "deterministic", True)
        found = [tf.matmul(a, b) for _ in range(3)]
        found.append(tf.function(tf.matmul, jit_compile=False)(a, b))
        found.append(
            tf.function(lambda a, b: tf.einsum("ij,jk->ik", a, b), jit_compile=False)(a, b)
        )
        for other in found[1:]:
            np.testing.assert_array_equal(other, found[0], strict=True)


@with_products
def test_the_rule_knows_no_clock(monkeypatch):
    x, turned = np.empty((2048, 2048), np.float32), np.empty((2048, 2048), np.float32).T
    monkeypatch.setattr(sharing.contention, "start", lambda: pytest.fail("it looked at the clock"))
    assert quickest.suits(x[:64, :784], x[:784, :256])
    assert quickest.suits(x[:64, :256], turned[:256, :256])
    assert not quickest.suits(x[:64, :64], x[:64, :64])
    assert not quickest.suits(x[:1, :1024], x[:1024, :1024])
    assert not quickest.suits(turned[:1024, :1024], x[:1024, :256])


def test_parts_for_threads_are_the_product(calls):
    for shapes in (((50, 7), (7, 20)), ((20, 7), (7, 50)), ((4, 20, 7), (4, 7, 50))):
        a, b = (values(*shape) for shape in shapes)
        expected = np.einsum("...ij,...jk->...ik", a, b)
        out = np.full_like(expected, np.nan)
        for task in tasks(a, b, out, 3):
            task()
        np.testing.assert_array_equal(out, expected)


def test_without_the_library(monkeypatch):
    for module in (quickest, reducing):
        monkeypatch.setattr(module, "products", lambda: None)
    a, b = values(64, 300), values(300, 256)
    np.testing.assert_array_equal(tf.matmul(a, b), a @ b)
    np.testing.assert_array_equal(shared_products.product(a, b), a @ b)
    w = np.zeros((64, 256), np.float32)
    how = {"scale": 2.0, "transpose_a": False, "transpose_b": False}
    np.testing.assert_array_equal(fusions.product_update.kernel(w, a, b, w, **how), 2 * (a @ b))


def test_from_many_threads(calls):
    a, b = values(90, 80), values(80, 70)
    expected = a @ b

    def many():
        for _ in range(50):
            np.testing.assert_array_equal(tf.matmul(a, b), expected)

    in_threads(8, many)
    assert len(calls) == 400


@with_products
def test_no_more_threads_than_blas_may_use(monkeypatch):
    counts = []
    found, ours = library.onednn(), products()
    assert ours is not None
    monkeypatch.setattr(found, "threads", 8)
    monkeypatch.setattr(found, "_set_threads", counts.append)
    a, out = values(20, 20), np.empty((20, 20), np.float32)
    for allowed in (3, 1, 16):
        monkeypatch.setattr(
            "tapeflow._src.insides.onednn.products.allowed_threads", lambda n=allowed: n
        )
        ours.add(a, a, out, 1.0, 0.0, False)
        ours.alone(a, a, out)
    assert counts == [3, 1, 1, 1, 8, 1]
    with one_blas_thread():  # as others see it meanwhile
        np.testing.assert_array_equal(out, a @ a)


def test_where_arrays_are():
    x = np.arange(20, dtype=np.float32).reshape(4, 5)
    for view in (x, x[1:], x[:, 2:], x.T, x[::-1], x[:0]):
        assert address(view) == view.ctypes.data
    assert order(x) == (b"N", 5)
    assert order(x[:, 1:3]) == (b"N", 5)
    assert order(x.T) == (b"T", 5)
    assert order(x[:, ::2]) is None
    assert order(x[::-1]) is None


def run(script, **environment):
    return subprocess.run(
        [sys.executable, "-W", "ignore", "-c", script],
        capture_output=True,
        text=True,
        timeout=300,
        env=os.environ | environment,
    )


FORK = """
import os
import numpy as np
import tapeflow as tf
from tapeflow._src.insides.onednn.products import prepare

x = np.ones([600, 500], np.float32)
if {early}:
    prepare()  # a child finds the machine code whole, or none
else:
    tf.matmul(x, x, transpose_b=True)  # its threads do not live on in a child
child = os.fork()
if child == 0:
    os._exit(0 if (tf.matmul(x, x, transpose_b=True).numpy() == 500).all() else 1)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no forks")
@pytest.mark.parametrize("early", [True, False])
def test_in_a_forked_process(early):
    done = run(FORK.format(early=early))
    assert done.stdout == "0\n", done.stderr


def test_a_process_may_end_while_machine_code_is_written():
    done = run(
        "import tapeflow as tf\n"
        "f = tf.function(tf.matmul)\n"
        "f.get_concrete_function(tf.TensorSpec([500, 500]), tf.TensorSpec([500, 500]))\n"
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


@with_products
def test_two_processes_have_the_same_bits():
    script = (
        "import hashlib, numpy as np, tapeflow as tf\n"
        "x = np.random.default_rng(0).standard_normal((300, 300)).astype('float32')\n"
        "y = [tf.matmul(x, x).numpy(), tf.matmul(x, x, transpose_b=True).numpy()]\n"
        "print(hashlib.sha256(b''.join(a.tobytes() for a in y)).hexdigest())\n"
    )
    found = {run(script, OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1").stdout for _ in range(2)}
    assert len(found) == 1
    assert all(found)
