"""Characters of many strings at once, from any encoding, whatever is wrong with them."""

from __future__ import annotations

import codecs
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from tapeflow._src.core.errors import invalid
from tapeflow._src.strings.hashes import Texts


class Errors(NamedTuple):
    """What becomes of bytes that are no character."""

    how: str  # "strict", "replace" or "ignore"
    replacement: int
    control: bool  # whether control characters are replaced, too


class Decoded(NamedTuple):
    """The characters of all strings, one after the other."""

    codes: np.ndarray
    offsets: np.ndarray  # of the byte in its string where each begins
    splits: np.ndarray  # where the strings begin among them, and where the last ends


def decoded(op: str, strings: Sequence[bytes], encoding: str, errors: Errors) -> Decoded:
    """The code points of strings."""
    name = codec_of(op, encoding)
    found = _all_at_once(strings) if name == "utf-8" else None
    if found is None:
        found = _one_by_one(op, strings, name, errors)
    if errors.control:
        found.codes[found.codes <= 0x1F] = errors.replacement
    return found


def codec_of(op: str, encoding: str) -> str:
    """Python's name of an encoding."""
    try:
        name = codecs.lookup(encoding).name
        "".encode(name)
    except (LookupError, ValueError):
        raise invalid(f"{op}: there is no encoding {encoding!r}") from None
    return name


def _all_at_once(strings: Sequence[bytes]) -> Decoded | None:
    """For UTF-8 without a mistake; else None."""
    texts = Texts(strings)
    firsts = texts.bytes[texts.starts[texts.lengths > 0]]
    # If none begins within a character, and all together are well formed, then each is.
    if ((firsts & 0xC0) == 0x80).any():
        return None
    try:
        codes = np.frombuffer(b"".join(strings).decode().encode("utf-32-le"), "<i4")
    except UnicodeDecodeError:
        return None
    begins = np.flatnonzero((texts.bytes[:-8] & 0xC0) != 0x80)
    counts = np.searchsorted(begins, texts.starts + texts.lengths)
    splits = np.concatenate([[0], counts])
    offsets = begins - np.repeat(texts.starts, np.diff(splits))
    return Decoded(codes.astype(np.int32), offsets.astype(np.int64), splits.astype(np.int64))


def _one_by_one(op: str, strings: Sequence[bytes], codec: str, errors: Errors) -> Decoded:
    codes: list[int] = []
    offsets: list[int] = []
    splits = [0]
    for text in strings:
        name = _with_order(codec, text)
        at = 0
        while at < len(text):
            try:
                good, bad = text[at:].decode(name), 0
            except UnicodeDecodeError as error:
                if errors.how == "strict":
                    raise invalid(
                        f"{op}: the string {text!r} is not well formed in {codec}"
                    ) from None
                good, bad = text[at : at + error.start].decode(name), error.end - error.start
            for letter in good:
                codes.append(ord(letter))
                offsets.append(at)
                at += _size(letter, name)
            if bad and errors.how == "replace":
                codes.append(errors.replacement)
                offsets.append(at)
            if not bad:
                break
            at += bad
        splits.append(len(codes))
    return Decoded(
        np.array(codes, np.int32), np.array(offsets, np.int64), np.array(splits, np.int64)
    )


def _with_order(codec: str, text: bytes) -> str:
    """Without a mark that says otherwise, the higher byte is the first."""
    if codec not in ("utf-16", "utf-32"):
        return codec
    marks = (codecs.BOM_UTF16_BE, codecs.BOM_UTF16_LE)
    if codec == "utf-32":
        marks = (codecs.BOM_UTF32_BE, codecs.BOM_UTF32_LE)
    return codec if text.startswith(marks) else f"{codec}-be"


def _size(letter: str, codec: str) -> int:
    """How many bytes a character takes."""
    if codec == "utf-8":
        code = ord(letter)
        return 1 + (code > 0x7F) + (code > 0x7FF) + (code > 0xFFFF)
    return len(letter.encode(codec))
