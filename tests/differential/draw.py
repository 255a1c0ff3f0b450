"""How arguments are drawn: small objects that the catalogue combines.

`floats()`, `ints()` and the like draw arrays. The draws of a call happen in the order of its
arguments, so one may follow another: `axis=axes_of("x")`, `y=fits("x")`, `w=same("x")`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from tests.differential.values import Array, Code, numpy_dtype

FLOATS = ("float32",) * 6 + ("float64",) * 4 + ("float16", "bfloat16")
WIDE = ("float32", "float64")
INTS = ("int32",) * 4 + ("int64",) * 3 + ("int8", "uint8", "int16", "uint16", "uint32", "uint64")
COMPLEX = ("complex64", "complex128")
EDGES = (0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan, 1e30, -1e30, 1e-30, 0.5)
FORMS = ("tensor",) * 16 + ("variable", "variable", "numpy", "list")

Drawn = dict[str, Any]


class Dice:
    """A source of random choices that repeats itself for the same seed."""

    def __init__(self, *seed: int) -> None:
        self.rng = np.random.default_rng(seed)

    def one(self, choices: Sequence[Any]) -> Any:
        return choices[int(self.rng.integers(len(choices)))]

    def integer(self, low: int, high: int) -> int:
        """An integer, both ends included."""
        return int(self.rng.integers(low, high + 1))

    def chance(self, probability: float) -> bool:
        return bool(self.rng.random() < probability)


class Draw:
    """A way to draw one argument, given the dice and the arguments before it."""

    def __init__(self, make: Callable[[Dice, Drawn], Any]) -> None:
        self.make = make

    def __or__(self, other: Any) -> Draw:
        choices = [self, draw(other)]
        return Draw(lambda dice, drawn: dice.one(choices).make(dice, drawn))

    def __ror__(self, other: Any) -> Draw:
        return draw(other) | self


def draw(value: Any) -> Draw:
    """A `Draw`, also of a plain value, which is then always the same."""
    return value if isinstance(value, Draw) else Draw(lambda dice, drawn: value)


def one_of(*choices: Any) -> Draw:
    draws = [draw(choice) for choice in choices]
    return Draw(lambda dice, drawn: dice.one(draws).make(dice, drawn))


def sometimes(value: Any, probability: float = 0.3) -> Draw:
    """None, or now and then the value."""
    inner = draw(value)
    return Draw(lambda dice, drawn: inner.make(dice, drawn) if dice.chance(probability) else None)


def code(*texts: str) -> Draw:
    return one_of(*map(Code, texts))


def dtypes(*names: str) -> Draw:
    return code(*(f"tf.{name}" for name in names))


def bools() -> Draw:
    return one_of(True, False)


def lists(item: Draw, low: int = 1, high: int = 3) -> Draw:
    return Draw(lambda d, drawn: [item.make(d, drawn) for _ in range(d.integer(low, high))])


def derived(make: Callable[..., Any]) -> Draw:
    """What a function makes of the dice and the arguments drawn before: `lambda dice, x: ...`."""
    return Draw(lambda dice, drawn: make(dice, **drawn))


# Shapes


def shapes(low: int = 0, high: int = 4, smallest: int = 1) -> Draw:
    """Shapes of rank `low` to `high`, rarely an empty one."""

    def make(dice: Dice, drawn: Drawn) -> tuple[int, ...]:
        rank = dice.integer(low, min(high, 3)) if dice.chance(0.85) else dice.integer(low, high)
        shape = [dice.integer(smallest, 3 if rank > 2 else 4) for _ in range(rank)]
        if shape and smallest <= 1 and dice.chance(0.05):
            shape[dice.integer(0, rank - 1)] = 0
        return tuple(shape)

    return Draw(make)


def _broadcastable(dice: Dice, shape: tuple[int, ...]) -> tuple[int, ...]:
    """A shape that broadcasts with `shape`, most often the same."""
    if dice.chance(0.4):
        return shape
    other = [1 if dice.chance(0.3) else size for size in shape]
    return tuple(other[dice.integer(0, len(other)) :])


# Arrays


def numbers(
    dice: Dice,
    shape: Sequence[int],
    dtype: str,
    low: float = -3.0,
    high: float = 3.0,
    edges: bool = False,
) -> np.ndarray[Any, Any]:
    """Random numbers of a dtype, with few digits so that they can be written down."""
    kind = numpy_dtype(dtype)
    if dtype == "bool":
        return dice.rng.random(shape) < 0.5
    if kind.kind in "iu":
        low = max(low, 0) if kind.kind == "u" else low
        return dice.rng.integers(int(low), int(high) + 1, shape).astype(kind)
    values = dice.rng.uniform(low, high, shape).round(2)
    if dtype.startswith("complex"):
        return np.asarray(values + 1j * dice.rng.uniform(low, high, shape).round(2), kind)
    if dice.chance(0.25):  # coarse steps make ties, zeros and whole numbers
        values = np.clip(np.round(values * 2) / 2, low, high)
    if edges and values.size:
        spots = dice.rng.random(shape) < 0.4
        values = np.where(spots, dice.rng.choice(EDGES, shape), values)
    with np.errstate(all="ignore"):
        return np.asarray(values).astype(kind)


def arrays(
    dtypes: Sequence[str] = FLOATS,
    shape: Any = None,
    low: float = -3.0,
    high: float = 3.0,
    edges: float = 0.12,
    forms: Sequence[str] = FORMS,
) -> Draw:
    """Arrays; `edges` is how often infinities, NaN, zeros and the like are put in."""
    shaped = shapes() if shape is None else draw(shape)

    def make(dice: Dice, drawn: Drawn) -> Array:
        dtype = dice.one(dtypes)
        size = shaped.make(dice, drawn)
        values = numbers(dice, size, dtype, low, high, dice.chance(edges))
        return Array(values, _form(dice, dtype, forms))

    return Draw(make)


def _form(dice: Dice, dtype: str, forms: Sequence[str] = FORMS) -> str:
    form = dice.one(forms)
    # A Python list has no dtype of its own: only the usual ones come out as they went in.
    return "tensor" if form == "list" and dtype not in ("float32", "int32", "bool") else form


def floats(low: float = -3.0, high: float = 3.0, **options: Any) -> Draw:
    return arrays(low=low, high=high, **options)


def ints(low: float = -5, high: float = 5, **options: Any) -> Draw:
    return arrays(options.pop("dtypes", INTS), low=low, high=high, **options)


def booleans(**options: Any) -> Draw:
    return arrays(("bool",), **options)


def complexes(**options: Any) -> Draw:
    return arrays(COMPLEX, **options)


def matrices(low: int = 2, high: int = 4, **options: Any) -> Draw:
    return arrays(shape=shapes(low, high), **options)


def _following(
    name: str, shape: Callable[[Dice, tuple[int, ...]], tuple[int, ...]], options: dict[str, Any]
) -> Draw:
    def make(dice: Dice, drawn: Drawn) -> Array:
        first = first_array(drawn[name])
        edges = dice.chance(options.get("edges", 0.08))
        dtype = options.get("dtype", first.dtype)
        low, high = options.get("low", -3.0), options.get("high", 3.0)
        values = numbers(dice, shape(dice, first.shape), dtype, low, high, edges)
        return Array(values, _form(dice, dtype))

    return Draw(make)


def first_array(value: Any) -> Array:
    return value if isinstance(value, Array) else first_array(value[0])


def same(name: str, **options: Any) -> Draw:
    """An array with the shape and dtype of another."""
    return _following(name, lambda dice, shape: shape, options)


def fits(name: str, **options: Any) -> Draw:
    """An array with the dtype of another, whose shape broadcasts with it."""
    return _following(name, _broadcastable, options)


def shaped(name: str, shape: Callable[..., Sequence[int]], **options: Any) -> Draw:
    """An array with the dtype of another and a shape made from its shape."""
    return _following(name, lambda dice, of: tuple(shape(dice, of)), options)


# Axes and indices


def rank_of(value: Any) -> int:
    return len(first_array(value).shape)


def axis_of(name: str, extra: int = 0) -> Draw:
    """One axis of an array, from either end."""

    def make(dice: Dice, drawn: Drawn) -> int:
        rank = rank_of(drawn[name]) + extra
        return dice.integer(-rank, rank - 1) if rank else 0

    return Draw(make)


def axes_of(name: str, none: bool = True) -> Draw:
    """None, one axis, or a list of axes of an array."""

    def make(dice: Dice, drawn: Drawn) -> Any:
        rank = rank_of(drawn[name])
        if none and (rank == 0 or dice.chance(0.3)):
            return None
        if rank and dice.chance(0.6):
            return dice.integer(-rank, rank - 1)
        chosen = dice.rng.permutation(rank)[: dice.integer(0 if none else 1, rank)]
        return [int(axis) - (rank if dice.chance(0.3) else 0) for axis in chosen]

    return Draw(make)


def indices(below: Callable[..., int], shape: Any = None, dtypes: Sequence[str] = ()) -> Draw:
    """Indices below a bound that is made from the earlier arguments: `lambda x: x.shape[0]`."""
    wanted = shapes(0, 2) if shape is None else draw(shape)

    def make(dice: Dice, drawn: Drawn) -> Array:
        bound = below(**drawn)
        size = wanted.make(dice, drawn) if bound else (0,)
        values = dice.rng.integers(0, max(bound, 1), size)
        dtype = dice.one(dtypes or ("int32", "int64"))
        return Array(np.asarray(values, dtype), _form(dice, dtype))

    return Draw(make)
