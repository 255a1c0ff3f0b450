"""Sets of characters by name, as ranges of code points: those of Perl, of POSIX, and of Unicode."""

from __future__ import annotations

import functools
from collections.abc import Iterable

import numpy as np

from tapeflow._src.strings.scripts import NAMES, scripts

Ranges = list[tuple[int, int]]
LAST = 0x10FFFF


def single(low: int, high: int) -> Ranges:
    """One range, both ends in it."""
    return [(low, high)]


def union(ranges: Iterable[tuple[int, int]]) -> Ranges:
    """The same characters, in order, each of them once."""
    out: Ranges = []
    for low, high in sorted(ranges):
        if out and low <= out[-1][1] + 1:
            out[-1] = (out[-1][0], max(out[-1][1], high))
        else:
            out.append((low, high))
    return out


def complement(ranges: Iterable[tuple[int, int]]) -> Ranges:
    """All other characters."""
    out: Ranges = []
    start = 0
    for low, high in union(ranges):
        if low > start:
            out.append((start, low - 1))
        start = high + 1
    return [*out, (start, LAST)] if start <= LAST else out


def _of(letters: str) -> Ranges:
    return union((ord(c), ord(c)) for c in letters)


_DIGITS, _UPPER, _LOWER = single(48, 57), single(65, 90), single(97, 122)
_WORD = union([*_DIGITS, *_UPPER, *_LOWER, *_of("_")])
PERL: dict[str, Ranges] = {"d": _DIGITS, "s": _of("\t\n\f\r "), "w": _WORD}
POSIX: dict[str, Ranges] = {
    "alnum": union([*_DIGITS, *_UPPER, *_LOWER]),
    "alpha": union([*_UPPER, *_LOWER]),
    "ascii": single(0, 127),
    "blank": _of("\t "),
    "cntrl": [(0, 31), (127, 127)],
    "digit": _DIGITS,
    "graph": single(33, 126),
    "lower": _LOWER,
    "print": single(32, 126),
    "punct": [(33, 47), (58, 64), (91, 96), (123, 126)],
    "space": _of("\t\n\v\f\r "),
    "upper": _UPPER,
    "word": _WORD,
    "xdigit": union([*_DIGITS, (65, 70), (97, 102)]),
}


@functools.cache
def property_ranges(name: str) -> Ranges | None:
    """The characters of a general category (`L`, `Lu`), of a script (`Greek`), or all of them (`Any`)."""
    if name == "Any":
        return single(0, LAST)
    if name in NAMES:
        return _runs(scripts(np.arange(LAST + 1)) == NAMES.index(name))
    import unicodedata

    kinds = [unicodedata.category(chr(code)) for code in range(LAST + 1)]
    if len(name) > 2 or not any(kind.startswith(name) for kind in set(kinds)):
        return None
    return _runs(np.array([kind.startswith(name) for kind in kinds]))


def _runs(chosen: np.ndarray) -> Ranges:
    edges = np.flatnonzero(np.diff(chosen.astype(np.int8), prepend=0, append=0))
    return [(int(low), int(high) - 1) for low, high in edges.reshape(-1, 2)]
