"""Parts of strings, their lengths, and their letters in another case."""

from __future__ import annotations

import builtins
from collections.abc import Callable
from typing import Any

import numpy as np

from tapeflow._src.core.convert import convert_to_tensor
from tapeflow._src.core.dtypes import int32, int64, string
from tapeflow._src.core.errors import DTypeError, invalid
from tapeflow._src.core.export import export
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.ops.effects.host import bytes_array, each
from tapeflow._src.primitives import rules
from tapeflow._src.primitives.specs import ArraySpec
from tapeflow._src.strings.hashes import Texts
from tapeflow._src.strings.rows import elementwise, listed, one_of, row, strings_of
from tapeflow._src.strings.structures import on_values

UNITS = ("BYTE", "UTF8_CHAR")
_ENCODINGS = ("", "utf-8")


# Case and white space.


def _cased(method: Callable[[Any], Any], of_text: Callable[[str], str]) -> Callable[..., Any]:
    def kernel(x: Any, *, encoding: str) -> np.ndarray:
        if not encoding:
            return each(method, x)
        return each(lambda s: of_text(s.decode("utf-8", "replace")).encode(), x)

    return kernel


_lower = elementwise("lower", "input", _cased(bytes.lower, str.lower))
_upper = elementwise("upper", "input", _cased(bytes.upper, str.upper))
_strip = elementwise("strip", "input", lambda x: each(bytes.strip, x))


@export("strings.lower")
def lower(input: Any, encoding: str = "", name: str | None = None) -> Tensor:
    """Strings in lower case: of ASCII's letters, or with `encoding="utf-8"` of all.

    >>> tf.strings.lower("CamelCase").numpy()
    b'camelcase'

    Args:
      input: strings.
      encoding: `""` or `"utf-8"`.
      name: accepted for compatibility.
    """
    return _in_case("lower", _lower, input, encoding)


@export("strings.upper")
def upper(input: Any, encoding: str = "", name: str | None = None) -> Tensor:
    """Strings in upper case: of ASCII's letters, or with `encoding="utf-8"` of all.

    >>> tf.strings.upper("CamelCase").numpy()
    b'CAMELCASE'

    Args:
      input: strings.
      encoding: `""` or `"utf-8"`.
      name: accepted for compatibility.
    """
    return _in_case("upper", _upper, input, encoding)


def _in_case(op: str, call: Callable[..., Any], input: Any, encoding: Any) -> Any:
    word = one_of(op, "encoding", encoding, _ENCODINGS)
    return on_values(lambda x: call(strings_of(op, "input", x), encoding=word), input)


@export("strings.strip")
def strip(input: Any, name: str | None = None) -> Tensor:
    """Strings without the white space at their beginning and end.

    >>> tf.strings.strip(["  a b ", "c"]).numpy()
    array([b'a b', b'c'], dtype=object)

    Args:
      input: strings.
      name: accepted for compatibility.
    """
    return on_values(lambda x: _strip(strings_of("strip", "input", x)), input)


# Lengths.


def _length_kernel(x: Any, *, unit: str) -> np.ndarray:
    strings = listed(x)
    if unit == "BYTE":
        lengths = np.fromiter(map(len, strings), np.int32, len(strings))
    else:
        lengths = characters(Texts(strings)).astype(np.int32)
    return lengths.reshape(np.shape(x))


def characters(texts: Texts) -> np.ndarray:
    """How many characters of UTF-8 each of some strings has: its bytes that continue none."""
    begin = (texts.bytes & 0xC0) != 0x80
    if begin.all():
        return texts.lengths
    begins = np.concatenate([[0], np.cumsum(begin)])
    return begins[texts.starts + texts.lengths] - begins[texts.starts]


_length = elementwise("length", "input", _length_kernel, int32)


@export("strings.length")
def length(input: Any, unit: str = "BYTE", name: str | None = None) -> Tensor:
    """How long strings are, in bytes or in characters.

    >>> tf.strings.length(["a", "ä"]).numpy()
    array([1, 2], dtype=int32)

    Args:
      input: strings.
      unit: `"BYTE"` or `"UTF8_CHAR"`.
      name: accepted for compatibility.
    """
    word = one_of("length", "unit", unit, UNITS)
    return on_values(lambda x: _length(strings_of("length", "input", x), unit=word), input)


# Substrings.


def _substr_kernel(x: Any, pos: Any, len: Any, *, unit: str) -> np.ndarray:
    if np.shape(pos) != np.shape(len):
        raise _shapes_differ(np.shape(pos), np.shape(len))
    if unit == "BYTE" and not np.ndim(pos) and np.asarray(pos).dtype.kind == "i":
        found = _same_part(x, int(pos), int(len))
        if found is not None:
            return found
    shape = np.broadcast_shapes(np.shape(x), np.shape(pos))
    strings = np.broadcast_to(x, shape).ravel().tolist()
    starts, sizes = (np.broadcast_to(a, shape).ravel().tolist() for a in (pos, len))
    part = _bytes_part if unit == "BYTE" else _characters_part
    return bytes_array([part(*each) for each in zip(strings, starts, sizes, strict=True)], shape)


def _same_part(x: Any, start: int, size: int) -> np.ndarray | None:
    """The same part of each string, if all of them are long enough for it to begin; else None."""
    strings = listed(x)
    least = -start if start < 0 else start
    if strings and min(map(builtins.len, strings)) < least:
        return None
    end = None if size < 0 or start + size >= 0 > start else start + size
    return bytes_array([text[start:end] for text in strings], np.shape(x))


def _shapes_differ(pos: Any, len: Any) -> Exception:
    return invalid(f"substr: pos and len must have the same shape, got {list(pos)} and {list(len)}")


def _bytes_part(text: bytes, start: int, size: int) -> bytes:
    total = text.__len__()
    begin = start + total if start < 0 else start
    if not 0 <= begin <= total:
        raise invalid(f"substr: pos = {start} is out of range for the string {text!r}")
    return text[begin:] if size < 0 else text[begin : begin + size]


def _characters_part(text: bytes, start: int, size: int) -> bytes:
    # Where characters begin, and the end.
    places = [i for i, byte in enumerate(text) if byte & 0xC0 != 0x80] + [text.__len__()]
    total = places.__len__() - 1
    begin = start + total if start < 0 else start
    if not 0 <= begin <= total:
        raise invalid(f"substr: pos = {start} is out of range for {text!r} of {total} characters")
    end = total if size < 0 else min(begin + size, total)
    return text[places[begin] : places[end]]


def _substr_result(x: ArraySpec, pos: ArraySpec, len: ArraySpec, *, unit: str) -> ArraySpec:
    if pos.dtype is not len.dtype or pos.dtype not in (int32, int64):
        raise DTypeError(
            None,
            None,
            f"substr: pos and len must both be int32 or int64, got {pos.dtype.name} and {len.dtype.name}",
        )
    ranks = pos.shape.__len__(), len.shape.__len__()
    known = all(type(d) is int for d in (*pos.shape, *len.shape))
    if ranks[0] != ranks[1] or (known and pos.shape != len.shape):
        raise _shapes_differ(pos.shape, len.shape)
    return ArraySpec(rules.broadcast_or_raise("substr", x, pos), string)


_substr = row("substr", "input pos len", _substr_kernel, _substr_result)


@export("strings.substr")
def substr(input: Any, pos: Any, len: Any, unit: str = "BYTE", name: str | None = None) -> Tensor:
    """Parts of strings: `len` bytes or characters from `pos` on, or fewer where a string ends before.

    >>> tf.strings.substr(["hello", "world"], 1, 3).numpy()
    array([b'ell', b'orl'], dtype=object)

    Args:
      input: strings.
      pos: where each part begins, from the end if it is negative. Broadcasts with `input`.
      len: how long it is, of the same shape.
      unit: `"BYTE"` or `"UTF8_CHAR"`.
      name: accepted for compatibility.
    """
    word = one_of("substr", "unit", unit, UNITS)
    places = convert_to_tensor(pos)
    sizes = convert_to_tensor(len, None if isinstance(len, Tensor) else places.dtype)
    return on_values(
        lambda x: _substr(strings_of("substr", "input", x), places, sizes, unit=word), input
    )
