"""Functions of the rows and of the values of ragged tensors: `tf.map_fn`, `tf.ragged.map_flat_values`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tapeflow._src.core import nest
from tapeflow._src.core.context import context
from tapeflow._src.core.convert import convert_to_tensor
from tapeflow._src.core.dtypes import as_dtype, int32, int64
from tapeflow._src.core.errors import shown
from tapeflow._src.core.export import export
from tapeflow._src.core.spec import TensorSpec
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.ops.array import moving, shaping
from tapeflow._src.ops.array.creation import zeros
from tapeflow._src.ops.control.control_flow import while_loop
from tapeflow._src.ops.control.tensor_array import TensorArray
from tapeflow._src.ops.debugging import assertions
from tapeflow._src.ragged.broadcasting import operand
from tapeflow._src.ragged.joining import deeper, stacked
from tapeflow._src.ragged.partition import RowPartition, splits_of
from tapeflow._src.ragged.spec import RaggedTensorSpec
from tapeflow._src.ragged.tensor import RaggedTensor


@export("ragged.map_flat_values")
def map_flat_values(op: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """Calls a function on the values of ragged tensors, and gives its result their rows.

    >>> x = tf.ragged.constant([[1, 2, 3], [], [4, 5], [6]])
    >>> tf.ragged.map_flat_values(tf.ones_like, x)
    <tf.RaggedTensor [[1, 1, 1], [], [1, 1], [1]]>

    Args:
      op: takes tensors where ragged ones are given.
      *args: its arguments. All ragged tensors must have the same rows.
      **kwargs: its named arguments.
    """
    ragged = [x for x in nest.flatten((args, kwargs)) if isinstance(x, RaggedTensor)]
    if not ragged:
        return op(*args, **kwargs)
    first = ragged[0]
    for other in ragged[1:]:
        _check_same_rows(first, other)
    given = nest.map_structure(
        lambda x: x.flat_values if isinstance(x, RaggedTensor) else x, (args, kwargs)
    )
    result = op(*given[0], **given[1])
    if not isinstance(result, (Tensor, RaggedTensor)):
        result = convert_to_tensor(result)
    size, wanted = result.shape[:1], first.flat_values.shape[:1]
    if not result.shape.rank or not size.is_compatible_with(wanted):
        raise ValueError(
            f"tf.ragged.map_flat_values requires that the output of `op` have the same outer-dimension size as "
            f"flat_values of any ragged inputs. (output shape: {result.shape}; expected outer dimension size: {wanted})"
        )
    return first.with_flat_values(result)


def _check_same_rows(x: RaggedTensor, y: RaggedTensor) -> None:
    if x.ragged_rank != y.ragged_rank:
        raise ValueError("All ragged inputs must have the same ragged_rank.")
    x.shape[:1].assert_is_compatible_with(y.shape[:1])
    for a, b in zip(x.nested_row_splits, y.nested_row_splits, strict=True):
        if a is not b:
            assertions.assert_equal(
                shaping.cast(a, int64),
                shaping.cast(b, int64),
                message="Inputs must have identical ragged splits",
            )


def map_fn(
    fn: Callable[[Any], Any],
    elems: Any,
    dtype: Any = None,
    parallel_iterations: int | None = None,
    back_prop: bool = True,
    swap_memory: bool = False,
    infer_shape: bool = True,
    name: str | None = None,
    fn_output_signature: Any = None,
) -> Any:
    """`tf.map_fn` where `elems` or results are ragged."""
    flat = [operand(x) for x in nest.flatten(elems)]
    signature = dtype if fn_output_signature is None else fn_output_signature
    structure = elems if signature is None else signature
    given = [_row_spec(x) for x in flat] if signature is None else nest.flatten(signature)
    specs = [_spec(x) for x in given]
    count, known = _row_count(flat)

    def results(i: Any) -> list[Any]:
        result = fn(nest.pack_sequence_as(elems, [x[i] for x in flat]))
        nest.assert_same_structure(structure, result)
        found = [operand(x) for x in nest.flatten(result)]
        for x, spec in zip(found, specs, strict=True):
            _check(x, spec)
        return found

    if context.tracer is None or (known is not None and 0 < known <= _UNROLLED):
        rows = [results(i) for i in range(int(count) if known is None else known)]
        stacked = [_stacked([row[k] for row in rows], spec) for k, spec in enumerate(specs)]
    else:
        stacked = _looped(results, specs, count)
    return nest.pack_sequence_as(structure, stacked)


_UNROLLED = 8  # as in the map_fn of tensors


def _row_count(flat: list[Any]) -> tuple[Tensor, int | None]:
    known = {x.shape[0] for x in flat} - {None}
    if len(known) > 1:
        raise ValueError(f"tf.map_fn: elems must have the same number of rows, got {sorted(known)}")
    first = flat[0]
    count = first.nrows(int32) if isinstance(first, RaggedTensor) else shaping.shape(first)[0]
    return count, known.pop() if known else None


def _row_spec(x: Any) -> Any:
    if isinstance(x, RaggedTensor):
        return RaggedTensorSpec(x.shape[1:], x.dtype, x.ragged_rank - 1, x._partition.dtype)
    return TensorSpec(x.shape[1:], x.dtype)


def _spec(given: Any) -> Any:
    if isinstance(given, (TensorSpec, RaggedTensorSpec)):
        return given
    return TensorSpec(None, as_dtype(given))


def _check(x: Any, spec: Any) -> None:
    if x.dtype is not spec.dtype:
        raise TypeError(
            f"tf.map_fn: expected results of dtype {spec.dtype.name}, and fn returned {x.dtype.name}. Say what it "
            "returns with fn_output_signature, or use tf.cast."
        )
    if not spec.shape.is_compatible_with(x.shape):
        raise ValueError(
            f"tf.map_fn: expected results of shape {spec.shape}, and fn returned {shown(x.shape)}"
        )


def _stacked(rows: list[Any], spec: Any) -> Any:
    if isinstance(spec, RaggedTensorSpec):
        if rows:
            return stacked([deeper(x, spec.ragged_rank) for x in rows])
        empty = spec._batch(0)._component_specs
        parts = [_empty(part, i) for i, part in enumerate(empty)]
        return spec._batch(0)._from_components(parts)
    if not rows:
        return _empty(
            TensorSpec([0, *(spec.shape.as_list() if spec.shape.rank else [])], spec.dtype), 0
        )
    return moving.stack(rows)


def _empty(spec: TensorSpec, position: int) -> Tensor:
    if position:  # splits of no rows
        return zeros([1], spec.dtype)
    return zeros([d or 0 for d in spec.shape.as_list()] if spec.shape.rank else [0], spec.dtype)


# In a function, for a number of rows that is large or not known yet.


def _looped(results: Callable[[Any], list[Any]], specs: list[Any], count: Tensor) -> list[Any]:
    """The values of all rows in arrays, and beside them the lengths of rows at each level."""
    kinds = []
    for spec in specs:
        if isinstance(spec, RaggedTensorSpec):
            kinds.append([spec.dtype] + [spec.row_splits_dtype] * (spec.ragged_rank + 1))
        else:
            kinds.append([spec.dtype])
    arrays = tuple(
        [TensorArray(kind, size=count, infer_shape=False) for group in kinds for kind in group]
    )

    def body(i: Tensor, held: Any) -> tuple[Any, Any]:
        parts: list[Any] = []
        for x, spec in zip(results(i), specs, strict=True):
            parts += _parts(x, spec)
        return i + 1, tuple([a.write(i, p) for a, p in zip(held, parts, strict=True)])

    _, arrays = while_loop(lambda i, _: i < count, body, (convert_to_tensor(0), arrays))
    rest = iter(arrays)
    return [
        _assembled(spec, [next(rest) for _ in group])
        for spec, group in zip(specs, kinds, strict=True)
    ]


def _parts(x: Any, spec: Any) -> list[Any]:
    if not isinstance(spec, RaggedTensorSpec):
        return [x]
    x = deeper(x, spec.ragged_rank)
    dtype = spec.row_splits_dtype
    if not isinstance(x, RaggedTensor):
        return [x, shaping.shape(x, dtype)[:1]]
    lengths = [shaping.cast(n, dtype) for n in x.nested_row_lengths()]
    return [x.flat_values, x.nrows(dtype)[None], *lengths]


def _assembled(spec: Any, arrays: list[TensorArray]) -> Any:
    if not isinstance(spec, RaggedTensorSpec):
        return arrays[0].stack()
    result, *lengths = [a.concat() for a in arrays]
    for each in reversed(lengths):
        result = RaggedTensor(result, RowPartition(splits_of(each), lengths=each), internal=True)
    return result
