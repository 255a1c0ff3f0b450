"""Trains in half precision, and shows why the loss is scaled.

    tapeflow demo mixed_precision

With the policy `mixed_float16` layers compute in half precision and keep their weights in float32. The smallest
number that float16 can hold is 6e-8, and gradients are easily smaller: here the targets are a few thousandths, and
the loss is a mean over 32,768 of them. On the left, look at the curve without scaling: its gradients become zero and
it hardly falls any more, while with scaling the curve of float32 is followed. In the middle are the gradients that
reach the first layer in the end, lost and kept. On the right is the scale that `LossScaleOptimizer` finds: it is
halved when something overflows, and doubled after some steps without.
"""

import argparse
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

import tapeflow as tf

BLUE, ORANGE, GREEN, GREY, INK = "#0072B2", "#D55E00", "#009E73", "#8A8F98", "#24292F"
ROWS, OUTPUTS = 512, 64
SMALLEST = 2.0**-24  # of float16


def data(count: int) -> tuple[np.ndarray, np.ndarray]:
    """Inputs, and smooth functions of them that are as small as a few thousandths."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=(count, 16))
    hidden = np.tanh(x @ rng.normal(scale=0.15, size=(16, 12)))
    y = 1e-2 * hidden @ rng.normal(scale=0.3, size=(12, OUTPUTS))
    return x.astype(np.float32), y.astype(np.float32)


def new_model(policy: str) -> tf.keras.Sequential:
    tf.keras.utils.set_random_seed(0)
    layers = tf.keras.layers
    tf.keras.mixed_precision.set_global_policy(policy)
    try:
        return tf.keras.Sequential(
            [
                tf.keras.Input([16]),
                layers.Dense(64, activation="tanh"),
                layers.Dense(64, activation="tanh"),
                layers.Dense(OUTPUTS, kernel_initializer="zeros"),
                # The loss is computed in float32, as it should always be.
                layers.Activation("linear", dtype="float32"),
            ]
        )
    finally:
        tf.keras.mixed_precision.set_global_policy("float32")


def mean_squared_error(y: tf.Tensor, predicted: tf.Tensor) -> tf.Tensor:
    return tf.reduce_mean(tf.square(predicted - y))


def train(name: str, policy: str, scaled: bool, steps: int) -> tuple[tf.keras.Sequential, dict]:
    """The loss and the loss scale at every step."""
    model = new_model(policy)
    schedule = tf.keras.optimizers.schedules.CosineDecay(1e-3, steps)
    # Adam adds its epsilon to the size of gradients. They are small here, so it has to be smaller.
    optimizer = tf.keras.optimizers.Adam(schedule, epsilon=1e-12)
    if scaled:
        optimizer = tf.keras.mixed_precision.LossScaleOptimizer(
            optimizer, initial_scale=2.0**36, dynamic_growth_steps=40
        )
    optimizer.build(model.trainable_variables)

    @tf.function
    def train_step(x, y):
        with tf.GradientTape() as tape:
            loss = mean_squared_error(y, model(x, training=True))
            scaled_loss = optimizer.scale_loss(loss)  # without a scale, the same loss
        gradients = tape.gradient(scaled_loss, model.trainable_variables)
        # This divides by the scale, or skips the step if something is not finite.
        optimizer.apply_gradients(zip(gradients, model.trainable_variables, strict=True))
        return loss

    dataset = tf.data.Dataset.from_tensor_slices(data(8192))
    dataset = dataset.shuffle(8192, seed=0).repeat().batch(ROWS).take(steps)
    notes = {"loss": [], "scale": []}
    for x, y in (bar := tf.progress(dataset, name, total=steps)):
        notes["scale"].append(float(optimizer.dynamic_scale) if scaled else 1.0)
        notes["loss"].append(float(train_step(x, y)))
        bar.log(loss=notes["loss"][-1], scale=notes["scale"][-1])
    return model, {key: np.array(values) for key, values in notes.items()}


def gradients_of_activations(model: tf.keras.Sequential, scale: float) -> np.ndarray:
    """The gradients in float16 that the first layer gets from those above it."""
    x, y = data(ROWS)
    first, *others = model.layers
    with tf.GradientTape() as tape:
        hidden = result = first(x)
        tape.watch(hidden)
        for layer in others:
            result = layer(result)
        loss = scale * mean_squared_error(y, result)
    return np.abs(tape.gradient(loss, hidden).numpy()).astype(np.float64).ravel()


def main(output: Path = Path("demo-output"), quick: bool = False) -> dict[str, float]:
    steps = 250 if quick else 800
    _, single = train("float32", "float32", False, steps)
    plain_model, plain = train("float16, not scaled", "mixed_float16", False, steps)
    scaled_model, scaled = train("float16, scaled", "mixed_float16", True, steps)

    scale = float(scaled["scale"][-1])
    histograms = {
        "plain": gradients_of_activations(plain_model, 1.0),
        "scaled": gradients_of_activations(scaled_model, scale),
    }
    figures = {
        "loss in float32": float(np.mean(single["loss"][-10:])),
        "loss not scaled": float(np.mean(plain["loss"][-10:])),
        "loss scaled": float(np.mean(scaled["loss"][-10:])),
        "lost not scaled": float(np.mean(histograms["plain"] == 0)),
        "lost scaled": float(np.mean(histograms["scaled"] == 0)),
        "scale": scale,
    }
    for name in ("loss in float32", "loss scaled", "loss not scaled"):
        print(f"{name}: {figures[name]:.2e}")
    print(f"gradients that became zero: {figures['lost not scaled']:.1%} without a scale,", end=" ")
    print(f"{figures['lost scaled']:.1%} with a scale of 2^{np.log2(scale):.0f}")

    output.mkdir(parents=True, exist_ok=True)
    draw(single, plain, scaled, histograms, output / "mixed_precision.png")
    return figures


# Drawing.


def clean(axes: Axes, title: str) -> None:
    axes.set_title(title, loc="left", fontsize=12.5, fontweight="bold", color=INK, pad=12)
    axes.spines[["top", "right"]].set_visible(False)
    axes.spines[["left", "bottom"]].set_color(GREY)
    axes.tick_params(colors=INK, labelsize=10, which="both")
    axes.set_axisbelow(True)


def draw(single: dict, plain: dict, scaled: dict, histograms: dict, path: Path) -> None:
    figure = Figure(figsize=(11, 4), layout="constrained")
    left, middle, right = figure.subplots(1, 3)

    left.semilogy(single["loss"], color=BLUE, alpha=0.35, linewidth=4.5, label="float32")
    left.semilogy(plain["loss"], color=ORANGE, linewidth=1.5, label="float16, not scaled")
    left.semilogy(scaled["loss"], color=GREEN, linewidth=1.3, label="float16, scaled")
    left.set(xlabel="step", ylabel="mean squared error", xlim=(0, len(single["loss"])))
    left.grid(axis="y", color="#E6E8EB", linewidth=0.8)
    left.legend(frameon=False, fontsize=10)
    clean(left, "Without a scale it stalls")

    bins = np.arange(-26, 18)
    scale = scaled["scale"][-1]
    for values, colour, name in (
        (histograms["plain"], ORANGE, "not scaled"),
        (histograms["scaled"], GREEN, f"times $2^{{{np.log2(scale):.0f}}}$"),
    ):
        exponents = np.log2(np.maximum(values, SMALLEST / 4))  # zeros go to the left end
        share = np.full(values.size, 1 / values.size)
        middle.hist(exponents, bins, weights=share, color=colour, alpha=0.8, label=name)
    middle.axvspan(-26.5, -24, color="#F0E4DC", zorder=0)
    middle.axvline(16, color=GREY, linewidth=1, linestyle="--")
    middle.text(-23.5, middle.get_ylim()[1] * 0.97, "zero", color=INK, fontsize=9.5, va="top")
    middle.text(15.6, middle.get_ylim()[1] * 0.5, "too large", color=INK, rotation=90, ha="right")
    middle.set_xticks([-24, -14, -4, 6, 16], labels=[f"$2^{{{n}}}$" for n in (-24, -14, -4, 6, 16)])
    middle.set(xlabel="size of a gradient in float16", ylabel="share of all", xlim=(-26.5, 17))
    middle.yaxis.set_major_formatter(lambda value, _: f"{value:.0%}")
    middle.legend(frameon=False, fontsize=10)
    clean(middle, "Gradients, lost and kept")

    right.semilogy(scaled["scale"], color=GREEN, linewidth=1.6, drawstyle="steps-post", base=2)
    right.set(xlabel="step", ylabel="loss scale", xlim=(0, len(scaled["scale"])))
    right.grid(axis="y", color="#E6E8EB", linewidth=0.8)
    clean(right, "The scale finds its place")
    figure.savefig(path, dpi=110)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Trains in half precision.")
    parser.add_argument("--output", type=Path, default=Path("demo-output"), help="for the picture")
    parser.add_argument("--quick", action="store_true", help="fewer steps")
    options = parser.parse_args()
    main(options.output, options.quick)
