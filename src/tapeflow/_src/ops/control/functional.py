"""Functions over the rows of tensors: `tf.map_fn`, `tf.scan`, `tf.foldl` and `tf.foldr`."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any

from tapeflow._src.core import nest
from tapeflow._src.core.context import context, no_recorders
from tapeflow._src.core.convert import convert_to_tensor
from tapeflow._src.core.dtypes import as_dtype
from tapeflow._src.core.errors import OutOfRangeError, invalid, no_row, shown
from tapeflow._src.core.export import export
from tapeflow._src.core.shapes import TensorShape
from tapeflow._src.core.sizes.dims import is_dynamic
from tapeflow._src.core.spec import TensorSpec
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.primitives.array import moving, patterns
from tapeflow._src.primitives.indexing import picking


@export("map_fn")
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
    """Calls a function on each row, and stacks the results.

    >>> tf.map_fn(lambda row: tf.reduce_sum(row), tf.constant([[1.0, 2.0], [3.0, 4.0]])).numpy()
    array([3., 7.], dtype=float32)

    Several tensors are walked together:

    >>> x, y = tf.constant([1, 2]), tf.constant([10, 20])
    >>> tf.map_fn(lambda pair: pair[0] + pair[1], (x, y), fn_output_signature=tf.int32).numpy()
    array([11, 22], dtype=int32)

    Args:
      fn: takes a row of each tensor, in the structure of `elems`.
      elems: a tensor, or a structure of tensors with the same first dimension.
      dtype: an older name of `fn_output_signature`.
      parallel_iterations: accepted for compatibility.
      back_prop: whether gradients flow through the calls.
      swap_memory: accepted for compatibility.
      infer_shape: whether all results must have one shape.
      name: accepted for compatibility.
      fn_output_signature: the dtype or `tf.TensorSpec` of each result, in their structure. By default results are
        like `elems`.
    """
    _check_callable("map_fn", fn)
    if not nest.flatten(elems):
        raise ValueError(f"tf.map_fn: elems holds no tensors: {shown(elems)}")
    signature = dtype if fn_output_signature is None else fn_output_signature
    with _tracked(back_prop):
        flat = [convert_to_tensor(x) for x in nest.flatten(elems)]
        if _has_scalar(flat):
            raise ValueError(
                "tf.map_fn: each of elems must have rows, and a scalar has none. Got shapes "
                + _shapes_text(flat)
            )
        if not _same_length(flat):
            raise ValueError(
                f"tf.map_fn: elems must have the same first dimension, got shapes {_shapes_text(flat)}"
            )
        structure = elems if signature is None else signature
        wanted = [_spec(x) for x in (flat if signature is None else nest.flatten(signature))]

        def results(row: list[Tensor]) -> list[Any]:
            result = fn(nest.pack_sequence_as(elems, row))
            nest.assert_same_structure(structure, result)
            return nest.flatten(result)

        if _is_loop(flat):

            def step(_: list[Tensor], row: list[Tensor]) -> tuple[list[Tensor], list[Tensor]]:
                pairs = zip(results(row), wanted, strict=True)
                return [], [_checked("map_fn", value, spec, spec.shape) for value, spec in pairs]

            stacked = context.tracer.scan(step, [], flat)[1]
        else:
            rows = [results(row) for row in _rows(flat)]
            stacked = [
                _stacked("map_fn", [row[i] for row in rows], spec) for i, spec in enumerate(wanted)
            ]
        return nest.pack_sequence_as(structure, stacked)


@export("scan")
def scan(
    fn: Callable[[Any, Any], Any],
    elems: Any,
    initializer: Any = None,
    parallel_iterations: int = 10,
    back_prop: bool = True,
    swap_memory: bool = False,
    infer_shape: bool = True,
    reverse: bool = False,
    name: str | None = None,
) -> Any:
    """Goes over the rows with a running value, and stacks all its values.

    >>> tf.scan(lambda total, x: total + x, tf.constant([1, 2, 3])).numpy()
    array([1, 3, 6], dtype=int32)

    Args:
      fn: takes the running value and the next row, and returns the next running value.
      elems: a tensor, or a structure of tensors with the same first dimension.
      initializer: the first running value, which may have another structure than `elems`. By default it is the first
        row.
      parallel_iterations: accepted for compatibility.
      back_prop: whether gradients flow through the calls.
      swap_memory: accepted for compatibility.
      infer_shape: whether all values must have one shape.
      reverse: whether to go from the last row to the first.
      name: accepted for compatibility.
    """
    _check_callable("scan", fn)
    with _tracked(back_prop):
        flat = _converted("scan", elems)
        if _is_loop(flat):
            return _swept("scan", fn, elems, flat, initializer, reverse)[1]
        value, rows, structure = _start("scan", flat, elems, initializer, reverse)
        wanted = [TensorSpec(x.shape, x.dtype) for x in value]
        kept = [value] if initializer is None else []
        for row in rows:
            result = fn(nest.pack_sequence_as(structure, value), nest.pack_sequence_as(elems, row))
            nest.assert_same_structure(structure, result)
            value = nest.flatten(result)
            kept.append(value)
        if reverse:
            kept.reverse()
        stacked = [
            _stacked("scan", [row[i] for row in kept], spec) for i, spec in enumerate(wanted)
        ]
        return nest.pack_sequence_as(structure, stacked)


@export("foldl")
def foldl(
    fn: Callable[[Any, Any], Any],
    elems: Any,
    initializer: Any = None,
    parallel_iterations: int = 10,
    back_prop: bool = True,
    swap_memory: bool = False,
    name: str | None = None,
) -> Any:
    """Goes over the rows with a running value, from the first to the last, and returns its last value.

    >>> tf.foldl(lambda total, x: total - x, tf.constant([1, 2, 3])).numpy()
    np.int32(-4)

    Args:
      fn: takes the running value and the next row, and returns the next running value.
      elems: a tensor, or a structure of tensors with the same first dimension.
      initializer: the first running value; by default the first row.
      parallel_iterations: accepted for compatibility.
      back_prop: whether gradients flow through the calls.
      swap_memory: accepted for compatibility.
      name: accepted for compatibility.
    """
    return _fold("foldl", fn, elems, initializer, back_prop, reverse=False)


@export("foldr")
def foldr(
    fn: Callable[[Any, Any], Any],
    elems: Any,
    initializer: Any = None,
    parallel_iterations: int = 10,
    back_prop: bool = True,
    swap_memory: bool = False,
    name: str | None = None,
) -> Any:
    """Like `tf.foldl`, from the last row to the first.

    >>> tf.foldr(lambda total, x: total - x, tf.constant([1, 2, 3])).numpy()
    np.int32(0)
    """
    return _fold("foldr", fn, elems, initializer, back_prop, reverse=True)


def _fold(
    op: str, fn: Callable[..., Any], elems: Any, initializer: Any, back_prop: bool, reverse: bool
) -> Any:
    _check_callable(op, fn)
    with _tracked(back_prop):
        flat = _converted(op, elems)
        if _is_loop(flat):
            return _swept(op, fn, elems, flat, initializer, reverse)[0]
        flat, rows, structure = _start(op, flat, elems, initializer, reverse)
        value = nest.pack_sequence_as(structure, flat)
        for row in rows:
            result = fn(value, nest.pack_sequence_as(elems, row))
            nest.assert_same_structure(structure, result)
            value = nest.map_structure(convert_to_tensor, result)
        return value


# The pieces.


def _converted(op: str, elems: Any) -> list[Tensor]:
    flat = [convert_to_tensor(x) for x in nest.flatten(elems)]
    if _has_scalar(flat):
        raise no_row(
            f"tf.{op}: each of elems must have rows, and a scalar has none. Got shapes {_shapes_text(flat)}",
        )
    if not _same_length(flat):
        raise OutOfRangeError(
            None,
            None,
            f"tf.{op}: elems must have the same first dimension, got shapes {_shapes_text(flat)}",
        )
    return flat


def _start(
    op: str, flat: list[Tensor], elems: Any, initializer: Any, reverse: bool
) -> tuple[list[Tensor], list[list[Tensor]], Any]:
    """The first value of a scan or fold, the rows that remain, and the structure of the value."""
    rows = _rows(flat)
    if reverse:
        rows.reverse()
    if initializer is not None:
        return [convert_to_tensor(x) for x in nest.flatten(initializer)], rows, initializer
    if not rows:
        raise OutOfRangeError(
            None, None, f"tf.{op}: elems has no rows to begin with. Give an initializer."
        )
    return rows[0], rows[1:], elems


# Inside `tf.function` many rows, or a number that is known only when it runs, are a loop of the traced function.

_UNROLLED = 8


def _is_loop(flat: list[Tensor]) -> bool:
    if context.tracer is None or not flat:
        return False
    if any(
        x.symbolic and x.interpreter is not context.tracer and not _is_symbolic(x) for x in flat
    ):
        return False  # batched
    size = flat[0]._array.shape[0]
    return is_dynamic(size) or not 0 < size <= _UNROLLED  # of no rows, the loop knows the results


def _is_symbolic(x: Tensor) -> bool:
    return hasattr(x, "value")


def _has_scalar(flat: list[Tensor]) -> bool:
    return any(not x.ndim for x in flat)


def _same_length(flat: list[Tensor]) -> bool:
    sizes = [x._array.shape[0] for x in flat]
    return all(size == sizes[0] for size in sizes[1:])


def _swept(
    op: str, fn: Callable[..., Any], elems: Any, flat: list[Tensor], initializer: Any, reverse: bool
) -> tuple[Any, Any]:
    """The last running value, and all of them."""
    if initializer is not None:
        structure, start = initializer, [convert_to_tensor(x) for x in nest.flatten(initializer)]
        rest = flat
    else:
        structure, at = elems, -1 if reverse else 0
        start = [picking.getitem(x, index=(at,)) for x in flat]
        part = slice(None, -1) if reverse else slice(1, None)
        rest = [picking.getitem(x, index=(part,)) for x in flat]
    wanted = [TensorSpec(x.shape, x.dtype) for x in start]

    def step(value: list[Tensor], row: list[Tensor]) -> tuple[list[Tensor], list[Tensor]]:
        result = fn(nest.pack_sequence_as(structure, value), nest.pack_sequence_as(elems, row))
        nest.assert_same_structure(structure, result)
        pairs = zip(nest.flatten(result), wanted, strict=True)
        new = [_checked(op, each, spec, spec.shape) for each, spec in pairs]
        return new, new if op == "scan" else []

    last, stacked = context.tracer.scan(step, start, rest, reverse)
    if op == "scan" and initializer is None:
        firsts = [picking.getitem(x, index=(None,)) for x in start]
        pairs = zip(stacked, firsts, strict=True) if reverse else zip(firsts, stacked, strict=True)
        stacked = [moving.concat(a, b, axis=0) for a, b in pairs]
    values = nest.pack_sequence_as(structure, last)
    return values, nest.pack_sequence_as(structure, stacked) if stacked else None


def _rows(flat: list[Tensor]) -> list[list[Tensor]]:
    columns = [moving.unstack(x, axis=0) if len(x) else () for x in flat]
    return [list(row) for row in zip(*columns, strict=True)]


def _stacked(op: str, values: list[Any], spec: TensorSpec) -> Tensor:
    shape = spec.shape
    tensors = []
    for value in values:
        tensor = _checked(op, value, spec, shape)
        shape = shape.merge_with(tensor.shape)
        tensors.append(tensor)
    if not tensors:
        known = [int(d or 0) for d in shape.as_list()] if shape.is_fully_defined() else []
        return patterns.zeros((0, *known), spec.dtype)
    return moving.stack(*tensors, axis=0)


def _checked(op: str, value: Any, spec: TensorSpec, shape: TensorShape) -> Tensor:
    tensor = convert_to_tensor(value, dtype_hint=spec.dtype)
    if tensor.dtype is not spec.dtype:
        raise invalid(
            f"tf.{op}: expected results of dtype {spec.dtype.name}, and fn returned {tensor.dtype.name}. Say what it "
            "returns with fn_output_signature, or use tf.cast."
        )
    if not shape.is_compatible_with(tensor.shape):
        raise ValueError(
            f"tf.{op}: expected results of shape {shape}, and fn returned one of shape {tensor.shape}"
        )
    return tensor


def _spec(value: Any) -> TensorSpec:
    if isinstance(value, TensorSpec):
        return value
    return TensorSpec(
        TensorShape(None), value.dtype if isinstance(value, Tensor) else as_dtype(value)
    )


def _tracked(back_prop: bool) -> Any:
    return contextlib.nullcontext() if back_prop else no_recorders()


def _shapes_text(tensors: list[Tensor]) -> str:
    return ", ".join(str(x.shape) for x in tensors)


def _check_callable(op: str, fn: Any) -> None:
    if not callable(fn):
        raise TypeError(f"tf.{op}: fn must be callable, got {shown(fn)}")
