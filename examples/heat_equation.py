"""Solves the heat equation with a network, and compares it with the exact solution.

    tapeflow demo heat_equation

A rod of length 1 has a given temperature at time 0, and its ends are kept at 0. The network `u(x, t)` is never shown
the solution. It is trained to make three things small: the residual of `du/dt = a * d²u/dx²` at random points, its
distance to the given temperature at time 0, and its value at the ends. The second derivative comes from a tape inside
of a tape, and a third tape around both gives the gradients for the weights. On the left is the network's temperature
for all places and times, in the middle how far it is from the exact solution, and on the right are both at five
moments.
"""

import argparse
from itertools import pairwise
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure

import tapeflow as tf

BLUE, ORANGE, GREY, INK = "#0072B2", "#D55E00", "#8A8F98", "#24292F"
HEAT = LinearSegmentedColormap.from_list(
    "heat", ["#F7F7F5", "#F9D9A8", "#F0A35E", ORANGE, "#7A2E00"]
)
ERROR = LinearSegmentedColormap.from_list("error", [BLUE, "#A9CFE6", "#F7F7F5", "#F0B183", ORANGE])

DIFFUSIVITY = 0.1


def temperature_at_first(x):
    return tf.sin(np.pi * x) + 0.5 * tf.sin(3 * np.pi * x)


def exact(x: np.ndarray, t: np.ndarray) -> np.ndarray:
    """The solution: each wave fades at its own pace, the short one nine times as fast."""
    slow = np.exp(-DIFFUSIVITY * np.pi**2 * t) * np.sin(np.pi * x)
    fast = np.exp(-DIFFUSIVITY * (3 * np.pi) ** 2 * t) * np.sin(3 * np.pi * x)
    return slow + 0.5 * fast


class Temperature(tf.Module):
    """A network for u(x, t)."""

    def __init__(self, width: int = 32, depth: int = 3):
        super().__init__()
        sizes = [2, *[width] * depth, 1]
        self.weights = [
            tf.Variable(tf.random.normal([m, n], stddev=(2 / (m + n)) ** 0.5))
            for m, n in pairwise(sizes)
        ]
        self.biases = [tf.Variable(tf.zeros([n])) for n in sizes[1:]]

    def __call__(self, x: tf.Tensor, t: tf.Tensor) -> tf.Tensor:
        y = 2 * tf.concat([x, t], axis=1) - 1
        for w, b in zip(self.weights[:-1], self.biases[:-1], strict=True):
            y = tf.tanh(y @ w + b)
        return y @ self.weights[-1] + self.biases[-1]


def residual(u: Temperature, x: tf.Tensor, t: tf.Tensor) -> tf.Tensor:
    """What is left of du/dt - a * d²u/dx²: zero, if u solves the equation."""
    with tf.GradientTape() as second:
        second.watch(x)
        with tf.GradientTape(persistent=True) as first:
            first.watch([x, t])
            y = u(x, t)
        u_x = first.gradient(y, x)
    u_xx = second.gradient(u_x, x)
    u_t = first.gradient(y, t)
    return u_t - DIFFUSIVITY * u_xx


def train(steps: int, points: int) -> tuple[Temperature, np.ndarray]:
    """The trained network, and the three losses at each step."""
    tf.random.set_seed(1)
    u = Temperature()
    rate = tf.keras.optimizers.schedules.CosineDecay(5e-3, steps)
    optimizer = tf.keras.optimizers.Adam(rate)

    @tf.function
    def train_step() -> tf.Tensor:
        x, t = tf.random.uniform([points, 1]), tf.random.uniform([points, 1])
        edge_x, edge_t = tf.random.uniform([points // 4, 1]), tf.random.uniform([points // 4, 1])
        ends = tf.round(edge_x)
        with tf.GradientTape() as tape:
            equation = tf.reduce_mean(residual(u, x, t) ** 2)
            beginning = u(edge_x, tf.zeros_like(edge_x)) - temperature_at_first(edge_x)
            start = tf.reduce_mean(beginning**2)
            boundary = tf.reduce_mean(u(ends, edge_t) ** 2)
            loss = equation + 10 * start + 10 * boundary
        gradients = tape.gradient(loss, u.trainable_variables)
        optimizer.apply_gradients(zip(gradients, u.trainable_variables, strict=True))
        return tf.stack([equation, start, boundary])

    losses = []
    for _ in (bar := tf.progress(range(steps), "training")):
        losses.append(train_step())
        bar.log(loss=tf.reduce_sum(losses[-1]))
    return u, np.array(losses)


def main(output: Path = Path("demo-output"), quick: bool = False) -> dict[str, float]:
    u, losses = train(steps=600 if quick else 3000, points=256)

    places, times = np.linspace(0, 1, 101), np.linspace(0, 1, 101)
    x, t = (grid.reshape(-1, 1).astype(np.float32) for grid in np.meshgrid(places, times))
    found = u(tf.constant(x), tf.constant(t)).numpy().reshape(101, 101)
    truth = exact(x, t).reshape(101, 101)
    error = found - truth
    figures = {
        "residual": float(np.mean(losses[-50:, 0])),
        "relative error": float(np.linalg.norm(error) / np.linalg.norm(truth)),
        "largest error": float(np.max(np.abs(error))),
    }
    print(f"mean square of the residual  {figures['residual']:.1e} (at first {losses[0, 0]:.1e})")
    print(f"relative error               {figures['relative error']:.2%}")
    print(f"largest error                {figures['largest error']:.4f}")

    output.mkdir(parents=True, exist_ok=True)
    draw(places, times, found, truth, output / "heat_equation.png")
    return figures


# Drawing.


def clean(axes: Axes, title: str) -> None:
    axes.set_title(title, loc="left", fontsize=13, fontweight="bold", color=INK, pad=12)
    axes.spines[["top", "right"]].set_visible(False)
    axes.spines[["left", "bottom"]].set_color(GREY)
    axes.tick_params(colors=INK, labelsize=10)


def draw(
    places: np.ndarray, times: np.ndarray, found: np.ndarray, truth: np.ndarray, path: Path
) -> None:
    figure = Figure(figsize=(11, 3.9), layout="constrained")
    left, middle, right = figure.subplots(1, 3, width_ratios=[1.05, 1.05, 1.1])

    heat = left.pcolormesh(times, places, found.T, cmap=HEAT, shading="gouraud", vmin=0)
    figure.colorbar(heat, ax=left).outline.set_visible(False)
    left.set(xlabel="time", ylabel="place")
    clean(left, "What the network found")

    error = found - truth
    most = np.abs(error).max()
    shown = middle.pcolormesh(
        times, places, error.T, cmap=ERROR, shading="gouraud", vmin=-most, vmax=most
    )
    figure.colorbar(shown, ax=middle, format="%.3f").outline.set_visible(False)
    middle.set(xlabel="time", yticks=[])
    clean(middle, "Its error")

    for place, moment in enumerate((0, 5, 15, 40, 100)):
        label = f"t = {times[moment]:g}"
        right.plot(
            places, truth[moment], color=HEAT(0.95 - 0.15 * place), linewidth=2.2, label=label
        )
        right.plot(places[::5], found[moment, ::5], "o", color=INK, markersize=3.2)
    right.plot([], [], "o", color=INK, markersize=3.2, label="network")
    right.set(xlabel="place", xlim=(0, 1), ylim=(-0.03, 1.5), yticks=np.arange(0, 1.1, 0.2))
    right.legend(
        frameon=False,
        fontsize=9.5,
        loc="upper center",
        ncols=3,
        columnspacing=0.9,
        handlelength=1.3,
    )
    clean(right, "Exact, and the network")
    figure.savefig(path, dpi=110)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Solves the heat equation with a network.")
    parser.add_argument("--output", type=Path, default=Path("demo-output"), help="for the picture")
    parser.add_argument("--quick", action="store_true", help="fewer steps")
    options = parser.parse_args()
    main(options.output, options.quick)
