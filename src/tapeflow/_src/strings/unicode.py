"""Unicode: code points of strings and strings of code points."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from tapeflow._src.core.convert import convert_to_tensor
from tapeflow._src.core.dtypes import int32, string
from tapeflow._src.core.errors import DTypeError, invalid
from tapeflow._src.core.export import export
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.ops.arguments import integer
from tapeflow._src.ops.effects.host import bytes_array
from tapeflow._src.primitives.specs import ArraySpec
from tapeflow._src.strings.decoding import Errors, codec_of, decoded
from tapeflow._src.strings.rows import elementwise, listed, one_of, row, strings_of
from tapeflow._src.strings.scripts import scripts
from tapeflow._src.strings.structures import flat_and_splits, on_values

_ENCODINGS = ("UTF-8", "UTF-16-BE", "UTF-32-BE")
_ERRORS = ("strict", "replace", "ignore")
_LAST = 0x10FFFF


# Strings from strings.


def _transcode_kernel(
    x: Any, *, encoding: str, target: str, errors: str, replacement: int, control: bool
) -> np.ndarray:
    op = "unicode_transcode"
    found = decoded(op, listed(x), encoding, Errors(errors, replacement, control))
    return bytes_array(_encoded(found.codes, found.splits, target), np.shape(x))


def _encoded(codes: np.ndarray, splits: np.ndarray, encoding: str) -> list[bytes]:
    text = codes.astype("<i4").tobytes().decode("utf-32-le", "surrogatepass")
    ends = splits.tolist()
    codec = codec_of("unicode_encode", encoding)
    return [text[a:b].encode(codec, "surrogatepass") for a, b in itertools.pairwise(ends)]


_transcode = elementwise("unicode_transcode", "input", _transcode_kernel)


@export("strings.unicode_transcode")
def unicode_transcode(
    input: Any,
    input_encoding: str,
    output_encoding: str,
    errors: str = "replace",
    replacement_char: int = 65533,
    replace_control_characters: bool = False,
    name: str | None = None,
) -> Tensor:
    r"""Strings in another encoding.

    >>> tf.strings.unicode_transcode("ä", "UTF-8", "UTF-16-BE").numpy()
    b'\x00\xe4'

    Args:
      input: strings.
      input_encoding: theirs, by any name that Python knows.
      output_encoding: `"UTF-8"`, `"UTF-16-BE"` or `"UTF-32-BE"`.
      errors: what becomes of bytes that are no character: `"replace"`, `"ignore"` or `"strict"`, an error.
      replacement_char: the code point that is put there.
      replace_control_characters: whether it is put in the place of control characters, too.
      name: accepted for compatibility.
    """
    op = "unicode_transcode"
    attrs = checked(op, input_encoding, errors, replacement_char, replace_control_characters)
    target = one_of(op, "output_encoding", output_encoding, _ENCODINGS)
    return on_values(
        lambda x: _transcode(strings_of(op, "input", x), target=target, **attrs), input
    )


def checked(op: str, encoding: Any, errors: Any, replacement: Any, control: Any) -> dict[str, Any]:
    """What ops about encodings are told, as attributes."""
    code = integer(op, "replacement_char", replacement)
    if not 0 <= code <= _LAST:
        raise invalid(f"{op}: replacement_char = {code} is no code point of Unicode")
    return {
        "encoding": encoding,
        "errors": one_of(op, "errors", errors, _ERRORS),
        "replacement": code,
        "control": bool(control),
    }


# Strings from code points.


def _encode_kernel(
    codes: Any, splits: Any, *, target: str, errors: str, replacement: int
) -> np.ndarray:
    codes, splits = np.array(codes), np.asarray(splits)
    wrong = (codes < 0) | (codes > _LAST) | ((codes >= 0xD800) & (codes <= 0xDFFF))
    if wrong.any():
        if errors == "strict":
            raise invalid(
                f"unicode_encode: {codes[wrong][0]} is no code point of Unicode, or a surrogate"
            )
        if errors == "ignore":
            kept = np.concatenate([[0], np.cumsum(~wrong)])
            codes, splits = codes[~wrong], kept[splits]
        else:
            codes[wrong] = replacement
    return bytes_array(_encoded(codes, splits, target), (len(splits) - 1,))


def _encode_result(codes: ArraySpec, splits: ArraySpec, **attrs: Any) -> ArraySpec:
    return ArraySpec((splits.shape[0] - 1,), string)


_encode = row("unicode_encode", "codes splits", _encode_kernel, _encode_result)


@export("strings.unicode_encode")
def unicode_encode(
    input: Any,
    output_encoding: str,
    errors: str = "replace",
    replacement_char: int = 65533,
    name: str | None = None,
) -> Tensor:
    r"""Strings of code points, one for each row.

    >>> tf.strings.unicode_encode([71, 246], "UTF-8").numpy()
    b'G\xc3\xb6'

    Args:
      input: code points, in rows that may have different lengths.
      output_encoding: `"UTF-8"`, `"UTF-16-BE"` or `"UTF-32-BE"`.
      errors: what becomes of numbers that are no code points: `"replace"`, `"ignore"` or `"strict"`, an error.
      replacement_char: the code point that is put there.
      name: accepted for compatibility.
    """
    op = "unicode_encode"
    attrs = checked(op, "utf-8", errors, replacement_char, False)
    del attrs["encoding"], attrs["control"]
    attrs["target"] = one_of(op, "output_encoding", output_encoding, _ENCODINGS)
    codes, splits, around = flat_and_splits(op, input)
    return around(_encode(codes, splits, **attrs))


_script = elementwise("unicode_script", "input", lambda x: scripts(x), int32)


@export("strings.unicode_script")
def unicode_script(input: Any, name: str | None = None) -> Tensor:
    """The number of the script of each code point, as ICU numbers them; -1 for what is none.

    >>> tf.strings.unicode_script([97, 955]).numpy()
    array([25, 14], dtype=int32)

    Args:
      input: code points, int32.
      name: accepted for compatibility.
    """

    def of(x: Any) -> Tensor:
        codes = convert_to_tensor(x)
        if codes.dtype is not int32:
            raise DTypeError(
                None, None, f"unicode_script: input must be int32, got {codes.dtype.name}"
            )
        return _script(codes)

    return on_values(of, input)
