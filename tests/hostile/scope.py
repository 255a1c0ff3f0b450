"""What the texts of hostile values may name, besides `tf` and `np`."""

from __future__ import annotations

import array
import collections
import decimal
import fractions
import io
import itertools
import random
from typing import Any

import numpy as np

Pair = collections.namedtuple("Pair", "first second")


def nested(depth: int, leaf: Any = 1.0) -> Any:
    """A list in a list in a list."""
    for _ in range(depth):
        leaf = [leaf]
    return leaf


def cyclic() -> list[Any]:
    """A list that holds itself."""
    found: list[Any] = [1.0]
    found.append(found)
    return found


class Plain:
    """An object that is nothing in particular."""


class Index:
    """What may stand for an integer."""

    def __index__(self) -> int:
        return 1


class Arrays:
    """An object that gives away an array of objects."""

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        return np.array([Plain(), None], object)


def few(items: Any) -> list[Any]:
    """The first of what is passed as `*items`: Python itself would look for the last."""
    return list(itertools.islice(items, 100))


class Endless:
    """A sequence that claims to be longer than memory."""

    def __len__(self) -> int:
        return 2**62

    def __getitem__(self, at: Any) -> Any:
        if isinstance(at, slice) or at > 3:
            raise IndexError(at)
        return 1.0


def image_file(kind: str, width: int = 3, height: int = 2, mode: str = "RGB") -> bytes:
    """The contents of an image file."""
    from PIL import Image

    file = io.BytesIO()
    Image.new(mode, (width, height)).save(file, kind)
    return file.getvalue()


def damaged(contents: bytes, seed: int) -> bytes:
    """The same with a few bytes changed, or cut off."""
    dice = random.Random(seed)
    out = bytearray(contents)
    for _ in range(dice.randrange(4)):
        out[dice.randrange(len(out))] = dice.randrange(256)
    return bytes(out[: dice.randrange(len(out))] if dice.random() < 0.3 else out)


def used_tape(tf: Any) -> Any:
    """A tape that has something to tell."""
    x = tf.Variable([1.0, 2.0])
    with tf.GradientTape() as tape:
        tf.reduce_sum(x * x)
    return tape


def gradient(tf: Any, f: Any, x: Any) -> Any:
    """The gradient of a function."""
    x = tf.convert_to_tensor(x)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = f(x)
    return tape.gradient(y, x)


NAMES: dict[str, Any] = {
    "np": np,
    "inf": np.inf,
    "nan": np.nan,
    "array": array.array,
    "deque": collections.deque,
    "OrderedDict": collections.OrderedDict,
    "Decimal": decimal.Decimal,
    "Fraction": fractions.Fraction,
    **{x.__name__: x for x in (Pair, Plain, Index, Arrays, Endless, few)},
    **{x.__name__: x for x in (nested, cyclic, image_file, damaged, used_tape, gradient)},
}
