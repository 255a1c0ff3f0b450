"""Raw ops of strings, and of the rows that they are split into."""

from __future__ import annotations

from typing import Any

from tapeflow._src.core import dtypes
from tapeflow._src.core.errors import UnimplementedError
from tapeflow._src.core.export import export_value
from tapeflow._src.ragged.tensor import RaggedTensor
from tapeflow._src.raw_ops.raw_op import RawOp
from tapeflow._src.strings import buckets, joining, numbers, parts, regex, splitting, unicode


def _split(*, input: Any, sep: Any, maxsplit: int = -1) -> tuple[Any, Any, Any]:
    rows = splitting.split(input, sep, maxsplit).to_sparse()
    return rows.indices, rows.values, rows.dense_shape


def _to_tensor(
    *,
    shape: Any,
    values: Any,
    default_value: Any,
    row_partition_tensors: Any,
    row_partition_types: Any,
) -> Any:
    kinds = [kind.decode() if isinstance(kind, bytes) else kind for kind in row_partition_types]
    if kinds == ["ROW_SPLITS"]:
        rows = RaggedTensor.from_row_splits(values, row_partition_tensors[0])
    elif kinds == ["FIRST_DIM_SIZE", "VALUE_ROWIDS"]:
        count, ids = row_partition_tensors
        rows = RaggedTensor.from_value_rowids(values, ids, count)
    else:
        raise UnimplementedError(
            None, None, f"RaggedTensorToTensor: rows that are told by {kinds} are not there."
        )
    return rows.to_tensor(default_value, shape=shape)


def _transcode(
    *,
    input: Any,
    input_encoding: str,
    output_encoding: str,
    errors: str = "replace",
    replacement_char: int = 65533,
    replace_control_characters: bool = False,
) -> Any:
    return unicode.unicode_transcode(
        input, input_encoding, output_encoding, errors, replacement_char, replace_control_characters
    )


StringLower = RawOp("StringLower", lambda *, input, encoding="": parts.lower(input, encoding))
StringUpper = RawOp("StringUpper", lambda *, input, encoding="": parts.upper(input, encoding))
StringStrip = RawOp("StringStrip", lambda *, input: parts.strip(input))
StringLength = RawOp("StringLength", lambda *, input, unit="BYTE": parts.length(input, unit))
StringJoin = RawOp("StringJoin", lambda *, inputs, separator="": joining.join(inputs, separator))
StringSplitV2 = RawOp("StringSplitV2", _split)
StringToHashBucketFast = RawOp(
    "StringToHashBucketFast",
    lambda *, input, num_buckets: buckets.to_hash_bucket_fast(input, num_buckets),
)
StringToNumber = RawOp(
    "StringToNumber",
    lambda *, string_tensor, out_type=dtypes.float32: numbers.to_number(string_tensor, out_type),
)
RegexReplace = RawOp(
    "RegexReplace",
    lambda *, input, pattern, rewrite, replace_global=True: regex.regex_replace(
        input, pattern, rewrite, replace_global
    ),
)
StaticRegexReplace = RawOp(
    "StaticRegexReplace",
    lambda *, input, pattern, rewrite, replace_global=True: regex.regex_replace(
        input, pattern, rewrite, replace_global
    ),
)
RegexFullMatch = RawOp(
    "RegexFullMatch", lambda *, input, pattern: regex.regex_full_match(input, pattern)
)
StaticRegexFullMatch = RawOp(
    "StaticRegexFullMatch", lambda *, input, pattern: regex.regex_full_match(input, pattern)
)
Substr = RawOp(
    "Substr", lambda *, input, pos, len, unit="BYTE": parts.substr(input, pos, len, unit)
)
ReduceJoin = RawOp(
    "ReduceJoin",
    lambda *, inputs, reduction_indices, keep_dims=False, separator="": joining.reduce_join(
        inputs, reduction_indices, keep_dims, separator
    ),
)
StringToHashBucket = RawOp(
    "StringToHashBucket",
    lambda *, string_tensor, num_buckets: buckets.to_hash_bucket(string_tensor, num_buckets),
)
StringToHashBucketStrong = RawOp(
    "StringToHashBucketStrong",
    lambda *, input, num_buckets, key: buckets.to_hash_bucket_strong(input, num_buckets, key),
)
AsString = RawOp(
    "AsString",
    lambda *, input, precision=-1, scientific=False, shortest=False, width=-1, fill="": (
        numbers.as_string(input, precision, scientific, shortest, width, fill)
    ),
)
UnicodeScript = RawOp("UnicodeScript", lambda *, input: unicode.unicode_script(input))
UnicodeTranscode = RawOp("UnicodeTranscode", _transcode)
RaggedTensorToTensor = RawOp("RaggedTensorToTensor", _to_tensor)

export_value("StringLower", "raw_ops.StringLower")
export_value("StringUpper", "raw_ops.StringUpper")
export_value("StringStrip", "raw_ops.StringStrip")
export_value("StringLength", "raw_ops.StringLength")
export_value("StringJoin", "raw_ops.StringJoin")
export_value("StringSplitV2", "raw_ops.StringSplitV2")
export_value("StringToHashBucketFast", "raw_ops.StringToHashBucketFast")
export_value("StringToNumber", "raw_ops.StringToNumber")
export_value("RegexReplace", "raw_ops.RegexReplace")
export_value("StaticRegexReplace", "raw_ops.StaticRegexReplace")
export_value("RegexFullMatch", "raw_ops.RegexFullMatch")
export_value("StaticRegexFullMatch", "raw_ops.StaticRegexFullMatch")
export_value("Substr", "raw_ops.Substr")
export_value("ReduceJoin", "raw_ops.ReduceJoin")
export_value("StringToHashBucket", "raw_ops.StringToHashBucket")
export_value("StringToHashBucketStrong", "raw_ops.StringToHashBucketStrong")
export_value("AsString", "raw_ops.AsString")
export_value("UnicodeScript", "raw_ops.UnicodeScript")
export_value("UnicodeTranscode", "raw_ops.UnicodeTranscode")
export_value("RaggedTensorToTensor", "raw_ops.RaggedTensorToTensor")
