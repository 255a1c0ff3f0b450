"""How what is computed with strings, and looked up in tables, is written as TensorFlow's ops."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from tapeflow._src.graph.graph import Node
from tapeflow._src.tensorflow_files.graph_writing import ROWS, CannotWrite, FunctionWriter, Ref, Row
from tapeflow._src.tensorflow_files.primitive_ops import row


def _with(op: str, *attrs: str) -> Row:
    """A primitive that is an op of the same inputs and attributes."""
    return lambda w, node, x: w.op(op, *x, **{name: node.attrs[name] for name in attrs})


ROWS.update(
    {
        "strings.lower": _with("StringLower", "encoding"),
        "strings.upper": _with("StringUpper", "encoding"),
        "strings.strip": _with("StringStrip"),
        "strings.length": _with("StringLength", "unit"),
        "strings.substr": _with("Substr", "unit"),
        "strings.regex_full_match": _with("RegexFullMatch"),
        "strings.regex_replace": _with("RegexReplace", "replace_global"),
        "strings.to_hash_bucket": _with("StringToHashBucket", "num_buckets"),
        "strings.to_hash_bucket_fast": _with("StringToHashBucketFast", "num_buckets"),
        "strings.to_hash_bucket_strong": _with("StringToHashBucketStrong", "num_buckets", "key"),
        "strings.unicode_script": _with("UnicodeScript"),
        "add_strings": _with("Add"),
    }
)


def _text(w: FunctionWriter, ref: Ref, what: str) -> str:
    """A string that an op has as an attribute."""
    found: Any = w.known(ref)
    if found is None:
        raise CannotWrite(f"{what} that is not a constant")
    return found[()].decode()


@row("strings.join")
def _join(w: FunctionWriter, node: Node, x: list[Ref]) -> Any:
    return w.op("StringJoin", x[1:], separator=_text(w, x[0], "a separator"))


@row("strings.reduce_join")
def _reduce_join(w: FunctionWriter, node: Node, x: list[Ref]) -> Any:
    attrs = node.attrs
    if len(attrs["axes"]) > 1:
        raise CannotWrite("several axes")
    return w.op(
        "ReduceJoin",
        x[0],
        list(attrs["axes"]),
        keep_dims=attrs["keepdims"],
        separator=_text(w, x[1], "a separator"),
    )


@row("strings.to_number")
def _to_number(w: FunctionWriter, node: Node, x: list[Ref]) -> Any:
    return w.op("StringToNumber", *x, out_type=node.attrs["dtype"])


@row("strings.as_string")
def _as_string(w: FunctionWriter, node: Node, x: list[Ref]) -> Any:
    """The form that C writes numbers by, taken apart again."""
    found = re.fullmatch(r"%([-+ 0]?)(\d*)(?:\.(\d+))?([a-z])", node.attrs["form"])
    if found is None:
        raise CannotWrite(f"the form {node.attrs['form']!r}")
    fill, width, precision, kind = found.groups()
    return w.op(
        "AsString",
        *x,
        fill=fill,
        width=int(width) if width else -1,
        precision=int(precision) if precision else -1,
        scientific=kind == "e",
        shortest=kind == "g",
    )


@row("strings.unicode_transcode")
def _transcode(w: FunctionWriter, node: Node, x: list[Ref]) -> Any:
    attrs = node.attrs
    return w.op(
        "UnicodeTranscode",
        *x,
        input_encoding=attrs["encoding"],
        output_encoding=attrs["target"],
        errors=attrs["errors"],
        replacement_char=attrs["replacement"],
        replace_control_characters=attrs["control"],
    )


@row("strings.split")
def _split(w: FunctionWriter, node: Node, x: list[Ref]) -> Any:
    """Pieces, and where those of each string begin: counted from the row numbers that TensorFlow gives."""
    texts = w.op("Reshape", x[0], [-1])
    places, pieces, _ = w.op("StringSplitV2", texts, x[1], maxsplit=node.attrs["maxsplit"])
    rows = w.op(
        "StridedSlice", places, [0, 0], [0, 1], [1, 1], begin_mask=1, end_mask=1, shrink_axis_mask=2
    )
    count = w.element(w.shape(texts), 0)
    counts = w.op("UnsortedSegmentSum", w.op("OnesLike", rows), rows, count)
    ends = w.op("Cumsum", counts, 0, exclusive=False, reverse=False)
    return [pieces, w.op("ConcatV2", [w.constant(np.zeros(1, np.int64)), ends], 0)]


@row("lookup.find")
def _find(w: FunctionWriter, node: Node, x: list[Ref]) -> Any:
    """A table that each call makes for itself, and fills: nothing has to be created when the model is loaded."""
    keys, known, values, default = x
    table = w.op("AnonymousHashTable", key_dtype=known.dtype, value_dtype=values.dtype)
    filled = w.op("LookupTableImportV2", table, known, values)
    found = w.op("LookupTableFindV2", table, keys, default)
    w.nodes[-1]["input"].append(f"^{filled}")
    return found
