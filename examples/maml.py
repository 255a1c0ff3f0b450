"""Learns how to learn sine waves from ten points (MAML), and shows how fast it adapts.

    tapeflow demo maml

Each task is a sine wave with its own height and shift, of which only ten points are known. Model-agnostic
meta-learning looks for weights from which ONE step of gradient descent on such points goes a long way: the loss
after the step is differentiated through the step itself, so a tape runs inside of another. The other network is
trained on all waves at once, without thinking of the step; it ends up near their mean, and adapts slowly. On the left
is a new wave and what both networks make of it, on the right is their error on many new waves, step by step.
"""

import argparse
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

import tapeflow as tf

BLUE, ORANGE, GREY, INK = "#0072B2", "#D55E00", "#8A8F98", "#24292F"

STEP = 0.01  # how far the weights go along the gradient of a task
KNOWN = 10  # points of a task
HEIGHTS, SHIFTS = (0.5, 5.0), (0.0, np.pi)


def waves(count: int, points: int) -> tuple[tf.Tensor, tf.Tensor]:
    """Points on `count` waves, as two tensors of shape [count, points, 1]."""
    height = tf.random.uniform([count, 1, 1], *HEIGHTS)
    shift = tf.random.uniform([count, 1, 1], *SHIFTS)
    x = tf.random.uniform([count, points, 1], -5.0, 5.0)
    return x, height * tf.sin(x - shift)


# The network is a function of its weights. With a leading axis of tasks, each task has weights of its own.


def new_weights(width: int = 40) -> list[tf.Variable]:
    weights = []
    for m, n in ((1, width), (width, width), (width, 1)):
        deviation = 0.5 if m == 1 else (2 / m) ** 0.5  # small at first: x goes from -5 to 5
        weights.append(tf.Variable(tf.random.normal([m, n], stddev=deviation)))
        weights.append(tf.Variable(tf.zeros([1, n])))
    return weights


def network(weights: list, x: tf.Tensor) -> tf.Tensor:
    w1, b1, w2, b2, w3, b3 = weights
    y = tf.nn.relu(x @ w1 + b1)
    y = tf.nn.relu(y @ w2 + b2)
    return y @ w3 + b3


def errors(weights: list, x: tf.Tensor, y: tf.Tensor) -> tf.Tensor:
    """The mean squared error of each task."""
    return tf.reduce_mean(tf.square(network(weights, x) - y), axis=[1, 2])


def for_each_task(weights: list, tasks: int) -> list[tf.Tensor]:
    return [tf.tile(w[None], [tasks, 1, 1]) for w in weights]


def adapted(weights: list[tf.Tensor], x: tf.Tensor, y: tf.Tensor) -> list[tf.Tensor]:
    """The weights of each task after one step of gradient descent on its points."""
    with tf.GradientTape() as tape:
        tape.watch(weights)
        # No task depends on another one's weights, so the sum gives each its own gradient.
        loss = tf.reduce_sum(errors(weights, x, y))
    gradients = tape.gradient(loss, weights)
    return [w - STEP * g for w, g in zip(weights, gradients, strict=True)]


def train(steps: int, tasks: int, meta: bool) -> list[tf.Variable]:
    tf.random.set_seed(1)
    weights = new_weights()
    rate = tf.keras.optimizers.schedules.CosineDecay(3e-3, steps)
    optimizer = tf.keras.optimizers.Adam(rate)

    @tf.function
    def train_step() -> tf.Tensor:
        x, y = waves(tasks, 2 * KNOWN)
        with tf.GradientTape() as tape:
            if meta:
                own = for_each_task(weights, tasks)
                own = adapted(own, x[:, :KNOWN], y[:, :KNOWN])
                loss = tf.reduce_mean(errors(own, x[:, KNOWN:], y[:, KNOWN:]))
            else:
                loss = tf.reduce_mean(errors(weights, x, y))
        gradients = tape.gradient(loss, weights)
        optimizer.apply_gradients(zip(gradients, weights, strict=True))
        return loss

    for _ in (bar := tf.progress(range(steps), "MAML" if meta else "all waves at once")):
        bar.log(loss=train_step())
    return weights


@tf.function
def adaptation(weights: list, x: tf.Tensor, y: tf.Tensor, known: int, steps: int) -> list:
    """The weights of each task after 0, 1, 2 ... steps on its first points."""
    history = [for_each_task(weights, x.shape[0])]
    for _ in range(steps):
        history.append(adapted(history[-1], x[:, :known], y[:, :known]))
    return history


def main(output: Path = Path("demo-output"), quick: bool = False) -> dict[str, float]:
    steps = 500 if quick else 3000
    learners = {
        "MAML": train(steps, tasks=25, meta=True),
        "all waves at once": train(steps, tasks=25, meta=False),
    }

    tf.random.set_seed(2)
    x, y = waves(100 if quick else 500, KNOWN + 50)
    curves = {}
    for name, weights in learners.items():
        history = adaptation(weights, x, y, KNOWN, 10)
        curves[name] = np.array(
            [tf.reduce_mean(errors(own, x[:, KNOWN:], y[:, KNOWN:])) for own in history]
        )
    for name, curve in curves.items():
        print(f"{name:18} error {curve[0]:.2f}, after 1 step {curve[1]:.2f}, 10 {curve[10]:.2f}")

    output.mkdir(parents=True, exist_ok=True)
    draw(learners, curves, output / "maml.png")
    return {
        f"{name}, {step} steps": float(curve[step])
        for name, curve in curves.items()
        for step in (0, 1, 10)
    }


# Drawing.


def clean(axes: Axes, title: str) -> None:
    axes.set_title(title, loc="left", fontsize=13, fontweight="bold", color=INK, pad=12)
    axes.spines[["top", "right"]].set_visible(False)
    axes.spines[["left", "bottom"]].set_color(GREY)
    axes.tick_params(colors=INK, labelsize=10)
    axes.grid(axis="y", color="#E6E8EB", linewidth=0.8)
    axes.set_axisbelow(True)


def draw(learners: dict[str, list], curves: dict[str, np.ndarray], path: Path) -> None:
    figure = Figure(figsize=(11, 4.1), layout="constrained")
    first, second, right = figure.subplots(1, 3, width_ratios=[1, 1, 1.1])
    colours = {"MAML": BLUE, "all waves at once": ORANGE}

    # One wave of which ten points are known, on one side of it alone.
    known = np.linspace(-4.5, 1.0, KNOWN, dtype=np.float32).reshape(1, -1, 1)
    line = np.linspace(-5, 5, 200, dtype=np.float32).reshape(1, -1, 1)

    def wave(x):
        return 3.5 * np.sin(x - 0.8)

    for axes, (name, weights) in zip((first, second), learners.items(), strict=True):
        colour = colours[name]
        history = adaptation(weights, tf.constant(known), tf.constant(wave(known)), KNOWN, 10)
        axes.plot(line.ravel(), wave(line).ravel(), color=GREY, linewidth=5, alpha=0.35)
        for step, alpha, style in ((0, 0.9, ":"), (1, 0.6, "-"), (10, 1, "-")):
            guess = network(history[step], tf.constant(line)).numpy()
            label = {0: "before", 1: "after 1 step", 10: "after 10"}[step]
            axes.plot(
                line.ravel(),
                guess.ravel(),
                style,
                color=colour if step else INK,
                alpha=alpha,
                linewidth=2.4 if step == 10 else 1.5,
                label=label,
            )
        axes.plot(known.ravel(), wave(known).ravel(), "o", color=INK, markersize=5)
        axes.set(xlim=(-5, 5), ylim=(-5, 6.6), xlabel="x")
        axes.legend(
            frameon=False,
            fontsize=9.5,
            ncols=3,
            loc="upper center",
            handlelength=1.2,
            columnspacing=1,
        )
        clean(axes, name[0].upper() + name[1:])

    for name, curve in curves.items():
        right.plot(curve, "o-", color=colours[name], linewidth=2.2, markersize=4, label=name)
    right.set(xlabel="steps on ten points of a new wave", ylabel="squared error, other points")
    right.set(xlim=(0, 10), xticks=range(0, 11, 2), ylim=(0, None))
    right.legend(frameon=False, fontsize=10)
    clean(right, "Error on many new waves")
    figure.savefig(path, dpi=110)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Learns how to learn sine waves.")
    parser.add_argument("--output", type=Path, default=Path("demo-output"), help="for the picture")
    parser.add_argument("--quick", action="store_true", help="fewer steps")
    options = parser.parse_args()
    main(options.output, options.quick)
