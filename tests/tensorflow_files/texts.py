"""Functions of strings, of tables and of random numbers, which are written for TensorFlow, and what they give."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

WORDS = [b"Hello World", b"a,b,,c", b"  x 12 ", b"", b"\xc3\xa4\xc3\xb6 42"]

TEXTS: dict[str, Callable[[Any, Any], Any]] = {
    "letters": lambda tf, x: [tf.strings.lower(x), tf.strings.upper(x), tf.strings.strip(x)],
    "utf-8": lambda tf, x: [tf.strings.upper(x, "utf-8"), tf.strings.length(x, "UTF8_CHAR")],
    "parts": lambda tf, x: [tf.strings.length(x), tf.strings.substr(x, 0, 0), x[1] + "!"],
    "joined": lambda tf, x: [
        tf.strings.join([x, "-", x], "+"),
        tf.strings.reduce_join(x, 0, separator="|", keepdims=True),
    ],
    "patterns": lambda tf, x: [
        tf.strings.regex_full_match(x, ".*o.*"),
        tf.strings.regex_replace(x, "[aeiou]", "<\\0>", replace_global=False),
    ],
    "buckets": lambda tf, x: [
        tf.strings.to_hash_bucket(x, 100),
        tf.strings.to_hash_bucket_fast(x, 100),
        tf.strings.to_hash_bucket_strong(x, 100, [1, 2]),
    ],
    "numbers": lambda tf, x: [
        tf.strings.to_number(tf.strings.as_string(tf.strings.length(x)), tf.int64),
        tf.strings.as_string(tf.cast(tf.strings.length(x), tf.float32) / 3.0, precision=2),
        tf.strings.as_string(tf.strings.length(x), width=4, fill="0"),
        tf.strings.as_string(tf.strings.length(x) > 3),
    ],
    "pieces": lambda tf, x: [
        tf.strings.split(x).values,
        tf.strings.split(x, ",").row_splits,
        tf.strings.split(x, ",", maxsplit=1).row_splits,
    ],
    "transcoded": lambda tf, x: tf.strings.unicode_transcode(x, "UTF-8", "UTF-16-BE"),
    "compared": lambda tf, x: [x == "", tf.where(x == "", "nothing", x), tf.gather(x, [1, 0])],
    "table": lambda tf, x: _table(tf).lookup(tf.strings.substr(x, 0, 0)),
    "words": lambda tf, x: _table(tf).lookup(x),
    "backwards": lambda tf, x: _backwards(tf).lookup(tf.cast(tf.strings.length(x), tf.int64)),
    "stateless": lambda tf, x: [
        tf.random.stateless_uniform([tf.size(x), 2], [1, 2]),
        tf.random.stateless_normal([3], [tf.size(x), 2], 5.0, 2.0),
        tf.random.stateless_truncated_normal([4], [3, 4]),
        tf.random.stateless_uniform([5], [5, 6], 10, 90, tf.int32),
    ],
    "seeded": lambda tf, x: [
        tf.random.uniform([tf.size(x), 2], seed=3),
        tf.random.normal([3], seed=4),
        tf.random.uniform([5], 10, 90, tf.int64, seed=5),
        tf.random.truncated_normal([2], seed=6),
        tf.random.shuffle(tf.range(8), seed=7),
        tf.random.categorical([[0.1, 0.9, 0.4]], 6, seed=8),
    ],
}
"""What is written op by op, of a vector of strings."""


def _table(tf: Any) -> Any:
    pairs = tf.lookup.KeyValueTensorInitializer(
        ["", "a,b,,c"], tf.constant([3, 5], tf.int64), tf.string, tf.int64
    )
    return tf.lookup.StaticHashTable(pairs, -1)


def _backwards(tf: Any) -> Any:
    pairs = tf.lookup.KeyValueTensorInitializer(
        tf.constant([0, 6], tf.int64), ["none", "six"], tf.int64, tf.string
    )
    return tf.lookup.StaticHashTable(pairs, "other")


def module(tf: Any) -> Any:
    """A module with a function for each."""
    made = tf.Module()
    made.tables = []

    def function(op: Callable[[Any, Any], Any]) -> Any:
        spec = tf.TensorSpec([None], tf.string)
        return tf.function(lambda x: op(tf, x), input_signature=[spec])

    for name, op in TEXTS.items():
        setattr(made, name.replace("-", "_"), function(op))
    return made


def computed(tf: Any, loaded: Any) -> dict[str, Any]:
    """What the functions give."""

    def plain(y: Any) -> Any:
        found = y.numpy()
        return _shown(found if isinstance(found, bytes) else found.tolist())

    return {
        name: tf.nest.map_structure(
            plain, getattr(loaded, name.replace("-", "_"))(tf.constant(WORDS))
        )
        for name in TEXTS
    }


def _shown(value: Any) -> Any:
    if isinstance(value, list):
        return [_shown(each) for each in value]
    return value.hex() if isinstance(value, bytes) else value
