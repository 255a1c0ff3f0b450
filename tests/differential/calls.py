"""The catalogue's entries, and the calls that are drawn from them."""

from __future__ import annotations

import re
import zlib
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from tests.differential.draw import Dice, Draw, draw
from tests.differential.values import Array, Code, arrays_in, written


@dataclass(frozen=True)
class Call:
    """One call, which both libraries make."""

    entry: Entry
    arguments: dict[str, Any]
    seed: int
    is_bad: bool = False

    @property
    def arrays(self) -> dict[str, Array]:
        found: dict[str, Array] = {}
        for name, value in self.arguments.items():
            found |= arrays_in(value, name)
        return found

    @property
    def source(self) -> str:
        """The Python that makes the call, with names for the arrays."""
        return self.entry.source({name: written(v, name) for name, v in self.arguments.items()})

    def __str__(self) -> str:
        """The same, standing for itself: one line unless it is a program."""
        if self.entry.is_program:
            inputs = [f"{name} = {value!r}" for name, value in self.arguments.items()]
            return "\n".join([*inputs, self.source])
        return self.entry.source({name: written(v) for name, v in self.arguments.items()})


@dataclass(frozen=True)
class Entry:
    """One row of the catalogue: an op or an expression, and how its arguments are drawn."""

    name: str
    draws: dict[str, Draw]
    expression: str | None = None
    """Python with the arguments' names; None is a call of the op with keywords."""
    is_program: bool = False
    """Whether the expression is a whole program, which leaves its `result`."""
    positional: int = 0
    """How many arguments are passed by position, for `*args`."""
    values: bool = True
    """Whether values are compared: not those of random numbers."""
    gradients: bool = True
    second: bool = True
    bad: bool = True
    """Whether deliberate mistakes are made."""
    loose: float = 1.0
    """By how much the tolerance is widened."""
    valid: Callable[..., bool] | None = field(default=None, compare=False)
    """Says which drawn arguments belong together; others are drawn again."""

    def source(self, texts: dict[str, str]) -> str:
        if self.expression is None:
            items = list(texts.items())
            leading = [text for _, text in items[: self.positional]]
            trailing = [f"{name}={text}" for name, text in items[self.positional :]]
            return f"tf.{self.name}({', '.join(leading + trailing)})"
        if self.is_program:
            return self.expression
        names = "|".join(map(re.escape, sorted(texts, key=len, reverse=True)))
        if not names:
            return self.expression
        return re.sub(rf"(?<![\w.])({names})\b(?!=)", lambda m: texts[m[1]], self.expression)

    def draw(self, seed: int, number: int, bad: float = 0.08) -> Call:
        """The call of that number, which is the same whatever else is drawn."""
        dice = Dice(seed, zlib.crc32(self.name.encode()), number)
        for _ in range(100):
            drawn: dict[str, Any] = {}
            for name, how in self.draws.items():
                drawn[name] = how.make(dice, drawn)
            if self.valid is None or self.valid(**drawn):
                break
        else:
            raise RuntimeError(f"{self.name}: no valid arguments in 100 tries")
        is_bad = self.bad and dice.chance(bad)
        return Call(self, spoil(dice, drawn) if is_bad else drawn, seed + number, is_bad)


CATALOGUE: dict[str, Entry] = {}

OPTIONS = {
    "expression",
    "label",
    "positional",
    "values",
    "gradients",
    "second",
    "bad",
    "loose",
    "valid",
}


def op(name: str, **draws: Any) -> None:
    """Adds an op. Names with an underscore before them are options: `_values=False`."""
    options = {key[1:]: draws.pop(key) for key in list(draws) if key[1:] in OPTIONS}
    label = options.pop("label", name)
    assert label not in CATALOGUE, f"{label} is in the catalogue twice"
    made = {key: draw(value) for key, value in draws.items()}
    CATALOGUE[label] = Entry(name, made, **options)


def expression(text: str, **draws: Any) -> None:
    """Adds an expression over the arguments, such as `x + y`."""
    draws.setdefault("_bad", False)
    op(text, _expression=text, **draws)


def spoil(dice: Dice, arguments: dict[str, Any]) -> dict[str, Any]:
    """The arguments with one mistake."""
    candidates = [name for name, v in arguments.items() if not isinstance(v, (Code, bool))]
    if not candidates:
        return arguments
    name = dice.one(candidates)
    return arguments | {name: _spoiled(dice, arguments[name])}


def _spoiled(dice: Dice, value: Any) -> Any:
    if isinstance(value, Array):
        return _spoiled_array(dice, value)
    if isinstance(value, list) and value and isinstance(value[0], Array):
        return [_spoiled_array(dice, value[0]), *value[1:]]
    if isinstance(value, (list, tuple)):
        return dice.one([[*value, 9], value[1:], [7] * len(value)])
    if isinstance(value, str):
        return "nonsense"
    return dice.one([9, -9, 1.5])


def _spoiled_array(dice: Dice, array: Array) -> Array:
    values = array.values
    kind = dice.one(["dtype", "rank", "size"])
    if kind == "dtype":
        with np.errstate(all="ignore"):
            real = np.nan_to_num(values.real.astype("float64"), posinf=9.0, neginf=-9.0)
            other = np.clip(real, -9, 9).astype(dice.one(["int32", "float64", "bool"]))
        return Array(other, "tensor" if array.form == "list" else array.form)
    if kind == "rank":
        can_shrink = values.ndim and values.shape[-1] and dice.chance(0.5)
        values = values[..., 0] if can_shrink else values[..., None]
    elif values.ndim:
        axis = dice.integer(0, values.ndim - 1)
        values = np.concatenate([values, values], axis)
    return Array(np.ascontiguousarray(values) if values.ndim else values, array.form)
