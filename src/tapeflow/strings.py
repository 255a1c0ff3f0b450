"""`tf.strings`: what is computed with tensors of strings."""

# Written by scripts/exports.py, from the lines in _src that export these names.

import typing as _typing

from tapeflow._src.core.missing import Missing as _Missing

# For editors and type checkers: these are imported when they are first asked for.
# isort: off
# fmt: off
if _typing.TYPE_CHECKING:
    from tapeflow._src.strings.buckets import (
        to_hash_bucket as to_hash_bucket, to_hash_bucket_fast as to_hash_bucket_fast,
        to_hash_bucket_strong as to_hash_bucket_strong
    )
    from tapeflow._src.strings.joining import (
        join as join, reduce_join as reduce_join, unsorted_segment_join as unsorted_segment_join,
        format as format
    )
    from tapeflow._src.strings.letters import (
        unicode_decode as unicode_decode,
        unicode_decode_with_offsets as unicode_decode_with_offsets, unicode_split as unicode_split,
        unicode_split_with_offsets as unicode_split_with_offsets
    )
    from tapeflow._src.strings.numbers import to_number as to_number, as_string as as_string
    from tapeflow._src.strings.parts import (
        lower as lower, upper as upper, strip as strip, length as length, substr as substr
    )
    from tapeflow._src.strings.regex import (
        regex_full_match as regex_full_match, regex_replace as regex_replace
    )
    from tapeflow._src.strings.splitting import (
        split as split, bytes_split as bytes_split, ngrams as ngrams
    )
    from tapeflow._src.strings.unicode import (
        unicode_transcode as unicode_transcode, unicode_encode as unicode_encode,
        unicode_script as unicode_script
    )
# fmt: on
# isort: on

__getattr__ = _Missing(
    "tf.strings",
    names={
        "strings.buckets": "to_hash_bucket to_hash_bucket_fast to_hash_bucket_strong",
        "strings.joining": "join reduce_join unsorted_segment_join format",
        "strings.letters": "unicode_decode unicode_decode_with_offsets unicode_split unicode_split_with_offsets",
        "strings.numbers": "to_number as_string",
        "strings.parts": "lower upper strip length substr",
        "strings.regex": "regex_full_match regex_replace",
        "strings.splitting": "split bytes_split ngrams",
        "strings.unicode": "unicode_transcode unicode_encode unicode_script",
    },
)


def __dir__() -> list[str]:
    return __getattr__.offered(globals())
