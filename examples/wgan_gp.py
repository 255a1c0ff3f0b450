"""Trains a WGAN-GP on points in the plane, and draws the critic's landscape over time.

    tapeflow demo wgan_gp

In a Wasserstein GAN the generator turns noise into points, and the critic gives every point of the plane a height,
high where real points are and low where generated ones are; the generator climbs. The critic's slope is held near 1
by a penalty on the norm of its gradient with respect to its INPUT, so training the critic needs the gradient of a
gradient: a tape inside of a tape. Each panel is one moment: the landscape, the real points (dark), and what the
generator makes (orange).
"""

import argparse
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure

import tapeflow as tf

BLUE, ORANGE, GREY, INK = "#0072B2", "#D55E00", "#8A8F98", "#24292F"
PALE = LinearSegmentedColormap.from_list("pale", ["#F7F7F5", "#CFE3EF", "#8FC1DE", "#4F9BC8"])

MODES = 8
RADIUS = 1.5
SPREAD = 0.08
PENALTY = 0.1
CRITIC_STEPS = 5  # for each step of the generator


def centres() -> np.ndarray:
    angles = 2 * np.pi * np.arange(MODES) / MODES
    return RADIUS * np.stack([np.cos(angles), np.sin(angles)], axis=1).astype(np.float32)


def real_points(count: int) -> tf.Tensor:
    """Points around eight centres on a circle."""
    which = tf.random.uniform([count], 0, MODES, dtype=tf.int32)
    return tf.gather(centres(), which) + SPREAD * tf.random.normal([count, 2])


def network(outputs: int, width: int = 64) -> tf.keras.Model:
    layers = tf.keras.layers
    return tf.keras.Sequential(
        [
            layers.Input([2]),
            layers.Dense(width, activation="relu"),
            layers.Dense(width, activation="relu"),
            layers.Dense(width, activation="relu"),
            layers.Dense(outputs),
        ]
    )


class WGAN:
    """A generator, its critic, and how each is trained."""

    def __init__(self, rate: float = 1e-3):
        self.generator = network(2)
        self.critic = network(1)
        self.generator_optimizer = tf.keras.optimizers.Adam(rate, beta_1=0.0, beta_2=0.9)
        self.critic_optimizer = tf.keras.optimizers.Adam(rate, beta_1=0.0, beta_2=0.9)

    def generate(self, count: int) -> tf.Tensor:
        return self.generator(tf.random.normal([count, 2]))

    def slopes(self, points: tf.Tensor) -> tf.Tensor:
        """The norm of the critic's gradient at each point."""
        with tf.GradientTape() as tape:
            tape.watch(points)
            heights = self.critic(points)
        return tf.norm(tape.gradient(heights, points), axis=1)

    @tf.function
    def train_critic(self, count: int) -> tf.Tensor:
        real, fake = real_points(count), self.generate(count)
        between = real + tf.random.uniform([count, 1]) * (fake - real)
        with tf.GradientTape() as tape:
            distance = tf.reduce_mean(self.critic(real)) - tf.reduce_mean(self.critic(fake))
            penalty = tf.reduce_mean(tf.square(self.slopes(between) - 1.0))
            loss = PENALTY * penalty - distance
        weights = self.critic.trainable_variables
        gradients = tape.gradient(loss, weights)
        self.critic_optimizer.apply_gradients(zip(gradients, weights, strict=True))
        return distance

    @tf.function
    def train_generator(self, count: int) -> tf.Tensor:
        with tf.GradientTape() as tape:
            loss = -tf.reduce_mean(self.critic(self.generate(count)))
        weights = self.generator.trainable_variables
        gradients = tape.gradient(loss, weights)
        self.generator_optimizer.apply_gradients(zip(gradients, weights, strict=True))
        return loss


def judged(points: np.ndarray) -> tuple[float, int]:
    """How many of the points are close to a centre, and how many centres have points."""
    distances = np.linalg.norm(points[:, None] - centres(), axis=2)
    close = distances.min(axis=1) < 4 * SPREAD
    counts = np.bincount(distances.argmin(axis=1)[close], minlength=MODES)
    return float(close.mean()), int(np.sum(counts > len(points) / MODES / 5))


def main(output: Path = Path("demo-output"), quick: bool = False) -> dict[str, float]:
    tf.keras.utils.set_random_seed(1)
    steps = 250 if quick else 1200
    moments = [round(steps * part) for part in (0, 0.05, 0.2, 1)]
    gan = WGAN()
    pictures = [snapshot(gan, 0)]
    distances = []
    for step in (bar := tf.progress(range(1, steps + 1), "training")):
        for _ in range(CRITIC_STEPS):
            distance = gan.train_critic(256)
        gan.train_generator(256)
        distances.append(float(distance))
        bar.log(distance=distance)
        if step in moments:
            pictures.append(snapshot(gan, step))

    close, found = judged(gan.generate(2000).numpy())
    real, fake = real_points(1000), gan.generate(1000)
    slope = float(tf.reduce_mean(gan.slopes((real + fake) / 2)))
    print(f"Wasserstein distance    {max(distances):.2f} at most, {distances[-1]:.3f} in the end")
    print(
        f"generated points        {close:.0%} close to a centre, {found} of {MODES} centres found"
    )
    print(f"slope of the critic     {slope:.2f} on average, between real and generated points")

    output.mkdir(parents=True, exist_ok=True)
    draw(pictures, output / "wgan_gp.png")
    return {"close": close, "centres": found, "slope": slope, "distance": distances[-1]}


# Drawing.

EDGE = 2.3
LINE = np.linspace(-EDGE, EDGE, 100, dtype=np.float32)


def snapshot(gan: WGAN, step: int) -> tuple[int, np.ndarray, np.ndarray]:
    """The step, the heights on a grid, and some generated points."""
    grid = np.stack(np.meshgrid(LINE, LINE), axis=-1).reshape(-1, 2)
    heights = gan.critic(tf.constant(grid)).numpy().reshape(len(LINE), len(LINE))
    return step, heights, gan.generate(400).numpy()


def clean(axes: Axes, title: str) -> None:
    axes.set_title(title, loc="left", fontsize=13, fontweight="bold", color=INK, pad=10)
    axes.set(xlim=(-EDGE, EDGE), ylim=(-EDGE, EDGE), aspect="equal", xticks=[], yticks=[])
    axes.spines[:].set_visible(False)


def draw(pictures: list, path: Path) -> None:
    figure = Figure(figsize=(11, 3.2), layout="constrained")
    real = real_points(200).numpy()
    for axes, (step, heights, fake) in zip(figure.subplots(1, 4), pictures, strict=True):
        axes.contourf(LINE, LINE, heights, levels=16, cmap=PALE)
        axes.contour(
            LINE, LINE, heights, levels=16, colors="white", linewidths=0.5, linestyles="solid"
        )
        axes.scatter(*real.T, s=5, color=INK, linewidths=0)
        axes.scatter(*fake.T, s=11, color=ORANGE, edgecolors="white", linewidths=0.25)
        clean(axes, f"step {step:,}" if step else "before training")
    figure.savefig(path, dpi=110, bbox_inches="tight")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Trains a WGAN-GP on points in the plane.")
    parser.add_argument("--output", type=Path, default=Path("demo-output"), help="for the picture")
    parser.add_argument("--quick", action="store_true", help="fewer steps")
    options = parser.parse_args()
    main(options.output, options.quick)
