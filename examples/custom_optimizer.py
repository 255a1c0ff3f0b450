"""Writes two optimizers by hand: Lion, and Newton's method with Hessian-vector products.

    tapeflow demo custom_optimizer

An optimizer is what a training loop does with its gradients. Lion takes the sign of a running mean, so that each
weight moves by the learning rate exactly. Newton's method asks how the gradient itself changes: it never forms the
Hessian, because conjugate gradients need only its product with a vector, and that is a forward derivative of the
tape's gradient. On the left both walk through Rosenbrock's valley, where gradient descent creeps: look for Newton's
few long steps. On the right is how far they are from the best loss of a logistic regression.
"""

import argparse
from collections.abc import Callable
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure

import tapeflow as tf

BLUE, ORANGE, GREEN, GREY, INK = "#0072B2", "#D55E00", "#009E73", "#8A8F98", "#24292F"
PALE = LinearSegmentedColormap.from_list("pale", ["#FFFFFF", "#E3EAF0", "#B9C8D6"])

Loss = Callable[[tf.Variable], tf.Tensor]


class Lion(tf.Module):
    """Steps by the sign of a running mean of the gradient (Chen et al., 2023)."""

    def __init__(self, variables: list[tf.Variable], learning_rate: float = 1e-3):
        super().__init__()
        self.learning_rate = tf.Variable(learning_rate, trainable=False, dtype=tf.float64)
        self.momenta = [tf.Variable(tf.zeros_like(v), trainable=False) for v in variables]

    def apply_gradients(self, gradients_and_variables) -> None:
        for (gradient, variable), momentum in zip(
            gradients_and_variables, self.momenta, strict=True
        ):
            rate = tf.cast(self.learning_rate, variable.dtype)
            variable.assign_sub(rate * tf.sign(0.9 * momentum + 0.1 * gradient))
            momentum.assign(0.99 * momentum + 0.01 * gradient)


def gradient_of(loss_of: Loss, x: tf.Variable) -> tuple[tf.Tensor, tf.Tensor]:
    with tf.GradientTape() as tape:
        loss = loss_of(x)
    return loss, tape.gradient(loss, x)


def hessian_vector_product(loss_of: Loss, x: tf.Variable, vector: tf.Tensor) -> tf.Tensor:
    """How the gradient changes when x moves along `vector`: forward mode over reverse mode."""
    with tf.autodiff.ForwardAccumulator(x, vector) as accumulator:
        _, gradient = gradient_of(loss_of, x)
    return accumulator.jvp(gradient)


def newton_direction(loss_of: Loss, x: tf.Variable, gradient: tf.Tensor) -> tf.Tensor:
    """The p with H p = gradient, by conjugate gradients."""
    p = tf.zeros_like(gradient)
    residual = direction = gradient
    square = tf.reduce_sum(residual * residual)
    small = 1e-20 * square
    for _ in tf.range(2 * len(gradient)):
        if square <= small:
            break
        product = hessian_vector_product(loss_of, x, direction)
        length = square / tf.reduce_sum(direction * product)
        p += length * direction
        residual -= length * product
        last, square = square, tf.reduce_sum(residual * residual)
        direction = residual + square / last * direction
    return p


def minimize(loss_of: Loss, start: np.ndarray, method: str, steps: int, rate: float) -> np.ndarray:
    """Each point on the way, with its loss in the last column."""
    x = tf.Variable(start, dtype=tf.float64)
    lion = Lion([x])

    @tf.function
    def step():
        before = tf.identity(x)
        loss, gradient = gradient_of(loss_of, x)
        if method == "Lion":
            lion.apply_gradients([(gradient, x)])
        elif method == "Newton":
            x.assign_sub(newton_direction(loss_of, x, gradient))
        else:
            x.assign_sub(rate * gradient)
        return before, loss

    path = []
    for number in (bar := tf.progress(range(steps), method)):
        lion.learning_rate.assign(rate * (1 - number / steps))  # to stop where it is good
        before, loss = step()
        path.append([*before.numpy(), float(loss)])
        bar.log(loss=loss)
    return np.array(path)


# What is minimized.


def rosenbrock(point: tf.Variable) -> tf.Tensor:
    x, y = tf.unstack(point)
    return (1 - x) ** 2 + 100 * (y - x**2) ** 2


def logistic_regression(count: int, features: int) -> Loss:
    """The loss of a classifier on features of very different sizes, which gradient descent finds hard."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=(count, features)) * np.geomspace(0.1, 2, features)
    chance = 1 / (1 + np.exp(-x @ rng.normal(size=features)))
    inputs = tf.constant(x)
    labels = tf.constant(rng.uniform(size=count) < chance, tf.float64)

    def loss_of(weights: tf.Variable) -> tf.Tensor:
        logits = tf.linalg.matvec(inputs, weights)
        losses = tf.nn.sigmoid_cross_entropy_with_logits(labels=labels, logits=logits)
        return tf.reduce_mean(losses) + 1e-4 * tf.reduce_sum(weights**2)

    return loss_of


def difference_to_keras() -> float:
    """How far our Lion is from the one in Keras after 50 steps on the same function."""
    ours, theirs = tf.Variable([-1.2, 1.0]), tf.Variable([-1.2, 1.0])
    lion, keras = Lion([ours], 0.01), tf.keras.optimizers.Lion(0.01)
    for _ in range(50):
        lion.apply_gradients([(gradient_of(rosenbrock, ours)[1], ours)])
        keras.apply_gradients([(gradient_of(rosenbrock, theirs)[1], theirs)])
    return float(tf.reduce_max(abs(ours - theirs)))


def main(output: Path = Path("demo-output"), quick: bool = False) -> dict[str, float]:
    steps = 100 if quick else 500
    settings = {"gradient descent": (steps, 1e-3), "Lion": (steps, 0.03), "Newton": (8, 1.0)}
    start = np.array([-1.2, 1.0])
    valley = {
        name: minimize(rosenbrock, start, name, count, rate)
        for name, (count, rate) in settings.items()
    }

    features = 10 if quick else 30
    regression = logistic_regression(200 if quick else 2000, features)
    settings = {"gradient descent": (steps, 1.0), "Lion": (steps, 0.03), "Newton": (9, 1.0)}
    losses = {
        name: minimize(regression, np.zeros(features), name, count, rate)[:, -1]
        for name, (count, rate) in settings.items()
    }
    best = losses["Newton"].min()
    gaps = {name: loss - best for name, loss in losses.items()}

    figures = {
        "difference to Keras": difference_to_keras(),
        "distance of Newton": float(np.hypot(*(valley["Newton"][-1, :2] - 1))),
        "gap of Lion": float(gaps["Lion"][-1]),
        "gap of Newton after 6 steps": float(gaps["Newton"][6]),
        "gap of gradient descent": float(gaps["gradient descent"][-1]),
    }
    print(f"Lion and the one in Keras differ by {figures['difference to Keras']:.1e}")
    for name, path in valley.items():
        away = np.hypot(*(path[-1, :2] - 1))
        print(f"Rosenbrock, {name}: {away:.1e} from the minimum after {len(path) - 1} steps")
    for name, gap in gaps.items():
        print(f"regression, {name}: loss {gap[-1]:.1e} above the best after {len(gap) - 1} steps")

    output.mkdir(parents=True, exist_ok=True)
    draw(valley, gaps, output / "custom_optimizer.png")
    return figures


# Drawing.

COLOURS = {"gradient descent": GREEN, "Lion": ORANGE, "Newton": BLUE}


def clean(axes: Axes, title: str) -> None:
    axes.set_title(title, loc="left", fontsize=13, fontweight="bold", color=INK, pad=12)
    axes.spines[["top", "right"]].set_visible(False)
    axes.spines[["left", "bottom"]].set_color(GREY)
    axes.tick_params(colors=INK, labelsize=10, which="both")
    axes.set_axisbelow(True)


def draw(valley: dict[str, np.ndarray], gaps: dict[str, np.ndarray], path: Path) -> None:
    figure = Figure(figsize=(9.5, 4.3), layout="constrained")
    left, right = figure.subplots(1, 2)

    x, y = np.meshgrid(np.linspace(-1.7, 1.7, 200), np.linspace(-3.6, 2, 200))
    height = np.log10((1 - x) ** 2 + 100 * (y - x**2) ** 2 + 1e-2)
    left.contourf(x, y, height, levels=14, cmap=PALE)
    for name, points in valley.items():
        dots = "o-" if name == "Newton" else "-"
        left.plot(*points[:, :2].T, dots, color=COLOURS[name], markersize=5, label=name)
        left.plot(*points[-1, :2], "o", color=COLOURS[name], markersize=7, zorder=3)
    left.plot(1, 1, "*", color="white", markeredgecolor=INK, markersize=13, zorder=4)
    left.text(1.1, 1.1, "minimum", color=INK, fontsize=10, va="bottom", ha="center")
    left.set(xlabel="x", ylabel="y", xlim=(-1.7, 1.7), ylim=(-3.6, 2))
    left.legend(frameon=False, fontsize=10, loc="lower left")
    clean(left, "Three ways through a valley")

    for name, gap in gaps.items():
        dots = "o-" if name == "Newton" else "-"
        steps = np.arange(len(gap))
        seen = gap > 1e-16
        right.semilogy(steps[seen], gap[seen], dots, color=COLOURS[name], markersize=5)
    right.set_xscale("symlog", linthresh=10)
    right.set(xlabel="step", ylabel="loss above the best", ylim=(1e-12, 2), xlim=(0, None))
    right.set_xticks([0, 2, 4, 6, 8, 10, 100], labels=["0", "2", "4", "6", "8", "10", "100"])
    right.grid(axis="y", color="#E6E8EB", linewidth=0.8)
    clean(right, "Logistic regression")
    figure.savefig(path, dpi=110)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Writes two optimizers by hand.")
    parser.add_argument("--output", type=Path, default=Path("demo-output"), help="for the picture")
    parser.add_argument("--quick", action="store_true", help="fewer steps")
    options = parser.parse_args()
    main(options.output, options.quick)
