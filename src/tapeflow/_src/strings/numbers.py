"""Strings from numbers, and numbers from strings."""

from __future__ import annotations

from typing import Any

import numpy as np

from tapeflow._src.core import dtypes
from tapeflow._src.core.convert import convert_to_tensor
from tapeflow._src.core.dtypes import DType, as_dtype, float32
from tapeflow._src.core.errors import invalid, shown
from tapeflow._src.core.export import export
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.ops.arguments import integer
from tapeflow._src.ops.effects.host import bytes_array
from tapeflow._src.strings.rows import elementwise, listed, strings_of
from tapeflow._src.strings.structures import on_values

_INTEGERS = (dtypes.int32, dtypes.int64, dtypes.uint32, dtypes.uint64)
_FLOATS = (dtypes.float32, dtypes.float64)


# Numbers from strings.


def _to_number_kernel(x: Any, *, dtype: DType) -> np.ndarray:
    strings = listed(x)
    if dtype in _FLOATS and (found := _all_floats(strings, dtype)) is not None:
        return found.reshape(np.shape(x))
    read = _read_integer if dtype in _INTEGERS else _read_float
    numbers = [read(text, dtype) for text in strings]
    # What is too large for float32 is infinite.
    with np.errstate(over="ignore"):
        return np.array(numbers, dtype.np_dtype).reshape(np.shape(x))


def _all_floats(strings: list[bytes], dtype: DType) -> np.ndarray | None:
    """Numbers as NumPy reads them, which is quicker; None where it reads more than is meant, or less."""
    together = b" ".join(strings)
    if b"_" in together or b"\0" in together:
        return None
    try:
        with np.errstate(over="ignore"):
            return np.array(strings, np.bytes_).astype(np.float64).astype(dtype.np_dtype)
    except ValueError:
        return None


def _read_integer(text: bytes, dtype: DType) -> int:
    bare = text.strip()
    if (bare[1:] if bare[:1] in (b"-", b"+") else bare).isdigit():
        number = int(bare)
        if dtype.min <= number <= dtype.max:
            return number
    raise _no_number(text, dtype)


def _read_float(text: bytes, dtype: DType) -> float:
    bare = text.strip()
    try:
        if b"_" not in bare:
            return float(bare)
    except ValueError:
        digits = bare.lstrip(b"+-")
        if digits[:2] in (b"0x", b"0X") and len(bare) - len(digits) < 2:
            try:
                return float.fromhex(bare.decode())
            except (ValueError, OverflowError):
                pass
    raise _no_number(text, dtype)


def _no_number(text: bytes, dtype: DType) -> Exception:
    return invalid(f"to_number: the string {text!r} is no number of dtype {dtype.name}")


_to_number = elementwise("to_number", "input", _to_number_kernel, None)


@export("strings.to_number")
def to_number(input: Any, out_type: Any = float32, name: str | None = None) -> Tensor:
    """The numbers that strings name.

    >>> tf.strings.to_number(["1.5", "-2e3"]).numpy()
    array([ 1.5e+00, -2.0e+03], dtype=float32)

    Args:
      input: strings.
      out_type: float32, float64, int32, int64, uint32 or uint64.
      name: accepted for compatibility.
    """
    dtype = as_dtype(out_type)
    if dtype not in (*_INTEGERS, *_FLOATS):
        raise invalid(
            "to_number: out_type must be float32, float64, int32, int64, uint32 or uint64, got "
            f"{dtype.name}"
        )
    return on_values(lambda x: _to_number(strings_of("to_number", "input", x), dtype=dtype), input)


# Strings from numbers.


def _as_string_kernel(x: Any, *, form: str) -> np.ndarray:
    x = np.asarray(x)
    values: list[Any] = x.ravel().tolist()
    if x.dtype.kind == "b":
        texts = [b"true" if v else b"false" for v in values]
    elif x.dtype.kind == "c":
        texts = [f"({form % v.real},{form % v.imag})".encode() for v in values]
    elif x.dtype.kind == "O":
        texts = [form.encode() % v for v in values]
    else:
        numbers = values if x.dtype.kind in "iuf" else list(map(float, values))
        if form.startswith("%0") and x.dtype.kind not in "iu":
            # C does not fill up what is not finite with zeros.
            plain = form.replace("0", "", 1)
            texts = [((form if v - v == 0 else plain) % v).encode() for v in numbers]
        else:  # all at once
            texts = (f"{form}\n" * len(numbers) % tuple(numbers)).encode().split(b"\n")[:-1]
    return bytes_array(texts, x.shape)


_as_string = elementwise("as_string", "input", _as_string_kernel)


@export("as_string", "dtypes.as_string", "strings.as_string")
def as_string(
    input: Any,
    precision: int = -1,
    scientific: bool = False,
    shortest: bool = False,
    width: int = -1,
    fill: str = "",
    name: str | None = None,
) -> Tensor:
    """Numbers as texts.

    >>> tf.strings.as_string([3, 2]).numpy()
    array([b'3', b'2'], dtype=object)
    >>> tf.strings.as_string([3.1415926], precision=2).numpy()
    array([b'3.14'], dtype=object)

    Args:
      input: numbers, bools or strings.
      precision: how many digits of floats follow the point; six by default.
      scientific: whether floats are written with an exponent.
      shortest: whether that is so only where it is shorter.
      width: how long texts are at least.
      fill: what they are filled up with at the front: `"0"` or `" "`; `"-"` for spaces at the end, and `"+"` for a sign
        before positive numbers.
      name: accepted for compatibility.
    """
    digits = integer("as_string", "precision", precision)
    size = integer("as_string", "width", width)
    return on_values(
        lambda x: _formatted(convert_to_tensor(x), digits, scientific, shortest, size, fill), input
    )


def _formatted(
    x: Tensor, precision: int, scientific: bool, shortest: bool, width: int, fill: Any
) -> Tensor:
    numeric = x.dtype.is_floating or x.dtype.is_complex
    if not numeric and x.dtype is not dtypes.string:
        if precision >= 0:
            raise invalid(f"as_string: precision is for floats, and input is {x.dtype.name}")
        if scientific or shortest:
            raise invalid(
                f"as_string: scientific and shortest are for floats, and input is {x.dtype.name}"
            )
    if scientific and shortest:
        raise invalid("as_string: only one of scientific and shortest can be chosen")
    if not isinstance(fill, str) or fill not in ("", " ", "+", "-", "0"):
        raise invalid(f"as_string: fill must be '', ' ', '+', '-' or '0', got {shown(fill)}")
    if x.dtype.is_unsigned and fill in "+ ":
        fill = ""  # as in C
    form = f"%{fill}{width if width > -1 else ''}"
    if numeric:
        form += f".{precision}" if precision > -1 else ""
        form += "e" if scientific else "g" if shortest else "f"
    else:
        form += "s" if x.dtype is dtypes.string else "d"
    if x.dtype is dtypes.string:
        form = form.replace("0", "", 1) if fill == "0" else form
    return _as_string(x, form=form)
