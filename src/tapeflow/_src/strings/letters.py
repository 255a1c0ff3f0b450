"""The characters of strings, as code points or as strings, in rows that differ in length."""

from __future__ import annotations

from typing import Any

import numpy as np

from tapeflow._src.core.dtypes import int32, int64, string
from tapeflow._src.core.export import export
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.ops.effects.host import bytes_array
from tapeflow._src.primitives.specs import ArraySpec
from tapeflow._src.strings.decoding import Errors, codec_of, decoded
from tapeflow._src.strings.rows import listed, row, strings_of
from tapeflow._src.strings.structures import rows_of
from tapeflow._src.strings.unicode import checked


def _decode_kernel(
    x: Any, *, encoding: str, errors: str, replacement: int, control: bool
) -> tuple[np.ndarray, ...]:
    return tuple(
        decoded("unicode_decode", listed(x), encoding, Errors(errors, replacement, control))
    )


def _pieces(dtype: Any) -> Any:
    def result(x: ArraySpec, **attrs: Any) -> tuple[ArraySpec, ...]:
        sizes: Any = (None,)
        splits = x.shape[0] + 1 if len(x.shape) == 1 else None
        return ArraySpec(sizes, dtype), ArraySpec(sizes, int64), ArraySpec((splits,), int64)

    return result


_decode = row("unicode_decode", "input", _decode_kernel, _pieces(int32), outputs=3)


def _split_kernel(
    x: Any, *, encoding: str, errors: str, replacement: int
) -> tuple[np.ndarray, ...]:
    op = "unicode_split"
    found = decoded(op, listed(x), encoding, Errors(errors, replacement, False))
    text = found.codes.astype("<i4").tobytes().decode("utf-32-le", "surrogatepass")
    codec = codec_of(op, encoding)
    letters = {c: c.encode(codec, "surrogatepass") for c in set(text)}  # few are many
    pieces = [letters[c] for c in text]
    return bytes_array(pieces, (len(pieces),)), found.offsets, found.splits


_split = row("unicode_split", "input", _split_kernel, _pieces(string), outputs=3)


@export("strings.unicode_decode")
def unicode_decode(
    input: Any,
    input_encoding: str,
    errors: str = "replace",
    replacement_char: int = 65533,
    replace_control_characters: bool = False,
    name: str | None = None,
) -> Any:
    """The code points of strings, with rows as long as these.

    >>> tf.strings.unicode_decode("Gö", "UTF-8").numpy()
    array([ 71, 246], dtype=int32)

    Args:
      input: strings.
      input_encoding: theirs, by any name that Python knows.
      errors: what becomes of bytes that are no character: `"replace"`, `"ignore"` or `"strict"`, an error.
      replacement_char: the code point that is put there.
      replace_control_characters: whether it is put in the place of control characters, too.
      name: accepted for compatibility.
    """
    op = "unicode_decode"
    attrs = checked(op, input_encoding, errors, replacement_char, replace_control_characters)
    codes, _, splits = _decode(*flat(op, input), **attrs)
    return rows_of(codes, splits, input)


@export("strings.unicode_decode_with_offsets")
def unicode_decode_with_offsets(
    input: Any,
    input_encoding: str,
    errors: str = "replace",
    replacement_char: int = 65533,
    replace_control_characters: bool = False,
    name: str | None = None,
) -> tuple[Any, Any]:
    """The code points of strings, and where in its string each begins, in bytes.

    >>> codes, offsets = tf.strings.unicode_decode_with_offsets("Göb", "UTF-8")
    >>> offsets.numpy()
    array([0, 1, 3])

    Args:
      input: strings.
      input_encoding: theirs, by any name that Python knows.
      errors: what becomes of bytes that are no character: `"replace"`, `"ignore"` or `"strict"`, an error.
      replacement_char: the code point that is put there.
      replace_control_characters: whether it is put in the place of control characters, too.
      name: accepted for compatibility.
    """
    op = "unicode_decode_with_offsets"
    attrs = checked(op, input_encoding, errors, replacement_char, replace_control_characters)
    codes, offsets, splits = _decode(*flat(op, input), **attrs)
    return rows_of(codes, splits, input), rows_of(offsets, splits, input)


@export("strings.unicode_split")
def unicode_split(
    input: Any,
    input_encoding: str,
    errors: str = "replace",
    replacement_char: int = 65533,
    name: str | None = None,
) -> Any:
    r"""The characters of strings, each a string.

    >>> tf.strings.unicode_split("Gö", "UTF-8").numpy()
    array([b'G', b'\xc3\xb6'], dtype=object)

    Args:
      input: strings.
      input_encoding: theirs, by any name that Python knows.
      errors: what becomes of bytes that are no character: `"replace"`, `"ignore"` or `"strict"`, an error.
      replacement_char: the code point that is put there.
      name: accepted for compatibility.
    """
    return _split_apart("unicode_split", input, input_encoding, errors, replacement_char)[0]


@export("strings.unicode_split_with_offsets")
def unicode_split_with_offsets(
    input: Any,
    input_encoding: str,
    errors: str = "replace",
    replacement_char: int = 65533,
    name: str | None = None,
) -> tuple[Any, Any]:
    """The characters of strings, and where in its string each begins, in bytes.

    >>> characters, offsets = tf.strings.unicode_split_with_offsets("Göb", "UTF-8")
    >>> offsets.numpy()
    array([0, 1, 3])

    Args:
      input: strings.
      input_encoding: theirs, by any name that Python knows.
      errors: what becomes of bytes that are no character: `"replace"`, `"ignore"` or `"strict"`, an error.
      replacement_char: the code point that is put there.
      name: accepted for compatibility.
    """
    op = "unicode_split_with_offsets"
    return _split_apart(op, input, input_encoding, errors, replacement_char)


def _split_apart(
    op: str, input: Any, encoding: Any, errors: Any, replacement: Any
) -> tuple[Any, Any]:
    attrs = checked(op, encoding, errors, replacement, False)
    attrs.pop("control")
    pieces, offsets, splits = _split(*flat(op, input), **attrs)
    return rows_of(pieces, splits, input), rows_of(offsets, splits, input)


def flat(op: str, input: Any) -> tuple[Tensor]:
    """The strings of an input, whatever it is."""
    return (strings_of(op, "input", getattr(input, "flat_values", input)),)
