"""The snippets of the three documents the project began with, with the values they print.

Two values differ from the documents on purpose: the regression of the second document fits its data exactly, so its
gradients are zero, and the per-layer learning rates of the third need a persistent tape.
"""

from __future__ import annotations

import numpy as np
import pytest

import tapeflow as tf


class TestFirstDocument:
    def test_square(self):
        x = tf.Variable(3.0)
        with tf.GradientTape() as tape:
            y = x**2
        dy_dx = tape.gradient(y, x)
        assert dy_dx.numpy() == 6.0

    def test_matrices_and_structures(self):
        w = tf.Variable(tf.random.normal((3, 2)), name="w")
        b = tf.Variable(tf.zeros(2, dtype=tf.float32), name="b")
        x = [[1.0, 2.0, 3.0]]

        with tf.GradientTape(persistent=True) as tape:
            y = x @ w + b
            loss = tf.reduce_mean(y**2)

        [dl_dw, dl_db] = tape.gradient(loss, [w, b])
        assert str(w.shape) == "(3, 2)"
        assert str(dl_dw.shape) == "(3, 2)"
        my_vars = {"w": w, "b": b}
        grad = tape.gradient(loss, my_vars)
        assert list(grad) == ["w", "b"]
        np.testing.assert_array_equal(grad["b"], dl_db)
        np.testing.assert_allclose(grad["b"], np.asarray(y)[0], rtol=1e-6)  # mean over two elements
        values = np.asarray(grad["b"])
        assert repr(grad["b"]) == f"<tf.Tensor: shape=(2,), dtype=float32, numpy={values!r}>"

    def test_what_is_watched(self, capsys):
        x0 = tf.Variable(3.0, name="x0")
        x1 = tf.Variable(3.0, name="x1", trainable=False)
        x2 = tf.Variable(2.0, name="x2") + 1.0
        x3 = tf.constant(3.0, name="x3")

        with tf.GradientTape() as tape:
            y = (x0**2) + (x1**2) + (x2**2)

        grad = tape.gradient(y, [x0, x1, x2, x3])
        for g in grad:
            print(g)
        assert capsys.readouterr().out.splitlines() == [
            "tf.Tensor(6.0, shape=(), dtype=float32)",
            "None",
            "None",
            "None",
        ]
        assert [var.name for var in tape.watched_variables()] == ["x0:0"]

    def test_watching_a_tensor(self):
        x = tf.constant(3.0)
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = x**2
        assert tape.gradient(y, x).numpy() == 6.0

    def test_watching_nothing_by_itself(self):
        x0 = tf.Variable(0.0)
        x1 = tf.Variable(10.0)

        with tf.GradientTape(watch_accessed_variables=False) as tape:
            tape.watch(x1)
            y0 = tf.math.sin(x0)
            y1 = tf.nn.softplus(x1)
            y = y0 + y1
            ys = tf.reduce_sum(y)

        grad = tape.gradient(ys, {"x0": x0, "x1": x1})
        assert grad["x0"] is None
        assert grad["x1"].numpy() == pytest.approx(0.9999546, rel=1e-6)

    def test_intermediate_results(self):
        x = tf.constant(3.0)
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = x * x
            z = y * y
        assert tape.gradient(z, y).numpy() == 18.0

    def test_persistent_tape(self, capsys):
        x = tf.constant([1, 3.0])
        with tf.GradientTape(persistent=True) as tape:
            tape.watch(x)
            y = x * x
            z = y * y
        print(tape.gradient(z, x).numpy())
        print(tape.gradient(y, x).numpy())
        del tape
        assert capsys.readouterr().out == "[  4. 108.]\n[2. 6.]\n"

    def test_several_targets(self):
        x = tf.Variable(2.0)
        with tf.GradientTape(persistent=True) as tape:
            y0 = x**2
            y1 = 1 / x
        assert tape.gradient(y0, x).numpy() == 4.0
        assert tape.gradient(y1, x).numpy() == -0.25
        assert tape.gradient({"y0": y0, "y1": y1}, x).numpy() == 3.75

    def test_target_that_is_not_a_scalar(self):
        x = tf.Variable(2.0)
        with tf.GradientTape() as tape:
            y = x * [3.0, 4.0]
        assert tape.gradient(y, x).numpy() == 7.0

    def test_sigmoid_is_plotted(self, tmp_path):
        matplotlib = pytest.importorskip("matplotlib")
        matplotlib.use("Agg")
        import matplotlib.pyplot as plt

        x = tf.linspace(-10.0, 10.0, 200 + 1)
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.nn.sigmoid(x)
        dy_dx = tape.gradient(y, x)

        plt.plot(x, y, label="y")
        plt.plot(x, dy_dx, label="dy/dx")
        plt.legend()
        _ = plt.xlabel("x")
        lines = plt.gca().get_lines()
        plt.savefig(tmp_path / "sigmoid.png")
        plt.close()
        s = 1 / (1 + np.exp(-np.linspace(-10, 10, 201)))
        np.testing.assert_allclose(lines[0].get_ydata(), s, rtol=1e-5)
        np.testing.assert_allclose(lines[1].get_ydata(), s * (1 - s), rtol=1e-4, atol=1e-6)

    def test_control_flow(self, capsys):
        x = tf.constant(1.0)
        v0 = tf.Variable(2.0)
        v1 = tf.Variable(2.0)

        with tf.GradientTape(persistent=True) as tape:
            tape.watch(x)
            if x > 0.0:
                result = v0
            else:
                result = v1**2

        dv0, dv1 = tape.gradient(result, [v0, v1])
        print(dv0)
        print(dv1)
        print(tape.gradient(result, x))
        assert capsys.readouterr().out.splitlines() == [
            "tf.Tensor(1.0, shape=(), dtype=float32)",
            "None",
            "None",
        ]


class TestSecondDocument:
    def test_linear_regression(self):
        w = tf.Variable(2.0)
        b = tf.Variable(1.0)
        x = tf.constant([1.0, 2.0, 3.0, 4.0])
        y = tf.constant([3.0, 5.0, 7.0, 9.0])

        with tf.GradientTape() as tape:
            y_hat = w * x + b
            loss = tf.reduce_mean(tf.square(y_hat - y))

        gradients = tape.gradient(loss, [w, b])
        assert (
            f"Gradient with respect to w: {gradients[0].numpy()}"
            == "Gradient with respect to w: 0.0"
        )
        assert (
            f"Gradient with respect to b: {gradients[1].numpy()}"
            == "Gradient with respect to b: 0.0"
        )

    def test_sum_of_paths(self):
        x = tf.Variable(2.0)
        with tf.GradientTape() as tape:
            y = x**2
            z = y + x
        assert tape.gradient(z, x).numpy() == 5.0

    def test_constant_watched(self):
        x = tf.constant(2.0)
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = x**2
        assert tape.gradient(y, x).numpy() == 4.0

    def test_constant_not_watched(self):
        x = tf.constant(2.0)
        with tf.GradientTape() as tape:
            y = x**2
        assert tape.gradient(y, x) is None


class Tower(tf.Module):
    """Two layers, called backbone and head, as in the third document."""

    def __init__(self):
        super().__init__()
        self.backbone = Layer(3, 4)
        self.head = Layer(4, 1)

    def __call__(self, x):
        return self.head(tf.nn.relu(self.backbone(x)))


class Layer(tf.Module):
    def __init__(self, inputs, outputs):
        super().__init__()
        self.w = tf.Variable(tf.random.normal([inputs, outputs], stddev=0.5), name="w")
        self.b = tf.Variable(tf.zeros([outputs]), name="b")

    def __call__(self, x):
        return x @ self.w + self.b


@pytest.fixture
def problem():
    tf.random.set_seed(3)
    model = Tower()
    x = tf.random.normal([16, 3])
    y = tf.reduce_sum(x, axis=1, keepdims=True)
    return model, x, y


def compute_loss(predictions, y):
    return tf.reduce_mean(tf.square(predictions - y))


class TestThirdDocument:
    def test_second_derivative(self):
        x = tf.Variable(3.0)
        with tf.GradientTape() as outer:
            with tf.GradientTape() as inner:
                y = x**3
            dy_dx = inner.gradient(y, x)
        d2y_dx2 = outer.gradient(dy_dx, x)
        assert dy_dx.numpy() == 27.0
        assert d2y_dx2.numpy() == 18.0

    def test_custom_loop(self, problem):
        model, x, y = problem
        losses = []
        for _ in range(50):
            with tf.GradientTape() as tape:
                loss = compute_loss(model(x), y)
            gradients = tape.gradient(loss, model.trainable_variables)
            for v, g in zip(model.trainable_variables, gradients, strict=True):
                v.assign_sub(0.1 * g)
            losses.append(float(loss))
        assert losses[-1] < 0.1 * losses[0]

    def test_clipping(self, problem):
        model, x, y = problem
        with tf.GradientTape() as tape:
            loss = 100.0 * compute_loss(model(x), y)
        gradients = tape.gradient(loss, model.trainable_variables)
        clipped, norm = tf.clip_by_global_norm(gradients, clip_norm=1.0)
        assert norm.numpy() > 1.0
        np.testing.assert_allclose(tf.linalg.global_norm(clipped), 1.0, rtol=1e-5)
        np.testing.assert_allclose(clipped[0] * norm, gradients[0], rtol=1e-5)

    def test_accumulation_equals_the_large_batch(self, problem):
        model, x, y = problem
        accumulated = [tf.Variable(tf.zeros_like(v)) for v in model.trainable_variables]
        parts = 4
        for micro_x, micro_y in zip(tf.split(x, parts), tf.split(y, parts), strict=True):
            with tf.GradientTape() as tape:
                loss = compute_loss(model(micro_x), micro_y) / parts
            grads = tape.gradient(loss, model.trainable_variables)
            for acc_grad, grad in zip(accumulated, grads, strict=True):
                acc_grad.assign_add(grad)
        with tf.GradientTape() as tape:
            loss = compute_loss(model(x), y)
        for acc_grad, grad in zip(
            accumulated, tape.gradient(loss, model.trainable_variables), strict=True
        ):
            np.testing.assert_allclose(acc_grad, grad, rtol=1e-5, atol=1e-6)

    def test_per_layer_rates_need_a_persistent_tape(self, problem):
        model, x, y = problem
        with tf.GradientTape() as tape:
            loss = compute_loss(model(x), y)
        tape.gradient(loss, model.backbone.trainable_variables)
        with pytest.raises(RuntimeError, match="persistent=True"):
            tape.gradient(loss, model.head.trainable_variables)

        with tf.GradientTape(persistent=True) as tape:
            loss = compute_loss(model(x), y)
        backbone_grads = tape.gradient(loss, model.backbone.trainable_variables)
        head_grads = tape.gradient(loss, model.head.trainable_variables)
        del tape
        assert [g.shape for g in backbone_grads] == [(4,), (3, 4)]
        assert [g.shape for g in head_grads] == [(1,), (4, 1)]

    def test_unconnected_gradients_as_zeros(self):
        x, unused = tf.Variable(1.0), tf.Variable([1.0, 2.0])
        with tf.GradientTape(persistent=True) as tape:
            y = x * 2.0
        assert tape.gradient(y, unused) is None
        zeros = tape.gradient(y, unused, unconnected_gradients=tf.UnconnectedGradients.ZERO)
        np.testing.assert_array_equal(zeros, [0.0, 0.0])

    def test_gradient_penalty(self, problem):
        """The row of the table on WGAN-GP: the norm of an input gradient, itself differentiated."""
        model, x, _ = problem
        with tf.GradientTape() as tape:
            with tf.GradientTape() as inner:
                inner.watch(x)
                score = model(x)
            slopes = inner.gradient(score, x)
            norms = tf.sqrt(tf.reduce_sum(slopes**2, axis=1) + 1e-12)  # a dead unit has slope 0
            penalty = tf.reduce_mean((norms - 1.0) ** 2)
        gradients = tape.gradient(penalty, model.trainable_variables)
        weights = [
            g for g, v in zip(gradients, model.trainable_variables, strict=True) if v.ndim == 2
        ]
        assert all(float(tf.norm(g)) > 0.0 for g in weights)

    def test_meta_learning(self):
        """The row on MAML: the gradient of a loss after one step, through the step."""
        w = tf.Variable(1.0)
        with tf.GradientTape() as outer:
            with tf.GradientTape() as inner:
                loss = (w * 2.0 - 3.0) ** 2
            step = w - 0.1 * inner.gradient(loss, w)
            after = (step * 2.0 - 3.0) ** 2
        # loss' = 4(2w - 3) = -4; step = 1.4; d step / dw = 1 - 0.1 * 8 = 0.2; after' = 4(2.8 - 3) * 0.2
        np.testing.assert_allclose(outer.gradient(after, w), -0.16, rtol=1e-5)

    def test_input_attribution(self, problem):
        model, x, _ = problem
        with tf.GradientTape() as tape:
            tape.watch(x)
            score = model(x)
        assert tape.gradient(score, x).shape == x.shape
