"""Fine-tunes a network with one learning rate for its backbone and another one for its new head.

    tapeflow demo layer_learning_rates

A network has learned eight functions from many examples. Then its head is replaced, and it is to learn a ninth from
300 noisy examples: the backbone is nearly right and should hardly move, the head begins from nothing. One persistent
tape records the loss once and is asked for two lists of gradients, each for its own optimizer. On the left, look at
the error on new points: a large rate for all ruins what the backbone knows, a small one leaves the head behind, and
two rates do better than both. A frozen backbone, which is the limit of this, does as well here. On the right is how
far each layer has moved.
"""

import argparse
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

import tapeflow as tf

BLUE, ORANGE, GREEN, GREY, INK = "#0072B2", "#D55E00", "#009E73", "#8A8F98", "#24292F"
SMALL, LARGE = 1e-4, 1e-2


class Network(tf.keras.Model):
    """A backbone that finds features, and a head that uses them."""

    def __init__(self, outputs: int):
        super().__init__()
        self.backbone = tf.keras.Sequential(
            [tf.keras.layers.Dense(64, activation="tanh") for _ in range(3)]
        )
        self.head = tf.keras.layers.Dense(outputs)

    def call(self, x: tf.Tensor) -> tf.Tensor:
        return self.head(self.backbone(x))


def compute_loss(predicted: tf.Tensor, y: tf.Tensor) -> tf.Tensor:
    return tf.reduce_mean(tf.square(predicted - y))


# The tasks: functions that have their features in common.


def features(x: np.ndarray, shift: float) -> np.ndarray:
    rng = np.random.default_rng(0)
    hidden = np.tanh(x @ rng.normal(scale=0.8, size=(6, 20)) + rng.normal(size=20))
    mixing = rng.normal(scale=0.4, size=(20, 12)) + shift * rng.normal(size=(20, 12))
    return np.sin(2 * hidden @ mixing)


def task(count: int, outputs: int, seed: int, shift: float = 0.0, noise: float = 0.0) -> tuple:
    """Inputs, and functions of them that are sums of features."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(count, 6))
    weights = np.random.default_rng(outputs).normal(scale=12**-0.5, size=(12, outputs))
    y = features(x, shift) @ weights + rng.normal(scale=noise, size=(count, outputs))
    return x.astype(np.float32), y.astype(np.float32)


# Training.


def pretrain(steps: int) -> Network:
    tf.keras.utils.set_random_seed(1)
    model = Network(outputs=8)
    optimizer = tf.keras.optimizers.Adam(tf.keras.optimizers.schedules.CosineDecay(5e-3, steps))

    @tf.function
    def train_step(x, y):
        with tf.GradientTape() as tape:
            loss = compute_loss(model(x), y)
        gradients = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(gradients, model.trainable_variables, strict=True))
        return loss

    dataset = tf.data.Dataset.from_tensor_slices(task(20_000, outputs=8, seed=1))
    dataset = dataset.shuffle(20_000, seed=1).repeat().batch(128).take(steps)
    for x, y in (bar := tf.progress(dataset, "learning eight functions", total=steps)):
        bar.log(loss=train_step(x, y))
    return model


def fine_tune(pretrained: Network, name: str, rates: tuple[float, float], steps: int) -> dict:
    """Learns the ninth function: the error on new points on the way, and how far each layer moved."""
    tf.keras.utils.set_random_seed(2)
    x, y = task(300, outputs=1, seed=2, shift=0.15, noise=0.1)
    x_test, y_test = task(2000, outputs=1, seed=3, shift=0.15)
    model = Network(outputs=1)
    model(x)
    model.backbone.set_weights(pretrained.backbone.get_weights())
    optimizer_backbone = tf.keras.optimizers.Adam(rates[0])
    optimizer_head = tf.keras.optimizers.Adam(rates[1])
    backbone_vars = model.backbone.trainable_variables
    head_vars = model.head.trainable_variables

    @tf.function
    def train_step(x, y):
        with tf.GradientTape(persistent=True) as tape:
            loss = compute_loss(model(x), y)
        backbone_grads = tape.gradient(loss, backbone_vars)
        head_grads = tape.gradient(loss, head_vars)
        del tape  # it holds the forward pass until then
        optimizer_backbone.apply_gradients(zip(backbone_grads, backbone_vars, strict=True))
        optimizer_head.apply_gradients(zip(head_grads, head_vars, strict=True))
        return loss

    test_error = tf.function(lambda: compute_loss(model(x_test), y_test))
    before = [w.copy() for w in model.get_weights()[::2]]  # without the biases
    errors = []
    x, y = tf.constant(x), tf.constant(y)
    for _ in (bar := tf.progress(range(steps), name)):
        errors.append(float(test_error()))
        bar.log(loss=train_step(x, y), test=errors[-1])
    moved = [
        float(np.linalg.norm(new - old) / np.linalg.norm(old))
        for new, old in zip(model.get_weights()[::2], before, strict=True)
    ]
    return {"errors": np.array(errors), "moved": moved}


def main(output: Path = Path("demo-output"), quick: bool = False) -> dict[str, float]:
    model = pretrain(steps=800 if quick else 3000)
    steps = 150 if quick else 300
    settings = {
        "large rate for all": (LARGE, LARGE),
        "small rate for all": (SMALL, SMALL),
        "backbone frozen": (0.0, LARGE),
        "small for the backbone, large for the head": (SMALL, LARGE),
    }
    runs = {name: fine_tune(model, name, rates, steps) for name, rates in settings.items()}
    for name, run in runs.items():
        errors = run["errors"]
        print(f"{name}: error {errors[-1]:.4f} in the end, {errors.min():.4f} at best")

    output.mkdir(parents=True, exist_ok=True)
    draw(runs, output / "layer_learning_rates.png")
    large, small, frozen, both = (float(run["errors"][-1]) for run in runs.values())
    return {"large": large, "small": small, "frozen": frozen, "each its own": both}


# Drawing.

COLOURS = (ORANGE, GREEN, GREY, BLUE)


def clean(axes: Axes, title: str) -> None:
    axes.set_title(title, loc="left", fontsize=13, fontweight="bold", color=INK, pad=12)
    axes.spines[["top", "right"]].set_visible(False)
    axes.spines[["left", "bottom"]].set_color(GREY)
    axes.tick_params(colors=INK, labelsize=10, which="both")
    axes.grid(axis="y", color="#E6E8EB", linewidth=0.8)
    axes.set_axisbelow(True)


def draw(runs: dict[str, dict], path: Path) -> None:
    figure = Figure(figsize=(9.5, 4.3), layout="constrained")
    left, right = figure.subplots(1, 2, width_ratios=[1.25, 1])
    for (name, run), colour in zip(runs.items(), COLOURS, strict=True):
        left.plot(run["errors"], color=colour, linewidth=2, label=name)
    left.set(xlabel="step", ylabel="squared error on new points")
    left.set_xlim(0, None)
    left.set_ylim(0, None)
    left.legend(frameon=False, fontsize=10)
    clean(left, "Learning from 300 examples")

    layers = ["layer 1", "layer 2", "layer 3", "head"]
    for place, (run, colour) in enumerate(zip(runs.values(), COLOURS, strict=True)):
        right.bar(np.arange(4) + 0.21 * (place - 1.5), run["moved"], width=0.19, color=colour)
    right.set_yscale("log")
    right.set_xticks(range(4), labels=layers)
    right.set_ylabel("change, relative to the weights")
    clean(right, "How far each layer moved")
    figure.savefig(path, dpi=110)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Fine-tunes with two learning rates.")
    parser.add_argument("--output", type=Path, default=Path("demo-output"), help="for the picture")
    parser.add_argument("--quick", action="store_true", help="fewer steps")
    options = parser.parse_args()
    main(options.output, options.quick)
