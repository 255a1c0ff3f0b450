"""`tf.while_loop`, `tf.map_fn`, `tf.scan`, folds and `tf.TensorArray` inside `tf.function`."""

from __future__ import annotations

from collections import namedtuple
from typing import Any

import numpy as np
import pytest
from tests.ops.finite_differences import check_gradients

import tapeflow as tf

RNG = np.random.default_rng(3)
ROWS = RNG.normal(size=(12, 3))


def traced(f: Any, **options: Any) -> Any:
    return tf.function(f, autograph=False, jit_compile=False, **options)


def power(n: Any, x: Any) -> Any:
    return tf.while_loop(lambda i, y: i < n, lambda i, y: (i + 1, y * x), (0, tf.ones_like(x)))[1]


# Functions of rows, each with loops of another kind.


def by_index(x: Any) -> Any:
    start = tf.ones([3], tf.float64)
    return tf.while_loop(
        lambda i, a: i < 12, lambda i, a: (i + 1, a * 0.5 + tf.sin(x[i]) * a), (0, start)
    )[1]


def array_of_results(x: Any) -> Any:
    results = tf.TensorArray(tf.float64, size=12)
    rows = tf.TensorArray(tf.float64, size=12).unstack(x)

    def body(i: Any, a: Any, results: Any) -> Any:
        return i + 1, tf.sin(a * rows.read(i)), results.write(i, a * a)

    start = tf.ones([3], tf.float64)
    return tf.while_loop(lambda i, *_: i < 12, body, (0, start, results))[2].stack()


def array_read_and_written(x: Any) -> Any:
    rows = tf.TensorArray(tf.float64, size=12, clear_after_read=False).unstack(x)

    def body(i: Any, rows: Any) -> Any:
        return i + 1, rows.write(i + 1, tf.sin(rows.read(i)) * rows.read(i + 1))

    return tf.while_loop(lambda i, _: i < 11, body, (0, rows))[1].stack()


def loop_in_loop(x: Any) -> Any:
    def body(i: Any, a: Any) -> Any:
        def inner(j: Any, b: Any) -> Any:
            return j + 1, tf.sin(b) * x[j] + b * 0.5

        return i + 1, tf.while_loop(lambda j, b: j < i, inner, (0, a))[1]

    return tf.while_loop(lambda i, a: i < 5, body, (0, tf.ones([3], tf.float64)))[1]


def branch_in_loop(x: Any) -> Any:
    def body(i: Any, a: Any) -> Any:
        return i + 1, tf.cond(
            tf.reduce_sum(a) > 1.0,
            lambda: tf.sin(a) * x[i] * a,
            lambda: tf.cos(a) + x[i] * x[i],
        )

    return tf.while_loop(lambda i, a: i < 12, body, (0, tf.ones([3], tf.float64)))[1]


def loop_in_branch(x: Any) -> Any:
    return tf.cond(tf.reduce_sum(x) > -100.0, lambda: loop_in_loop(x), lambda: x[0])


def growing(x: Any) -> Any:
    def body(i: Any, a: Any) -> Any:
        return i + 1, tf.concat([a, tf.sin(a[-1:]) * x[0:1]], 0)

    shapes = (tf.TensorShape([]), tf.TensorShape([None, 3]))
    return tf.while_loop(lambda i, a: i < 4, body, (0, x[0:1]), shape_invariants=shapes)[1]


FUNCTIONS = {
    "map_fn": lambda x: tf.map_fn(lambda r: tf.reduce_sum(tf.sin(r) * r), x),
    "scan": lambda x: tf.scan(lambda a, r: a * 0.9 + tf.sin(r) * a, x),
    "scan, reverse": lambda x: tf.scan(lambda a, r: a * 0.9 + tf.sin(r) * a, x, reverse=True),
    "foldl": lambda x: tf.foldl(lambda a, r: a * 0.9 + tf.sin(r) * tf.sin(a), x),
    "foldr": lambda x: tf.foldr(
        lambda a, r: a * 0.9 + tf.sin(r) * a, x, initializer=tf.ones([3], tf.float64)
    ),
    "by index": by_index,
    "array of results": array_of_results,
    "array read and written": array_read_and_written,
    "loop in loop": loop_in_loop,
    "branch in loop": branch_in_loop,
    "loop in branch": loop_in_branch,
    "growing": growing,
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_values_are_those_of_eager_execution(name: str) -> None:
    f = FUNCTIONS[name]
    x = tf.constant(ROWS)
    np.testing.assert_allclose(traced(f)(x).numpy(), f(x).numpy(), rtol=1e-12)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_first_and_second_derivatives(name: str) -> None:
    check_gradients(traced(FUNCTIONS[name]), ROWS)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_derivatives_taken_inside(name: str) -> None:
    f = FUNCTIONS[name]

    def twice(x: Any) -> Any:
        with tf.GradientTape() as outer:
            outer.watch(x)
            with tf.GradientTape() as inner:
                inner.watch(x)
                y = f(x)
            g = tf.convert_to_tensor(inner.gradient(y, x))
            total = tf.reduce_sum(tf.sin(g))
        return y, g, tf.convert_to_tensor(outer.gradient(total, x))

    x = tf.constant(ROWS)
    for got, expected in zip(traced(twice)(x), twice(x), strict=True):
        np.testing.assert_allclose(got.numpy(), expected.numpy(), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.sample(3)
def test_xla_computes_the_same(name: str) -> None:
    pytest.importorskip("jax")
    f = FUNCTIONS[name]

    def with_gradient(x: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = f(x)
        return y, tf.convert_to_tensor(tape.gradient(y, x))

    x = tf.constant(ROWS)
    compiled = tf.function(with_gradient, autograph=False, jit_compile=True)(x)
    for got, expected in zip(compiled, with_gradient(x), strict=True):
        np.testing.assert_allclose(got.numpy(), expected.numpy(), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("name", ["map_fn", "scan", "foldl", "by index", "branch in loop"])
def test_loops_of_a_known_length_are_lowered(name: str) -> None:
    pytest.importorskip("jax")
    import tapeflow._src.engines.xla.subjects  # noqa: F401
    from tapeflow._src.engines.xla.lower import lowerable
    from tapeflow._src.graph.passes import optimized

    def f(x: Any) -> Any:
        return tf.convert_to_tensor(tf.gradients(FUNCTIONS[name](x), x)[0])

    graph = optimized(traced(f).get_concrete_function(tf.constant(ROWS)).graph)
    loops = [node for node in graph.nodes if node.primitive.name == "while"]
    assert len(loops) == 2
    assert all(map(lowerable, loops))


# The number of turns.


def test_the_number_of_turns_is_known_when_the_function_runs() -> None:
    f = traced(power)
    x = tf.constant(3.0)
    for n, value, slope, curvature in (
        (4, 81.0, 108.0, 108.0),
        (1, 3.0, 1.0, 0.0),
        (0, 1.0, 0.0, 0.0),
    ):
        with tf.GradientTape() as outer:
            outer.watch(x)
            with tf.GradientTape() as inner:
                inner.watch(x)
                y = f(tf.constant(n), x)
            g = inner.gradient(y, x)
        assert [y.numpy(), g.numpy(), outer.gradient(g, x).numpy()] == [value, slope, curvature]
    assert f.experimental_get_tracing_count() == 1


def test_third_derivative_of_a_loop() -> None:
    x = tf.constant(3.0)
    f = traced(power)
    with tf.GradientTape() as third:
        third.watch(x)
        with tf.GradientTape() as second:
            second.watch(x)
            with tf.GradientTape() as first:
                first.watch(x)
                y = f(tf.constant(4), x)
            g = first.gradient(y, x)
        gg = second.gradient(g, x)
    assert third.gradient(gg, x).numpy() == 72.0


def test_maximum_iterations() -> None:
    def f(x: Any, most: Any) -> Any:
        return tf.while_loop(
            lambda i, y: True, lambda i, y: (i + 1, y * 2), (0, x), maximum_iterations=most
        )

    x = tf.constant(3.0)
    assert [y.numpy() for y in traced(lambda x: f(x, 4))(x)] == [4, 48.0]
    assert [y.numpy() for y in traced(f)(x, tf.constant(3))] == [3, 24.0]


def test_structures_of_loop_variables() -> None:
    @traced
    def f(x: Any) -> Any:
        return tf.while_loop(
            lambda i, s: i < 3, lambda i, s: [i + 1, {"a": s["a"] * 2.0}], [0, {"a": x}]
        )

    i, s = f(tf.constant(3.0))
    assert (i.numpy(), s["a"].numpy()) == (3, 24.0)
    (y,) = traced(lambda x: tf.while_loop(lambda x: x < 100, lambda x: x * 2, [x]))(
        tf.constant(3.0)
    )
    assert y.numpy() == 192.0


@pytest.mark.parametrize(
    ("body", "error", "message"),
    [
        (
            lambda i, x: (i + 1, tf.cast(x, tf.int32)),
            TypeError,
            "enters the loop with dtype float32",
        ),
        (lambda i, x: (i + 1,), ValueError, "structures"),
        (lambda i, x: (i + 1, (x, x)), ValueError, "structures"),
        (lambda i, x: (i + 1, tf.stack([x, x])), ValueError, "shape_invariants"),
    ],
)
def test_a_body_must_return_its_variables(body: Any, error: type[Exception], message: str) -> None:
    f = traced(lambda x: tf.while_loop(lambda i, x: i < 3, body, (0, x)))
    with pytest.raises(error, match=message):
        f(tf.constant(3.0))


@pytest.mark.parametrize(
    ("condition", "error"),
    [
        (lambda i: i, TypeError),
        (lambda i: tf.stack([i < 1, i < 2]), tf.errors.InvalidArgumentError),
        (lambda i: tf.zeros([0], tf.bool), tf.errors.InvalidArgumentError),
        (lambda i: [], tf.errors.InvalidArgumentError),
    ],
)
def test_a_condition_is_a_scalar_bool(condition: Any, error: type[Exception]) -> None:
    with pytest.raises(error, match="cond must return a scalar"):
        traced(lambda i: tf.while_loop(condition, lambda i: i + 1, [i]))(tf.constant(0))


@pytest.mark.parametrize("shape", [[1], [1, 1]])
@pytest.mark.parametrize("jit", [None, True])
def test_a_condition_may_have_dimensions(shape: list[int], jit: bool | None) -> None:
    def f(i: Any) -> Any:
        return tf.while_loop(lambda i: tf.reshape(i < 3, shape), lambda i: i + 1, [i])[0]

    assert tf.function(f, jit_compile=jit)(tf.constant(0)).numpy() == 3


def test_back_prop_false_cuts_gradients() -> None:
    def f(x: Any) -> Any:
        loop = tf.while_loop(lambda y: y < 100, lambda y: y * x, [x * 3.0], back_prop=False)
        return tf.gradients(loop[0], x)

    assert traced(f)(tf.constant(2.0)) == [None]


# Variables.


def test_variables_assigned_in_a_loop() -> None:
    v, w = tf.Variable(2.0), tf.Variable(3.0)

    @traced
    def f(n: Any) -> Any:
        def body(i: Any, s: Any) -> Any:
            v.assign_add(w * tf.cast(i, tf.float32))
            return i + 1, s + v

        total = tf.while_loop(lambda i, s: i < n, body, (0, tf.constant(0.0)))[1]
        return total, v * 1.0

    assert [y.numpy() for y in f(tf.constant(4))] == [38.0, 20.0]
    assert v.numpy() == 20.0


def test_gradients_by_variables_in_a_loop() -> None:
    v, w = tf.Variable(2.0), tf.Variable(3.0)

    def loss(n: Any, change: bool) -> Any:
        def body(i: Any, s: Any) -> Any:
            s = s * v + w
            if change:
                v.assign_add(1.0)
            return i + 1, s

        return tf.while_loop(lambda i, s: i < n, body, (0, tf.constant(1.0)))[1]

    @traced
    def inside(n: Any, change: bool) -> Any:
        with tf.GradientTape() as tape:
            y = loss(n, change)
        return [y, *tape.gradient(y, [v, w])]

    assert [y.numpy() for y in inside(tf.constant(3), False)] == [29.0, 27.0, 7.0]
    with tf.GradientTape() as tape:
        y = traced(loss)(tf.constant(3), False)
    assert [g.numpy() for g in tape.gradient(y, [v, w])] == [27.0, 7.0]
    # Each read counts, whatever was assigned before it.
    assert [y.numpy() for y in inside(tf.constant(3), True)] == [75.0, 50.0, 17.0]


def test_training_in_a_loop() -> None:
    v, w = tf.Variable(2.0), tf.Variable(3.0)

    def train(n: Any) -> Any:
        def body(i: Any) -> Any:
            with tf.GradientTape() as tape:
                loss = (v * w - 1.0) ** 2
            dv, dw = tape.gradient(loss, [v, w])
            v.assign_sub(0.01 * dv)
            w.assign_sub(0.01 * dw)
            return i + 1

        tf.while_loop(lambda i: i < n, body, (0,))
        return v.read_value(), w.read_value()

    got = [float(y) for y in traced(train)(tf.constant(5))]
    assert got == pytest.approx([1.1019, 2.4696], abs=1e-4)


# Unknown sizes.


def test_rows_of_a_number_that_is_known_later() -> None:
    @tf.function(
        autograph=False, jit_compile=False, input_signature=[tf.TensorSpec([None, 2], tf.float64)]
    )
    def f(x: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.map_fn(lambda r: r * tf.reduce_sum(r), x)
            z = tf.scan(lambda a, r: a * r, x)
            last = tf.while_loop(
                lambda i, s: i < tf.shape(x)[0],
                lambda i, s: (i + 1, s * x[i]),
                (0, tf.ones([2], tf.float64)),
            )[1]
        return y, z, last, tape.gradient([y, z, last], x)

    for n in (4, 3, 12):
        x = RNG.normal(size=(n, 2))
        y, z, last, g = f(tf.constant(x))
        np.testing.assert_allclose(y.numpy(), x * x.sum(1, keepdims=True))
        np.testing.assert_allclose(z.numpy(), np.cumprod(x, 0))
        np.testing.assert_allclose(last.numpy(), np.prod(x, 0))
        assert g.shape == (n, 2)
    assert f.experimental_get_tracing_count() == 1


def test_no_rows() -> None:
    f = tf.function(
        lambda x: (
            tf.map_fn(lambda r: r * 2.0, x),
            tf.gradients(tf.map_fn(lambda r: r * r, x), x)[0],
        ),
        autograph=False,
        jit_compile=False,
        input_signature=[tf.TensorSpec([None, 2], tf.float32)],
    )
    y, g = f(tf.zeros([0, 2]))
    assert y.shape == (0, 2)
    assert g.shape == (0, 2)


def test_mistakes_of_functions_of_rows() -> None:
    x = tf.ones([12, 2])
    with pytest.raises(tf.errors.InvalidArgumentError, match="fn returned int32"):
        traced(lambda x: tf.map_fn(lambda r: tf.cast(r, tf.int32), x))(x)
    with pytest.raises(ValueError, match="structures"):
        traced(lambda x: tf.map_fn(lambda r: (r, r), x))(x)
    with pytest.raises(ValueError, match="structures"):
        traced(lambda x: tf.scan(lambda a, r: (a, r), x))(x)


# Arrays.


def test_an_array_that_grows() -> None:
    @traced
    def f(n: Any) -> Any:
        squares = tf.TensorArray(tf.float32, size=0, dynamic_size=True)

        def body(i: Any, squares: Any) -> Any:
            return i + 1, squares.write(i, tf.cast(i * i, tf.float32))

        squares = tf.while_loop(lambda i, _: i < n, body, (0, squares))[1]
        return squares.stack(), squares.size()

    rows, size = f(tf.constant(4))
    assert rows.numpy().tolist() == [0.0, 1.0, 4.0, 9.0]
    assert size.numpy() == 4


def test_writes_give_a_new_array() -> None:
    @traced
    def f(p: Any, x: Any) -> Any:
        rows = tf.TensorArray(tf.float32, size=2, element_shape=[])
        rows.write(0, x)
        more = tf.cond(p, lambda: rows.write(1, x), lambda: rows)
        return rows.stack(), more.stack()

    before, after = f(tf.constant(True), tf.constant(3.0))
    assert before.numpy().tolist() == [0.0, 0.0]
    assert after.numpy().tolist() == [0.0, 3.0]


def test_an_array_can_be_read_again() -> None:
    @traced
    def f(x: Any, i: Any) -> Any:
        rows = tf.TensorArray(tf.float32, size=2).unstack(x)
        return rows.read(1), rows.read(1), rows.read(i)

    assert [y.numpy() for y in f(tf.constant([3.0, 6.0]), tf.constant(0))] == [6.0, 6.0, 3.0]


@pytest.mark.parametrize("turns", [0, 1, 3])
def test_concat_of_as_many_elements_as_there_were_turns(turns: int) -> None:
    """Of none, too: a detector that finds no boxes in any class."""

    @tf.function
    def f(x: Any, n: Any) -> Any:
        found = tf.TensorArray(x.dtype, 0, dynamic_size=True, infer_shape=False)
        for i in tf.range(n):
            found = found.write(i, x[: i + 1] * x)
        return found.concat()

    x = np.array([[0.5, 2.0, 3.0]])
    assert f(tf.constant(x), tf.constant(turns)).shape == [turns, 3]
    check_gradients(lambda x: tf.concat([f(x, tf.constant(turns)), x], 0), x)


def test_scatter_gather_split_and_concat() -> None:
    @traced
    def f(x: Any, i: Any, lengths: Any) -> Any:
        rows = tf.TensorArray(tf.float64, size=4, element_shape=[]).scatter(i, x)
        parts = tf.TensorArray(tf.float64, size=2, infer_shape=False).split(x, lengths)
        return rows.stack(), rows.gather(i), parts.concat(), parts.read(tf.constant(1))

    x, i = tf.constant([1.0, 2.0, 5.0], tf.float64), tf.constant([3, 1, 0])
    got = f(x, i, tf.constant([1, 2]))
    assert [y.numpy().tolist() for y in got] == [
        [5.0, 2.0, 0.0, 1.0],
        [1.0, 2.0, 5.0],
        [1.0, 2.0, 5.0],
        [2.0, 5.0],
    ]

    def squares(x: Any) -> Any:
        rows, picked, joined, part = f(x, i, tf.constant([1, 2]))
        return tf.concat([rows**2, picked**3, tf.sin(joined), part**2], 0)

    check_gradients(squares, x.numpy())


@pytest.mark.parametrize(
    "use",
    [
        lambda rows, x: rows.write(tf.cast(x, tf.int32) + 7, x).stack(),
        lambda rows, x: rows.write(tf.cast(x, tf.int32) - 7, x).stack(),
        lambda rows, x: rows.write(5, x).stack(),
        lambda rows, x: rows.write(0, x).read(tf.cast(x, tf.int32) + 7),
        lambda rows, x: rows.write(0, tf.cast(x, tf.int32)).stack(),
    ],
)
def test_mistakes_with_arrays(use: Any) -> None:
    with pytest.raises(tf.errors.InvalidArgumentError, match="TensorArray"):
        traced(lambda x: use(tf.TensorArray(tf.float32, size=2), x))(tf.constant(3.0))


# Functions in functions, and what is kept.


def test_a_function_with_a_loop_called_in_a_loop() -> None:
    @traced
    def cube(x: Any) -> Any:
        return power(tf.constant(3), x)

    def f(x: Any) -> Any:
        return tf.while_loop(
            lambda i, s: i < 3, lambda i, s: (i + 1, s + cube(s * x)), (0, x * 0.5)
        )[1]

    check_gradients(traced(f), np.float64(0.7))


def test_a_loop_keeps_nothing_unless_asked() -> None:
    from tapeflow._src.graph.passes import optimized

    def f(x: Any) -> Any:
        y = by_index(x)
        tf.gradients(y, x)
        return y

    graph = optimized(traced(f).get_concrete_function(tf.constant(ROWS)).graph)
    (node,) = [n for n in graph.nodes if n.primitive.name == "while"]
    assert node.attrs["plan"].kept == 0


def test_an_error_in_a_body_names_its_line() -> None:
    f = traced(lambda x, n: tf.while_loop(lambda i: i < n, lambda i: tf.gather(x, i + 1), [0]))
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"test_control_flow_loops\.py"):
        f(tf.constant([1, 2, 3]), tf.constant(9))


# Many examples at once.


@pytest.mark.parametrize(
    "name",
    [
        "map_fn",
        "scan",
        "scan, reverse",
        "foldr",
        "by index",
        "loop in loop",
        "branch in loop",
        "loop in branch",
    ],
)
def test_vectorised_jacobians(name: str) -> None:
    def jacobian(x: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.reshape(FUNCTIONS[name](x), [-1])[:3]
        return tape.jacobian(y, x)

    x = tf.constant(ROWS)
    np.testing.assert_allclose(
        traced(jacobian)(x).numpy(), jacobian(x).numpy(), rtol=1e-9, atol=1e-12
    )


def test_vectorized_map_of_loops_and_branches() -> None:
    def loop(row: Any) -> Any:
        return tf.while_loop(lambda i, a: i < 3, lambda i, a: (i + 1, tf.sin(a) * row), (0, row))[1]

    def branch(row: Any) -> Any:
        return tf.cond(tf.reduce_sum(row) > 0.0, lambda: row * 2.0, lambda: row * 0.0)

    x = ROWS
    got = traced(lambda x: tf.vectorized_map(loop, x))(tf.constant(x)).numpy()
    np.testing.assert_allclose(got, np.sin(np.sin(np.sin(x) * x) * x) * x)
    got = traced(lambda x: tf.vectorized_map(branch, x))(tf.constant(x)).numpy()
    np.testing.assert_allclose(got, np.where(x.sum(1, keepdims=True) > 0, x * 2, 0))


def test_hessian_through_a_loop() -> None:
    f = traced(lambda x: tf.hessians(tf.reduce_sum(power(4, x)), x)[0])
    np.testing.assert_allclose(f(tf.constant([1.0, 2.0])).numpy(), [[12.0, 0.0], [0.0, 48.0]])


def test_derivatives_of_loops_one_after_the_other() -> None:
    """Two calls share an input, so gradients of what they keep meet outside of the function."""
    f = traced(by_index)
    check_gradients(lambda x: f(x) * f(tf.sin(x) + x), ROWS)


def test_a_loop_that_was_run_has_a_derivative_afterwards() -> None:
    w = tf.Variable([1.0, 2.0])

    @traced
    def f(x, n):
        unused, count, total = tf.constant(0), tf.constant(0), tf.zeros(2)
        return tf.while_loop(
            lambda c, i, t: i < n, lambda c, i, t: (c + 1, i + 1, t + x * w), (unused, count, total)
        )[2]

    x = tf.constant(1.5)
    np.testing.assert_array_equal(f(x, tf.constant(4)), [6.0, 12.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = f(x, tf.constant(3))
    assert tape.gradient(y, x).numpy() == 9.0


Pair = namedtuple("Pair", "i total")


@pytest.mark.parametrize("kind", [list, tuple, Pair._make])
@pytest.mark.parametrize("of_body", [list, tuple, Pair._make])
def test_a_loop_returns_its_variables_in_the_kind_of_sequence_they_came_in(kind, of_body):
    @tf.function
    def run():
        variables = kind([tf.constant(0), tf.constant(1.0)])
        found = tf.while_loop(
            lambda i, total: i < 3, lambda i, total: of_body([i + 1, total * 2.0]), variables
        )
        assert type(found) is type(variables)
        return found

    assert [x.numpy() for x in run()] == [3, 8.0]
