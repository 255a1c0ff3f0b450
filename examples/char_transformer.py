"""Trains a small transformer to write, one character after another, and lets it write.

    tapeflow demo char_transformer

The lines to learn from are made here: little sums in words ("four and three make seven.") and sentences of a small
grammar ("the old owl sings in the garden."). From every character the network guesses the next one, looking back
through two layers of causal attention. Words, grammar and sums all have to be found in the characters. On the left
real words come first, and true sums later. On the right is where the network looks while it writes a result:
each row is a character that it writes, and the dark places are those that it reads for it.
"""

import argparse
import re
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure

import tapeflow as tf

BLUE, ORANGE, GREEN, GREY, INK = "#0072B2", "#D55E00", "#009E73", "#8A8F98", "#24292F"
PALE = LinearSegmentedColormap.from_list("pale", ["#FBFBFA", "#A9CFE6", BLUE, "#003A5C"])

# The text.

NUMBERS = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"]
ANIMALS = ["fox", "owl", "hare", "cat", "mouse", "frog", "crow", "bear"]
QUALITIES = ["old", "small", "grey", "quick", "sleepy", "hungry"]
ACTIONS = ["sings", "sleeps", "waits", "hides", "dances", "reads"]
PLACES = ["garden", "forest", "kitchen", "river", "tower", "meadow"]
WORDS = {*NUMBERS, *ANIMALS, *QUALITIES, *ACTIONS, *PLACES, "and", "make", "the", "in", "by"}

ALPHABET = "\n abcdefghijklmnopqrstuvwxyz."
LENGTH = 42  # of the longest line, with the ends of two lines around it


def made_up(count: int, seed: int) -> list[str]:
    """Random lines: half of them sums, and half of them sentences."""
    rng = np.random.default_rng(seed)
    text = []
    for _ in range(count):
        if rng.random() < 0.5:
            first = rng.integers(0, 11)
            second = rng.integers(0, 11 - first)
            text.append(f"{NUMBERS[first]} and {NUMBERS[second]} make {NUMBERS[first + second]}.")
        else:
            words = [
                rng.choice(kind) for kind in (QUALITIES, ANIMALS, ACTIONS, ["in", "by"], PLACES)
            ]
            text.append("the {} {} {} {} the {}.".format(*words))
    return text


def encoded(lines: list[str]) -> np.ndarray:
    """The places of the characters in the alphabet. A line is between ends of lines, and filled up with them."""
    texts = [f"\n{line}\n".ljust(LENGTH, "\n") for line in lines]
    return np.array([[ALPHABET.index(letter) for letter in text] for text in texts], np.int32)


def decoded(codes: np.ndarray) -> list[str]:
    return ["".join(ALPHABET[code] for code in row).strip("\n").split("\n")[0] for row in codes]


# The network.


class Block(tf.keras.layers.Layer):
    """Attention to what came before, then two dense layers at each place; both add to what passes by."""

    def __init__(self, width: int, heads: int):
        super().__init__()
        layers = tf.keras.layers
        self.heads = heads
        self.norms = [layers.LayerNormalization(), layers.LayerNormalization()]
        self.project = layers.Dense(3 * width, use_bias=False)
        self.join = layers.Dense(width)
        self.widen = layers.Dense(4 * width, activation="relu")
        self.narrow = layers.Dense(width)

    def attention(self, x: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
        """What each place reads from the places before it, and how much it looks at each of them."""
        batch, length, width = x.shape
        each = width // self.heads
        parts = tf.reshape(self.project(x), [batch, length, 3, self.heads, each])
        query, key, value = tf.unstack(tf.transpose(parts, [2, 0, 3, 1, 4]))
        scores = tf.matmul(query, key, transpose_b=True) * each**-0.5
        earlier = tf.linalg.band_part(tf.ones([length, length]), -1, 0)
        looks = tf.nn.softmax(scores - 1e9 * (1 - earlier))
        read = tf.transpose(looks @ value, [0, 2, 1, 3])
        return self.join(tf.reshape(read, [batch, length, width])), looks

    def call(self, x: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
        read, looks = self.attention(self.norms[0](x))
        x = x + read
        return x + self.narrow(self.widen(self.norms[1](x))), looks


class Transformer(tf.keras.Model):
    def __init__(self, width: int = 64, heads: int = 4, depth: int = 2):
        super().__init__()
        layers = tf.keras.layers
        self.letters = layers.Embedding(len(ALPHABET), width)
        self.places = layers.Embedding(LENGTH, width)
        self.blocks = [Block(width, heads) for _ in range(depth)]
        self.norm = layers.LayerNormalization()
        self.answer = layers.Dense(len(ALPHABET))

    def call(self, codes: tf.Tensor) -> tuple[tf.Tensor, list[tf.Tensor]]:
        """The logits of the next character at each place, and where each layer looks."""
        x = self.letters(codes) + self.places(tf.range(codes.shape[1]))
        everywhere = []
        for block in self.blocks:
            x, looks = block(x)
            everywhere.append(looks)
        return self.answer(self.norm(x)), everywhere


class Writer:
    """Writes with a network, one character at a time."""

    def __init__(self, model: Transformer):
        self.model = model

    @tf.function
    def next_codes(self, codes: tf.Tensor, place: tf.Tensor) -> tf.Tensor:
        """A random next character for each line, as likely as the network says."""
        logits, _ = self.model(codes)
        return tf.random.categorical(logits[:, place], 1, dtype=tf.int32)[:, 0]

    def write(self, count: int) -> list[str]:
        """New lines, all at once."""
        codes = np.zeros([count, LENGTH], np.int32)
        for place in range(LENGTH - 1):
            # What is not written yet is there too, as zeros: nobody looks ahead, and one trace serves all places.
            codes[:, place + 1] = self.next_codes(tf.constant(codes), tf.constant(place))
        return decoded(codes)


def judged(lines: list[str]) -> tuple[float, float]:
    """How many of the words are words, and how many of the sums are true."""
    words = [word for line in lines for word in re.findall(r"[a-z]+", line)]
    sums = [re.fullmatch(r"(\w+) and (\w+) make (\w+)\.", line) for line in lines]
    true = [
        all(word in NUMBERS for word in found.groups())
        and NUMBERS.index(found[1]) + NUMBERS.index(found[2]) == NUMBERS.index(found[3])
        for found in sums
        if found
    ]
    return float(np.mean([word in WORDS for word in words] or [0])), float(np.mean(true or [0]))


def train(model: Transformer, writer: Writer, steps: int, looks: int) -> dict[str, np.ndarray]:
    """The loss at each step, and a few times on the way: the step, and the two marks of what is written."""
    lines = encoded(made_up(4000, seed=1))
    dataset = tf.data.Dataset.from_tensor_slices(lines).shuffle(4000).repeat().batch(32)
    rate = tf.keras.optimizers.schedules.CosineDecay(
        0.0, steps, warmup_target=4e-3, warmup_steps=50
    )
    optimizer = tf.keras.optimizers.Adam(rate, beta_2=0.98)

    @tf.function
    def train_step(codes: tf.Tensor) -> tf.Tensor:
        known, wanted = codes[:, :-1], codes[:, 1:]
        with tf.GradientTape() as tape:
            logits, _ = model(known)
            losses = tf.nn.sparse_softmax_cross_entropy_with_logits(wanted, logits)
            # After the end of a line there is nothing to learn.
            counts = tf.cast((known > 0) | (wanted > 0), tf.float32)
            loss = tf.reduce_sum(losses * counts) / tf.reduce_sum(counts)
        gradients = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(gradients, model.trainable_variables, strict=True))
        return loss

    losses, marks = [], []
    for step, codes in enumerate(bar := tf.progress(dataset.take(steps), "training"), 1):
        losses.append(train_step(codes))
        bar.log(loss=losses[-1])
        if step % (steps // looks) == 0:
            marks.append((step, *judged(writer.write(64))))
            bar.log(words=marks[-1][1], sums=marks[-1][2])
    return {"losses": np.array(losses), "marks": np.array(marks)}


def main(output: Path = Path("demo-output"), quick: bool = False) -> dict[str, float]:
    tf.keras.utils.set_random_seed(1)
    model = Transformer(width=32 if quick else 64)
    writer = Writer(model)
    history = train(model, writer, steps=150 if quick else 600, looks=1 if quick else 10)

    lines = [line for _ in range(1 if quick else 4) for line in writer.write(64)]
    words, sums = judged(lines)
    loss = float(np.mean(history["losses"][-20:]))
    print(f"loss {loss:.3f} for a character (at first {history['losses'][0]:.2f})")
    print(f"{words:.1%} of the words are words, {sums:.1%} of the sums are true. It writes:\n")
    print(*[f"    {line}" for line in lines[:8]], sep="\n")

    output.mkdir(parents=True, exist_ok=True)
    draw(model, history, lines, output / "char_transformer.png")
    return {"loss": loss, "first loss": float(history["losses"][0]), "words": words, "sums": sums}


# Drawing.


def clean(axes: Axes, title: str) -> None:
    axes.set_title(title, loc="left", fontsize=13, fontweight="bold", color=INK, pad=12)
    axes.spines[["top", "right"]].set_visible(False)
    axes.spines[["left", "bottom"]].set_color(GREY)
    axes.tick_params(colors=INK, labelsize=10)


def draw(model: Transformer, history: dict[str, np.ndarray], lines: list[str], path: Path) -> None:
    figure = Figure(figsize=(11, 5.2), layout="constrained")
    left, right = figure.subplots(1, 2, width_ratios=[1, 1.45])

    losses, marks = history["losses"], history["marks"]
    left.plot(losses, color=GREY, linewidth=0.9)
    left.set(xlabel="step", ylabel="loss for a character", xlim=(0, len(losses)), ylim=(0, None))
    shares = left.twinx()
    shares.plot(
        marks[:, 0], marks[:, 1], "o-", color=BLUE, markersize=4, label="words that are words"
    )
    shares.plot(
        marks[:, 0], marks[:, 2], "o-", color=ORANGE, markersize=4, label="sums that are true"
    )
    shares.plot([], [], color=GREY, label="loss")
    shares.set(ylim=(0, 1.02), yticks=[0, 0.5, 1], yticklabels=["0%", "50%", "100%"])
    shares.legend(frameon=False, fontsize=10, loc="center right")
    clean(left, "It learns to write")
    shares.spines[:].set_visible(False)
    shares.tick_params(colors=INK, labelsize=10, length=0)

    line = "four and three make seven."
    codes = encoded([line])
    _, everywhere = model(tf.constant(codes))
    # The place before a character is where it is guessed. Place 0 is the end of the line before.
    begin, end = line.index("seven"), len(line) - 1
    looks = np.max(everywhere[-1][0], axis=0)[begin : end + 1, : end + 1]
    right.imshow(looks, cmap=PALE, aspect="auto", vmin=0, vmax=1)
    right.set_xticks(range(end + 1), " " + line[:end])
    right.set_yticks(range(len(looks)), line[begin:])
    right.set(xlabel="what it reads", ylabel="what it writes next")
    clean(right, "Where it looks to write a sum")
    right.tick_params(labelsize=12, length=0)
    right.spines[:].set_visible(False)

    figure.supxlabel(
        "\n".join(["It writes:", *lines[:5]]), fontsize=11, family="monospace", color=INK
    )
    figure.savefig(path, dpi=110)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Trains a small transformer to write.")
    parser.add_argument("--output", type=Path, default=Path("demo-output"), help="for the picture")
    parser.add_argument("--quick", action="store_true", help="fewer steps")
    options = parser.parse_args()
    main(options.output, options.quick)
