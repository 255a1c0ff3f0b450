"""How cost grows: with the ops of a tape and of a function, the batch, a dataset, the size of a Jacobian.

    python benchmarks/growth.py             measures, and writes benchmarks/measured/<kind of machine>-growth.json
    python benchmarks/growth.py ops data    only lines whose names begin so
    python benchmarks/growth.py --draw      draws docs/images/growth.svg from what was measured

Times are those of the processor, all threads together, so that a busy machine does not bend the lines. Of each line the
sizes grow tenfold until one takes longer than `--limit` seconds. A line is straight if ten times as
much takes about ten times as long; the last column says how many times longer it took than that.
"""

from __future__ import annotations

import argparse
import itertools
import json
import platform
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from time import process_time
from typing import Any, NamedTuple

import machines
import numpy as np

HERE = Path(__file__).resolve().parent
PICTURE = HERE.parent / "docs/images/growth.svg"
FILE = HERE / "measured" / f"{platform.machine()}-growth.json"

Timed = Callable[[], float]  # does it once, and returns how long that took
TENFOLD = (1, 10, 100, 1_000, 10_000)
STEEP = 1.5  # times longer than on a straight line


class Line(NamedTuple):
    """What is measured for several sizes."""

    name: str
    group: str  # lines of a group are in one picture
    sizes: Sequence[int]
    make: Callable[[Any, int], Timed]


# Ops in a tape and in a function.


def _chain(tf: Any, y: Any, x: Any, ops: int) -> Any:
    for i in range(ops):
        y = tf.sin(y) if i % 2 else y * x
    return y


def record(tf: Any, ops: int) -> Timed:
    x = tf.constant(np.full([4, 4], 0.9, np.float32))

    def once() -> float:
        start = process_time()
        with tf.GradientTape() as tape:
            tape.watch(x)
            _chain(tf, x, x, ops)
        return process_time() - start

    return once


def gradient(tf: Any, ops: int) -> Timed:
    x = tf.constant(np.full([4, 4], 0.9, np.float32))

    def once() -> float:
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = _chain(tf, x, x, ops)
        start = process_time()
        tape.gradient(y, x)
        return process_time() - start

    return once


def _traced(tf: Any, ops: int, jit_compile: bool) -> tuple[Any, Any]:
    """A function with a tape inside, and its argument."""

    @tf.function(jit_compile=jit_compile)
    def function(x: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = _chain(tf, x, x, ops)
        return tape.gradient(y, x)

    return function, tf.constant(np.full([4, 4], 0.9, np.float32))


def trace(tf: Any, ops: int) -> Timed:
    def once() -> float:
        function, x = _traced(tf, ops, False)
        start = process_time()
        function.get_concrete_function(x)
        return process_time() - start

    return once


def _compile(jit_compile: bool) -> Callable[[Any, int], Timed]:
    def make(tf: Any, ops: int) -> Timed:
        def once() -> float:
            function, x = _traced(tf, ops, jit_compile)
            function.get_concrete_function(x)
            start = process_time()
            function(x).numpy()
            return process_time() - start

        return once

    return make


def call(tf: Any, ops: int) -> Timed:
    function, x = _traced(tf, ops, False)
    function(x)

    def once() -> float:
        start = process_time()
        function(x).numpy()
        return process_time() - start

    return once


# Batches.


def _step(compiled: bool) -> Callable[[Any, int], Timed]:
    def make(tf: Any, batch: int) -> Timed:
        rng = np.random.default_rng(0)
        widths = (784, 256, 256, 10)
        weights = [
            tf.Variable(rng.normal(size=[a, b]).astype("float32") / a**0.5)
            for a, b in itertools.pairwise(widths)
        ]
        images = tf.constant(rng.normal(size=[batch, 784]).astype("float32"))
        labels = tf.constant(rng.integers(0, 10, batch))

        def step(images: Any, labels: Any) -> Any:
            with tf.GradientTape() as tape:
                h = tf.nn.relu(images @ weights[0])
                h = tf.nn.relu(h @ weights[1])
                losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels, h @ weights[2])
                loss = tf.reduce_mean(losses)
            for w, g in zip(weights, tape.gradient(loss, weights), strict=True):
                w.assign_sub(0.01 * g)
            return loss

        # Without a choice among programs, which would be made in the middle of a line.
        run = tf.function(step, jit_compile=False) if compiled else step
        run(images, labels)

        def once() -> float:
            start = process_time()
            run(images, labels).numpy()
            return process_time() - start

        return once

    return make


# Elements of a dataset.


def _pass(pipeline: Callable[[Any, int], Any]) -> Callable[[Any, int], Timed]:
    def make(tf: Any, elements: int) -> Timed:
        data = pipeline(tf, elements)

        def once() -> float:
            start = process_time()
            for _ in data:
                pass
            return process_time() - start

        return once

    return make


def _batches(tf: Any, elements: int) -> Any:
    return tf.data.Dataset.range(elements).batch(32)


def _shuffled(tf: Any, elements: int) -> Any:
    numbers = np.zeros([elements, 4], np.float32)
    return tf.data.Dataset.from_tensor_slices(numbers).shuffle(elements).batch(32)


def _mapped(tf: Any, elements: int) -> Any:
    return tf.data.Dataset.range(elements).map(lambda n: n * 2 + 1).batch(32)


# Jacobians.


def jacobian(tf: Any, elements: int) -> Timed:
    size = round(elements**0.5)
    x = tf.constant(np.linspace(-1, 1, size, dtype="float32"))

    def once() -> float:
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.cumsum(tf.tanh(x))
        start = process_time()
        tape.jacobian(y, x)
        return process_time() - start

    return once


MILLIONS = (*TENFOLD, 100_000, 1_000_000, 10_000_000)
LINES = (
    Line("ops: record", "ops in a tape or a function", TENFOLD, record),
    Line("ops: gradient", "ops in a tape or a function", TENFOLD, gradient),
    Line("ops: trace", "ops in a tape or a function", TENFOLD, trace),
    Line("ops: compile, NumPy", "ops in a tape or a function", TENFOLD, _compile(False)),
    Line("ops: compile, XLA", "ops in a tape or a function", TENFOLD, _compile(True)),
    Line("ops: call, NumPy", "ops in a tape or a function", TENFOLD, call),
    Line("batch: eager step", "samples in a batch of an MLP", TENFOLD, _step(False)),
    Line("batch: function step", "samples in a batch of an MLP", TENFOLD, _step(True)),
    Line("data: batch", "elements of a dataset", MILLIONS, _pass(_batches)),
    Line("data: shuffle, batch", "elements of a dataset", MILLIONS, _pass(_shuffled)),
    Line("data: map, batch", "elements of a dataset", MILLIONS, _pass(_mapped)),
    Line("jacobian", "elements of a Jacobian", (1, 100, 10_000, 1_000_000, 25_000_000), jacobian),
)


def measured(tf: Any, line: Line, limit: float) -> Iterator[tuple[int, float]]:
    """Sizes and seconds: for each size the best of several times."""
    line.make(tf, line.sizes[0])()  # loads what is imported on first use
    for size in line.sizes:
        started = process_time()
        once = line.make(tf, size)
        times = [once()]
        while len(times) < 20 and process_time() - started < min(0.5, limit):
            times.append(once())
        yield size, min(times)
        if times[0] * 10 > limit:
            return


def steepness(points: Sequence[tuple[int, float]]) -> float:
    """How many times longer the largest took than it would on a straight line through the one before."""
    if len(points) < 2:
        return 1.0
    (a, before), (b, last) = points[-2:]
    return last / before / (b / a)


def draw(growth: dict[str, Any], path: Path) -> None:
    """A picture with a part for each group of lines."""
    import matplotlib

    matplotlib.use("svg")
    # The same picture for the same numbers, with letters and no outlines of letters.
    matplotlib.rcParams |= {"svg.hashsalt": "growth", "svg.fonttype": "none"}
    from matplotlib import pyplot

    groups = list(dict.fromkeys(line.group for line in LINES))
    figure, parts = pyplot.subplots(2, 2, figsize=(11, 8), layout="constrained")
    for group, part in zip(groups, parts.flat, strict=True):
        for line in LINES:
            points = growth["lines"].get(line.name)
            if line.group == group and points:
                sizes, seconds = zip(*points, strict=True)
                label = line.name.partition(": ")[2] or line.name
                part.loglog(sizes, np.array(seconds) * 1e3, marker="o", markersize=3, label=label)
        part.set(xlabel=group, ylabel="ms of processor time")
        part.grid(alpha=0.3)
        part.legend(fontsize="small", frameon=False)
    figure.suptitle(f"How cost grows, on {machines.heading(growth['machine'], [growth['date']])}")
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, metadata={"Date": None})


def main() -> int:
    """Runs the command."""
    parser = argparse.ArgumentParser(description="How cost grows in tapeflow.")
    parser.add_argument("lines", nargs="*", help="beginnings of names of lines (default: all)")
    parser.add_argument("--limit", type=float, default=60.0, help="seconds for one size, at most")
    parser.add_argument("--draw", action="store_true", help="only draw what was measured")
    options = parser.parse_args()
    if options.draw:
        draw(json.loads(FILE.read_text()), PICTURE)
        print(f"Drawn: {PICTURE.relative_to(HERE.parent)}")
        return 0
    import tapeflow as tf

    growth = json.loads(FILE.read_text()) if FILE.exists() else {"lines": {}}
    growth |= {"machine": machines.this_machine(), "date": machines.today()}
    for line in LINES:
        if line.name.startswith(tuple(options.lines) or ""):
            points = []
            for size, seconds in measured(tf, line, options.limit):
                points.append((size, seconds))
                print(f"{line.name:24}{size:>12,}{seconds * 1e3:12.3f} ms", flush=True)
            steep = steepness(points)
            print(f"{'':24}{'steepness':>12}{steep:12.2f}{'  !' if steep > STEEP else ''}")
            growth["lines"][line.name] = points
    FILE.parent.mkdir(exist_ok=True)
    FILE.write_text(json.dumps(growth, indent=1) + "\n")
    print(f"Written: {FILE.relative_to(HERE.parent)}. The picture: benchmarks/growth.py --draw")
    return 0


if __name__ == "__main__":
    sys.exit(main())
