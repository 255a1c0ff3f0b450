"""Draws hostile calls: right ones, with one argument or several replaced."""

from __future__ import annotations

import inspect
import zlib
from collections.abc import Iterator
from typing import Any

from tests.differential.calls import Call, Entry
from tests.differential.draw import Dice
from tests.differential.values import Code
from tests.hostile.oddities import anything, spoiled
from tests.hostile.targets import find

UNREAD = ("name", "layout", "self")


def drawn(
    entries: dict[str, Entry], seed: int, count: int, value: str = ""
) -> Iterator[tuple[str, Call]]:
    """Equally many calls of every entry, the same for the same seed; with one hostile value, if it is given."""
    labels = list(entries)
    for number in range(count):
        label = labels[number % len(labels)]
        yield label, draw(label, entries[label], seed, number // len(labels), value)


def draw(label: str, entry: Entry, seed: int, number: int, value: str = "") -> Call:
    """The call of that number."""
    dice = Dice(seed, zlib.crc32(label.encode()), number, 1)
    arguments = entry.draw(seed, number, bad=0.0).arguments
    arguments = arguments | more(dice, entry, arguments)
    kept = ("self", "more", "n") if "while_loop" in label else ("self", "more")
    names = [name for name in arguments if name not in kept]  # not how often a loop turns
    if names:
        count = dice.one((1, 1, 1, 1, 1, 2, 2, len(names)))
        like = entry.expression == entry.name  # whose arrays have methods and operators
        for name in sorted({dice.one(names) for _ in range(count)}):
            new = spoiled(dice, arguments[name], name, like)
            arguments[name] = Code(value) if value and not (like and name in "xv") else new
    return Call(entry, arguments, seed + number, is_bad=True)


def more(dice: Dice, entry: Entry, arguments: dict[str, Any]) -> dict[str, Any]:
    """Now and then an argument that may be left out."""
    if entry.expression is not None or dice.chance(0.6):
        return {}
    found = find(f"tf.{entry.name}")
    try:
        parameters = inspect.signature(found).parameters.values() if found else ()
    except (TypeError, ValueError):
        return {}
    names = [
        p.name
        for p in parameters
        if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)
        and p.name not in arguments
        and (p.name not in UNREAD or dice.chance(0.1))
    ]
    return {dice.one(names): anything(dice)} if names else {}
