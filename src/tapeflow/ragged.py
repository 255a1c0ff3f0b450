"""`tf.ragged`: tensors whose rows have different lengths."""

# Written by scripts/exports.py, from the lines in _src that export these names.
# ruff: noqa: F401

import typing as _typing

from tapeflow._src.core.missing import Missing as _Missing

# For editors and type checkers: these are imported when they are first asked for.
# isort: off
# fmt: off
if _typing.TYPE_CHECKING:
    from tapeflow._src.ragged.constant import (
        constant as constant, range_ as range,
        row_splits_to_segment_ids as row_splits_to_segment_ids,
        segment_ids_to_row_splits as segment_ids_to_row_splits
    )
    from tapeflow._src.ragged.cross import cross as cross
    from tapeflow._src.ragged.functional import map_flat_values as map_flat_values
    from tapeflow._src.ragged.gathering import (
        boolean_mask as boolean_mask, stack_dynamic_partitions as stack_dynamic_partitions
    )
    from tapeflow._src.ragged.joining import stack as stack
    from tapeflow._src.sparse.crossing import ragged_cross_hashed as cross_hashed
# fmt: on
# isort: on

__getattr__ = _Missing(
    "tf.ragged",
    names={
        "ragged.constant": "constant range:range_ row_splits_to_segment_ids segment_ids_to_row_splits",
        "ragged.cross": "cross",
        "ragged.functional": "map_flat_values",
        "ragged.gathering": "boolean_mask stack_dynamic_partitions",
        "ragged.joining": "stack",
        "sparse.crossing": "cross_hashed:ragged_cross_hashed",
    },
)


def __dir__() -> list[str]:
    return __getattr__.offered(globals())
