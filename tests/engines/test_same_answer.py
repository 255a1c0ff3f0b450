"""A default `tf.function` means the same on every executor: it refuses what eager mode refuses, and answers the same.

Only `jit_compile=True` does as XLA does: see `test_as_xla_does.py`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tests.engines.hostile import ANSWERED, REFUSED
from tests.engines.only import PROGRAMS, run_all_on

import tapeflow as tf

pytest.importorskip("jax")

import tapeflow._src.engines.xla.subjects
from tapeflow._src.engines.xla.lowerings import CHECKS


@pytest.fixture(params=PROGRAMS)
def executor(request: Any, monkeypatch: Any) -> str:
    """Makes every function run on one executor from the beginning."""
    run_all_on(monkeypatch, request.param)
    return request.param


def tensors(arguments: tuple[Any, ...]) -> list[tf.Tensor]:
    return [tf.constant(x) for x in arguments]


def arrays(result: Any) -> list[np.ndarray]:
    return [x.numpy() for x in tf.nest.flatten(result)]


def assert_same(found: Any, expected: Any) -> None:
    for a, b in zip(arrays(found), arrays(expected), strict=True):
        assert (a.dtype, a.shape) == (b.dtype, b.shape)
        if b.dtype.kind in "fc":
            np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-6)
        else:
            np.testing.assert_array_equal(a, b)


def refusal(function: Any, arguments: tuple[Any, ...]) -> Exception:
    with pytest.raises(Exception) as caught:
        function(*tensors(arguments))
    return caught.value


def first_line(error: Exception) -> str:
    return str(getattr(error, "message", error)).splitlines()[0]


# What eager mode refuses.


@pytest.mark.parametrize("name", list(REFUSED))
@pytest.mark.sample(8)
def test_what_eager_mode_refuses_is_refused(name: str, executor: str):
    row = REFUSED[name]
    variable = tf.Variable(tf.zeros([3]))
    eager = (
        tf.autograph.to_graph(row.function) if name.startswith("division in a") else row.function
    )
    wanted = refusal(eager, row.bad)

    @tf.function
    def step(*arguments: Any) -> Any:
        result = row.function(*arguments)
        variable.assign_add(tf.ones([3]))
        return result

    expected = eager(*tensors(row.good))
    assert_same(step(*tensors(row.good)), expected)
    for _ in range(2):
        error = refusal(step, row.bad)
        assert type(error) is type(wanted)
        assert first_line(error) == first_line(wanted)
        assert "hostile.py" in str(error) or "test_same_answer.py" in str(error), "no line"
        np.testing.assert_array_equal(variable.numpy(), [1, 1, 1])
    assert_same(step(*tensors(row.good)), expected)
    np.testing.assert_array_equal(variable.numpy(), [2, 2, 2])


@pytest.mark.parametrize("name", list(ANSWERED))
@pytest.mark.sample(32)
def test_what_eager_mode_answers_is_answered_alike(name: str, executor: str):
    row = ANSWERED[name]
    function = tf.function(row.function)
    for arguments in (row.good, row.bad, row.good):
        assert_same(function(*tensors(arguments)), row.function(*tensors(arguments)))


def primitives_in(graph: Any) -> set[str]:
    from tapeflow._src.graph.graph import subgraphs

    inner = [g for node in graph.nodes for g in subgraphs(node)]
    return {node.primitive.name for node in graph.nodes}.union(*map(primitives_in, inner))


NEEDS_NO_ROW = {
    "counted": "the gradient of a count, which refuses first",
    "perturbed_tridiagonal_solve": "a step of eigh_tridiagonal",
    "irfft": "see rfft",
    "fft": "see rfft",
}


def test_every_check_has_a_row():
    found: set[str] = set()
    for row in (*REFUSED.values(), *ANSWERED.values()):
        found |= primitives_in(
            tf.function(row.function).get_concrete_function(*tensors(row.good)).graph
        )
    assert CHECKS.keys() - found == NEEDS_NO_ROW.keys()


# State.


def test_a_variable_of_a_step_that_fails_is_what_it_was(executor: str):
    """Also where the check needs what the program computes, and the variable has given its memory away."""
    table = tf.Variable(np.ones([4, 3], np.float32))
    count = tf.Variable(0)

    @tf.function
    def step(ids: Any) -> Any:
        rows = tf.gather(table, [tf.cast(tf.reduce_sum(tf.sqrt(ids)), tf.int32)])
        table.assign_add(tf.fill([4, 3], tf.reduce_sum(rows)))
        count.assign_add(1)
        return rows

    for _ in range(2):
        step(tf.constant([1.0, 4.0]))
    before = table.numpy().copy()
    with pytest.raises(tf.errors.InvalidArgumentError, match="gather"):
        step(tf.constant([4.0, 4.0]))
    np.testing.assert_array_equal(table.numpy(), before)
    assert count.numpy() == 2
    step(tf.constant([1.0, 4.0]))
    np.testing.assert_array_equal(table.numpy(), 4 * before)
    table.assign(tf.zeros([4, 3]))
    assert count.numpy() == 3


def test_rows_of_a_variable_are_checked(executor: str):
    table = tf.Variable(np.ones([4, 3], np.float32))

    @tf.function
    def update(ids: Any) -> None:
        table.scatter_update(tf.IndexedSlices(tf.zeros([1, 3]), ids))

    update(tf.constant([3]))
    before = table.numpy().copy()
    with pytest.raises(tf.errors.InvalidArgumentError):
        update(tf.constant([4]))
    np.testing.assert_array_equal(table.numpy(), before)


def test_effects_wait_for_what_was_written_before_them(executor: str, capsys: Any):
    @tf.function
    def f(x: Any, ids: Any) -> Any:
        tf.print("before")
        row = tf.gather(x, tf.cast(tf.reduce_sum(tf.sqrt(ids)), tf.int32))
        tf.print("after")
        return row

    with pytest.raises(tf.errors.InvalidArgumentError, match="gather"):
        f(tf.zeros([3]), tf.constant([9.0]))
    assert capsys.readouterr().err.split() == ["before"]


def test_sizes_may_vary(executor: str):
    @tf.function(input_signature=[tf.TensorSpec([None, 2]), tf.TensorSpec([None], tf.int32)])
    def f(x: Any, ids: Any) -> Any:
        return tf.gather(x * 2.0, ids)

    assert f(tf.ones([3, 2]), tf.constant([2])).shape == (1, 2)
    assert f(tf.ones([5, 2]), tf.constant([2, 4])).shape == (2, 2)
    with pytest.raises(tf.errors.InvalidArgumentError, match="gather"):
        f(tf.ones([3, 2]), tf.constant([2, 4]))


@pytest.mark.sample(3)
def test_fit_refuses_an_unknown_word(executor: str):
    keras = pytest.importorskip("keras")
    if keras.backend.backend() != "tapeflow":
        pytest.skip("Keras was loaded with another backend")
    model = keras.Sequential(
        [keras.layers.Embedding(5, 4), keras.layers.GlobalAveragePooling1D(), keras.layers.Dense(2)]
    )
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    model.compile("adam", loss, jit_compile="auto")
    words, classes = np.array([[1, 2], [3, 4]]), np.array([0, 1])
    model.fit(words, classes, verbose=0)
    before = [w.numpy().copy() for w in model.weights]
    for bad in ((np.array([[1, 5], [3, 4]]), classes), (words, np.array([0, 2]))):
        with pytest.raises(tf.errors.InvalidArgumentError):
            model.fit(*bad, verbose=0)
        for weight, old in zip(model.weights, before, strict=True):
            np.testing.assert_array_equal(weight.numpy(), old)
    model.fit(words, classes, verbose=0)


@pytest.mark.parametrize("shapes", [((64, 0), (0, 64)), ((64, 0), (0, 3)), ((0, 70), (70, 4))])
def test_products_of_nothing(executor: str, shapes: Any):
    """XLA without its algebraic simplifier would end the process."""
    a, b = (tf.Variable(tf.ones(shape)) for shape in shapes)

    @tf.function
    def products():
        with tf.GradientTape() as tape:
            c = tf.matmul(a, b)
        return c, tf.einsum("ij,jk->ki", a, b), *tape.gradient(c, [a, b])

    c, turned, *slopes = products()
    assert np.array_equal(c, np.zeros((shapes[0][0], shapes[1][1])))
    assert np.array_equal(turned, np.zeros((shapes[1][1], shapes[0][0])))
    assert [g.shape for g in slopes] == list(shapes)
    assert not any(np.any(g) for g in slopes)
