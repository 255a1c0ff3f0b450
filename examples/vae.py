"""Trains a variational autoencoder on drawn shapes, and draws the plane in which it places them.

    tapeflow demo vae

The encoder gives each image a place in the plane and a size of doubt about it; the decoder draws an image from a
place. Between them a random place is taken by `mean + deviation * noise`, so that gradients pass through the random
choice. The loss is what the drawing misses plus how far the places stray from a normal distribution. Nobody tells
the network which shape is which: on the left is where it puts new images, and on the right is what it draws for
places all over that plane, so that the shapes turn into each other.
"""

import argparse
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

import tapeflow as tf

BLUE, ORANGE, GREEN, PURPLE = "#0072B2", "#D55E00", "#009E73", "#8E5EA2"
GREY, INK = "#8A8F98", "#24292F"
SHAPES = ("disc", "square", "triangle", "ring", "cross")
COLOURS = (BLUE, ORANGE, GREEN, PURPLE, GREY)
SIZE = 20


def images(count: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Drawn shapes of several sizes, a little off the centre, and which shape each is."""
    rng = np.random.default_rng(seed)
    which = rng.integers(0, len(SHAPES), count)
    radius = rng.uniform(0.45, 0.75, [count, 1, 1])
    line = np.linspace(-1, 1, SIZE)
    x = line[None, None, :] - rng.uniform(-0.08, 0.08, [count, 1, 1])
    y = line[None, :, None] - rng.uniform(-0.08, 0.08, [count, 1, 1])
    far = np.hypot(x, y)
    # How far each pixel is outside of each shape; less than 0 inside.
    outside = np.stack(
        [
            far - radius,
            np.maximum(abs(x), abs(y)) - 0.85 * radius,
            np.maximum(0.9 * abs(x) - 0.5 * y, y) - 0.5 * radius,
            abs(far - 0.9 * radius) - 0.12,
            np.maximum(np.minimum(abs(x), abs(y)) - 0.14, np.maximum(abs(x), abs(y)) - radius),
        ]
    )[which, np.arange(count)]
    pixels = np.clip(0.5 - outside * SIZE / 2, 0, 1)
    return pixels.reshape(count, SIZE * SIZE).astype(np.float32), which


class VAE(tf.keras.Model):
    def __init__(self, pixels: int = SIZE * SIZE, width: int = 256, places: int = 2):
        super().__init__()
        layers = tf.keras.layers
        self.encoder = tf.keras.Sequential(
            [
                layers.Dense(width, activation="relu"),
                layers.Dense(width // 2, activation="relu"),
                layers.Dense(2 * places),
            ]
        )
        self.decoder = tf.keras.Sequential(
            [
                layers.Dense(width // 2, activation="relu"),
                layers.Dense(width, activation="relu"),
                layers.Dense(pixels),
            ]
        )

    def encode(self, x: tf.Tensor) -> list[tf.Tensor]:
        """The mean, and the logarithm of the variance, of each image's place."""
        return tf.split(self.encoder(x), 2, axis=1)

    def call(self, x: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
        """What the drawings miss, and the divergence of the places from a normal distribution."""
        mean, log_variance = self.encode(x)
        place = mean + tf.exp(0.5 * log_variance) * tf.random.normal(tf.shape(mean))
        logits = self.decoder(place)
        missed = tf.nn.sigmoid_cross_entropy_with_logits(labels=x, logits=logits)
        divergence = 0.5 * (tf.square(mean) + tf.exp(log_variance) - log_variance - 1)
        return (
            tf.reduce_mean(tf.reduce_sum(missed, axis=1)),
            tf.reduce_mean(tf.reduce_sum(divergence, axis=1)),
        )

    def draw(self, places: tf.Tensor) -> tf.Tensor:
        return tf.sigmoid(self.decoder(places))


def train(model: VAE, x: np.ndarray, epochs: int) -> list[tuple[float, float]]:
    """What was missed, and the divergence, at the end of each epoch."""
    dataset = tf.data.Dataset.from_tensor_slices(x).shuffle(len(x)).batch(128, drop_remainder=True)
    rate = tf.keras.optimizers.schedules.CosineDecay(2e-3, epochs * len(dataset))
    optimizer = tf.keras.optimizers.Adam(rate)

    @tf.function
    def train_step(batch: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
        with tf.GradientTape() as tape:
            missed, divergence = model(batch)
            loss = missed + divergence
        gradients = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(gradients, model.trainable_variables, strict=True))
        return missed, divergence

    history = []
    for _ in (bar := tf.progress(range(epochs), "epochs")):
        for batch in dataset:
            missed, divergence = train_step(batch)
        history.append((float(missed), float(divergence)))
        bar.log(missed=missed, divergence=divergence)
    return history


def neighbours_agree(places: np.ndarray, which: np.ndarray) -> float:
    """How many images have an image of the same shape as their nearest one in the plane."""
    distances = np.linalg.norm(places[:, None] - places, axis=2)
    np.fill_diagonal(distances, np.inf)
    return float(np.mean(which[distances.argmin(axis=1)] == which))


def main(output: Path = Path("demo-output"), quick: bool = False) -> dict[str, float]:
    tf.keras.utils.set_random_seed(1)
    model = VAE()
    x, _ = images(1024 if quick else 6000, seed=1)
    history = train(model, x, epochs=15 if quick else 40)

    x_new, which = images(1000, seed=2)
    missed, divergence = (float(part) for part in model(tf.constant(x_new)))
    places = model.encode(tf.constant(x_new))[0].numpy()
    agree = neighbours_agree(places, which)
    print(f"loss                {missed + divergence:.1f} (after one epoch {sum(history[0]):.1f})")
    print(f"  of that           {missed:.1f} missed by the drawing, {divergence:.1f} divergence")
    print(f"nearest neighbours  {agree:.1%} are of the same shape")

    output.mkdir(parents=True, exist_ok=True)
    draw(model, places, which, output / "vae.png")
    return {"loss": missed + divergence, "divergence": divergence, "neighbours": agree}


# Drawing.


def clean(axes: Axes, title: str) -> None:
    axes.set_title(title, loc="left", fontsize=13, fontweight="bold", color=INK, pad=12)
    axes.set(xlim=(-2.8, 2.8), ylim=(-2.8, 2.8), aspect="equal", xticks=[], yticks=[])
    axes.spines[:].set_color("#D8DCE0")


def draw(model: VAE, places: np.ndarray, which: np.ndarray, path: Path) -> None:
    figure = Figure(figsize=(9.6, 5), layout="constrained")
    left, right = figure.subplots(1, 2)

    for shape, colour in enumerate(COLOURS):
        own = places[which == shape]
        left.scatter(*own.T, s=16, color=colour, edgecolors="white", linewidths=0.3)
        x, y = np.median(own, axis=0)
        left.text(
            x, y, SHAPES[shape], color=INK, fontsize=12, fontweight="bold", ha="center", va="center",
            bbox={"facecolor": "white", "alpha": 0.75, "linewidth": 0, "pad": 2},
        )  # fmt: skip
    clean(left, "Where new images are placed")

    count = 13
    line = np.linspace(-2.6, 2.6, count, dtype=np.float32)
    grid = np.stack(np.meshgrid(line, line[::-1]), axis=-1).reshape(-1, 2)
    drawn = model.draw(tf.constant(grid)).numpy().reshape(count, count, SIZE, SIZE)
    right.imshow(
        drawn.transpose(0, 2, 1, 3).reshape(count * SIZE, count * SIZE),
        cmap="Blues",
        extent=(-2.8, 2.8, -2.8, 2.8),
        vmin=0,
        vmax=1.25,
    )
    clean(right, "What is drawn for each place")
    figure.savefig(path, dpi=110, bbox_inches="tight")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Trains a variational autoencoder on shapes.")
    parser.add_argument("--output", type=Path, default=Path("demo-output"), help="for the picture")
    parser.add_argument("--quick", action="store_true", help="fewer images and epochs")
    options = parser.parse_args()
    main(options.output, options.quick)
