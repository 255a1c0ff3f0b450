"""Trains a small network with a gradient tape to tell two spirals apart, and draws what it learned.

    python examples/train_mlp.py [--steps 1000] [--output demo-output]

The training is plain TensorFlow 2: replace `tapeflow` with `tensorflow` and it runs there too.
"""

import argparse
import math
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

import tapeflow as tf

# The network.


class Dense(tf.Module):
    def __init__(self, inputs: int, outputs: int, activation: Callable | None = None):
        super().__init__()
        scale = math.sqrt(2.0 / inputs)
        self.w = tf.Variable(scale * tf.random.normal([inputs, outputs]), name="w")
        self.b = tf.Variable(tf.zeros([outputs]), name="b")
        self.activation = activation

    def __call__(self, x: tf.Tensor) -> tf.Tensor:
        y = x @ self.w + self.b
        return y if self.activation is None else self.activation(y)


class Network(tf.Module):
    def __init__(self, inputs: int = 2, width: int = 48):
        super().__init__()
        self.layers = [
            Dense(inputs, width, tf.nn.relu),
            Dense(width, width, tf.nn.relu),
            Dense(width, 1),
        ]

    def __call__(self, x: tf.Tensor) -> tf.Tensor:
        for layer in self.layers:
            x = layer(x)
        return x


class Adam:
    """Steps along a running mean of the gradient, divided by a running mean of its size."""

    def __init__(self, variables: tuple[tf.Variable, ...]):
        self.variables = variables
        self.means = [tf.Variable(tf.zeros_like(v)) for v in variables]
        self.squares = [tf.Variable(tf.zeros_like(v)) for v in variables]
        self.steps = 0

    def apply(self, gradients: list[tf.Tensor], rate: float) -> None:
        self.steps += 1
        # Both means begin at zero, and are too small for a while.
        rate *= math.sqrt(1 - 0.999**self.steps) / (1 - 0.9**self.steps)
        for v, g, mean, square in zip(
            self.variables, gradients, self.means, self.squares, strict=True
        ):
            mean.assign_add(0.1 * (g - mean))
            square.assign_add(0.001 * (tf.square(g) - square))
            v.assign_sub(rate * mean / (tf.sqrt(square) + 1e-7))


def loss_of(model: Network, x: tf.Tensor, y: tf.Tensor) -> tf.Tensor:
    losses = tf.nn.sigmoid_cross_entropy_with_logits(labels=y, logits=model(x))
    return tf.reduce_mean(losses)


def accuracy_of(model: Network, x: tf.Tensor, y: tf.Tensor) -> float:
    right = tf.equal(model(x) > 0.0, y > 0.5)
    return float(tf.reduce_mean(tf.cast(right, tf.float32)))


def train_step(model: Network, optimizer: Adam, x: tf.Tensor, y: tf.Tensor, rate: float) -> float:
    with tf.GradientTape() as tape:
        loss = loss_of(model, x, y)
    gradients = tape.gradient(loss, optimizer.variables)
    optimizer.apply(gradients, rate)
    return float(loss)


# The data.


def two_spirals(count: int, seed: int) -> tuple[tf.Tensor, tf.Tensor]:
    """`count` points on two spirals that wind around each other, and which one each is on."""
    rng = np.random.default_rng(seed)
    which = rng.integers(0, 2, count)
    turns = np.sqrt(rng.uniform(0.015, 1.0, count)) * 1.75
    angle = 2 * np.pi * turns + np.pi * which
    points = np.stack([turns * np.cos(angle), turns * np.sin(angle)], axis=1)
    points += rng.normal(scale=0.085, size=points.shape)
    return (
        tf.constant(points, dtype=tf.float32),
        tf.constant(which[:, None], dtype=tf.float32),
    )


def batches(x: tf.Tensor, y: tf.Tensor, size: int, seed: int) -> Iterator[tuple]:
    """Random batches, without end."""
    rng = np.random.default_rng(seed)
    while True:
        order = rng.permutation(len(x))
        for start in range(0, len(x) - size + 1, size):
            rows = order[start : start + size]
            yield tf.gather(x, rows), tf.gather(y, rows)


# Training.


def train(steps: int, console: Console) -> tuple[Network, dict[str, list[float]]]:
    """Trains a network, and returns it with what was noted on the way."""
    tf.random.set_seed(1)
    x, y = two_spirals(1200, seed=1)
    x_test, y_test = two_spirals(600, seed=2)
    model = Network()
    optimizer = Adam(model.trainable_variables)
    notes = {"loss": [], "test step": [], "test loss": [], "test accuracy": []}

    progress = Progress(
        TextColumn("training"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("loss [bold]{task.fields[loss]:.3f}[/]"),
        TextColumn("accuracy [bold]{task.fields[accuracy]:.1%}[/]"),
        TextColumn("[dim]{task.fields[speed]:.0f} steps/s[/]"),
        TimeElapsedColumn(),
        console=console,
        disable=not console.is_terminal,
    )
    began = time.perf_counter()
    with progress:
        task = progress.add_task("training", total=steps, loss=math.nan, accuracy=math.nan, speed=0)
        for step, batch in zip(range(1, steps + 1), batches(x, y, 128, seed=3), strict=False):
            # The rate falls along half a cosine: large steps first, small ones in the end.
            rate = 0.01 * 0.5 * (1 + math.cos(math.pi * step / steps))
            notes["loss"].append(train_step(model, optimizer, *batch, rate))
            if step % 20 == 0 or step == steps:
                notes["test step"].append(step)
                notes["test loss"].append(float(loss_of(model, x_test, y_test)))
                notes["test accuracy"].append(accuracy_of(model, x_test, y_test))
                progress.update(
                    task,
                    completed=step,
                    loss=notes["test loss"][-1],
                    accuracy=notes["test accuracy"][-1],
                    speed=step / (time.perf_counter() - began),
                )
    notes["seconds"] = [time.perf_counter() - began]
    return model, notes


# Drawing. The colours are two that colour-blind readers tell apart, too.

BLUE, ORANGE, GREY, INK = "#0072B2", "#D55E00", "#8A8F98", "#24292F"
PALE = LinearSegmentedColormap.from_list("pale", ["#7FB8DB", "#F7F7F5", "#F0B183"])


def clean(axes: Axes, title: str) -> None:
    axes.set_title(title, loc="left", fontsize=13, fontweight="bold", color=INK, pad=12)
    axes.spines[["top", "right"]].set_visible(False)
    axes.spines[["left", "bottom"]].set_color(GREY)
    axes.tick_params(colors=INK, labelsize=10)
    axes.set_axisbelow(True)


def draw_training(model: Network, notes: dict[str, list[float]], path: Path) -> None:
    """The loss on the left, and what the network makes of the plane on the right."""
    figure = Figure(figsize=(11, 4.9), layout="constrained")
    left, right = figure.subplots(1, 2, width_ratios=[1.15, 1])

    steps = range(1, len(notes["loss"]) + 1)
    left.semilogy(steps, notes["loss"], color=BLUE, alpha=0.25, linewidth=0.8, label="each batch")
    left.semilogy(
        notes["test step"],
        notes["test loss"],
        color=BLUE,
        linewidth=2.2,
        label="points not trained on",
    )
    left.set_xlim(0, len(notes["loss"]))
    left.set_xlabel("step", color=INK)
    left.set_ylabel("cross-entropy", color=INK)
    left.grid(axis="y", color="#E6E8EB", linewidth=0.8)
    left.legend(frameon=False, fontsize=10)
    clean(left, "The loss falls")

    edge = 2.05
    line = np.linspace(-edge, edge, 240, dtype=np.float32)
    grid = np.stack(np.meshgrid(line, line), axis=-1).reshape(-1, 2)
    chance = np.reshape(tf.nn.sigmoid(model(tf.constant(grid))), (len(line), len(line)))
    right.contourf(line, line, chance, levels=np.linspace(0, 1, 21), cmap=PALE)
    right.contour(line, line, chance, levels=[0.5], colors=INK, linewidths=1.4)
    x, y = (np.asarray(t) for t in two_spirals(600, seed=2))
    for which, colour, marker in ((0, BLUE, "o"), (1, ORANGE, "^")):
        spiral = x[y[:, 0] == which]
        right.scatter(*spiral.T, s=17, c=colour, marker=marker, edgecolors="white", linewidths=0.4)
    right.set(xlim=(-edge, edge), ylim=(-edge, edge), aspect="equal", xticks=[], yticks=[])
    right.set_xlabel("new points, and the line where the network is undecided", color=INK)
    clean(right, f"{notes['test accuracy'][-1]:.1%} of the points are told apart")
    right.spines[:].set_visible(False)
    figure.savefig(path, dpi=110)


def draw_sigmoid(path: Path) -> None:
    """The sigmoid and its derivative, which the tape finds at all points in one go."""
    x = tf.linspace(-10.0, 10.0, 201)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.nn.sigmoid(x)
    dy_dx = tape.gradient(y, x)

    figure = Figure(figsize=(7, 4.2), layout="constrained")
    axes = figure.subplots()
    axes.plot(x, y, color=BLUE, linewidth=2.4)
    axes.plot(x, dy_dx, color=ORANGE, linewidth=2.4, linestyle=(0, (5, 1.5)))
    axes.text(4.2, 0.91, "y = sigmoid(x)", color=BLUE, fontsize=12, va="top")
    axes.text(2.3, 0.16, "dy/dx, from the tape", color=ORANGE, fontsize=12)
    axes.plot([0], [0.25], "o", color=ORANGE, markersize=6)
    axes.text(0, 0.1, "1/4 at most", color=INK, fontsize=10, ha="center", va="center")
    axes.set(xlim=(-10, 10), ylim=(-0.03, 1.05), yticks=[0, 0.25, 0.5, 0.75, 1])
    axes.set_xticks(range(-10, 11, 5))
    axes.set_xlabel("x", color=INK)
    axes.grid(axis="y", color="#E6E8EB", linewidth=0.8)
    clean(axes, "The sigmoid and its derivative")
    figure.savefig(path, dpi=110)


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        description="Trains a small network and draws what it learned."
    )
    parser.add_argument("--steps", type=int, default=1000, help="updates of the variables")
    parser.add_argument("--output", type=Path, default=Path("demo-output"), help="where plots go")
    options = parser.parse_args(arguments)

    console = Console()
    model, notes = train(options.steps, console)

    options.output.mkdir(parents=True, exist_ok=True)
    pictures = [options.output / "training.png", options.output / "sigmoid.png"]
    draw_training(model, notes, pictures[0])
    draw_sigmoid(pictures[1])

    seconds = notes["seconds"][0]
    table = Table(title="Two spirals", title_justify="left", show_header=False)
    table.add_row("variables", f"{sum(v.numpy().size for v in model.trainable_variables):,}")
    table.add_row("steps", f"{options.steps:,} in {seconds:.1f} s, {options.steps / seconds:.0f}/s")
    table.add_row("loss", f"{notes['loss'][0]:.3f} at first, {notes['test loss'][-1]:.3f} at last")
    table.add_row("accuracy", f"{notes['test accuracy'][-1]:.1%} on points not trained on")
    console.print(table)
    for picture in pictures:
        console.print(f"[dim]picture[/] {picture}")


if __name__ == "__main__":
    main()
