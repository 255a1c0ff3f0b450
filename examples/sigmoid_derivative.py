"""Draws the sigmoid and its derivatives, found by tapes at all points in one go.

    tapeflow demo sigmoid_derivative

A gradient belongs to a scalar; the gradient of a vector `y` is that of its sum. Where each element of `y`
depends on its own element of `x` alone, that sum is just what is wanted: the derivative at every point. On the
left is the sigmoid with its derivative, which is 1/4 at most: this is why deep stacks of sigmoids learn slowly.
On the right, tapes inside of tapes go on to the fourth derivative.
"""

import argparse
from collections.abc import Callable
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

import tapeflow as tf

BLUE, ORANGE, GREEN, PURPLE = "#0072B2", "#D55E00", "#009E73", "#8E5EA2"
GREY, INK = "#8A8F98", "#24292F"


def derivative(function: Callable[[tf.Tensor], tf.Tensor]) -> Callable[[tf.Tensor], tf.Tensor]:
    """The derivative of a function that works on each element alone."""

    def slope(x: tf.Tensor) -> tf.Tensor:
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = function(x)
        return tape.gradient(y, x)

    return slope


def main(output: Path = Path("demo-output"), quick: bool = False) -> dict[str, float]:
    x = tf.linspace(-10.0, 10.0, (50 if quick else 200) + 1)

    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.nn.sigmoid(x)

    dy_dx = tape.gradient(y, x)

    # The same, again and again: a derivative is a function like any other.
    orders = [tf.nn.sigmoid]
    for _ in range(4):
        orders.append(derivative(orders[-1]))
    curves = [order(x) for order in orders]

    # What they should be, from the formulas.
    exact = [y, y * (1 - y), y * (1 - y) * (1 - 2 * y), y * (1 - y) * (1 - 6 * y + 6 * y**2)]
    errors = [float(tf.reduce_max(abs(a - b))) for a, b in zip(curves[1:4], exact[1:], strict=True)]
    largest = {"peak": float(tf.reduce_max(dy_dx)), "largest error": max(errors)}

    print(f"dy/dx is {largest['peak']:.4f} at most, at x = {float(x[int(tf.argmax(dy_dx))]):g}")
    for order, error in enumerate(errors, 1):
        print(f"derivative {order}: at most {error:.1e} away from its formula")

    output.mkdir(parents=True, exist_ok=True)
    draw(np.asarray(x), [np.asarray(curve) for curve in curves], output / "sigmoid_derivative.png")
    return largest


# Drawing.


def clean(axes: Axes, title: str) -> None:
    axes.set_title(title, loc="left", fontsize=13, fontweight="bold", color=INK, pad=12)
    axes.spines[["top", "right"]].set_visible(False)
    axes.spines[["left", "bottom"]].set_color(GREY)
    axes.tick_params(colors=INK, labelsize=10)
    axes.grid(axis="y", color="#E6E8EB", linewidth=0.8)
    axes.set_axisbelow(True)


def draw(x: np.ndarray, curves: list[np.ndarray], path: Path) -> None:
    figure = Figure(figsize=(9.5, 4), layout="constrained")
    left, right = figure.subplots(1, 2, width_ratios=[1.15, 1])

    left.plot(x, curves[0], color=BLUE, linewidth=2.4)
    left.plot(x, curves[1], color=ORANGE, linewidth=2.4)
    left.text(3.4, 0.9, "y = sigmoid(x)", color=BLUE, fontsize=11, va="top")
    left.text(2.4, 0.15, "dy/dx, from the tape", color=ORANGE, fontsize=11)
    left.plot([0], [curves[1].max()], "o", color=ORANGE, markersize=6)
    left.text(-1.2, 0.27, "1/4 at most", color=INK, fontsize=10, ha="right", va="center")
    left.set(xlim=(-10, 10), ylim=(-0.03, 1.05), xlabel="x")
    left.set(xticks=range(-10, 11, 5), yticks=[0, 0.25, 0.5, 0.75, 1])
    clean(left, "The sigmoid and its derivative")

    names = ("first", "second", "third", "fourth")
    for name, curve, colour in zip(names, curves[1:], (ORANGE, GREEN, PURPLE, BLUE), strict=True):
        right.plot(x, curve, color=colour, linewidth=1.9, label=name)
    right.set(xlim=(-8, 8), xlabel="x")
    right.legend(frameon=False, fontsize=10, title="derivative", alignment="left")
    clean(right, "Tapes inside of tapes")
    figure.savefig(path, dpi=110)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Draws the sigmoid and its derivatives.")
    parser.add_argument("--output", type=Path, default=Path("demo-output"), help="for the picture")
    parser.add_argument("--quick", action="store_true", help="fewer points")
    options = parser.parse_args()
    main(options.output, options.quick)
