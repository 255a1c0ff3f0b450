"""Trains a classifier with the standard pattern, is interrupted, and goes on unharmed.

    tapeflow demo mlp_classifier

All the parts of a real training are here: a dataset in shuffled batches, a `@tf.function` step with a tape, Adam,
sparse cross-entropy, metrics, validation after each epoch, and a checkpoint after each epoch. The same training runs
twice: once to the end, and once stopped in the middle and resumed from the checkpoint by objects that start from
nothing. Both end with the same weights, to the last bit. On the left are the losses of both, on the right is what
the network makes of the plane.
"""

import argparse
import tempfile
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import ListedColormap
from matplotlib.figure import Figure

import tapeflow as tf

BLUE, ORANGE, GREEN, PURPLE = "#0072B2", "#D55E00", "#009E73", "#8E5EA2"
GREY, INK = "#8A8F98", "#24292F"
COLOURS = (BLUE, ORANGE, GREEN, PURPLE, "#C9A227")
ARMS = len(COLOURS)


def pinwheel(count: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Points on the arms of a wheel that is bent by its turning, and the arm of each."""
    rng = np.random.default_rng(seed)
    arm = rng.integers(0, ARMS, count)
    far = np.sqrt(rng.uniform(0.02, 1, count)) * 2
    angle = 2 * np.pi * arm / ARMS + 1.1 * far + rng.normal(scale=0.22, size=count)
    points = np.stack([far * np.cos(angle), far * np.sin(angle)], axis=1)
    return points.astype(np.float32), arm.astype(np.int32)


class Training:
    """Everything that a training consists of. What must survive an interruption is in the checkpoint."""

    def __init__(self, points: int, folder: Path, seed: int):
        tf.keras.utils.set_random_seed(seed)
        layers = tf.keras.layers
        self.model = tf.keras.Sequential(
            [
                layers.Input([2]),
                layers.Dense(64, activation="relu"),
                layers.Dense(64, activation="relu"),
                layers.Dense(ARMS),
            ]
        )
        self.optimizer = tf.keras.optimizers.Adam(learning_rate=3e-3)
        self.loss_fn = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
        self.train_loss = tf.keras.metrics.Mean()
        self.accuracy = tf.keras.metrics.SparseCategoricalAccuracy()

        self.steps_per_epoch = points // 64
        dataset = tf.data.Dataset.from_tensor_slices(pinwheel(points, seed=1))
        dataset = dataset.shuffle(points, seed=1).batch(64, drop_remainder=True).repeat()
        self.batches = iter(dataset)
        self.validation = tf.data.Dataset.from_tensor_slices(pinwheel(1000, seed=2)).batch(250)

        self.epoch = tf.Variable(0)
        self.checkpoint = tf.train.Checkpoint(
            model=self.model,
            optimizer=self.optimizer,
            batches=self.batches,  # where it stands in the data, and the order of what is to come
            epoch=self.epoch,
        )
        self.manager = tf.train.CheckpointManager(self.checkpoint, folder, max_to_keep=2)

    # By default the engine that proves the fastest takes over, and each rounds a little differently. With
    # one engine from the beginning, both runs are the same to the last bit.
    @tf.function(jit_compile=False)
    def train_step(self, x_batch: tf.Tensor, y_batch: tf.Tensor) -> tf.Tensor:
        with tf.GradientTape() as tape:
            predictions = self.model(x_batch, training=True)
            loss = self.loss_fn(y_batch, predictions)
        gradients = tape.gradient(loss, self.model.trainable_variables)
        self.optimizer.apply_gradients(zip(gradients, self.model.trainable_variables, strict=True))
        self.train_loss.update_state(loss)
        return loss

    @tf.function
    def validation_step(self, x_batch: tf.Tensor, y_batch: tf.Tensor) -> None:
        self.accuracy.update_state(y_batch, self.model(x_batch, training=False))

    def run(self, epochs: int, name: str) -> list[tuple[int, float, float]]:
        """Trains until so many epochs are done. The epoch, the loss and the accuracy of each."""
        history = []
        for epoch in (bar := tf.progress(range(int(self.epoch), epochs), name)):
            self.train_loss.reset_state()
            for _ in range(self.steps_per_epoch):
                self.train_step(*next(self.batches))

            self.accuracy.reset_state()
            for x_batch, y_batch in self.validation:
                self.validation_step(x_batch, y_batch)

            self.epoch.assign_add(1)
            self.manager.save()
            loss, accuracy = float(self.train_loss.result()), float(self.accuracy.result())
            history.append((epoch + 1, loss, accuracy))
            bar.log(loss=loss, accuracy=accuracy)
        return history


def main(output: Path = Path("demo-output"), quick: bool = False) -> dict[str, float]:
    points, epochs = (1280, 6) if quick else (5120, 24)
    with tempfile.TemporaryDirectory() as folder:
        whole = Training(points, Path(folder, "whole"), seed=1)
        history = whole.run(epochs, "without a break")

        stopped = Training(points, Path(folder, "stopped"), seed=1)
        before = stopped.run(epochs // 2, "until the break")
        del stopped

        # What a new process would do: make everything anew (the weights are others), then restore.
        resumed = Training(points, Path(folder, "stopped"), seed=2)
        path = resumed.manager.restore_or_initialize()
        print(f"resumed from {Path(path).name}, after {int(resumed.epoch)} epochs")
        after = resumed.run(epochs, "after the break")

    difference = max(
        float(np.max(np.abs(a.numpy() - b.numpy())))
        for a, b in zip(whole.model.variables, resumed.model.variables, strict=True)
    )
    print(f"accuracy on new points  {history[-1][2]:.1%}")
    print(f"loss                    {history[0][1]:.3f} -> {history[-1][1]:.3f}")
    print(f"weights with and without the break differ by {difference:g} at most")

    output.mkdir(parents=True, exist_ok=True)
    draw(whole.model, history, before, after, output / "mlp_classifier.png")
    return {"accuracy": history[-1][2], "loss": history[-1][1], "difference": difference}


# Drawing.


def clean(axes: Axes, title: str) -> None:
    axes.set_title(title, loc="left", fontsize=13, fontweight="bold", color=INK, pad=12)
    axes.spines[["top", "right"]].set_visible(False)
    axes.spines[["left", "bottom"]].set_color(GREY)
    axes.tick_params(colors=INK, labelsize=10)
    axes.set_axisbelow(True)


def draw(model: tf.keras.Model, history: list, before: list, after: list, path: Path) -> None:
    figure = Figure(figsize=(11, 4.7), layout="constrained")
    left, right = figure.subplots(1, 2, width_ratios=[1.2, 1])

    def losses(rows: list) -> tuple[list[int], list[float]]:
        return [row[0] for row in rows], [row[1] for row in rows]

    left.semilogy(*losses(history), color=GREY, alpha=0.4, linewidth=7, label="without a break")
    left.semilogy(*losses(before), "o-", color=BLUE, markersize=4, label="until the break")
    left.semilogy(*losses(after), "o-", color=ORANGE, markersize=4, label="resumed")
    left.axvline(before[-1][0] + 0.5, color=INK, linewidth=1, linestyle=":")
    left.set(xlabel="epoch", ylabel="cross-entropy")
    left.grid(axis="y", color="#E6E8EB", linewidth=0.8)
    left.legend(frameon=False, fontsize=10)
    clean(left, "A break changes nothing")

    line = np.linspace(-2.4, 2.4, 200, dtype=np.float32)
    grid = np.stack(np.meshgrid(line, line), axis=-1).reshape(-1, 2)
    answers = model(tf.constant(grid)).numpy().argmax(axis=1).reshape(len(line), len(line))
    right.imshow(
        answers, cmap=ListedColormap(COLOURS), alpha=0.28, extent=(-2.4, 2.4) * 2, origin="lower"
    )
    points, arms = pinwheel(1000, seed=2)
    for arm, colour in enumerate(COLOURS):
        right.scatter(
            *points[arms == arm].T, s=14, color=colour, edgecolors="white", linewidths=0.3
        )
    right.set(xlim=(-2.4, 2.4), ylim=(-2.4, 2.4), aspect="equal", xticks=[], yticks=[])
    clean(right, f"{history[-1][2]:.1%} of new points are told apart")
    right.spines[:].set_visible(False)
    figure.savefig(path, dpi=110)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Trains, is interrupted, and goes on.")
    parser.add_argument("--output", type=Path, default=Path("demo-output"), help="for the picture")
    parser.add_argument("--quick", action="store_true", help="fewer points and epochs")
    options = parser.parse_args()
    main(options.output, options.quick)
