"""`custom_gradient`, `grad_pass_through`, `recompute_grad` and `stop_gradient`."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from tests.core.interruptions import interrupted, surroundings

import tapeflow as tf


@tf.custom_gradient
def log1pexp(x):
    """The textbook case: a gradient that is stable where the plain one is nan."""
    e = tf.exp(x)

    def grad(upstream):
        return upstream * (1 - 1 / (1 + e))

    return tf.math.log(1 + e), grad


class TestCustomGradient:
    def test_gradient_is_the_one_given(self):
        x = tf.constant(100.0)
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = log1pexp(x)
        assert tape.gradient(y, x).numpy() == 1.0

    def test_second_order_goes_through_the_gradient_function(self):
        x = tf.Variable(0.3, dtype=tf.float64)
        with tf.GradientTape() as outer:
            with tf.GradientTape() as inner:
                y = log1pexp(x)
            dy = inner.gradient(y, x)
        s = 1 / (1 + np.exp(-0.3))
        np.testing.assert_allclose(dy, s, rtol=1e-12)
        np.testing.assert_allclose(outer.gradient(dy, x), s * (1 - s), rtol=1e-12)

    def test_keyword_arguments(self):
        @tf.custom_gradient
        def scaled(x, factor=2.0):
            return x * factor, lambda g: g * factor * 10.0

        x = tf.Variable(3.0)
        with tf.GradientTape() as tape:
            y = scaled(x, factor=3.0)
        assert y.numpy() == 9.0
        assert tape.gradient(y, x).numpy() == 30.0

    def test_several_arguments_and_results(self):
        @tf.custom_gradient
        def both(x, y):
            def grad(da, db):
                return da * 2.0 + db, None

            return (x + y, x * y), grad

        x, y = tf.Variable(3.0), tf.Variable(5.0)
        with tf.GradientTape(persistent=True) as tape:
            a, b = both(x, y)
        assert [g if g is None else float(g) for g in tape.gradient(a, [x, y])] == [2.0, None]
        assert float(tape.gradient(b, x)) == 1.0
        assert float(tape.gradient([a, b], x)) == 3.0

    def test_variables_are_passed(self):
        v = tf.Variable(2.0, name="scale")
        names = []

        @tf.custom_gradient
        def scaled(x):
            def grad(g, variables=None):
                names.extend(w.name for w in variables)
                return g * v, [g * 100.0]

            return x * v, grad

        x = tf.Variable(3.0)
        with tf.GradientTape() as tape:
            y = scaled(x)
        assert [float(g) for g in tape.gradient(y, [x, v])] == [2.0, 100.0]
        assert names == ["scale:0"]

    def test_variables_need_the_keyword(self):
        v = tf.Variable(2.0)

        @tf.custom_gradient
        def scaled(x):
            return x * v, lambda g: g * v

        with pytest.raises(TypeError, match="variables"), tf.GradientTape():
            scaled(tf.Variable(3.0))

    def test_wrong_number_of_gradients(self):
        @tf.custom_gradient
        def f(x):
            return x * 1.0, lambda g: [g, g]

        x = tf.Variable(1.0)
        with tf.GradientTape() as tape:
            y = f(x)
        with pytest.raises(ValueError, match="expected to return 1 gradients"):
            tape.gradient(y, x)

    def test_wrong_shape_of_gradient(self):
        @tf.custom_gradient
        def f(x):
            return tf.reduce_sum(x), lambda g: g  # forgets to spread the gradient

        x = tf.Variable([1.0, 2.0])
        with tf.GradientTape() as tape:
            y = f(x)
        with pytest.raises(
            ValueError, match=r"f: the gradient of argument 0 must have its shape \(2,\)"
        ):
            tape.gradient(y, x)

    def test_works_without_a_tape_and_as_a_method(self):
        class Gate:
            @tf.custom_gradient
            def __call__(self, x):
                return x * 2.0, lambda g: (None, g * 5.0)

        assert Gate()(tf.constant(1.0)).numpy() == 2.0
        x = tf.Variable(1.0)
        with tf.GradientTape() as tape:
            y = Gate()(x)
        assert float(tape.gradient(y, x)) == 5.0

    def test_decorator_with_parentheses_keeps_the_name(self):
        @tf.custom_gradient()
        def named(x):
            """What it does."""
            return x, lambda g: g

        assert (named.__name__, named.__doc__) == ("named", "What it does.")

    def test_inner_gradients_do_not_leak(self):
        """The gradient function alone counts: the operations inside must not add theirs."""

        @tf.custom_gradient
        def f(x):
            return tf.sin(x) * x, lambda g: g * 7.0

        x = tf.Variable(0.5)
        with tf.GradientTape() as tape:
            y = f(x)
        assert float(tape.gradient(y, x)) == 7.0


class TestTensorsFromElsewhere:
    """What a function uses besides its arguments, as a scale that is computed before.

    Where a tape follows an argument, the gradient function alone counts, and knows of nothing else. A tape that follows
    none has no use for it, and sees the operations inside.
    """

    def rounded(self, x, scale):
        @tf.custom_gradient
        def quantize(x):
            return tf.round(x / scale) * scale, lambda g: g

        return quantize(x)

    @pytest.mark.parametrize("wrap", [lambda f: f, tf.function], ids=["eager", "function"])
    def test_have_a_gradient_if_no_argument_is_followed(self, wrap):
        log_scale = tf.Variable(0.0)
        data = tf.constant([1.2, 2.9])

        @wrap
        def step():
            with tf.GradientTape() as tape:
                y = self.rounded(data, tf.exp(log_scale))
            return tape.gradient(y, log_scale)

        assert float(step()) == 4.0

    def test_have_none_beside_an_argument_that_is_followed(self):
        x, scale = tf.constant([1.2, 2.9]), tf.constant(1.0)
        with tf.GradientTape() as tape:
            tape.watch([x, scale])
            y = self.rounded(x, scale) * 1.0
        gradient, none = tape.gradient(y, [x, scale])
        np.testing.assert_array_equal(gradient, [1.0, 1.0])
        assert none is None

    def test_each_tape_follows_what_it_watches(self):
        x, scale = tf.constant([1.2, 2.9]), tf.constant(1.0)
        with tf.GradientTape() as outer:
            outer.watch(scale)
            with tf.GradientTape() as inner:
                inner.watch(x)
                y = self.rounded(x, scale)
                z = y**2
            first = inner.gradient(z, x)
        np.testing.assert_array_equal(first, [2.0, 6.0])
        assert float(outer.gradient(first, scale)) == 8.0

    def test_are_counted_once_where_the_result_is_a_source(self):
        scale = tf.constant(1.0)
        with tf.GradientTape() as tape:
            tape.watch(scale)
            y = self.rounded(tf.constant(3.2), scale)
            z = y * 5.0
        assert [float(g) for g in tape.gradient(z, [y, scale])] == [5.0, 15.0]

    def test_move_in_forward_mode(self):
        scale = tf.constant(1.0)
        with tf.autodiff.ForwardAccumulator(scale, tf.constant(1.0)) as forward:
            y = self.rounded(tf.constant([1.2, 2.9]), scale)
        np.testing.assert_array_equal(forward.jvp(y), [1.0, 3.0])

    def test_of_all_examples_add_up(self):
        scale = tf.constant(1.0)
        with tf.GradientTape() as tape:
            tape.watch(scale)
            y = tf.vectorized_map(lambda x: self.rounded(x, scale), tf.constant([1.2, 2.9]))
        assert float(tape.gradient(y, scale)) == 4.0


class TestPassThrough:
    def test_round_becomes_trainable(self):
        x = tf.Variable([0.4, 1.6])
        with tf.GradientTape() as tape:
            y = tf.grad_pass_through(tf.round)(x) * 3.0
        np.testing.assert_array_equal(tape.gradient(y, x), [3.0, 3.0])


class TestStopGradient:
    def test_cuts_one_path_only(self):
        x = tf.Variable(3.0)
        with tf.GradientTape() as tape:
            y = x * tf.stop_gradient(x)
        assert float(tape.gradient(y, x)) == 3.0


class Block(tf.Module):
    def __init__(self):
        super().__init__()
        self.w = tf.Variable([[0.3, -0.2], [0.1, 0.5]], dtype=tf.float64)

    def __call__(self, x, scale=1.0):
        return tf.tanh(x @ self.w) * scale


class TestRecompute:
    def test_modules_and_keywords(self):
        """A module is a callable without a name; its variables get their gradients all the same."""
        block = Block()
        x = tf.Variable([[1.0, 2.0]], dtype=tf.float64)
        with tf.GradientTape(persistent=True) as tape:
            plain = block(x, scale=2.0)
            again = tf.recompute_grad(block)(x, scale=2.0)
        np.testing.assert_array_equal(plain, again)
        for a, b in zip(
            tape.gradient(plain, [x, block.w]), tape.gradient(again, [x, block.w]), strict=True
        ):
            np.testing.assert_allclose(a, b, rtol=1e-12)

    def test_second_order(self):
        block = Block()

        def second(f):
            x = tf.constant([[1.0, 2.0]], tf.float64)
            with tf.GradientTape() as outer:
                outer.watch(x)
                with tf.GradientTape() as inner:
                    inner.watch(x)
                    y = tf.reduce_sum(f(x) ** 2)
                g = inner.gradient(y, x)
            return outer.gradient(g, [x, block.w])

        for a, b in zip(second(block), second(tf.recompute_grad(block)), strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-10)

    def test_runs_the_function_again_only_in_the_backward_pass(self):
        calls = []

        def f(x):
            calls.append("call")
            return tf.sin(x)

        x = tf.Variable(0.5)
        with tf.GradientTape() as tape:
            y = tf.recompute_grad(f)(x)
        assert len(calls) == 1
        tape.gradient(y, x)
        assert len(calls) == 2

    def test_sees_variables_as_they_were(self):
        v = tf.Variable(2.0)
        x = tf.Variable(3.0)
        with tf.GradientTape() as tape:
            y = tf.recompute_grad(lambda x: x * v * v)(x)
        v.assign(100.0)
        assert [float(g) for g in tape.gradient(y, [x, v])] == [4.0, 12.0]
        assert float(v) == 100.0

    def test_the_same_random_numbers_are_drawn_again(self):
        x = tf.ones([1000])
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.recompute_grad(lambda x: tf.nn.dropout(x, 0.5))(x)
            after = tf.random.uniform([])
        np.testing.assert_array_equal(tape.gradient(y, x), y)
        assert float(after) != float(tf.random.uniform([]))

    def test_without_a_tape(self):
        assert float(tf.recompute_grad(tf.sin)(tf.constant(0.0))) == 0.0

    @pytest.mark.exhaustive
    def test_interruptions_leave_nothing_open(self):
        x, w = tf.Variable(2.0), tf.Variable(3.0)
        block = tf.recompute_grad(lambda x: tf.square(x) * w)

        def slope():
            with tf.GradientTape() as tape:
                y = block(x)
            return tape.gradient(y, x)

        slope()
        before = surroundings()
        for at in itertools.count():
            if not interrupted(slope, at):
                break
            assert surroundings() == before, at
        assert float(slope()) == 12.0

    def test_nested(self):
        x = tf.Variable(0.5, dtype=tf.float64)
        inner = tf.recompute_grad(tf.sin)
        with tf.GradientTape() as tape:
            y = tf.recompute_grad(lambda x: inner(inner(x)))(x)
        np.testing.assert_allclose(
            tape.gradient(y, x), np.cos(np.sin(0.5)) * np.cos(0.5), rtol=1e-12
        )
