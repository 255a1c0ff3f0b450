"""Trains one network on several weighted losses, one of them on an auxiliary head.

    tapeflow demo weighted_losses

Each signal is noise with one pulse in it, and the network tells which of four shapes the pulse has and where it is.
Of 5,000 signals only 100 are labelled; but from all of them an auxiliary head in the middle of the network can
learn to remove noise, and what is good for that is good for the task. Its weight is a variable that falls to zero
as the training goes on. The tape sees one sum. On the left are the three losses; in the middle is how much each of
them pulls at the trunk that they share; on the right is what the auxiliary head was worth, on signals not seen before.
"""

import argparse
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

import tapeflow as tf

LENGTH = 48
CLASSES = 4
BLUE, ORANGE, GREEN, GREY, INK = "#0072B2", "#D55E00", "#009E73", "#8A8F98", "#24292F"


def signals(count: int, seed: int) -> tuple[np.ndarray, ...]:
    """Noisy signals, the same without noise, the shape of each pulse and its place from 0 to 1."""
    rng = np.random.default_rng(seed)
    shape = rng.integers(0, CLASSES, count)
    place = rng.uniform(0.35, 0.65, count)
    t = (np.linspace(0, 1, LENGTH) - place[:, None]) / 0.09
    shapes = [
        np.exp(-(t**2)),
        0.8 * (abs(t) < 1.5),
        1.5 * t * np.exp(-(t**2)),
        (1 - 2 * t**2) * np.exp(-(t**2)),
    ]
    clean = np.choose(shape[:, None], shapes)
    noisy = clean + rng.normal(scale=0.35, size=clean.shape)
    return noisy.astype(np.float32), clean.astype(np.float32), shape, place.astype(np.float32)


class Network(tf.keras.Model):
    """A trunk with three heads: two at its end, and an auxiliary one in the middle."""

    def __init__(self):
        super().__init__()
        layers = tf.keras.layers
        self.lower = tf.keras.Sequential([layers.Dense(96, activation="relu") for _ in range(2)])
        self.upper = tf.keras.Sequential([layers.Dense(96, activation="relu") for _ in range(2)])
        self.shape_head = layers.Dense(CLASSES)
        self.place_head = layers.Dense(1)
        self.auxiliary_head = layers.Dense(LENGTH)

    def call(self, x: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor, tf.Tensor]:
        middle = self.lower(x)
        top = self.upper(middle)
        return self.shape_head(top), self.place_head(top)[:, 0], self.auxiliary_head(middle)


def train(name: str, auxiliary: float, steps: int, labelled: int) -> tuple[Network, dict]:
    """Trains with the auxiliary head at a weight that falls from `auxiliary` to zero."""
    tf.keras.utils.set_random_seed(0)
    model = Network()
    optimizer = tf.keras.optimizers.Adam(1e-3)
    cross_entropy = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    huber = tf.keras.losses.Huber(delta=0.1)
    # A variable and not a number: it changes, and the step is not traced again.
    weight = tf.Variable(auxiliary, trainable=False)

    def losses_of(few: tuple, many: tuple) -> dict[str, tf.Tensor]:
        x, _, shape, place = few
        shape_logits, place_guess, _ = model(x, training=True)
        noisy, clean, _, _ = many
        return {
            "shape": cross_entropy(shape, shape_logits),
            "place": 20.0 * huber(place, place_guess),
            "auxiliary": weight * tf.reduce_mean(tf.square(model(noisy, training=True)[2] - clean)),
        }

    @tf.function
    def train_step(few, many):
        with tf.GradientTape() as tape:
            losses = losses_of(few, many)
            total = tf.add_n(list(losses.values()))
        gradients = tape.gradient(total, model.trainable_variables)
        optimizer.apply_gradients(zip(gradients, model.trainable_variables, strict=True))
        return losses

    @tf.function
    def pulls(few, many):
        """The norm of the gradient that each loss alone has in the trunk."""
        with tf.GradientTape(persistent=True) as tape:
            losses = losses_of(few, many)
        trunk = model.lower.trainable_variables
        return {key: tf.linalg.global_norm(tape.gradient(losses[key], trunk)) for key in losses}

    few = tf.data.Dataset.from_tensor_slices(signals(labelled, seed=1))
    few = few.shuffle(labelled, seed=1).repeat().batch(50)
    many = tf.data.Dataset.from_tensor_slices(signals(5000, seed=2))
    many = many.shuffle(5000, seed=2).repeat().batch(100)
    test = tuple(map(tf.constant, signals(2000, seed=3)))
    notes = {"step": [], "accuracy": [], "error": [], "losses": [], "pulls": []}
    dataset = tf.data.Dataset.zip((few, many)).take(steps)
    for step, batch in enumerate(bar := tf.progress(dataset, name, total=steps)):
        weight.assign(auxiliary * max(0.0, 1 - step / (0.8 * steps)))
        losses = train_step(*batch)
        if step % 10 == 0 or step == steps - 1:
            accuracy, error = evaluate(model, test)
            notes["step"].append(step)
            notes["accuracy"].append(accuracy)
            notes["error"].append(error)
            notes["losses"].append([float(loss) for loss in losses.values()])
            notes["pulls"].append([float(pull) for pull in pulls(*batch).values()])
            bar.log(accuracy=accuracy, error=error)
    return model, {key: np.array(values) for key, values in notes.items()}


def evaluate(model: Network, test: tuple) -> tuple[float, float]:
    """How many shapes are right, and how far off the places are, in samples of the signal."""
    x, _, shape, place = test
    logits, guess, _ = model(x)
    right = tf.equal(tf.argmax(logits, axis=1), shape)
    accuracy = tf.reduce_mean(tf.cast(right, tf.float32))
    return float(accuracy), float(tf.reduce_mean(abs(guess - place))) * LENGTH


def main(output: Path = Path("demo-output"), quick: bool = False) -> dict[str, float]:
    steps = 150 if quick else 600
    _, alone = train("without", 0.0, steps, labelled=100)
    _, helped = train("with the auxiliary head", 100.0, steps, labelled=100)
    for name, notes in (("without", alone), ("with", helped)):
        end = f"accuracy {last(notes, 'accuracy'):.1%}, place off by {last(notes, 'error'):.2f}"
        print(f"{name} the auxiliary head: {end}")

    output.mkdir(parents=True, exist_ok=True)
    draw(alone, helped, output / "weighted_losses.png")
    return {
        "accuracy": last(helped, "accuracy"),
        "accuracy without": last(alone, "accuracy"),
        "error": last(helped, "error"),
        "error without": last(alone, "error"),
    }


def last(notes: dict, key: str) -> float:
    """The mean of the last few values."""
    return float(np.mean(notes[key][-5:]))


# Drawing.

LOSSES = {"shape": BLUE, "place": GREEN, "auxiliary": ORANGE}


def clean(axes: Axes, title: str) -> None:
    axes.set_title(title, loc="left", fontsize=12.5, fontweight="bold", color=INK, pad=12)
    axes.spines[["top", "right"]].set_visible(False)
    axes.spines[["left", "bottom"]].set_color(GREY)
    axes.tick_params(colors=INK, labelsize=10, which="both")
    axes.grid(axis="y", color="#E6E8EB", linewidth=0.8)
    axes.set_axisbelow(True)


def draw(alone: dict, helped: dict, path: Path) -> None:
    figure = Figure(figsize=(11, 4), layout="constrained")
    left, middle, right = figure.subplots(1, 3)
    steps = helped["step"]

    for place, (name, colour) in enumerate(LOSSES.items()):
        values = helped["losses"][:, place]
        left.semilogy(steps[values > 0], values[values > 0], color=colour, label=name)
    left.set(xlabel="step", ylabel="loss, with its weight")
    left.set_ylim(1e-4, None)
    left.legend(frameon=False, fontsize=10)
    clean(left, "Three losses, one sum")

    pulls = helped["pulls"]
    shares = pulls / pulls.sum(axis=1, keepdims=True)
    kernel = np.ones(7) / 7
    shares = np.array([np.convolve(np.pad(s, 3, mode="edge"), kernel, "valid") for s in shares.T])
    middle.stackplot(steps, shares[::-1], colors=list(LOSSES.values())[::-1], alpha=0.75)
    middle.set(
        xlabel="step", ylabel="share of the gradient norms", ylim=(0, 1), xlim=(0, steps[-1])
    )
    middle.yaxis.set_major_formatter(lambda value, _: f"{value:.0%}")
    clean(middle, "Who pulls at the trunk")

    right.plot(steps, helped["accuracy"], color=ORANGE, linewidth=2, label="with auxiliary head")
    right.plot(steps, alone["accuracy"], color=GREY, linewidth=2, label="without")
    right.yaxis.set_major_formatter(lambda value, _: f"{value:.0%}")
    right.set(xlabel="step", ylabel="accuracy on new signals")
    right.legend(frameon=False, fontsize=10, loc="lower right")
    clean(right, "What it is worth")
    figure.savefig(path, dpi=110)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Trains on several weighted losses.")
    parser.add_argument("--output", type=Path, default=Path("demo-output"), help="for the picture")
    parser.add_argument("--quick", action="store_true", help="fewer steps")
    options = parser.parse_args()
    main(options.output, options.quick)
