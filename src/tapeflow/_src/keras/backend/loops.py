"""Loops over tensors: `while_loop`, `scan`, `map` and their kin, with Keras's conventions.

Run eagerly, a loop is a Python loop. In a traced function it is a node that runs a graph again and again, whose number
of turns may be known only when the function runs.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from keras.src import tree

import tapeflow as tf
from tapeflow._src.core.context import context
from tapeflow._src.core.sizes.dims import is_dynamic
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.function.control_flow.statements import scan as traced_scan


def while_loop(
    cond: Callable[..., Any],
    body: Callable[..., Any],
    loop_vars: Any,
    maximum_iterations: Any = None,
) -> Any:
    """Repeats `body` while `cond` holds."""
    several = isinstance(loop_vars, (tuple, list))
    variables = tuple(loop_vars) if several else (loop_vars,)

    def step(*values: Any) -> tuple[Any, ...]:
        found = body(*values)
        return tuple(found) if several else (found,)

    found = tf.while_loop(
        lambda *values: tf.cast(cond(*values), tf.bool),
        step,
        tree.map_structure(tf.convert_to_tensor, variables),
        maximum_iterations=maximum_iterations,
    )
    return tuple(found) if several else found[0]


def fori_loop(lower: Any, upper: Any, body_fun: Callable[[Any, Any], Any], init_val: Any) -> Any:
    """The value after `body_fun(i, value)` for each number from `lower` to `upper`."""
    # Eagerly a Python number stays one, and computes with tensors of any dtype.
    numbers = isinstance(lower, int) and isinstance(upper, int)
    lower = lower if numbers else tf.convert_to_tensor(lower)
    upper = upper if numbers else tf.cast(upper, lower.dtype)
    return tf.while_loop(
        lambda i, _: i < upper,
        lambda i, value: (i + 1, body_fun(i, value)),
        (lower, tree.map_structure(tf.convert_to_tensor, init_val)),
    )[1]


def switch(index: Any, branches: Sequence[Callable[..., Any]], *operands: Any) -> Any:
    """The result of the branch with a number, or of the nearest one that there is."""
    index = tf.clip_by_value(tf.cast(index, tf.int32), 0, len(branches) - 1)
    return tf.switch_case(index, [lambda branch=branch: branch(*operands) for branch in branches])


def map(f: Callable[[Any], Any], xs: Any) -> Any:
    """The results of `f` for all rows, stacked."""
    return scan(lambda carry, x: (carry, f(x)), (), xs)[1]


def scan(
    f: Callable[[Any, Any], tuple[Any, Any]],
    init: Any,
    xs: Any = None,
    length: int | None = None,
    reverse: bool = False,
    unroll: int | bool = 1,
) -> tuple[Any, Any]:
    """Goes over rows with a running value.

    Args:
      f: takes the running value and a row, and gives the next running value and a result.
      init: the first running value, of any structure.
      xs: what has the rows, of any structure. None: `f` gets None, `length` times.
      length: the number of rows.
      reverse: whether to begin with the last row. Results stay in the order of the rows.
      unroll: True for a copy of `f` for each row in a traced function; numbers make no difference.

    Returns:
      The last running value, and the results stacked, in their structure.
    """
    if not callable(f):
        raise TypeError(f"scan: `f` should be a callable, got {f!r}")
    if not isinstance(unroll, bool) and (not isinstance(unroll, int) or unroll < 1):
        raise ValueError(f"scan: `unroll` must be an positive integer or boolean. Got {unroll!r}")
    if xs is None and length is None:
        raise ValueError("scan: got no `xs` to scan over and `length` not provided.")
    carry = tree.map_structure(tf.convert_to_tensor, init)
    rows = [tf.convert_to_tensor(x) for x in tree.flatten(xs)] if xs is not None else []
    count = rows[0]._array.shape[0] if rows else length
    _check_lengths("scan", rows, 0, count if length is None else length)

    def step(carry: Any, row: Sequence[Tensor]) -> tuple[Any, Any]:
        carry, result = f(carry, tree.pack_sequence_as(xs, row) if xs is not None else None)
        found: Any = tree.map_structure(_tensor, (carry, result))
        return found

    if _is_loop(count, rows) and (unroll is not True or is_dynamic(count)):
        return _traced_scan(step, carry, rows or [tf.range(count)], bool(rows), reverse)
    if not count:
        row = [tf.zeros(x.shape[1:], x.dtype) for x in rows]
        return carry, tree.map_structure(_no_rows, step(carry, row)[1])
    columns = [tf.unstack(x) for x in rows]
    results = []
    for i in reversed(range(count)) if reverse else range(count):
        carry, result = step(carry, [column[i] for column in columns])
        results.append(result)
    if reverse:
        results.reverse()
    return carry, tree.map_structure(lambda *parts: _stacked(parts), *results)


def _is_loop(count: Any, rows: Sequence[Tensor]) -> bool:
    """Whether to go over rows with a node of a traced function, and not in Python."""
    if is_dynamic(count):
        return True
    batched = any(x.symbolic and not hasattr(x, "value") for x in rows)
    return context.tracer is not None and not batched and count > 1


def _traced_scan(
    step: Callable[..., tuple[Any, Any]],
    init: Any,
    rows: Sequence[Tensor],
    has_rows: bool,
    reverse: bool,
) -> tuple[Any, Any]:
    structure: Any = None

    def flat_step(carry: list[Tensor], row: list[Tensor]) -> tuple[list[Tensor], list[Tensor]]:
        nonlocal structure
        new, structure = step(tree.pack_sequence_as(init, carry), row if has_rows else [])
        pairs = zip(tree.flatten(new), carry, strict=True)
        return [_same_dtype(x, old) for x, old in pairs], _tensors(structure)

    carry, results = traced_scan(flat_step, tree.flatten(init), rows, reverse)
    given = iter(results)
    stacked = tree.map_structure(lambda x: None if x is None else next(given), structure)
    return tree.pack_sequence_as(init, carry), stacked


def _same_dtype(x: Tensor, old: Tensor) -> Tensor:
    if x.dtype is not old.dtype:
        raise TypeError(
            f"scan: the running value begins with dtype {old.dtype.name}, and has dtype {x.dtype.name} after a row"
        )
    return x


def _tensor(x: Any) -> Any:
    return None if x is None else tf.convert_to_tensor(x)


def _tensors(structure: Any) -> list[Tensor]:
    return [x for x in tree.flatten(structure) if x is not None]


def _stacked(parts: Sequence[Any]) -> Any:
    return None if parts[0] is None else tf.stack(list(parts))


def _no_rows(x: Any) -> Any:
    return None if x is None else x[None][:0]


# Associative scans.


def associative_scan(
    f: Callable[[Any, Any], Any], elems: Any, reverse: bool = False, axis: int = 0
) -> Any:
    """All prefixes combined with an associative function, in a logarithmic number of steps.

    Args:
      f: combines two structures like `elems`, elementwise along the axis.
      elems: tensors of one size along the axis, in any structure.
      reverse: whether to combine suffixes.
      axis: the axis to go along.
    """
    if not callable(f):
        raise TypeError(f"associative_scan: `f` should be a callable, got {f!r}")
    xs = [tf.convert_to_tensor(x) for x in tree.flatten(elems)]
    axis = axis + xs[0]._array.ndim if axis < 0 else axis
    count = xs[0]._array.shape[axis]
    _check_lengths("associative_scan", xs, axis, count)

    def combine(a: list[Tensor], b: list[Tensor]) -> list[Tensor]:
        return tree.flatten(f(tree.pack_sequence_as(elems, a), tree.pack_sequence_as(elems, b)))

    if reverse:
        xs = [tf.reverse(x, [axis]) for x in xs]
    prefixes = _prefixes_in_loop if is_dynamic(count) else _prefixes
    xs = prefixes(combine, xs, axis, count)
    if reverse:
        xs = [tf.reverse(x, [axis]) for x in xs]
    return tree.pack_sequence_as(elems, xs)


Combine = Callable[[list[Tensor], list[Tensor]], list[Tensor]]


def _prefixes(combine: Combine, xs: list[Tensor], axis: int, count: Any) -> list[Tensor]:
    """Combines neighbours, finds the prefixes of those pairs, and fills in what is between them."""
    if count < 2:
        return xs

    def part(x: Tensor, *ends: int | None) -> Tensor:
        return x[(slice(None),) * axis + (slice(*ends),)]

    pairs = combine([part(x, 0, count - 1, 2) for x in xs], [part(x, 1, None, 2) for x in xs])
    odd = _prefixes(combine, pairs, axis, count // 2)  # the prefixes that end at 1, 3, 5, ...
    even = [part(x, 0, 1) for x in xs]
    if count > 2:
        between = (count - 1) // 2
        rest = combine([part(x, 0, between) for x in odd], [part(x, 2, None, 2) for x in xs])
        even = [tf.concat([x, y], axis) for x, y in zip(even, rest, strict=True)]
    found = []
    for a, b in zip(even, odd, strict=True):
        shape = list(a._array.shape)
        shape[axis] = count // 2 * 2
        both = tf.reshape(tf.stack([part(a, 0, count // 2), b], axis + 1), shape)
        found.append(tf.concat([both, part(a, count // 2, None)], axis) if count % 2 else both)
    return found


def _prefixes_in_loop(combine: Combine, xs: list[Tensor], axis: int, count: Any) -> list[Tensor]:
    """For a size that is not known: each turn doubles how many elements are combined at each place."""
    places = tf.range(count)
    grid = [tf.reshape(places, (-1, *(1,) * (x._array.ndim - axis - 1))) for x in xs]

    def turn(reach: Tensor, xs: tuple[Tensor, ...]) -> tuple[Tensor, tuple[Tensor, ...]]:
        earlier = [tf.gather(x, tf.maximum(places - reach, 0), axis=axis) for x in xs]
        both = combine(earlier, list(xs))
        chosen = zip(grid, both, xs, strict=True)
        return reach * 2, tuple(tf.where(at >= reach, y, x) for at, y, x in chosen)

    return list(while_loop(lambda reach, _: reach < count, turn, (1, tuple(xs)))[1])


def _check_lengths(op: str, xs: Sequence[Tensor], axis: int, count: Any) -> None:
    if any(x._array.shape[axis] != count for x in xs):
        shapes = ", ".join(str(x.shape) for x in xs)
        raise ValueError(
            f"{op}: Array inputs to {op} must have the same first dimension, the size along axis {axis} (saw: {shapes})"
        )
