"""`tf.map_fn` over the rows of sparse tensors, and with sparse results."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tapeflow._src.core import nest
from tapeflow._src.core.composites import dispatch
from tapeflow._src.core.composites.dispatch import NOT_HANDLED
from tapeflow._src.core.convert import convert_to_tensor
from tapeflow._src.core.dtypes import as_dtype, int64
from tapeflow._src.core.errors import invalid, shown
from tapeflow._src.core.spec import TensorSpec, TypeSpec
from tapeflow._src.ops.array import creation, moving, shaping
from tapeflow._src.ops.control.functional import map_fn
from tapeflow._src.ops.debugging.assertions import Assert
from tapeflow._src.ops.elementwise.arithmetic import maximum
from tapeflow._src.ops.elementwise.logic import greater
from tapeflow._src.ops.reduction.reducing import reduce_all, reduce_max
from tapeflow._src.ops.reduction.sorting import searchsorted
from tapeflow._src.ragged.spec import RaggedTensorSpec
from tapeflow._src.ragged.tensor import RaggedTensor
from tapeflow._src.sparse import places
from tapeflow._src.sparse.tensor import SparseTensor, SparseTensorSpec


def _map_fn(function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Goes over tensors that say where the elements of each row are, in the place of sparse ones.

    A sparse result is one of three, each of which `tf.map_fn` knows to put together.
    """
    given = dispatch.bound(function, args, kwargs)
    if given is None:
        return NOT_HANDLED
    fn, elems = given.pop("fn"), given.pop("elems")
    old = given.pop("dtype", None)
    signature = given.pop("fn_output_signature", None)
    signature = old if signature is None else signature
    flat = nest.flatten(elems)
    kinds = (SparseTensor, SparseTensorSpec)
    if not any(isinstance(x, kinds) for x in (*flat, *nest.flatten(signature))):
        return NOT_HANDLED
    structure = elems if signature is None else signature
    specs = [_spec(x) for x in flat] if signature is None else nest.flatten(signature)

    def with_rows(parts: tuple[Any, ...]) -> tuple[Any, ...]:
        rows = [
            _row(x, *part) if isinstance(x, SparseTensor) else part[0]
            for x, part in zip(flat, parts, strict=True)
        ]
        result = fn(nest.pack_sequence_as(elems, rows))
        nest.assert_same_structure(structure, result)
        pairs = zip(nest.flatten(result), specs, strict=True)
        return tuple([_taken_apart(y, spec) for y, spec in pairs])

    found = map_fn(
        with_rows,
        tuple([_bounds(x) if isinstance(x, SparseTensor) else (x,) for x in flat]),
        fn_output_signature=tuple([_parts(spec) for spec in specs]),
        **given,
    )
    results = [_assembled(y, spec) for y, spec in zip(found, specs, strict=True)]
    return nest.pack_sequence_as(structure, results)


def _spec(x: Any) -> Any:
    """What is known of each row."""
    if isinstance(x, SparseTensor):
        return x._type_spec._unbatch()
    if isinstance(x, RaggedTensor):
        return RaggedTensorSpec(x.shape[1:], x.dtype, x.ragged_rank - 1, x._partition.dtype)
    return x if isinstance(x, TypeSpec) else as_dtype(convert_to_tensor(x).dtype)


def _bounds(x: SparseTensor) -> tuple[Any, Any]:
    """Where the elements of each row begin, and where they end."""
    if x.shape.rank is not None and x.shape.rank < 2:
        raise invalid(f"tf.map_fn: a sparse tensor must have at least 2 dimensions, got {x.shape}")
    numbers = places.numbered(x.indices, x.dense_shape)
    Assert(
        reduce_all(greater(numbers[1:], numbers[:-1])),
        ["tf.map_fn: the elements of a sparse tensor are out of order. Use tf.sparse.reorder."],
    )
    ends = searchsorted(
        x.indices[:, 0], creation.range(x.dense_shape[0]), side="right", out_type=int64
    )
    ends = shaping.ensure_shape(ends, x.shape[:1])
    return moving.concat([creation.zeros_like(ends[:1]), ends[:-1]], 0), ends


def _row(x: SparseTensor, begin: Any, end: Any) -> SparseTensor:
    row = SparseTensor(x.indices[begin:end, 1:], x.values[begin:end], x.dense_shape[1:])
    row.set_shape(x.shape[1:])
    return row


# Results. Coordinates are in one row, so that they have as many dimensions as the values.


def _parts(spec: Any) -> Any:
    """The specs of what stands for a result."""
    if not isinstance(spec, SparseTensorSpec):
        return spec
    return (
        RaggedTensorSpec([None], int64, 0),
        RaggedTensorSpec([None], spec.dtype, 0),
        TensorSpec([spec.shape.rank], int64),
    )


def _taken_apart(y: Any, spec: Any) -> Any:
    if not isinstance(spec, SparseTensorSpec):
        return y
    if not isinstance(y, SparseTensor):
        raise TypeError(f"tf.map_fn: expected a sparse result, and fn returned {shown(y)}")
    if not spec.shape.is_compatible_with(y.shape):
        raise ValueError(
            f"tf.map_fn: expected results of shape {spec.shape}, and fn returned one of shape {y.shape}"
        )
    return shaping.reshape(y.indices, [-1]), y.values, y.dense_shape


def _assembled(found: Any, spec: Any) -> Any:
    """The results as one, as large as the largest of them."""
    if not isinstance(spec, SparseTensorSpec):
        return found
    coordinates, values, shapes = found
    rows = shaping.expand_dims(values.value_rowids(), 1)
    rank = shaping.shape(shapes, int64)[1:]
    count = shaping.shape(rows, int64)[:1]
    within = shaping.reshape(coordinates.flat_values, moving.concat([count, rank], 0))
    none = creation.zeros(rank, int64)  # of no rows
    sizes = maximum(reduce_max(shapes, axis=0), none)
    batch = spec._batch(shapes.shape[0])
    whole = moving.concat([values.nrows(int64)[None], sizes], 0)
    result = SparseTensor(moving.concat([rows, within], 1), values.flat_values, whole)
    result.set_shape(batch.shape)
    return result


dispatch.register(map_fn, _map_fn)
