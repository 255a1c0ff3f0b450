"""Strings: what is computed with them, and pieces of them as lists."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from tests.differential.calls import expression, op
from tests.differential.draw import Dice, Draw, Drawn, bools, draw, ints, one_of, shapes
from tests.differential.values import Array

WORDS = (
    "a",
    "b",
    "ab",
    "A",
    "ä",
    "€",
    " ",
    "  x ",
    ",",
    "a,b",
    "12",
    "-3.5",
    "hello world",
    "",
    "\t",
)


def texts(parts: Sequence[str] = WORDS, shape: Any = None) -> Draw:
    """Arrays of strings, each made of a few parts."""
    shaped = shapes(0, 2) if shape is None else draw(shape)

    def make(dice: Dice, drawn: Drawn) -> Array:
        size = shaped.make(dice, drawn)
        values = np.empty(size, object)
        for place in np.ndindex(*size):
            words = [dice.one(parts) for _ in range(dice.integer(0, 3))]
            values[place] = "".join(words).encode()
        return Array(values)

    return Draw(make)


X = texts()
VECTOR = texts(shape=(3,))
NO = {"_gradients": False, "_bad": False}
UNIT = one_of("BYTE", "UTF8_CHAR")

op("strings.lower", input=X, encoding=one_of("", "utf-8"), **NO)
op("strings.upper", input=X, encoding=one_of("", "utf-8"), **NO)
op("strings.strip", input=X, **NO)
op("strings.length", input=X, unit=UNIT, **NO)
op(
    "strings.substr",
    input=X,
    pos=one_of(0, 1, -1, 3),
    len=one_of(0, 1, 2, -1),
    unit=UNIT,
    # TensorFlow takes a part from the end to the end of the bytes, and not of the characters.
    _valid=lambda input, pos, len, unit: pos >= 0 or len >= 0,
    **NO,
)
op("strings.to_hash_bucket", input=X, num_buckets=one_of(1, 7, 1000), **NO)
op("strings.to_hash_bucket_fast", input=X, num_buckets=one_of(1, 7, 1000), **NO)
op("strings.to_hash_bucket_strong", input=X, num_buckets=one_of(1, 1000), key=[1, 2], **NO)
op("strings.regex_full_match", input=X, pattern=one_of("a.*", r"\w+", "[a-c]*", "ä?", ".*,b"), **NO)
op(
    "strings.regex_replace",
    input=X,
    pattern=one_of("a", r"\w", "[ab]+", "x*", "(a)(b)"),
    rewrite=one_of("", "z", r"\\0\\0", "-"),
    replace_global=bools(),
    **NO,
)
op("strings.unicode_script", input=ints(0, 1000, dtypes=("int32",)), **NO)
op(
    "strings.unicode_transcode",
    input=X,
    input_encoding="UTF-8",
    output_encoding=one_of("UTF-8", "UTF-16-BE", "UTF-32-BE"),
    errors=one_of("replace", "ignore"),
    **NO,
)
op("strings.as_string", input=ints(), width=one_of(-1, 4), fill=one_of("", "0"), **NO)
op("strings.reduce_join", inputs=X, axis=one_of(None, 0, -1), separator=one_of("", "-"), **NO)
op(
    "strings.to_number",
    input=texts(("1", "2", "0", "7")),
    out_type=one_of("float32", "int32", "int64", "float64"),
    **NO,
)
op("strings.unicode_encode", input=ints(97, 300, dtypes=("int32",)), output_encoding="UTF-8", **NO)
op(
    "strings.unsorted_segment_join",
    inputs=VECTOR,
    segment_ids=ints(0, 2, shape=(3,), dtypes=("int32",)),
    num_segments=3,
    separator=one_of("", ","),
    **NO,
)
for text in (
    "tf.strings.join([x, x], '-')",
    "tf.strings.join(['a', x], 'ä')",
    "tf.strings.split(x).to_list()",
    "tf.strings.split(x, ',').to_list()",
    "tf.strings.split(x, 'ab').to_list()",
    "tf.strings.split(x, ',', maxsplit=1).to_list()",
    "tf.strings.bytes_split(x).to_list()",
    "tf.strings.unicode_split(x, 'UTF-8').to_list()",
    "tf.strings.unicode_decode(x, 'UTF-8').to_list()",
    "[r.to_list() for r in tf.strings.unicode_split_with_offsets(x, 'UTF-8')]",
    "[r.to_list() for r in tf.strings.unicode_decode_with_offsets(x, 'UTF-8')]",
    "tf.strings.ngrams(x, 2)",
    "tf.strings.ngrams(x, [1, 2], separator='', pad_values=('<', '>'))",
    "tf.strings.format('{}', x)",
    "tf.as_string(tf.strings.length(x))",
    "tf.fingerprint(x)",
    "x + x",
    "x == 'ab'",
):
    expression(text, x=VECTOR, **NO)
