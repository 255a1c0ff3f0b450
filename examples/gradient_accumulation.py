"""Shows that gradients accumulated over small batches are those of the large batch.

    tapeflow demo gradient_accumulation

Memory limits the size of a batch, but not that of a step: take the gradients of several micro-batches one after
the other, add them up in variables, and apply the sum. Two networks with the same first weights are trained here,
one on batches of 256 and one on 8 micro-batches of 32. On the left their losses lie on top of each other; in the
middle is the largest difference of any gradient and any weight, which stays where float32 rounds; on the right is
what the tape had to keep in memory for a step.
"""

import argparse
import tracemalloc
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

import tapeflow as tf

MICRO_BATCHES = 8
BLUE, ORANGE, GREEN, GREY, INK = "#0072B2", "#D55E00", "#009E73", "#8A8F98", "#24292F"

loss_fn = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)


def clusters(count: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Points in twelve clusters in 8 dimensions, of which each three are a class."""
    centres = np.random.default_rng(0).normal(scale=1.3, size=(12, 8))
    rng = np.random.default_rng(seed)
    cluster = rng.integers(0, 12, count)
    points = centres[cluster] + rng.normal(scale=0.7, size=(count, 8))
    return points.astype(np.float32), cluster % 4


class Trainer(tf.Module):
    """A model, its optimizer, and the two ways to take a step."""

    def __init__(self, width: int):
        super().__init__()
        tf.keras.utils.set_random_seed(0)  # the same first weights for all
        self.model = tf.keras.Sequential(
            [
                tf.keras.layers.Dense(width, activation="tanh"),
                tf.keras.layers.Dense(width, activation="tanh"),
                tf.keras.layers.Dense(4),
            ]
        )
        self.model.build((None, 8))
        self.optimizer = tf.keras.optimizers.SGD(0.1, momentum=0.5)
        self.optimizer.build(self.model.trainable_variables)
        self.accumulated = [
            tf.Variable(tf.zeros(v.shape), trainable=False) for v in self.model.trainable_variables
        ]

    def gradients(self, x: tf.Tensor, y: tf.Tensor, parts: int = 1) -> tuple:
        with tf.GradientTape() as tape:
            # The loss is a mean: that of the whole is the sum of those of the parts, each divided by their number.
            loss = loss_fn(y, self.model(x, training=True)) / parts
        return loss, tape.gradient(loss, self.model.trainable_variables)

    @tf.function
    def large_step(self, x: tf.Tensor, y: tf.Tensor) -> tuple:
        loss, gradients = self.gradients(x, y)
        self.optimizer.apply_gradients(zip(gradients, self.model.trainable_variables, strict=True))
        return loss, gradients

    @tf.function
    def accumulate(self, x: tf.Tensor, y: tf.Tensor) -> tf.Tensor:
        loss, gradients = self.gradients(x, y, MICRO_BATCHES)
        for total, gradient in zip(self.accumulated, gradients, strict=True):
            total.assign_add(gradient)
        return loss

    @tf.function
    def apply(self) -> list[tf.Tensor]:
        gradients = [tf.convert_to_tensor(total) for total in self.accumulated]
        self.optimizer.apply_gradients(zip(gradients, self.model.trainable_variables, strict=True))
        for total in self.accumulated:
            total.assign(tf.zeros_like(total))
        return gradients

    def small_steps(self, x: tf.Tensor, y: tf.Tensor) -> tuple:
        parts = zip(tf.split(x, MICRO_BATCHES), tf.split(y, MICRO_BATCHES), strict=True)
        loss = sum(float(self.accumulate(*part)) for part in parts)
        return loss, self.apply()


def largest_difference(first: list, second: list) -> float:
    return max(float(tf.reduce_max(abs(a - b))) for a, b in zip(first, second, strict=True))


def peak_memory(trainer: Trainer, x: tf.Tensor, y: tf.Tensor) -> float:
    """The most memory that a gradient takes while it is computed, in kB."""
    trainer.gradients(x, y)  # what is only made once
    tracemalloc.start()
    trainer.gradients(x, y)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak / 1e3


def main(output: Path = Path("demo-output"), quick: bool = False) -> dict[str, float]:
    steps, width, size = (60, 32, 256) if quick else (400, 64, 256)
    data = tf.data.Dataset.from_tensor_slices(clusters(8192, seed=1))
    data = data.shuffle(8192, seed=1).repeat().batch(size).take(steps)

    large, small = Trainer(width), Trainer(width)
    notes = {"large": [], "small": [], "gradients": [], "weights": []}
    for x, y in (bar := tf.progress(data, "both ways", total=steps)):
        loss, gradients = large.large_step(x, y)
        loss_of_parts, sums = small.small_steps(x, y)
        notes["large"].append(float(loss))
        notes["small"].append(loss_of_parts)
        notes["gradients"].append(largest_difference(gradients, sums))
        notes["weights"].append(
            largest_difference(large.model.trainable_variables, small.model.trainable_variables)
        )
        bar.log(loss=loss, difference=notes["weights"][-1])

    part = size // MICRO_BATCHES
    memory = peak_memory(large, x, y), peak_memory(small, x[:part], y[:part])
    x, y = clusters(2000, seed=2)
    right = np.argmax(small.model(x), axis=1) == y
    figures = {
        "difference of gradients": max(notes["gradients"]),
        "difference of weights": max(notes["weights"]),
        "loss": float(np.mean(notes["small"][-10:])),
        "accuracy": float(np.mean(right)),
        "memory saved": memory[0] / memory[1],
    }
    print(f"gradients differ by {figures['difference of gradients']:.1e} at most")
    print(f"weights differ by {figures['difference of weights']:.1e} at most, in {steps} steps")
    print(f"accuracy {figures['accuracy']:.1%} on new points")
    print(f"memory for a gradient: {memory[0]:.0f} kB for {size} rows, {memory[1]:.0f} for {part}")

    output.mkdir(parents=True, exist_ok=True)
    draw(notes, memory, size, output / "gradient_accumulation.png")
    return figures


# Drawing.


def clean(axes: Axes, title: str) -> None:
    axes.set_title(title, loc="left", fontsize=12.5, fontweight="bold", color=INK, pad=12)
    axes.spines[["top", "right"]].set_visible(False)
    axes.spines[["left", "bottom"]].set_color(GREY)
    axes.tick_params(colors=INK, labelsize=10, which="both")
    axes.grid(axis="y", color="#E6E8EB", linewidth=0.8)
    axes.set_axisbelow(True)


def draw(notes: dict[str, list], memory: tuple[float, float], size: int, path: Path) -> None:
    figure = Figure(figsize=(10.5, 4), layout="constrained")
    left, middle, right = figure.subplots(1, 3, width_ratios=[1.15, 1.15, 0.7])
    part = size // MICRO_BATCHES
    names = f"batches of {size}", f"{MICRO_BATCHES} micro-batches of {part}"
    steps = np.arange(1, len(notes["large"]) + 1)

    left.semilogy(steps, notes["large"], color=BLUE, alpha=0.35, linewidth=4.5, label=names[0])
    left.semilogy(steps, notes["small"], color=ORANGE, linewidth=1.1, label=names[1])
    left.set(xlabel="step", ylabel="cross-entropy")
    left.legend(frameon=False, fontsize=10)
    clean(left, "The same training")

    middle.semilogy(steps, notes["weights"], color=GREEN, linewidth=1.6, label="weights")
    middle.semilogy(steps, notes["gradients"], color=BLUE, linewidth=1, label="gradients")
    middle.axhline(1e-6, color=GREY, linewidth=1, linestyle="--")
    middle.text(steps[-1], 1.15e-6, "one millionth", color=GREY, fontsize=9.5, ha="right")
    middle.set(xlabel="step", ylabel="largest difference", ylim=(1e-9, 3e-6))
    middle.legend(frameon=False, fontsize=10, loc="lower right")
    clean(middle, "Differences: rounding")

    right.bar([f"{size} rows", f"{part} rows"], memory, color=[BLUE, ORANGE], width=0.6)
    for place, value in enumerate(memory):
        right.text(place, value, f"{value:,.0f} kB", ha="center", va="bottom", color=INK)
    right.set(ylabel="peak memory, kB", ylim=(0, memory[0] * 1.1))
    clean(right, "Less memory")
    figure.savefig(path, dpi=110)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Shows accumulated gradients at work.")
    parser.add_argument("--output", type=Path, default=Path("demo-output"), help="for the picture")
    parser.add_argument("--quick", action="store_true", help="fewer steps")
    options = parser.parse_args()
    main(options.output, options.quick)
