"""Strings that are divided into several, and several in a row that are taken together."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tapeflow._src.core.convert import convert_to_tensor
from tapeflow._src.core.dtypes import int64, string
from tapeflow._src.core.export import export
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.ops.arguments import integer
from tapeflow._src.ops.effects.host import bytes_array
from tapeflow._src.primitives.specs import ArraySpec
from tapeflow._src.strings.rows import listed, row, scalar_of, strings_of, text_of, the
from tapeflow._src.strings.structures import is_ragged, rows_of


def _divided(pieces: list[list[bytes]]) -> tuple[np.ndarray, np.ndarray]:
    """Lists of strings one after the other, and where each begins and the last ends."""
    flat = list(itertools.chain.from_iterable(pieces))
    lengths = np.fromiter(map(len, pieces), np.int64, len(pieces))
    return bytes_array(flat, (len(flat),)), np.concatenate([[0], np.cumsum(lengths)])


def _pieces_result(x: ArraySpec, *others: ArraySpec, **attrs: Any) -> tuple[ArraySpec, ArraySpec]:
    sizes: Any = (None,)
    splits = x.shape[0] + 1 if len(x.shape) == 1 else None
    return ArraySpec(sizes, string), ArraySpec((splits,), int64)  # pyright: ignore[reportArgumentType]


# Pieces.


def _split_kernel(x: Any, sep: Any, *, maxsplit: int) -> tuple[np.ndarray, np.ndarray]:
    between = the(sep) or None
    texts = listed(x)
    if maxsplit >= 0 and between is None:
        return _divided([_at_white_space(text, maxsplit) for text in texts])
    if maxsplit >= 0 or not texts or len(between or b" ") > 1:
        return _divided([text.split(between, maxsplit) for text in texts])
    # All strings in one, which is divided at once: a list for each of them would take most of the time.
    whole = (between or b" ").join(texts)
    pieces = whole.split(between)
    letters = np.frombuffer(whole, np.uint8)
    ends = np.cumsum(np.fromiter(map(len, texts), np.int64, len(texts)) + 1) - 1
    if between is None:
        white = (letters == 32) | ((letters >= 9) & (letters <= 13))
        begins = ~white
        begins[1:] &= white[:-1]
        counts = np.searchsorted(np.flatnonzero(begins), ends)
    else:  # what ends a string, or is inside of it, follows a piece
        counts = np.searchsorted(np.flatnonzero(letters == between[0]), ends) + 1
    return bytes_array(pieces, (len(pieces),)), np.concatenate([[0], counts])


def _at_white_space(text: bytes, times: int) -> list[bytes]:
    """Where the last piece that may be divided off ends the string, an empty one follows, as in TensorFlow."""
    if times == 0:
        return [text]
    pieces = text.split(None, times)
    return [*pieces, b""] if len(pieces) == times else pieces


_split = row("split", "input sep", _split_kernel, _pieces_result, outputs=2)


@export("strings.split")
def split(input: Any, sep: Any = None, maxsplit: int = -1, name: str | None = None) -> Any:
    """Divides strings at a separator, or at white space.

    >>> tf.strings.split("hello  world").numpy()
    array([b'hello', b'world'], dtype=object)
    >>> tf.strings.split(["a,b", "c"], sep=",")
    <tf.RaggedTensor [[b'a', b'b'], [b'c']]>

    Args:
      input: strings.
      sep: what is between the pieces. By default any amount of white space, with none at the beginning and end.
      maxsplit: how often a string is divided at most; -1 for as often as can be. At white space there is always a
        piece after the last division, which may be empty.
      name: accepted for compatibility.
    """
    between = scalar_of("split", "sep", "" if sep is None else sep)
    times = integer("split", "maxsplit", maxsplit)
    strings = strings_of("split", "input", getattr(input, "flat_values", input))
    pieces, splits = _split(strings, between, maxsplit=times)
    return rows_of(pieces, splits, input)


_BYTES = [bytes([b]) for b in range(256)]


def _bytes_kernel(x: Any) -> tuple[np.ndarray, np.ndarray]:
    return _divided([[_BYTES[b] for b in text] for text in listed(x)])


_bytes_split = row("bytes_split", "input", _bytes_kernel, _pieces_result, outputs=2)


@export("strings.bytes_split")
def bytes_split(input: Any, name: str | None = None) -> Any:
    """The bytes of strings, each a string.

    >>> tf.strings.bytes_split("hey").numpy()
    array([b'h', b'e', b'y'], dtype=object)

    Args:
      input: strings.
      name: accepted for compatibility.
    """
    strings = strings_of("bytes_split", "input", getattr(input, "flat_values", input))
    pieces, splits = _bytes_split(strings)
    return rows_of(pieces, splits, input)


# Several in a row.


def _taken(
    sentence: list[bytes],
    sep: bytes,
    pads: tuple[bytes, bytes] | None,
    widths: Sequence[int],
    most: int,
    short: bool,
) -> list[bytes]:
    """The n-grams of one row, for each width."""

    def padded(width: int) -> list[bytes]:
        if pads is None:
            return sentence
        count = width - 1 if most < 0 else min(most, width - 1)
        return [pads[0]] * count + sentence + [pads[1]] * count

    out: list[bytes] = []
    for width in widths:
        words = padded(width)
        out += [sep.join(words[i : i + width]) for i in range(len(words) - width + 1)]
    if not out and short and sentence:
        out.append(sep.join(padded(min(widths))))  # all of it, since it is shorter than each width
    return out


def _ngrams_kernel(
    x: Any,
    splits: Any,
    sep: Any,
    left: Any,
    right: Any,
    *,
    widths: tuple[int, ...],
    padding_width: int,
    padded: bool,
    short: bool,
) -> tuple[np.ndarray, np.ndarray]:
    pads = (the(left), the(right)) if padded else None
    words, ends = listed(x), np.asarray(splits).tolist()
    found = [
        _taken(words[a:b], the(sep), pads, widths, padding_width, short)
        for a, b in itertools.pairwise(ends)
    ]
    return _divided(found)


def _ngrams_result(x: ArraySpec, splits: ArraySpec, *others: ArraySpec, **attrs: Any) -> Any:
    sizes: Any = (None,)
    return ArraySpec(sizes, string), ArraySpec(splits.shape, int64)


_ngrams = row("ngrams", "data splits sep left right", _ngrams_kernel, _ngrams_result, outputs=2)


def _dense_kernel(x: Any, sep: Any, left: Any, right: Any, **attrs: Any) -> np.ndarray:
    x = np.asarray(x, object)
    rows, size = int(np.prod(x.shape[:-1])), x.shape[-1]
    flat, _ = _ngrams_kernel(x, np.arange(rows + 1) * size, sep, left, right, **attrs)
    count = len(_taken([b""] * size, b"", _pads(attrs), *_ways(attrs)))
    return flat.reshape(*x.shape[:-1], count)


def _pads(attrs: dict[str, Any]) -> tuple[bytes, bytes] | None:
    return (b"", b"") if attrs["padded"] else None


def _ways(attrs: dict[str, Any]) -> tuple[Any, int, bool]:
    return attrs["widths"], attrs["padding_width"], attrs["short"]


def _dense_ngrams_kernel(
    x: Any,
    sep: Any,
    left: Any,
    right: Any,
    *,
    widths: tuple[int, ...],
    padding_width: int,
    padded: bool,
    short: bool,
) -> np.ndarray:
    attrs = {"widths": widths, "padding_width": padding_width, "padded": padded, "short": short}
    return _dense_kernel(x, sep, left, right, **attrs)


def _dense_result(x: ArraySpec, *others: ArraySpec, **attrs: Any) -> ArraySpec:
    size = x.shape[-1]
    count: Any = None
    if type(size) is int:
        count = len(_taken([b""] * size, b"", _pads(attrs), *_ways(attrs)))
    return ArraySpec((*x.shape[:-1], count), string)


_dense_ngrams = row("dense_ngrams", "data sep left right", _dense_ngrams_kernel, _dense_result)


@export("strings.ngrams")
def ngrams(
    data: Any,
    ngram_width: Any,
    separator: str = " ",
    pad_values: Any = None,
    padding_width: int | None = None,
    preserve_short_sequences: bool = False,
    name: str | None = None,
) -> Any:
    """Strings of several that follow each other in a row.

    >>> tf.strings.ngrams(["a", "b", "c"], 2).numpy()
    array([b'a b', b'b c'], dtype=object)

    Args:
      data: strings, in rows that may have different lengths.
      ngram_width: how many are taken together, or a tuple of such numbers.
      separator: what is put between them.
      pad_values: what a row is filled up with on both sides, or a pair of them for the left and the right.
      padding_width: how many of these at most; by default as many as there can be.
      preserve_short_sequences: whether a row that is shorter than each width is taken whole.
      name: accepted for compatibility.
    """
    op = "ngrams"
    widths = tuple(ngram_width) if isinstance(ngram_width, (list, tuple)) else (ngram_width,)
    widths = tuple(integer(op, "ngram_width", w) for w in widths)
    if min(widths, default=0) < 1:
        raise ValueError(f"ngrams: all of ngram_width must be greater than 0, got {ngram_width}")
    if padding_width is not None and padding_width < 0:
        raise ValueError(f"ngrams: padding_width must not be negative, got {padding_width}")
    if padding_width is not None and pad_values is None:
        raise ValueError("ngrams: padding_width needs pad_values, which is None")
    pads = pad_values if isinstance(pad_values, (list, tuple)) else (pad_values, pad_values)
    if pad_values is not None and (
        len(pads) != 2 or not all(isinstance(p, (str, bytes)) for p in pads)
    ):
        raise TypeError(f"ngrams: pad_values must be a string or a pair of them, got {pad_values}")
    texts = [text_of(op, "separator", separator)]
    texts += [convert_to_tensor("" if p is None else p, string) for p in pads]
    attrs = {
        "widths": widths,
        "padding_width": -1 if padding_width is None else integer(op, op, padding_width),
        "padded": pad_values is not None,
        "short": bool(preserve_short_sequences),
    }
    if is_ragged(data):
        return _of_ragged(data, lambda x, splits: _ngrams(x, splits, *texts, **attrs))
    x = strings_of(op, "data", data)
    if x.shape.rank == 0:
        raise ValueError("ngrams: data must have at least one dimension")
    return _dense_ngrams(x, *texts, **attrs)


def _of_ragged(data: Any, call: Callable[[Tensor, Tensor], tuple[Tensor, Tensor]]) -> Any:
    """A function of the innermost rows of a ragged tensor, which gives them others."""
    if data.ragged_rank > 1:
        return data.with_values(_of_ragged(data.values, call))
    return type(data).from_row_splits(*call(data.values, data.row_splits), validate=False)
