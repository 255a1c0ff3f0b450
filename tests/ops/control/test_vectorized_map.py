"""`tf.vectorized_map`. That every op can be batched is checked in tests/proofs/test_batching.py."""

from __future__ import annotations

import copy
import functools
import subprocess
import sys
from typing import Any

import numpy as np
import pytest

import tapeflow as tf

X = np.random.default_rng(1).normal(size=(4, 3))


def mapped(f: Any, *elems: Any) -> Any:
    """The result, after comparing it with that of a loop."""
    tensors = [tf.constant(x) for x in elems]
    found = tf.vectorized_map(lambda rows: f(*rows), tensors)
    rows = [f(*[t[i] for t in tensors]) for i in range(len(elems[0]))]
    np.testing.assert_allclose(found, np.stack([np.asarray(r) for r in rows]), rtol=1e-6)
    return found


def test_rows():
    mapped(lambda x: tf.reduce_sum(x * x) - x, X)
    mapped(lambda x, y: tf.tensordot(x, y, 1), X, X[::-1])


def test_structures():
    found = tf.vectorized_map(
        lambda e: {"sum": e["a"] + e["b"], "same": (tf.constant([1, 2]), 3.0, None)},
        {"a": tf.constant(X), "b": tf.constant(X[:, 0])},
    )
    np.testing.assert_allclose(found["sum"], X + X[:, :1])
    np.testing.assert_array_equal(found["same"][0], [[1, 2]] * 4)
    np.testing.assert_array_equal(found["same"][1], [3.0] * 4)
    assert found["same"][2] is None


def test_one_row_is_used_for_all():
    found = tf.vectorized_map(lambda e: e[0] + e[1], (tf.constant(X), tf.constant(X[:1])))
    np.testing.assert_allclose(found, X + X[:1])


def test_no_rows():
    assert tf.vectorized_map(lambda x: tf.reduce_sum(x * 2.0), tf.ones([0, 3])).shape == (0,)


def test_picking_a_row_by_a_number_from_the_batch():
    numbers = np.array([2, 0, -1, 1])
    mapped(lambda i: tf.constant(X)[i], numbers)
    mapped(lambda x, i: x[i] * 2.0, X, np.array([2, 0, 1, 1]))


def test_parts_that_begin_at_numbers_from_the_batch():
    """Random crops: each example has a place of its own, and all have one size."""
    picture, places = tf.constant(np.arange(20.0).reshape(4, 5)), np.array([[2, 0], [0, 3], [1, 1]])
    mapped(lambda at: tf.slice(picture, at, [2, 2]), places)
    mapped(lambda at: tf.slice(picture, [at[0], 1], [2, -1]), places)
    mapped(lambda x, i: tf.slice(x, [i], [2]) * 2.0, X, np.array([1, 0, 1, 0]))
    with tf.GradientTape() as tape:
        tape.watch(picture)
        y = tf.vectorized_map(lambda at: tf.slice(picture, at, [2, 2]), tf.constant(places))
    counts = np.zeros([4, 5])
    for row, column in places:
        counts[row : row + 2, column : column + 2] += 1.0
    np.testing.assert_array_equal(tape.gradient(y, picture), counts)


def test_parts_beyond_the_end_or_of_other_lengths_are_refused():
    with pytest.raises(tf.errors.InvalidArgumentError, match="not in"):
        tf.vectorized_map(lambda i: tf.slice(tf.range(4), [i], [2]), tf.constant([0, 3]))
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"begin\[0\] differs.*size\[0\]"):
        tf.vectorized_map(lambda i: tf.slice(tf.range(4), [i], [-1]), tf.constant([0, 3]))


@pytest.mark.parametrize("wrap", [lambda f: f, tf.function], ids=["eager", "function"])
def test_assertions_and_prints_see_one_example_after_the_other(wrap: Any, capsys: Any):
    def root(x: Any) -> Any:
        tf.debugging.assert_non_negative(x, message="a root of this")
        tf.debugging.Assert(x < 100.0, ["too large:", x])
        tf.print("x =", x, output_stream=sys.stdout)
        return tf.sqrt(x)

    roots = wrap(lambda x: tf.vectorized_map(root, x))
    np.testing.assert_array_equal(roots(tf.constant([4.0, 9.0])), [2.0, 3.0])
    assert capsys.readouterr().out == "x = 4\nx = 9\n"
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"a root of this(.|\n)*x = -1"):
        roots(tf.constant([4.0, -1.0]))
    with pytest.raises(tf.errors.InvalidArgumentError, match="too large"):
        roots(tf.constant([4.0, 100.0]))


def test_assertions_in_a_gradient_see_each_row_of_a_jacobian():
    @tf.custom_gradient
    def checked(x: Any) -> Any:
        def gradient(g: Any) -> Any:
            tf.debugging.assert_less(g, 2.0)
            return g

        return x, gradient

    def jacobian(factor: float) -> Any:
        x = tf.constant([1.0, 2.0])
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = checked(x) * factor
        return tape.jacobian(y, x)

    assert jacobian(1.0).numpy().tolist() == [[1.0, 0.0], [0.0, 1.0]]
    with pytest.raises(tf.errors.InvalidArgumentError, match="assert_less"):
        jacobian(3.0)


@pytest.mark.parametrize("wrap", [lambda f: f, tf.function], ids=["eager", "function"])
def test_assertions_in_a_branch_are_refused(wrap: Any):
    """All branches run for all examples, and an assertion would see those that another branch is for."""

    def log(x: Any) -> Any:
        tf.debugging.assert_positive(x)
        return tf.math.log(x)

    logs = wrap(
        lambda x: tf.vectorized_map(
            lambda row: tf.cond(row > 0.0, lambda: log(row), lambda: row), x
        )
    )
    with pytest.raises(NotImplementedError, match="in a branch or loop"):
        logs(tf.constant([1.0, -1.0]))


def test_assertions_in_nested_maps_see_each_pair():
    def pair(x: Any, y: Any) -> Any:
        tf.debugging.assert_none_equal(x, y)
        return x * y

    def table(x: Any, y: Any) -> Any:
        return tf.vectorized_map(lambda a: tf.vectorized_map(lambda b: pair(a, b), y), x)

    x = tf.constant([1.0, 2.0])
    assert table(x, x + 2.0).numpy().tolist() == [[3.0, 4.0], [6.0, 8.0]]
    with pytest.raises(tf.errors.InvalidArgumentError, match="assert_none_equal"):
        table(x, x + 1.0)


def test_python_loops_over_shapes():
    mapped(lambda x: sum(row * i for i, row in enumerate(x)), X)
    mapped(lambda x: x * len(x) + x.shape[0], X)


def test_nested():
    x = np.random.default_rng(2).normal(size=(2, 3, 4))

    def outer(block):
        return tf.vectorized_map(lambda row: row * tf.reduce_sum(block) + row[0], block)

    expected = x * x.sum((1, 2), keepdims=True) + x[:, :, :1]
    np.testing.assert_allclose(tf.vectorized_map(outer, tf.constant(x)), expected)


def test_gradients_for_each_example():
    w = tf.Variable(np.random.default_rng(3).normal(size=(3, 2)))

    def gradient(x):
        with tf.GradientTape() as tape:
            y = tf.reduce_sum(tf.tanh(x[None] @ w) ** 2)
        return tape.gradient(y, w)

    mapped(gradient, X)


def test_gradient_of_a_lookup_becomes_dense():
    table = tf.Variable(tf.ones([3, 2]))

    def gradient(i):
        with tf.GradientTape() as tape:
            y = tf.reduce_sum(tf.gather(table, i) * 2.0)
        return tape.gradient(y, table)

    found = tf.vectorized_map(gradient, tf.constant([2, 0]))
    np.testing.assert_array_equal(found, [[[0, 0], [0, 0], [2, 2]], [[2, 2], [0, 0], [0, 0]]])


def test_tape_outside():
    x, w = tf.constant(X), tf.Variable(2.0 * np.ones(3))
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.vectorized_map(lambda row: tf.reduce_sum(row * row * w), x)
    dx, dw = tape.gradient(y, [x, w])
    np.testing.assert_allclose(dx, 4.0 * X)
    np.testing.assert_allclose(dw, (X * X).sum(0))


def test_tapes_outside_and_inside():
    x = tf.constant(X)

    def gradient(row):
        with tf.GradientTape() as tape:
            tape.watch(row)
            y = tf.reduce_sum(row**3)
        return tape.gradient(y, row)

    with tf.GradientTape() as tape:
        tape.watch(x)
        first = tf.vectorized_map(gradient, x)
    np.testing.assert_allclose(first, 3 * X**2)
    np.testing.assert_allclose(tape.gradient(first, x), 6 * X)


def test_custom_gradient_counts_inside_and_outside():
    scale = tf.Variable(np.ones(3))

    @tf.custom_gradient
    def f(x):
        def gradient(g, variables):
            return g * 100.0, [g * x * 7.0]

        return x * scale, gradient

    x = tf.constant(X)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.vectorized_map(lambda row: f(row) * 2.0, x)
    dx, dscale = tape.gradient(y, [x, scale])
    np.testing.assert_allclose(dx, np.full(X.shape, 200.0))
    np.testing.assert_allclose(dscale, 14.0 * X.sum(0))

    def inside(row):
        with tf.GradientTape() as tape:
            tape.watch(row)
            y = f(row) * 2.0
        return tape.gradient(y, row)

    np.testing.assert_allclose(tf.vectorized_map(inside, x), np.full(X.shape, 200.0))


def test_recomputation():
    x = tf.constant(X)
    block = tf.recompute_grad(lambda row: tf.sin(row) * tf.reduce_sum(row))
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = tf.vectorized_map(block, x)
        z = tf.sin(x) * tf.reduce_sum(x, 1, keepdims=True)
    np.testing.assert_allclose(y, z)
    np.testing.assert_allclose(tape.gradient(y, x), tape.gradient(z, x))


@pytest.mark.parametrize("case", ["filters", "images", "both"])
@pytest.mark.parametrize("strides", [1, 2])
def test_convolution(case: str, strides: int):
    rng = np.random.default_rng(4)
    images, filters = rng.normal(size=(3, 2, 5, 6, 4)), rng.normal(size=(3, 3, 2, 4, 2))

    def f(x, k):
        return tf.nn.conv2d(x, k, strides=strides, padding="SAME")

    if case == "both":
        mapped(f, images, filters)
    elif case == "images":
        mapped(lambda x: f(x, tf.constant(filters[0])), images)
    else:
        mapped(lambda k: f(tf.constant(images[0]), k), filters)


@pytest.mark.parametrize("groups", [1, 2])
@pytest.mark.parametrize("batched", [(0,), (1,), (0, 1)])
@pytest.mark.parametrize("name", ["conv", "conv_input_gradient", "conv_filter_gradient"])
def test_convolution_primitives(name: str, batched: tuple[int, ...], groups: int):
    from tapeflow._src.primitives.nn import conv

    rng = np.random.default_rng(5)
    where = {"strides": (2, 1), "dilations": (1, 2), "padding": ((1, 1), (0, 2)), "groups": groups}
    x, w = (2, 5, 6, 4), (3, 2, 4 // groups, 6)
    y = tuple(conv.conv(tf.zeros(x), tf.zeros(w), **where).shape)
    shapes, extra = {
        "conv": ((x, w), {}),
        "conv_input_gradient": ((y, w), {"shape": x}),
        "conv_filter_gradient": ((x, y), {"shape": w}),
    }[name]
    call = getattr(conv, name)
    arrays = [rng.normal(size=(3, *s) if i in batched else s) for i, s in enumerate(shapes)]

    def f(*rows):
        given = iter(rows)
        inputs = [next(given) if i in batched else tf.constant(a) for i, a in enumerate(arrays)]
        return call(*inputs, **where, **extra)

    mapped(f, *[a for i, a in enumerate(arrays) if i in batched])


def test_pooling():
    images = np.random.default_rng(6).normal(size=(3, 2, 5, 6, 4))
    mapped(lambda x: tf.nn.max_pool2d(x, 2, 2, "SAME"), images)
    mapped(lambda x: tf.nn.avg_pool2d(x, 3, 2, "SAME"), images)


# Random numbers.


def test_examples_draw_numbers_of_their_own():
    x = tf.zeros([50, 2])
    for draw in [
        lambda x: tf.random.normal([2]),
        lambda x: x + tf.random.uniform([2]),
        lambda x: tf.random.Generator.from_seed(1).normal([2]),
        lambda x: tf.random.gamma([2], alpha=2.0),
        lambda x: tf.cast(tf.random.shuffle(tf.range(30))[:2], tf.float32),
        lambda x: tf.cast(tf.random.categorical([[0.0] * 1000] * 2, 1)[:, 0], tf.float32),
    ]:
        rows = np.asarray(tf.vectorized_map(draw, x))
        assert rows.shape == (50, 2)
        assert len(np.unique(rows, axis=0)) > 40


def test_examples_of_nested_batches_draw_numbers_of_their_own():
    generator = tf.random.Generator.from_seed(1)
    for draw in [
        lambda x: tf.random.uniform([]),
        lambda x: generator.uniform([]),
        lambda x: tf.cast(tf.random.shuffle(tf.range(10_000))[0], tf.float32),
    ]:
        rows = tf.vectorized_map(functools.partial(tf.vectorized_map, draw), tf.zeros([4, 5]))
        assert len(np.unique(rows)) >= 19


def test_a_seed_makes_draws_repeatable():
    def draw():
        tf.random.set_seed(3)
        return np.asarray(tf.vectorized_map(lambda x: x + tf.random.normal([]), tf.zeros([5])))

    np.testing.assert_array_equal(draw(), draw())


def test_stateless_draws_depend_on_their_seed_alone():
    seeds = np.array([[1, 2], [3, 4], [1, 2]])
    mapped(lambda seed: tf.random.stateless_normal([3], seed), seeds)


# What cannot be done.


@pytest.mark.parametrize(
    "f",
    [
        lambda x: x.numpy(),
        lambda x: np.sin(x),
        lambda x: float(x[0]),
        lambda x: x if x[0] > 0 else -x,
        lambda x: tf.reshape(x, tf.cast(x, tf.int32)),
        lambda x: tf.boolean_mask(x, x > 0),
        lambda x: tf.Variable(x),
        lambda x: copy.deepcopy(x),
        lambda x: f"{x[0]:.3f}",
    ],
)
def test_values_of_single_examples_are_refused(f: Any):
    with pytest.raises(TypeError, match="stands for many examples"):
        tf.vectorized_map(f, tf.constant(X))


def test_assigning_is_refused():
    v = tf.Variable(1.0)
    for assign in (v.assign, v.assign_add):
        with pytest.raises(TypeError, match="assigned to a variable"):
            tf.vectorized_map(lambda x, assign=assign: assign(x), tf.ones([2]))
    assert v.numpy() == 1.0


def test_mistakes_tell_the_shapes_of_an_example():
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"\[3\] vs. \[2\]"):
        tf.vectorized_map(lambda x: x + tf.ones([2], tf.float64), tf.constant(X))


def test_results_that_differ_in_shape_are_refused():
    with pytest.raises(tf.errors.UnimplementedError, match=r"nonzero.*tf\.map_fn"):
        tf.vectorized_map(lambda x: tf.where(x > 0), tf.constant(X))


def test_examples_do_not_leave():
    kept = []
    tf.vectorized_map(lambda x: kept.append(x) or x, tf.constant(X))
    with pytest.raises(RuntimeError, match="used outside"):
        kept[0] + 1.0
    assert repr(kept[0]) == "<tf.Tensor: shape=(3,), dtype=float64, one of 4 examples>"


def test_elems_of_unknown_sizes():
    spec = tf.TensorSpec([None, 3], tf.float64)
    product = tf.function(
        lambda a, b: tf.vectorized_map(lambda e: e[0] * e[1], (a, b)), input_signature=[spec, spec]
    )
    np.testing.assert_array_equal(product(X, X), X * X)


def test_branches_in_a_program_without_functions():
    """What chooses for many examples belongs to functions, which are loaded when somebody asks for it."""
    code = """import tapeflow as tf
choose = lambda x: tf.cond(x > 2.0, lambda: x, lambda: -x)
print(tf.vectorized_map(choose, tf.constant([1.0, 3.0])).numpy().tolist())"""
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert run.stdout == "[-1.0, 3.0]\n", run.stderr


@pytest.mark.parametrize("around", [tf.function, lambda f: lambda x: tf.vectorized_map(f, x)])
def test_gradients_of_functions_that_are_mapped_in_functions_and_maps(around: Any):
    cube = tf.function(lambda x: x**3 * w)
    f = around(lambda x: tf.vectorized_map(cube, x))
    w, x = tf.Variable(2.0), tf.constant(X, tf.float32)
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = f(x)
        gx, gw = tape.gradient(y, [x, w])
    np.testing.assert_allclose(gx, 6.0 * x**2, rtol=1e-5)
    np.testing.assert_allclose(gw, tf.reduce_sum(x**3), rtol=1e-5)
    np.testing.assert_allclose(outer.gradient(gx, x), 12.0 * x, rtol=1e-5)


def test_an_op_without_a_rule_is_named():
    from tapeflow._src.primitives.batching import RULES

    rule = RULES.pop("sum")
    try:
        with pytest.raises(tf.errors.UnimplementedError, match="sum: there is no rule"):
            tf.vectorized_map(tf.reduce_sum, tf.constant(X))
    finally:
        RULES["sum"] = rule


@pytest.mark.parametrize(
    ("elems", "message"),
    [
        ([], "no tensors"),
        (3.0, "got a scalar"),
        ((tf.ones([3]), tf.ones([4])), r"\(3,\), \(4,\)"),
    ],
)
def test_elems_that_do_not_fit(elems: Any, message: str):
    with pytest.raises(ValueError, match=message):
        tf.vectorized_map(lambda x: x, elems)
