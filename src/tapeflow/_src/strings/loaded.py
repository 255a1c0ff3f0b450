"""All rows for strings: whoever imports this has them, for a graph that names them."""

from tapeflow._src.strings import (
    buckets,
    joining,
    letters,
    numbers,
    parts,
    regex,
    splitting,
    unicode,
)

__all__ = ["buckets", "joining", "letters", "numbers", "parts", "regex", "splitting", "unicode"]
