"""Fits a straight line by gradient descent, and draws the way down.

    tapeflow demo linear_regression

The smallest training loop there is: two variables, a tape around the loss, and a step against the gradient. On
the left is the line at several moments of the training, over the points it is fitted to. On the right is the loss
for every pair of `w` and `b`, with the path that the training took: fast across the valley, slow along it, and to
the one point that least squares would give.
"""

import argparse
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure

import tapeflow as tf

BLUE, ORANGE, GREY, INK = "#0072B2", "#D55E00", "#8A8F98", "#24292F"
PALE = LinearSegmentedColormap.from_list("pale", ["#F7F7F5", "#A9CFE6", "#4F9BC8"])


def loss_and_gradients(w: tf.Variable, b: tf.Variable, x: tf.Tensor, y: tf.Tensor):
    with tf.GradientTape() as tape:
        y_hat = w * x + b
        loss = tf.reduce_mean(tf.square(y_hat - y))
    return loss, tape.gradient(loss, [w, b])


def noisy_line(count: int) -> tuple[tf.Tensor, tf.Tensor]:
    """Points around y = 2 x + 1."""
    rng = np.random.default_rng(1)
    x = rng.uniform(0, 4, count)
    y = 2 * x + 1 + rng.normal(scale=0.8, size=count)
    return tf.constant(x, tf.float32), tf.constant(y, tf.float32)


def train(x: tf.Tensor, y: tf.Tensor, steps: int, rate: float = 0.1) -> np.ndarray:
    """The values of w, b and the loss before each step."""
    w = tf.Variable(-1.0)
    b = tf.Variable(4.5)
    step = tf.function(loss_and_gradients)
    path = []
    for _ in (bar := tf.progress(range(steps), "fitting")):
        loss, (dw, db) = step(w, b, x, y)
        path.append((float(w), float(b), float(loss)))
        w.assign_sub(rate * dw)
        b.assign_sub(rate * db)
        bar.log(loss=loss)
    return np.array(path)


def main(output: Path = Path("demo-output"), quick: bool = False) -> dict[str, float]:
    # Four points that lie on y = 2 x + 1: there both gradients are zero, because no other line is better.
    x, y = tf.constant([1.0, 2.0, 3.0, 4.0]), tf.constant([3.0, 5.0, 7.0, 9.0])
    for w, b in ((2.0, 1.0), (2.5, 0.5)):
        loss, gradients = loss_and_gradients(tf.Variable(w), tf.Variable(b), x, y)
        print(f"w = {w}, b = {b}: loss {loss:.3f}, dw {gradients[0]:.2f}, db {gradients[1]:.2f}")

    x, y = noisy_line(60)
    path = train(x, y, steps=250 if quick else 300)
    best = np.polyfit(np.asarray(x, np.float64), np.asarray(y, np.float64), deg=1)
    w, b, loss = path[-1]
    print(f"fitted:        y = {w:.4f} x + {b:.4f}, loss {loss:.4f} (at first {path[0, 2]:.2f})")
    print(f"least squares: y = {best[0]:.4f} x + {best[1]:.4f}")

    output.mkdir(parents=True, exist_ok=True)
    draw(np.asarray(x), np.asarray(y), path, output / "linear_regression.png")
    return {"loss": float(loss), "distance": float(np.hypot(w - best[0], b - best[1]))}


# Drawing.


def clean(axes: Axes, title: str) -> None:
    axes.set_title(title, loc="left", fontsize=13, fontweight="bold", color=INK, pad=12)
    axes.spines[["top", "right"]].set_visible(False)
    axes.spines[["left", "bottom"]].set_color(GREY)
    axes.tick_params(colors=INK, labelsize=10)


def draw(x: np.ndarray, y: np.ndarray, path: np.ndarray, file: Path) -> None:
    figure = Figure(figsize=(9.5, 4.2), layout="constrained")
    left, right = figure.subplots(1, 2)

    left.scatter(x, y, s=22, color=GREY, alpha=0.65, linewidths=0)
    ends = np.array([-0.1, 4.1])
    moments = [0, 4, 10, 25, len(path) - 1]
    for place, step in enumerate(moments):
        last = step == moments[-1]
        w, b, _ = path[step]
        left.plot(
            ends,
            w * ends + b,
            color=ORANGE if last else BLUE,
            alpha=1 if last else 0.3 + 0.12 * place,
            linewidth=2.4 if last else 1.6,
        )
        if step in (0, 4, 25) or last:
            left.text(4.15, w * 4.1 + b, f"step {step}", color=INK, va="center")
    left.set(xlim=(-0.1, 5), ylim=(-1, 11), xticks=range(5), xlabel="x", ylabel="y")
    clean(left, "The line turns into place")

    ws, bs = np.linspace(-1.5, 4, 160), np.linspace(-1.5, 5.6, 160)
    losses = [[np.mean((w * x + b - y) ** 2) for w in ws] for b in bs]
    levels = np.geomspace(path[-1, 2] * 1.02, np.max(losses), 14)
    right.contourf(ws, bs, np.log(losses), levels=np.log([0.1, *levels]), cmap=PALE)
    right.contour(ws, bs, losses, levels=levels, colors="white", linewidths=0.6)
    right.plot(path[:, 0], path[:, 1], ".-", color=INK, linewidth=0.9, markersize=5)
    right.plot(*path[-1, :2], "o", color=ORANGE, markersize=9, markeredgecolor="white")
    right.set(xlabel="w", ylabel="b")
    clean(right, "The way down the loss")
    figure.savefig(file, dpi=110)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Fits a straight line by gradient descent.")
    parser.add_argument("--output", type=Path, default=Path("demo-output"), help="for the picture")
    parser.add_argument("--quick", action="store_true", help="fewer steps")
    options = parser.parse_args()
    main(options.output, options.quick)
