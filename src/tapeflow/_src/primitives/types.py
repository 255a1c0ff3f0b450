"""What TensorFlow calls the ops that primitives are: their types."""

from __future__ import annotations

import functools

from tapeflow._src.primitives.table import Primitive

# Of those whose names are not theirs in other letters.
_TYPES = {
    "add": "AddV2",
    "subtract": "Sub",
    "multiply": "Mul",
    "divide": "RealDiv",
    "divide_no_nan": "DivNoNan",
    "negative": "Neg",
    "power": "Pow",
    "matmul": "MatMul",
    "inverse": "MatrixInverse",
    "conv": "Conv2D",
    "select": "SelectV2",
    "getitem": "StridedSlice",
    "floor_divide": "FloorDiv",
    "concat": "ConcatV2",
    "stack": "Pack",
    "unstack": "Unpack",
    "argmax": "ArgMax",
    "argmin": "ArgMin",
    "gather": "GatherV2",
    "reverse": "ReverseV2",
    "random_next_state": "RandomState",
}


def type_named(name: str) -> str:
    """What TensorFlow would call the operation of a primitive."""
    return _TYPES.get(name) or "".join(part[:1].upper() + part[1:] for part in name.split("_"))


@functools.cache
def rows_by_type() -> dict[str, Primitive]:
    """The primitives by what TensorFlow calls them."""
    from tapeflow._src.primitives.all_rows import TABLE

    return {type_named(row.name): row for row in reversed(TABLE.values())}
