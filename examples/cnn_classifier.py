"""Trains a convolutional network to read digits, stops at an unlucky moment, and resumes.

    tapeflow demo cnn_classifier

The digits come from a tiny bitmap font, shifted, turned, stretched and covered with noise. The training is the
standard pattern (`@tf.function` step, Adam, sparse cross-entropy, metrics, validation) with dropout, and with a
checkpoint after every few steps. It runs once to the end, and once it is stopped at an unlucky moment, between two
checkpoints: what was done since the last one is lost, and done again. Even the dropout is the same then, because the
state of its random numbers is in the checkpoint, too. On the left are the losses, on the right are new
digits with what the network reads in them.
"""

import argparse
import tempfile
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

import tapeflow as tf

BLUE, ORANGE, GREY, INK = "#0072B2", "#D55E00", "#8A8F98", "#24292F"
SIZE = 20

# Seven rows of five pixels for each digit, row by row.
FONT = (
    "01110 10001 10011 10101 11001 10001 01110",
    "00100 01100 00100 00100 00100 00100 01110",
    "01110 10001 00001 00110 01000 10000 11111",
    "11110 00001 00001 01110 00001 00001 11110",
    "00010 00110 01010 10010 11111 00010 00010",
    "11111 10000 11110 00001 00001 10001 01110",
    "00110 01000 10000 11110 10001 10001 01110",
    "11111 00001 00010 00100 01000 01000 01000",
    "01110 10001 10001 01110 10001 10001 01110",
    "01110 10001 10001 01111 00001 00010 01100",
)


def digits(count: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Images of digits, [count, 20, 20, 1], and which digits they are."""
    rng = np.random.default_rng(seed)
    font = np.array([[[int(pixel) for pixel in row] for row in glyph.split()] for glyph in FONT])
    font = np.pad(font, [(0, 0), (1, 2), (1, 2)]).astype(np.float32)
    which = rng.integers(0, 10, count)

    def random(low: float, high: float) -> np.ndarray:
        return rng.uniform(low, high, [count, 1, 1])

    # For each pixel of an image, the point of the font that it shows.
    line = np.arange(SIZE) - (SIZE - 1) / 2
    x, y = line[None, None, :] - random(-2, 2), line[None, :, None] - random(-2, 2)
    angle, lean = random(-0.35, 0.35), random(-0.25, 0.25)
    across = (x * np.cos(angle) + y * np.sin(angle) + lean * y) / random(1.7, 2.5) + 3
    down = (y * np.cos(angle) - x * np.sin(angle)) / random(1.7, 2.4) + 4
    across, down = np.clip(across, 0, 6.99), np.clip(down, 0, 8.99)
    column, row, glyph = across.astype(int), down.astype(int), which[:, None, None]
    right, below = across - column, down - row
    pixels = (1 - below) * (1 - right) * font[glyph, row, column]
    pixels += (1 - below) * right * font[glyph, row, column + 1]
    pixels += below * (1 - right) * font[glyph, row + 1, column]
    pixels += below * right * font[glyph, row + 1, column + 1]
    pixels = pixels * random(0.6, 1) + rng.normal(scale=0.12, size=pixels.shape)
    return pixels[..., None].astype(np.float32), which.astype(np.int32)


class Stopped(Exception):
    """Stands for whatever may end a process."""


class Training:
    """Everything that a training consists of. What must survive is in the checkpoint."""

    def __init__(self, images: int, folder: Path, seed: int):
        tf.keras.utils.set_random_seed(seed)
        layers = tf.keras.layers
        self.model = tf.keras.Sequential(
            [
                layers.Input([SIZE, SIZE, 1]),
                layers.Conv2D(16, 3, activation="relu"),
                layers.MaxPooling2D(),
                layers.Conv2D(32, 3, activation="relu"),
                layers.MaxPooling2D(),
                layers.Flatten(),
                layers.Dropout(0.3),
                layers.Dense(64, activation="relu"),
                layers.Dense(10),
            ]
        )
        self.optimizer = tf.keras.optimizers.Adam(learning_rate=2e-3)
        self.loss_fn = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
        self.accuracy = tf.keras.metrics.SparseCategoricalAccuracy()

        dataset = tf.data.Dataset.from_tensor_slices(digits(images, seed=1))
        dataset = dataset.shuffle(images, seed=1).repeat().batch(32)
        self.batches = iter(dataset)
        self.validation = tf.data.Dataset.from_tensor_slices(digits(1000, seed=2)).batch(250)

        self.step = tf.Variable(0)
        self.checkpoint = tf.train.Checkpoint(
            model=self.model, optimizer=self.optimizer, batches=self.batches, step=self.step
        )
        self.manager = tf.train.CheckpointManager(self.checkpoint, folder, max_to_keep=2)
        self.losses: dict[int, float] = {}
        self.accuracies: dict[int, float] = {}

    # One engine for all runs, or they would round differently.
    @tf.function(jit_compile=False)
    def train_step(self, x_batch: tf.Tensor, y_batch: tf.Tensor) -> tf.Tensor:
        with tf.GradientTape() as tape:
            predictions = self.model(x_batch, training=True)
            loss = self.loss_fn(y_batch, predictions)
        gradients = tape.gradient(loss, self.model.trainable_variables)
        self.optimizer.apply_gradients(zip(gradients, self.model.trainable_variables, strict=True))
        return loss

    @tf.function
    def validation_step(self, x_batch: tf.Tensor, y_batch: tf.Tensor) -> None:
        self.accuracy.update_state(y_batch, self.model(x_batch, training=False))

    def validate(self) -> float:
        self.accuracy.reset_state()
        for x_batch, y_batch in self.validation:
            self.validation_step(x_batch, y_batch)
        return float(self.accuracy.result())

    def run(self, steps: int, name: str, stops_at: int | None = None) -> None:
        """Trains until so many steps are done."""
        for step in (bar := tf.progress(range(int(self.step), steps), name)):
            if step == stops_at:
                raise Stopped
            self.losses[step] = float(self.train_step(*next(self.batches)))
            self.step.assign_add(1)
            bar.log(loss=self.losses[step])
            if (step + 1) % 50 == 0 or step + 1 == steps:
                self.manager.save()
                self.accuracies[step + 1] = self.validate()
                bar.log(accuracy=self.accuracies[step + 1])


def main(output: Path = Path("demo-output"), quick: bool = False) -> dict[str, float]:
    images, steps, stops_at = (2000, 110, 62) if quick else (6000, 450, 185)
    with tempfile.TemporaryDirectory() as folder:
        whole = Training(images, Path(folder, "whole"), seed=1)
        whole.run(steps, "without a break")

        stopped = Training(images, Path(folder, "stopped"), seed=1)
        try:
            stopped.run(steps, "until it stops", stops_at)
        except Stopped:
            print(f"it stops before step {stops_at}")

        # As a new process would: make everything anew (the weights are others), and look for a checkpoint.
        resumed = Training(images, Path(folder, "stopped"), seed=2)
        path = resumed.manager.restore_or_initialize()
        print(f"resumed from {Path(path).name}, at step {int(resumed.step)}")
        resumed.run(steps, "resumed")

    difference = max(
        float(np.max(np.abs(a.numpy() - b.numpy())))
        for a, b in zip(whole.model.variables, resumed.model.variables, strict=True)
    )
    figures = {
        "accuracy": whole.accuracies[steps],
        "loss": float(np.mean([whole.losses[step] for step in range(steps - 20, steps)])),
        "difference": difference,
    }
    print(f"accuracy on new digits  {figures['accuracy']:.1%}")
    print(f"loss                    {whole.losses[0]:.3f} -> {figures['loss']:.3f}")
    print(f"weights with and without the break differ by {difference:g} at most")

    output.mkdir(parents=True, exist_ok=True)
    draw(whole, stopped, resumed, output / "cnn_classifier.png")
    return figures


# Drawing.


def clean(axes: Axes, title: str) -> None:
    axes.set_title(title, loc="left", fontsize=13, fontweight="bold", color=INK, pad=12)
    axes.spines[["top", "right"]].set_visible(False)
    axes.spines[["left", "bottom"]].set_color(GREY)
    axes.tick_params(colors=INK, labelsize=10)
    axes.set_axisbelow(True)


def draw(whole: Training, stopped: Training, resumed: Training, path: Path) -> None:
    figure = Figure(figsize=(11, 4.7), layout="constrained")
    left, right = figure.subplots(1, 2, width_ratios=[1.15, 1])

    def curve(losses: dict[int, float], **style) -> None:
        left.semilogy(list(losses), list(losses.values()), **style)

    curve(whole.losses, color=GREY, alpha=0.35, linewidth=5, label="without a break")
    curve(stopped.losses, color=BLUE, linewidth=1.3, zorder=3, label="until it stops")
    curve(resumed.losses, color=ORANGE, linewidth=1.3, label="resumed from the checkpoint")
    left.axvspan(min(resumed.losses), max(stopped.losses), color=BLUE, alpha=0.12, linewidth=0)
    left.text(max(stopped.losses) + 5, left.get_ylim()[1] * 0.8, "lost, and done again", color=INK)
    left.set(xlabel="step", ylabel="cross-entropy", xlim=(0, len(whole.losses)))
    left.grid(axis="y", color="#E6E8EB", linewidth=0.8)
    left.legend(frameon=False, fontsize=10, loc="lower left")
    clean(left, "A break changes nothing")

    count = 8
    x, y = digits(count * count, seed=3)
    read = whole.model(tf.constant(x)).numpy().argmax(axis=1)
    page = x.reshape(count, count, SIZE, SIZE).transpose(0, 2, 1, 3).reshape(count * SIZE, -1)
    right.imshow(page, cmap="Greys", vmin=-0.2, vmax=1.3)
    for place, (found, true) in enumerate(zip(read, y, strict=True)):
        row, column = divmod(place, count)
        right.text(
            column * SIZE + 1, row * SIZE + 5, str(found), fontsize=11, fontweight="bold",
            color=BLUE if found == true else ORANGE,
        )  # fmt: skip
    right.set(xticks=[], yticks=[])
    clean(right, f"{whole.accuracies[len(whole.losses)]:.1%} of new digits are read")
    right.spines[:].set_visible(False)
    figure.savefig(path, dpi=110)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Trains a network to read digits, and goes on.")
    parser.add_argument("--output", type=Path, default=Path("demo-output"), help="for the picture")
    parser.add_argument("--quick", action="store_true", help="fewer images and steps")
    options = parser.parse_args()
    main(options.output, options.quick)
