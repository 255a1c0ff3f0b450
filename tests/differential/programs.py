"""Random small programs: a few ops, a few tapes, and what the tapes give."""

from __future__ import annotations

from tests.differential.calls import Call, Entry
from tests.differential.draw import Dice, numbers
from tests.differential.values import Array


def draw_program(seed: int, number: int) -> Call:
    """A program as a call: statements over its inputs."""
    dice = Dice(seed, 1, number)
    writer = Writer(dice)
    text = writer.text()
    entry = Entry("program", {}, expression=text, is_program=True, gradients=False, loose=10.0)
    return Call(entry, dict(writer.inputs), seed + number)


UNARY = (
    "tf.sin({a})",
    "tf.tanh({a})",
    "tf.square({a})",
    "-{a}",
    "tf.exp(-tf.abs({a}))",
    "tf.identity({a})",
    "tf.stop_gradient({a})",
    "{a} * 2.0",
    "tf.nn.relu({a})",
    "tf.cast(tf.cast({a}, tf.float64) + 1.0, tf.float32)",
    "tf.round({a})",
    "tf.cast(tf.cast({a}, tf.int32), tf.float32)",
    "tf.reduce_sum({a}) + {a}",
    "tf.gather({a}, [1, 0, 1])",
    "{a}[::-1]",
    "tf.where({a} > 0.0, {a}, 0.5)",
    "tf.reverse({a}, [0])",
    "tf.nn.softmax({a})",
)
BINARY = (
    "{a} + {b}",
    "{a} * {b}",
    "{a} - {b}",
    "tf.maximum({a}, {b})",
    "tf.atan2({a}, {b})",
    "{a} / ({b} * {b} + 1.0)",
    "tf.reduce_sum({a} * {b}) * {a}",
    "tf.where({a} > {b}, {a}, {b})",
    "tf.stack([{a}, {b}])[0]",
)

TOTAL = """\
def total(gradients):
    return sum(tf.reduce_sum(tf.convert_to_tensor(g)) for g in gradients if g is not None) + 0.0
"""


class Writer:
    """Writes the program, statement by statement.

    All values are vectors of three float32 numbers, so that any op can follow any other.
    """

    def __init__(self, dice: Dice) -> None:
        self.dice = dice
        self.lines: list[str] = []
        self.inputs: dict[str, Array] = {}
        for name in ("x", "y", "v", "w")[: dice.integer(2, 4)]:
            form = "variable" if name in "vw" else "tensor"
            self.inputs[name] = Array(numbers(dice, (3,), "float32", -2.0, 2.0), form)
        self.values = list(self.inputs)

    def text(self) -> str:
        dice = self.dice
        depth = dice.integer(1, 3)
        tapes = [f"tape{index}" for index in range(depth)]
        persistent = [dice.chance(0.5) for _ in tapes]
        for level, tape in enumerate(tapes):
            options = ["persistent=True"] if persistent[level] else []
            if dice.chance(0.2):
                options.append("watch_accessed_variables=False")
            self.add(level, f"with tf.GradientTape({', '.join(options)}) as {tape}:")
            for name in self.inputs:
                if dice.chance(0.75) and (name in "xy" or dice.chance(0.3)):
                    self.add(level + 1, f"{tape}.watch({name})")
            if dice.chance(0.5):
                self.op(level + 1)
        for _ in range(dice.integer(2, 6)):
            self.statement(depth, tapes)
        results: list[str] = []
        for level in reversed(range(depth)):
            for turn in range(2 if persistent[level] and dice.chance(0.4) else 1):
                name = f"g{level}{turn}"
                # What an outer tape gives for a value inside depends on how gradients are written.
                allowed = self.values if level == depth - 1 else list(self.inputs)
                self.add(level, f"{name} = {self.gradient(tapes[level], allowed)}")
                results.append(name)
            if level:
                self.add(level, f"{self.new()} = total({results[-1]}) * x")
        return "\n".join([TOTAL, *self.lines, f"result = [{', '.join(results)}]"])

    def add(self, level: int, line: str) -> None:
        self.lines.append("    " * level + line)

    def new(self) -> str:
        self.values.append(f"t{len(self.values)}")
        return self.values[-1]

    def op(self, level: int) -> None:
        a, b = (self.dice.one(self.values[-5:]) for _ in "ab")
        text = self.dice.one(BINARY if self.dice.chance(0.5) else UNARY).format(a=a, b=b)
        self.add(level, f"{self.new()} = {text}")

    def statement(self, level: int, tapes: list[str]) -> None:
        dice = self.dice
        if dice.chance(0.12):
            self.add(level, f"with {dice.one(tapes)}.stop_recording():")
            self.op(level + 1)
        elif dice.chance(0.08):
            variables = [name for name in self.inputs if name in "vw"]
            if variables:
                self.add(level, f"{dice.one(variables)}.assign_add({dice.one(self.values)})")
        elif dice.chance(0.05):
            self.add(level, f"{dice.one(tapes)}.reset()")
        else:
            self.op(level)

    def gradient(self, tape: str, allowed: list[str]) -> str:
        dice = self.dice
        many = dice.chance(0.4)
        computed = [value for value in self.values if value not in self.inputs] or self.values[-1:]
        targets = [dice.one(computed[-4:]) for _ in range(dice.integer(1, 2) if many else 1)]
        # A target that no tape follows and that is a source, too, has whims in TensorFlow.
        others = [value for value in allowed if value not in targets]
        sources = sorted({dice.one(others) for _ in range(dice.integer(1, 3))})
        options = []
        if dice.chance(0.3):
            options.append('unconnected_gradients="zero"')
        if dice.chance(0.25):
            seeds = [f"tf.ones_like({target}) * 0.5" for target in targets]
            options.append(f"output_gradients={listed(seeds, many)}")
        return f"{tape}.gradient({', '.join([listed(targets, many), listed(sources, True), *options])})"


def listed(names: list[str], many: bool) -> str:
    return f"[{', '.join(names)}]" if many else names[0]
