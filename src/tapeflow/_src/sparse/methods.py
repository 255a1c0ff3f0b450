"""The one place of this folder that binds late: operators of `tf.SparseTensor`, and ops that take it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tapeflow._src.core.composites.dispatch import NOT_HANDLED, bound, register
from tapeflow._src.core.dtypes import int32
from tapeflow._src.ops.array import shaping
from tapeflow._src.ops.elementwise import arithmetic, functions
from tapeflow._src.ops.indexing.counting import bincount
from tapeflow._src.ops.reduction import reducing
from tapeflow._src.ops.special.functions import bessel_i0e, bessel_i1e
from tapeflow._src.ragged.tensor import RaggedTensor, late
from tapeflow._src.sparse import arithmetic as sparse, ragged_rows, reduction
from tapeflow._src.sparse.conversion import to_dense
from tapeflow._src.sparse.counting import bincount as sparse_bincount
from tapeflow._src.sparse.tensor import SparseTensor

_OPERATORS: dict[str, Callable[..., Any]] = {
    "__mul__": sparse.multiply,
    "__rmul__": sparse.multiply,
    "__truediv__": sparse.divide,
}
for _name, _operator in _OPERATORS.items():
    setattr(SparseTensor, _name, _operator)

_UNARY = (
    *(arithmetic.abs, arithmetic.negative, arithmetic.sign, arithmetic.square, arithmetic.sqrt),
    *(functions.tanh, functions.erf, functions.sin, functions.tan, functions.asin, functions.atan),
    *(functions.sinh, functions.asinh, functions.atanh, functions.expm1, functions.log1p),
    *(arithmetic.floor, arithmetic.ceil, arithmetic.round, arithmetic.rint, arithmetic.real),
    *(arithmetic.imag, arithmetic.conj, shaping.cast, shaping.identity, shaping.stop_gradient),
    *(bessel_i0e, bessel_i1e),
)
"""Functions of the elements that are there."""


def _of_values(function: Callable[..., Any], args: Any, kwargs: Any) -> Any:
    """What such a function gives for the elements."""
    if not args or not isinstance(args[0], SparseTensor):
        return NOT_HANDLED
    return args[0].with_values(function(args[0].values, *args[1:], **kwargs))


for _function in _UNARY:
    register(_function, _of_values)


def _binary(operator: Callable[[Any, Any], Any], commutes: bool) -> Callable[..., Any]:
    def answer(_: Callable[..., Any], args: Any, kwargs: Any) -> Any:
        if len(args) == 2 and isinstance(args[0], SparseTensor):
            result = operator(*args)
        elif len(args) == 2 and commutes and isinstance(args[1], SparseTensor):
            result = operator(args[1], args[0])
        else:
            result = NotImplemented
        return NOT_HANDLED if result is NotImplemented else result

    return answer


register(arithmetic.multiply, _binary(sparse.multiply, commutes=True))
register(arithmetic.divide, _binary(sparse.divide, commutes=False))
register(arithmetic.truediv, _binary(sparse.divide, commutes=False))


def _shape(function: Callable[..., Any], args: Any, kwargs: Any) -> Any:
    """`tf.shape` of a sparse tensor is that of the whole."""
    x = args[0] if args else None
    if not isinstance(x, SparseTensor):
        return NOT_HANDLED
    out_type = args[1] if len(args) > 1 else kwargs.get("out_type")
    return shaping.cast(x.dense_shape, int32 if out_type is None else out_type)


register(shaping.shape, _shape)


def _size(function: Callable[..., Any], args: Any, kwargs: Any) -> Any:
    """`tf.size` and `tf.rank` of a sparse tensor are those of the whole."""
    x = args[0] if args else None
    if not isinstance(x, SparseTensor):
        return NOT_HANDLED
    if function is shaping.rank:
        return shaping.size(x.dense_shape)
    out_type = args[1] if len(args) > 1 else kwargs.get("out_type")
    return shaping.cast(
        reducing.reduce_prod(x.dense_shape), int32 if out_type is None else out_type
    )


register(shaping.size, _size)
register(shaping.rank, _size)


def _sum(function: Callable[..., Any], args: Any, kwargs: Any) -> Any:
    """`tf.reduce_sum` of a sparse tensor is a tensor."""
    if not args or not isinstance(args[0], SparseTensor):
        return NOT_HANDLED
    return reduction.reduce_sum(*args, **kwargs)


register(reducing.reduce_sum, _sum)


def _bincount(function: Callable[..., Any], args: Any, kwargs: Any) -> Any:
    """`tf.math.bincount` of a sparse or ragged tensor is a tensor."""
    given = bound(function, args, kwargs)
    if given is None or not isinstance(given["arr"], (SparseTensor, RaggedTensor)):
        return NOT_HANDLED
    names = ("weights", "minlength", "maxlength", "binary_output")
    options = {name: given[name] for name in names if name in given}
    found = sparse_bincount(given["arr"], axis=given.get("axis") or 0, **options)
    whole = to_dense(found)
    return (
        whole
        if options.get("weights") is not None
        else shaping.cast(whole, given.get("dtype", int32))
    )


register(bincount, _bincount)

late.to_sparse = ragged_rows.to_sparse
late.from_sparse = ragged_rows.from_sparse
