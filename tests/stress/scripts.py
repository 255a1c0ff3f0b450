"""Random programs: variables, arrays, a step function, and what happens around it.

A program is data, so that it can be shown as a script, evaluated without tapeflow, and made smaller.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from tests.stress.grammar import ASSIGNMENTS, GIVEN, TAKEN, VALUES, Op
from tests.stress.layouts import BROADCAST, numbers


class Made(NamedTuple):
    """An array, or a variable made of one."""

    name: str
    seed: int
    shape: tuple[int, ...]
    dtype: str
    layout: str

    @property
    def text(self) -> str:
        return f"array({self.seed}, {self.shape}, {self.dtype!r}, {self.layout!r})"

    @property
    def values(self) -> np.ndarray:
        values = numbers(self.seed, self.shape, self.dtype)
        if self.layout == BROADCAST and self.shape and self.shape[0]:
            values = np.array(np.broadcast_to(values[:1], self.shape))
        return values


class Line(NamedTuple):
    """A line of the step function."""

    op: str
    out: str  # the name it gives to its value; empty for an assignment
    operands: tuple[str, ...]
    attrs: dict[str, Any]

    @property
    def row(self) -> Op:
        return VALUES[self.op] if self.out else ASSIGNMENTS[self.op]

    @property
    def text(self) -> str:
        text = self.row.text.format(*self.operands, **self.attrs)
        return f"{self.out} = {text}" if self.out else text


class Given(NamedTuple):
    """A value as it is handed over."""

    form: str
    name: str
    attrs: dict[str, Any]

    @property
    def is_variable(self) -> bool:
        """Whether it is one of the variables itself, and not a value."""
        return self.form == "itself" and self.name[0] == "v"

    @property
    def text(self) -> str:
        return GIVEN[self.form].text.format(self.name, **self.attrs)


class Event(NamedTuple):
    """Something that happens outside of the function.

    Attributes:
      kind: call, slope (a call under a tape), assign, keep, drop, write or save.
      name: what it makes or changes.
      op: the row, for an assignment or for what is kept.
      given: what it takes.
      attrs: of the row.
      look: whether variables are looked at afterwards. Looking makes a reference, and a variable that somebody has
        looked at is treated otherwise.
    """

    kind: str
    name: str
    op: str = ""
    given: tuple[Given, ...] = ()
    attrs: dict[str, Any] = {}  # noqa: RUF012
    look: bool = True
    made: Made | None = None


class Program(NamedTuple):
    """All of it."""

    variables: tuple[Made, ...]
    arrays: tuple[Made, ...]
    body: tuple[Line, ...]
    returns: tuple[str, ...]
    events: tuple[Event, ...]

    @property
    def parameters(self) -> list[str]:
        return [f"p{i}" for i in range(len(self.arrays))]

    @property
    def has_loop(self) -> bool:
        return any(line.op == "loop" for line in self.body)

    def dtypes(self) -> set[str]:
        cast = {line.attrs["dtype"] for line in self.body if "dtype" in line.attrs}
        return {m.dtype for m in (*self.variables, *self.arrays)} | cast

    # As text.

    def beginning(self, decorator: str) -> str:
        """The text up to the function."""
        lines = [f"{v.name} = tf.Variable({v.text})" for v in self.variables]
        lines += [f"{a.name} = {a.text}" for a in self.arrays]
        if decorator:
            lines.append(decorator)
        lines.append(f"def step({', '.join(self.parameters)}):")
        for line in self.body:
            lines += ["    " + part for part in line.text.split("\n")]
        returned = "".join(f"tf.convert_to_tensor({r}), " for r in self.returns)
        lines.append(f"    return ({returned})")
        return "\n".join(lines) + "\n"

    def event_text(self, event: Event, eager: bool) -> str:
        """The text of an event."""
        if event.kind in ("call", "slope"):
            given = [g.text for g in event.given]
            if eager:  # what a function does with arrays by itself
                given = [
                    text if g.is_variable else f"tf.convert_to_tensor({text})"
                    for g, text in zip(event.given, given, strict=True)
                ]
            outputs = [f"{event.name}_{i}" for i in range(len(self.returns))]
            out = "".join(f"{name}, " for name in outputs) or "_"
            if event.kind == "call":
                return f"{out} = step({', '.join(given)})"
            assert event.made is not None
            return (
                f"arguments = [{', '.join(given)}]\n"
                "with tf.GradientTape() as tape:\n"
                f"    {out} = step(*arguments)\n"
                f"    total = total_of([{', '.join(outputs)}])\n"
                f"slope = tape.gradient(total, {event.made.name}, unconnected_gradients='zero')\n"
                f"{event.name} = tf.reduce_sum(tf.convert_to_tensor(slope) * {event.made.text})\n"
                "del arguments, tape, total, slope"
            )
        if event.kind == "assign":
            return ASSIGNMENTS[event.op].text.format(
                event.name, *(g.text for g in event.given), **event.attrs
            )
        if event.kind == "keep":
            taken = TAKEN[event.op].text.format(event.given[0].name, **event.attrs)
            return f"{event.name} = {taken}"
        if event.kind == "drop":
            return f"del {event.name}"
        if event.kind == "write":
            assert event.made is not None
            return f"{event.name}[...] = {event.made.text}"
        assert event.kind == "save"
        return f"restored({event.name})"

    def script(self, decorator: str) -> str:
        """A program that can be run by hand."""
        lines = [
            "import copy",
            "import numpy as np",
            "import tapeflow as tf",
            "from tests.stress.layouts import array",
            "",
            self.beginning(decorator),
        ]
        lines += [self.event_text(event, not decorator) for event in self.events]
        for kind, name in (("save", "restored"), ("slope", "total_of")):
            if any(event.kind == kind for event in self.events):
                lines.insert(4, f"from tests.stress.playing import {name}")
        return "\n".join(lines)
