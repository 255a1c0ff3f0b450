"""`tf.sparse`: tensors of which only some elements are kept."""

# Written by scripts/exports.py, from the lines in _src that export these names.
# ruff: noqa: F401

import typing as _typing

from tapeflow._src.core.missing import Missing as _Missing

# For editors and type checkers: these are imported when they are first asked for.
if _typing.TYPE_CHECKING:
    from tapeflow._src.sparse.arithmetic import add as add, maximum as maximum, minimum as minimum
    from tapeflow._src.sparse.conversion import (
        eye as eye,
        from_dense as from_dense,
        map_values as map_values,
        mask as mask,
        reorder as reorder,
        reset_shape as reset_shape,
        retain as retain,
        to_dense as to_dense,
        to_indicator as to_indicator,
    )
    from tapeflow._src.sparse.counting import (
        bincount as bincount,
        segment_mean as segment_mean,
        segment_sqrt_n as segment_sqrt_n,
        segment_sum as segment_sum,
    )
    from tapeflow._src.sparse.crossing import cross as cross, cross_hashed as cross_hashed
    from tapeflow._src.sparse.reduction import (
        reduce_max as reduce_max,
        reduce_sum as reduce_sum,
        sampled_addmm as sampled_addmm,
        softmax as softmax,
        sparse_dense_matmul as sparse_dense_matmul,
    )
    from tapeflow._src.sparse.shaping import (
        concat as concat,
        expand_dims as expand_dims,
        fill_empty_rows as fill_empty_rows,
        reshape as reshape,
        slice_ as slice,
        split as split,
        transpose as transpose,
    )
    from tapeflow._src.sparse.tensor import SparseTensor as SparseTensor

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
