"""`tf.strings`: what is computed with tensors of strings."""

# Written by scripts/exports.py, from the lines in _src that export these names.

import typing as _typing

from tapeflow._src.core.missing import Missing as _Missing

# For editors and type checkers: these are imported when they are first asked for.
if _typing.TYPE_CHECKING:
    from tapeflow._src.strings.buckets import (
        to_hash_bucket as to_hash_bucket,
        to_hash_bucket_fast as to_hash_bucket_fast,
        to_hash_bucket_strong as to_hash_bucket_strong,
    )
    from tapeflow._src.strings.joining import (
        format as format,
        join as join,
        reduce_join as reduce_join,
        unsorted_segment_join as unsorted_segment_join,
    )
    from tapeflow._src.strings.letters import (
        unicode_decode as unicode_decode,
        unicode_decode_with_offsets as unicode_decode_with_offsets,
        unicode_split as unicode_split,
        unicode_split_with_offsets as unicode_split_with_offsets,
    )
    from tapeflow._src.strings.numbers import as_string as as_string, to_number as to_number
    from tapeflow._src.strings.parts import (
        length as length,
        lower as lower,
        strip as strip,
        substr as substr,
        upper as upper,
    )
    from tapeflow._src.strings.regex import (
        regex_full_match as regex_full_match,
        regex_replace as regex_replace,
    )
    from tapeflow._src.strings.splitting import (
        bytes_split as bytes_split,
        ngrams as ngrams,
        split as split,
    )
    from tapeflow._src.strings.unicode import (
        unicode_encode as unicode_encode,
        unicode_script as unicode_script,
        unicode_transcode as unicode_transcode,
    )

__getattr__ = _Missing(
    "tf.strings",
    names={
        "to_hash_bucket": "strings.buckets",
        "to_hash_bucket_fast": "strings.buckets",
        "to_hash_bucket_strong": "strings.buckets",
        "join": "strings.joining",
        "reduce_join": "strings.joining",
        "unsorted_segment_join": "strings.joining",
        "format": "strings.joining",
        "unicode_decode": "strings.letters",
        "unicode_decode_with_offsets": "strings.letters",
        "unicode_split": "strings.letters",
        "unicode_split_with_offsets": "strings.letters",
        "to_number": "strings.numbers",
        "as_string": "strings.numbers",
        "lower": "strings.parts",
        "upper": "strings.parts",
        "strip": "strings.parts",
        "length": "strings.parts",
        "substr": "strings.parts",
        "regex_full_match": "strings.regex",
        "regex_replace": "strings.regex",
        "split": "strings.splitting",
        "bytes_split": "strings.splitting",
        "ngrams": "strings.splitting",
        "unicode_transcode": "strings.unicode",
        "unicode_encode": "strings.unicode",
        "unicode_script": "strings.unicode",
    },
)


def __dir__() -> list[str]:
    return __getattr__.offered(globals())
