"""Asks a trained network which pixels its answer came from, in three ways.

    tapeflow demo attribution

A small convolutional network learns which of four shapes, if any, is in a noisy image with scattered strokes.
Then `tape.watch` is used on the IMAGE: the gradient of an answer with respect to each pixel is a saliency map.
Integrated Gradients adds up such gradients along the way from an empty image to the real one; what it gives must sum to
exactly the change of the answer (its completeness axiom), and this is checked. Grad-CAM weighs the last feature
maps by the gradients that reach them. Each row is one image; in each map the colour should be on the shape
alone, and not on the strokes.
"""

import argparse
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure

import tapeflow as tf

BLUE, ORANGE, GREY, INK = "#0072B2", "#D55E00", "#8A8F98", "#24292F"
SIGNED = LinearSegmentedColormap.from_list(
    "signed", [BLUE, "#A9CFE6", "#FBFBFA", "#F0B183", ORANGE]
)
WARM = LinearSegmentedColormap.from_list("warm", ["#FBFBFA", "#F9D9A8", "#F0A35E", ORANGE])
SHAPES = ("disc", "square", "triangle", "cross", "nothing")
SIZE = 28


def scenes(count: int, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Images with at most one shape among strokes and noise; which one; and the pixels that it covers."""
    rng = np.random.default_rng(seed)
    which = rng.integers(0, len(SHAPES), count)
    line = np.arange(SIZE, dtype=np.float32)

    def draw(outside: np.ndarray) -> np.ndarray:
        return np.clip(0.5 - outside, 0, 1)

    def random(low: float, high: float) -> np.ndarray:
        return rng.uniform(low, high, [count, 1, 1])

    radius = random(4.5, 6.2)
    x = line[None, None, :] - random(7, SIZE - 8)
    y = line[None, :, None] - random(7, SIZE - 8)
    wide = np.maximum(abs(x), abs(y))
    shape = draw(
        np.stack(
            [
                np.hypot(x, y) - radius,
                wide - 0.9 * radius,
                np.maximum(0.9 * abs(x) - 0.5 * y, y) - 0.55 * radius,
                np.maximum(np.minimum(abs(x), abs(y)) - 1.5, wide - radius),
                np.full_like(wide, np.inf),
            ]
        )[which, np.arange(count)]
    )
    strokes = np.zeros_like(shape)
    for _ in range(4):
        angle = random(0, np.pi)
        x, y = line[None, None, :] - random(0, SIZE), line[None, :, None] - random(0, SIZE)
        along, across = x * np.cos(angle) + y * np.sin(angle), y * np.cos(angle) - x * np.sin(angle)
        strokes = np.maximum(strokes, draw(np.maximum(abs(across) - 0.6, abs(along) - 4)))
    pixels = np.maximum(shape, 0.8 * strokes) + rng.normal(scale=0.08, size=shape.shape)
    return pixels[..., None].astype(np.float32), which.astype(np.int32), shape > 0.5


def new_model() -> tf.keras.Model:
    """A network with two outputs: its answers, and the last feature maps, which Grad-CAM needs."""
    layers = tf.keras.layers
    image = layers.Input([SIZE, SIZE, 1])
    y = layers.Conv2D(16, 5, strides=2, padding="same", activation="relu")(image)
    y = layers.Conv2D(32, 3, padding="same", activation="relu")(y)
    y = layers.MaxPooling2D()(y)
    features = layers.Conv2D(48, 3, padding="same", activation="relu")(y)
    answers = layers.Dense(len(SHAPES))(layers.GlobalMaxPooling2D()(features))
    return tf.keras.Model(image, [answers, features])


def train(model: tf.keras.Model, x: np.ndarray, y: np.ndarray, epochs: int) -> None:
    dataset = tf.data.Dataset.from_tensor_slices((x, y)).shuffle(len(x))
    dataset = dataset.batch(64, drop_remainder=True)
    rate = tf.keras.optimizers.schedules.CosineDecay(4e-3, epochs * len(dataset))
    optimizer = tf.keras.optimizers.Adam(rate)
    loss_fn = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)

    @tf.function
    def train_step(x_batch: tf.Tensor, y_batch: tf.Tensor) -> tf.Tensor:
        with tf.GradientTape() as tape:
            answers, _ = model(x_batch, training=True)
            loss = loss_fn(y_batch, answers)
        gradients = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(gradients, model.trainable_variables, strict=True))
        return loss

    for _ in (bar := tf.progress(range(epochs), "epochs")):
        for x_batch, y_batch in dataset:
            bar.log(loss=train_step(x_batch, y_batch))


# Three questions to a network. Each takes images [n, height, width, 1] and gives maps [n, height, width].


def own_answer(answers: tf.Tensor, which: tf.Tensor) -> tf.Tensor:
    """Of each row of answers, the one that is asked about."""
    return tf.gather(answers, which, batch_dims=1)


@tf.function
def saliency(model: tf.keras.Model, images: tf.Tensor, which: tf.Tensor) -> tf.Tensor:
    """How much the answer changes with each pixel."""
    with tf.GradientTape() as tape:
        tape.watch(images)
        answer = own_answer(model(images)[0], which)
    return tf.abs(tape.gradient(answer, images))[..., 0]


@tf.function
def integrated_gradients(
    model: tf.keras.Model, images: tf.Tensor, which: tf.Tensor, baseline: tf.Tensor, steps: int
) -> tf.Tensor:
    """What each pixel adds to the answer, on the way from the baseline to the image."""
    total = tf.zeros_like(images)
    for step in tf.range(steps):  # one loop of the traced program
        part = (tf.cast(step, tf.float32) + 0.5) / steps
        between = baseline + part * (images - baseline)
        with tf.GradientTape() as tape:
            tape.watch(between)
            answer = own_answer(model(between)[0], which)
        total += tape.gradient(answer, between)
    return ((images - baseline) * total / steps)[..., 0]


@tf.function
def grad_cam(model: tf.keras.Model, images: tf.Tensor, which: tf.Tensor) -> tf.Tensor:
    """The feature maps that speak for the answer, at the size of the image."""
    with tf.GradientTape() as tape:
        answers, features = model(images)  # recorded, because the model's variables are watched
        answer = own_answer(answers, which)
    weights = tf.reduce_mean(tape.gradient(answer, features), axis=[1, 2], keepdims=True)
    maps = tf.nn.relu(tf.reduce_sum(weights * features, axis=-1, keepdims=True))
    return tf.image.resize(maps, images.shape[1:3])[..., 0]


def near(masks: np.ndarray, reach: int = 2) -> np.ndarray:
    """The masks and what is at most `reach` pixels away from them."""
    wide = tf.constant(masks[..., None].astype(np.float32))
    return tf.nn.max_pool2d(wide, 2 * reach + 1, 1, "SAME").numpy()[..., 0] > 0.5


def main(output: Path = Path("demo-output"), quick: bool = False) -> dict[str, float]:
    tf.keras.utils.set_random_seed(1)
    model = new_model()
    x, y, _ = scenes(1200 if quick else 4000, seed=1)
    train(model, x, y, epochs=4 if quick else 10)

    x, y, masks = scenes(200, seed=2)
    accuracy = float(np.mean(np.argmax(model(tf.constant(x))[0], axis=1) == y))

    asked = np.flatnonzero(y != SHAPES.index("nothing"))[: 16 if quick else 40]
    x, y, masks = x[asked], y[asked], masks[asked]
    images, which = tf.constant(x), tf.constant(y)
    answers, _ = model(images)

    baseline, steps = tf.zeros_like(images), 50 if quick else 100
    maps = {
        "saliency": saliency(model, images, which).numpy(),
        "Integrated Gradients": integrated_gradients(model, images, which, baseline, steps).numpy(),
        "Grad-CAM": grad_cam(model, images, which).numpy(),
    }

    # Completeness: what the pixels add is the answer for the image, less the answer for the baseline.
    change = (own_answer(answers, which) - own_answer(model(baseline)[0], which)).numpy()
    added = maps["Integrated Gradients"].sum(axis=(1, 2))
    gap = float(np.max(np.abs(added - change)) / np.mean(np.abs(change)))

    around = near(masks)
    focus = {name: float(np.sum(abs(m) * around) / np.sum(abs(m))) for name, m in maps.items()}
    print(f"{accuracy:.1%} of new images are told apart")
    print(f"completeness: {gap:.2%} of an answer is missing at most")
    print(f"the shapes and their edges are {around.mean():.0%} of the pixels, and get")
    for name, part in focus.items():
        print(f"  {part:.0%} of {name}")

    output.mkdir(parents=True, exist_ok=True)
    rows = [int(np.flatnonzero(y == shape)[0]) for shape in range(4)]
    draw(x[..., 0], y, maps, change, rows, output / "attribution.png")
    return {"accuracy": accuracy, "gap": gap, "area": float(around.mean()), **focus}


# Drawing.


def bare(axes: Axes) -> None:
    axes.set(xticks=[], yticks=[])
    axes.spines[:].set_color("#D8DCE0")


def draw(
    x: np.ndarray, y: np.ndarray, maps: dict, change: np.ndarray, rows: list[int], path: Path
) -> None:
    figure = Figure(figsize=(8.4, 8.4), layout="constrained")
    table = figure.subplots(len(rows), 4)
    for axes, name in zip(table[0], ("image", *maps), strict=True):
        axes.set_title(name, fontsize=13, fontweight="bold", color=INK, pad=10)
    for line, row in zip(table, rows, strict=True):
        line[0].imshow(x[row], cmap="Greys", vmin=-0.1, vmax=1.2)
        line[0].set_ylabel(SHAPES[y[row]], fontsize=12, color=INK)
        for axes, (name, found) in zip(line[1:], maps.items(), strict=True):
            values = found[row]
            most = np.quantile(abs(values), 0.998)
            if name == "Integrated Gradients":
                axes.imshow(values, cmap=SIGNED, vmin=-most, vmax=most)
                axes.set_xlabel(f"sum {values.sum():.2f}, answer {change[row]:+.2f}", color=INK)
            else:
                axes.imshow(values, cmap=WARM, vmin=0, vmax=most)
            axes.contour(x[row], levels=[0.5], colors=INK, linewidths=0.5, alpha=0.45)
        for axes in line:
            bare(axes)
    figure.savefig(path, dpi=100)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Asks a network which pixels matter.")
    parser.add_argument("--output", type=Path, default=Path("demo-output"), help="for the picture")
    parser.add_argument("--quick", action="store_true", help="fewer images and epochs")
    options = parser.parse_args()
    main(options.output, options.quick)
