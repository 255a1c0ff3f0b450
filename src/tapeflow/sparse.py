"""`tf.sparse`: tensors of which only some elements are kept."""

# Written by scripts/exports.py, from the lines in _src that export these names.
# ruff: noqa: F401

import typing as _typing

from tapeflow._src.core.missing import Missing as _Missing

# For editors and type checkers: these are imported when they are first asked for.
# isort: off
# fmt: off
if _typing.TYPE_CHECKING:
    from tapeflow._src.sparse.arithmetic import add as add, maximum as maximum, minimum as minimum
    from tapeflow._src.sparse.conversion import (
        from_dense as from_dense, to_dense as to_dense, to_indicator as to_indicator, eye as eye,
        reorder as reorder, retain as retain, map_values as map_values, mask as mask,
        reset_shape as reset_shape
    )
    from tapeflow._src.sparse.counting import (
        bincount as bincount, segment_sum as segment_sum, segment_mean as segment_mean,
        segment_sqrt_n as segment_sqrt_n
    )
    from tapeflow._src.sparse.crossing import cross as cross, cross_hashed as cross_hashed
    from tapeflow._src.sparse.reduction import (
        reduce_sum as reduce_sum, reduce_max as reduce_max, softmax as softmax,
        sparse_dense_matmul as sparse_dense_matmul, sampled_addmm as sampled_addmm
    )
    from tapeflow._src.sparse.shaping import (
        reshape as reshape, transpose as transpose, expand_dims as expand_dims, concat as concat,
        split as split, slice_ as slice, fill_empty_rows as fill_empty_rows
    )
    from tapeflow._src.sparse.tensor import SparseTensor as SparseTensor
# fmt: on
# isort: on

__getattr__ = _Missing(
    "tf.sparse",
    names={
        "sparse.arithmetic": "add maximum minimum",
        "sparse.conversion": "from_dense to_dense to_indicator eye reorder retain map_values mask reset_shape",
        "sparse.counting": "bincount segment_sum segment_mean segment_sqrt_n",
        "sparse.crossing": "cross cross_hashed",
        "sparse.reduction": "reduce_sum reduce_max softmax sparse_dense_matmul sampled_addmm",
        "sparse.shaping": "reshape transpose expand_dims concat split slice:slice_ fill_empty_rows",
        "sparse.tensor": "SparseTensor",
    },
)


def __dir__() -> list[str]:
    return __getattr__.offered(globals())
