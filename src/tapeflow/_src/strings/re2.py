r"""Regular expressions in RE2's syntax, which is TensorFlow's, as those of Python's `re`.

Where both write the same and mean another thing (`\s`, `$`, flags in the middle), the meaning is RE2's. What RE2 does
not have, such as a look ahead or a reference back, is refused, and so is the little that Python cannot do (`\C`).
"""

from __future__ import annotations

import functools
import re

from tapeflow._src.core.errors import InvalidArgumentError, invalid
from tapeflow._src.strings.characters import (
    LAST,
    PERL,
    POSIX,
    Ranges,
    complement,
    property_ranges,
    single,
    union,
)

_MOST_TIMES = 1000
_ESCAPES = {"a": "\a", "f": "\f", "t": "\t", "n": "\n", "r": "\r", "v": "\v"}
_FLAGS = "imsU"
_ASCII_WORD = r"(?a:\%s)"


@functools.lru_cache(256)
def compiled(op: str, pattern: bytes) -> re.Pattern[str]:
    """A pattern of RE2 as one of Python, for texts that were decoded with `surrogateescape`."""
    return _Translation(op, pattern).compiled()


@functools.lru_cache(256)
def may_be_empty(op: str, pattern: bytes) -> bool:
    """Whether a match may be empty: also where there is a condition on the place, as for `^`."""
    found = compiled(op, pattern)
    return bool(re.search(r"[\^$]|\\[AbBZ]", found.pattern)) or found.fullmatch("") is not None


class _Translation:
    """Reads a pattern from left to right. Each part is written with the flags that hold for it."""

    def __init__(self, op: str, pattern: bytes) -> None:
        self.op = op
        self.text = pattern.decode("utf-8", "surrogateescape")
        self.at = 0
        self.flags: frozenset[str] = frozenset()
        self.parts: list[tuple[str, bool | None]] = []  # and whether case matters, if it may
        self.outer: list[frozenset[str]] = []  # the flags around each group that is open
        self.repeatable = False  # whether something is there that can be repeated
        self.repeated = ""  # the repetition that was just read

    def wrong(self, why: str) -> InvalidArgumentError:
        return invalid(f"{self.op}: the pattern {self.text!r} is not valid: {why}")

    def compiled(self) -> re.Pattern[str]:
        while self.at < len(self.text):
            self._next()
        if self.outer:
            raise self.wrong("a ) is missing")
        cases = {case for _, case in self.parts if case is not None}
        if cases == {False}:
            text, flags = "".join(part for part, _ in self.parts), re.IGNORECASE
        else:
            text = "".join(f"(?i:{part})" if case is False else part for part, case in self.parts)
            flags = 0
        try:
            return re.compile(text, flags)
        except (re.error, RecursionError, OverflowError) as error:
            raise self.wrong(str(error)) from None

    def _take(self) -> str:
        letter = self.text[self.at]
        self.at += 1
        return letter

    def _starts(self, text: str) -> bool:
        return self.text.startswith(text, self.at)

    def _put(self, part: str, cased: bool = False, repeatable: bool = True) -> None:
        self.parts.append((part, "i" not in self.flags if cased else None))
        self.repeatable, self.repeated = repeatable, ""

    def _next(self) -> None:
        letter = self._take()
        if letter == "(":
            self._open()
        elif letter == ")":
            if not self.outer:
                raise self.wrong("there is a ) too many")
            self.flags = self.outer.pop()
            self._put(")")
        elif letter == "|":
            self._put("|", repeatable=False)
        elif letter in "*+?":
            self._repeat(letter)
        elif letter == "{" and (times := re.compile(r"(\d+)(,(\d*))?\}").match(self.text, self.at)):
            self.at = times.end()
            self._check_times(times)
            self._repeat("{" + times[0])
        elif letter == "[":
            self._put(self._class(), cased=True)
        elif letter == ".":
            self._put("(?s:.)" if "s" in self.flags else ".")
        elif letter == "^":
            self._put("(?m:^)" if "m" in self.flags else r"\A")
        elif letter == "$":
            self._put("(?m:$)" if "m" in self.flags else r"\Z")
        elif letter == "\\":
            self._escape()
        else:
            self._put(re.escape(letter), cased=True)

    # Groups and repetitions.

    def _open(self) -> None:
        self.outer.append(self.flags)
        if not self._starts("?"):
            self._put("(", repeatable=False)
            return
        named = re.compile(r"\?P<(\w+)>", re.ASCII).match(self.text, self.at)
        if named:
            self.at = named.end()
            self._put(f"(?P<{named[1]}>", repeatable=False)
            return
        found = re.compile(rf"\?([{_FLAGS}]*)(-[{_FLAGS}]+)?([:)])").match(self.text, self.at)
        if found is None or found[0] == "?)":
            raise self.wrong(
                f"RE2 has no ({self.text[self.at : self.at + 2]}, as it has no look ahead or behind"
            )
        self.at = found.end()
        self.flags = (self.flags | set(found[1])) - set(found[2] or "")
        if found[3] == ":":
            self._put("(?:", repeatable=False)
        else:  # flags for what follows in the group that is around
            self.outer.pop()
            self.repeatable = False

    def _check_times(self, times: re.Match[str]) -> None:
        low, high = int(times[1]), int(times[3]) if times[3] else None
        if max(low, high or 0) > _MOST_TIMES or (high is not None and high < low):
            raise self.wrong(
                f"{{{times[0]} is no number of times: they go up to {_MOST_TIMES}, the lower one first"
            )

    def _repeat(self, sign: str) -> None:
        lazy = self._starts("?")
        self.at += lazy
        if self.repeated:
            raise self.wrong(f"{self.repeated}{sign} repeats twice. Use a group: (?:...)")
        if not self.repeatable:
            raise self.wrong(f"there is nothing that {sign} could repeat")
        self.parts.append((sign + "?" * (lazy != ("U" in self.flags)), None))
        self.repeated = sign + "?" * lazy

    # Escapes and classes.

    def _escape(self) -> None:
        if self.at == len(self.text):
            raise self.wrong("there is a \\ at the end")
        letter = self.text[self.at]
        if letter in "bB":
            self.at += 1
            self._put(_ASCII_WORD % letter)
        elif letter in "Az":
            self.at += 1
            self._put(r"\A" if letter == "A" else r"\Z")
        elif letter == "Q":
            self.at += 1
            end = self.text.find("\\E", self.at)
            end = len(self.text) if end < 0 else end
            for each in self.text[self.at : end]:
                self._put(re.escape(each), cased=True)
            self.at = end + 2
        elif letter == "C":
            raise self.wrong("\\C, a single byte, is not supported")
        elif (ranges := self._several()) is not None:
            self._put(_written(ranges), cased=True)
        else:
            self._put(re.escape(chr(self._single())), cased=True)

    def _several(self) -> Ranges | None:
        r"""The class that an escape such as `\d` or `\pL` stands for, if it does."""
        letter = self.text[self.at]
        if letter.lower() in PERL:
            self.at += 1
            ranges = PERL[letter.lower()]
            return complement(ranges) if letter.isupper() else ranges
        if letter not in "pP":
            return None
        found = re.compile(r"[pP](?:\{(\^?)(\w+)\}|(\w))", re.ASCII).match(self.text, self.at)
        ranges = property_ranges(found[2] or found[3]) if found else None
        if found is None or ranges is None:
            raise self.wrong(
                f"there is no class of characters \\{self.text[self.at : self.at + 12]}"
            )
        self.at = found.end()
        return complement(ranges) if (letter == "P") != bool(found[1]) else ranges

    def _single(self) -> int:
        """The character that an escape stands for."""
        letter = self._take()
        if letter in _ESCAPES:
            return ord(_ESCAPES[letter])
        if letter == "x":
            found = re.compile(r"\{([0-9a-fA-F]+)\}|([0-9a-fA-F]{2})").match(self.text, self.at)
            if found and int(found[1] or found[2], 16) <= LAST:
                self.at = found.end()
                return int(found[1] or found[2], 16)
        # A digit that is not zero is a reference back, unless more follow.
        octal = re.compile(r"0[0-7]{0,2}|[1-7][0-7]{1,2}").match(self.text, self.at - 1)
        if octal:
            self.at = octal.end()
            return int(octal[0], 8)
        if letter.isascii() and not letter.isalnum():
            return ord(letter)
        raise self.wrong(f"RE2 has no \\{letter}")

    def _class(self) -> str:
        """What is in brackets."""
        begin = self.at - 1
        negated = self._starts("^")
        self.at += negated
        found: Ranges = []
        first = True
        while first or not self._starts("]"):
            if self.at >= len(self.text):
                raise self.wrong(f"a ] is missing: {self.text[begin:]!r}")
            first = False
            named = re.compile(r"\[:(\^?)(\w+):\]").match(self.text, self.at)
            if named:
                if named[2] not in POSIX:
                    raise self.wrong(f"there is no class of characters {named[0]}")
                self.at = named.end()
                found += complement(POSIX[named[2]]) if named[1] else POSIX[named[2]]
                continue
            if self._starts("\\") and self.at + 1 < len(self.text):
                self.at += 1
                ranges = self._several()
                if ranges is not None:
                    found += ranges
                    continue
                self.at -= 1
            low = self._member()
            high = low
            if self._starts("-") and not self._starts("-]") and self.at + 1 < len(self.text):
                self.at += 1
                high = self._member()
                if high < low:
                    raise self.wrong(f"the range {chr(low)}-{chr(high)} goes down")
            found += single(low, high)
        self.at += 1
        # With its sign, because `(?i)[^a]` means what `[^aA]` does.
        return _written(union(found), negated)

    def _member(self) -> int:
        letter = self._take()
        if letter != "\\":
            return ord(letter)
        if self.at >= len(self.text):
            raise self.wrong("there is a \\ at the end")
        return self._single()


def _written(ranges: Ranges, negated: bool = False) -> str:
    """A class in Python's words."""
    if not ranges:
        return "(?s:.)" if negated else r"(?!)"
    parts = [
        _letter(low) if low == high else f"{_letter(low)}-{_letter(high)}" for low, high in ranges
    ]
    return f"[{'^' * negated}{''.join(parts)}]"


def _letter(code: int) -> str:
    if code < 128 and chr(code).isalnum():
        return chr(code)
    return f"\\x{code:02x}" if code < 256 else f"\\U{code:08x}"
