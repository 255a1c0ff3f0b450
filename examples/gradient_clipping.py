"""Trains a recurrent network whose gradients explode, with and without clipping them.

    tapeflow demo gradient_clipping

The network reads 20 numbers, of which two are marked, and has to tell the sum of these two. Its recurrent matrix
begins as the identity, so that it forgets nothing; but a little above the identity, what it remembers grows at each
of the 20 steps, and the gradient with it. On the left, both networks begin with the same weights, see the same data
and have the same learning rate: without clipping the loss leaves the range of numbers after a few steps, with it the
task is learned. On the right are the norms of the gradients. Clipping changes only those above the line, and only
their lengths.
"""

import argparse
import math
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

import tapeflow as tf

CLIP_NORM = 1.0
BLUE, ORANGE, GREY, INK = "#0072B2", "#D55E00", "#8A8F98", "#24292F"


def sequences(count: int, length: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Numbers with two of them marked, and the sum of those two."""
    rng = np.random.default_rng(seed)
    numbers = rng.uniform(0, 1, (count, length))
    marks = np.zeros((count, length))
    rows = np.arange(count)
    marks[rows, rng.integers(0, length // 2, count)] = 1
    marks[rows, rng.integers(length // 2, length, count)] = 1
    sums = np.sum(numbers * marks, axis=1, keepdims=True)
    return np.stack([numbers, marks], axis=-1).astype(np.float32), sums.astype(np.float32)


def new_model() -> tf.keras.Model:
    tf.keras.utils.set_random_seed(0)
    return tf.keras.Sequential(
        [
            tf.keras.layers.SimpleRNN(
                64,
                activation="relu",
                kernel_initializer=tf.keras.initializers.RandomNormal(stddev=0.05),
                recurrent_initializer="identity",
            ),
            tf.keras.layers.Dense(1),
        ]
    )


def train(name: str, rate: float, clip: bool, length: int, steps: int) -> dict[str, np.ndarray]:
    """The loss and the gradient norm at every step, until the loss is no number any more."""
    model = new_model()
    schedule = tf.keras.optimizers.schedules.CosineDecay(rate, steps)
    optimizer = tf.keras.optimizers.SGD(schedule, momentum=0.9)

    @tf.function
    def train_step(x, y):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(model(x, training=True) - y))
        gradients = tape.gradient(loss, model.trainable_variables)
        norm = tf.linalg.global_norm(gradients)
        if clip:
            gradients, _ = tf.clip_by_global_norm(gradients, CLIP_NORM, use_norm=norm)
        optimizer.apply_gradients(zip(gradients, model.trainable_variables, strict=True))
        return loss, norm

    dataset = tf.data.Dataset.from_tensor_slices(sequences(64 * steps, length, seed=1)).batch(64)
    losses, norms = [], []
    for x, y in (bar := tf.progress(dataset, name)):
        loss, norm = train_step(x, y)
        losses.append(float(loss))
        norms.append(float(norm))
        bar.log(loss=losses[-1], norm=norms[-1])
        if not math.isfinite(losses[-1]):
            break

    x, y = sequences(1000, length, seed=2)
    error = float(tf.reduce_mean(tf.square(model(x) - y)))
    return {"losses": np.array(losses), "norms": np.array(norms), "test": np.array(error)}


def main(output: Path = Path("demo-output"), quick: bool = False) -> dict[str, float]:
    length, rate, steps = (10, 0.05, 250) if quick else (20, 0.03, 1500)
    runs = {
        "clipped": train("clipped", rate, True, length, steps),
        "not clipped": train("not clipped", rate, False, length, steps),
    }
    mean = float(np.var(sequences(1000, length, seed=2)[1]))
    print(f"guessing the mean: error {mean:.3f}")
    for name, run in runs.items():
        end = f"error {run['test']:.4f}" if np.isfinite(run["test"]) else "not a number"
        print(f"{name}: {end} after {len(run['losses'])} steps, largest norm {worst(run):.3g}")

    output.mkdir(parents=True, exist_ok=True)
    draw(runs, mean, output / "gradient_clipping.png")
    return {
        "error": float(runs["clipped"]["test"]),
        "error of the mean": mean,
        "error without clipping": float(runs["not clipped"]["test"]),
        "steps without clipping": len(runs["not clipped"]["losses"]),
        "largest norm without clipping": worst(runs["not clipped"]),
    }


def worst(run: dict[str, np.ndarray]) -> float:
    """The largest gradient norm that was still a number."""
    return float(np.max(run["norms"][np.isfinite(run["norms"])]))


# Drawing.

STYLES = {
    "clipped": (BLUE, 2.0),
    "not clipped": (ORANGE, 2.0),
}


def clean(axes: Axes, title: str) -> None:
    axes.set_title(title, loc="left", fontsize=13, fontweight="bold", color=INK, pad=12)
    axes.spines[["top", "right"]].set_visible(False)
    axes.spines[["left", "bottom"]].set_color(GREY)
    axes.tick_params(colors=INK, labelsize=10, which="both")
    axes.grid(axis="y", color="#E6E8EB", linewidth=0.8)
    axes.set_axisbelow(True)


def smooth(values: np.ndarray) -> np.ndarray:
    """The mean of the values around each, in windows that grow as the steps do on a logarithmic axis."""
    return np.array(
        [
            np.mean(values[max(0, i - i // 12) : min(len(values), i + i // 12 + 1)])
            for i in range(len(values))
        ]
    )


def draw(runs: dict[str, dict[str, np.ndarray]], mean: float, path: Path) -> None:
    figure = Figure(figsize=(9.5, 4.3), layout="constrained")
    left, right = figure.subplots(1, 2)
    top = {"losses": 1e6, "norms": 1e8}
    for axes, key in ((left, "losses"), (right, "norms")):
        for name, run in runs.items():
            colour, width = STYLES[name]
            values = run[key][np.isfinite(run[key])]
            steps = np.arange(1, len(values) + 1)
            axes.loglog(steps, smooth(values), color=colour, linewidth=width, label=name)
            if len(values) < len(run[key]) and values[-1] < top[key]:  # on to where no number is
                axes.plot([steps[-1], steps[-1] + 0.8], [values[-1], top[key]], ":", color=colour)
        axes.set_xlim(1, len(runs["clipped"]["losses"]))
        axes.set_xlabel("step")

    left.axhline(mean, color=GREY, linewidth=1, linestyle="--")
    left.text(1.1, mean * 0.88, "guessing the mean", color=GREY, fontsize=9.5, va="top")
    left.set(ylim=(2e-3, top["losses"]), ylabel="squared error")
    left.legend(frameon=False, fontsize=10, loc="upper right")
    clean(left, "Only the clipped one learns")

    right.axhline(CLIP_NORM, color=GREY, linewidth=1, linestyle="--")
    right.text(1.1, CLIP_NORM * 0.8, "cut to here", color=GREY, fontsize=9.5, va="top")
    right.set(ylim=(1e-2, top["norms"]), ylabel="norm of the gradient, before clipping")
    clean(right, "The gradients explode")
    figure.savefig(path, dpi=110)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Trains a recurrent network that explodes.")
    parser.add_argument("--output", type=Path, default=Path("demo-output"), help="for the picture")
    parser.add_argument("--quick", action="store_true", help="fewer steps")
    options = parser.parse_args()
    main(options.output, options.quick)
