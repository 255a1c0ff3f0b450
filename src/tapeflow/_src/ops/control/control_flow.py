"""Control flow as functions: `tf.cond`, `tf.case`, `tf.switch_case`, `tf.while_loop`.

Run eagerly, a branch is a Python branch and a loop a Python loop over real tensors, so tapes record what happened and
nothing else. Inside `tf.function` what cannot be decided yet becomes part of the traced function: see
`function.control_flow`.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from functools import partial
from typing import Any

from tapeflow._src.core import nest
from tapeflow._src.core.composites.composite import CompositeTensor
from tapeflow._src.core.context import context, no_recorders
from tapeflow._src.core.convert import convert_to_tensor
from tapeflow._src.core.dtypes import bool_, int32
from tapeflow._src.core.errors import DTypeError, invalid, shown
from tapeflow._src.core.export import export
from tapeflow._src.core.late import of_examples
from tapeflow._src.core.placement.devices import device as device
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.ops.arguments import integer
from tapeflow._src.ops.control.tensor_array import TensorArray
from tapeflow._src.ops.debugging.assertions import Assert
from tapeflow._src.ops.reduction.reducing import count_nonzero
from tapeflow._src.primitives.batched import BatchedTensor

Branch = Callable[[], Any]


@export("cond")
def cond(
    pred: Any,
    true_fn: Branch | None = None,
    false_fn: Branch | None = None,
    name: str | None = None,
) -> Any:
    """Calls one of two functions and returns its result.

    >>> x = tf.constant(3.0)
    >>> tf.cond(x > 2.0, lambda: x * 10.0, lambda: -x).numpy()
    np.float32(30.0)

    Args:
      pred: a scalar that decides.
      true_fn: called without arguments if `pred` is true.
      false_fn: called without arguments if it is not.
      name: accepted for compatibility.
    """
    for argument, function in (("true_fn", true_fn), ("false_fn", false_fn)):
        _check_callable("cond", argument, function)
    assert true_fn is not None and false_fn is not None
    if context.tracer is not None:
        if isinstance(pred, bool):
            raise TypeError(
                f"tf.cond: inside tf.function pred must not be a Python bool, got {shown(pred)}. Use a Python `if`."
            )
        pred = convert_to_tensor(pred)
        if not pred.dtype.is_bool:
            raise invalid(
                f"tf.cond: inside tf.function pred must have dtype bool, got {pred.dtype.name}. Compare: x != 0."
            )
    elif not isinstance(pred, (bool, Tensor)):
        pred = convert_to_tensor(pred)  # a list that holds False is not empty, and yet false
    if _is_open(pred):
        assert isinstance(pred, Tensor)
        if not pred.dtype.is_bool:
            raise invalid(
                f"tf.cond: inside tf.vectorized_map pred must have dtype bool, got {pred.dtype.name}. Compare: x != 0."
            )
        return _switch("cond", pred, [true_fn, false_fn], ["true_fn", "false_fn"])
    return true_fn() if _is_true("cond", pred) else false_fn()


def _is_open(value: Any) -> bool:
    """Whether a predicate is decided when a function runs, or differs between the examples of `tf.vectorized_map`."""
    return isinstance(value, BatchedTensor if context.tracer is None else Tensor) and value.symbolic


def _switch(op: str, index: Tensor, branches: list[Branch], names: list[str]) -> Any:
    control: Any = of_examples() if context.tracer is None else context.tracer
    return control.switch(op, index, branches, names)


def _is_true(op: str, pred: Any) -> bool:
    """Whether a predicate is true that has a value. `bool` would take one without elements for false."""
    if isinstance(pred, Tensor) and not pred.symbolic and pred._array.size != 1:
        text = not_one_element(op, pred)
        raise ValueError(text) if context.tracer is None else invalid(text)
    return bool(pred)


def not_one_element(op: str, pred: Tensor) -> str:
    """What is wrong with a predicate that has no element, or several."""
    return (
        f"tf.{op}: the predicate must be a scalar, got shape {pred.shape}. Use tf.reduce_all or tf.reduce_any, or "
        "tf.where for an elementwise choice."
    )


@export("case")
def case(
    pred_fn_pairs: Any,
    default: Branch | None = None,
    exclusive: bool = False,
    strict: bool = False,
    name: str | None = "case",
) -> Any:
    """Calls the function of the first predicate that is true.

    >>> x = tf.constant(7)
    >>> tf.case([(x < 5, lambda: "small"), (x < 10, lambda: "medium")], default=lambda: "large")
    'medium'

    Args:
      pred_fn_pairs: pairs of a scalar bool tensor and a function.
      default: called if no predicate is true. Without it that is an error.
      exclusive: whether it is an error if more than one predicate is true.
      strict: accepted for compatibility.
      name: accepted for compatibility.
    """
    if isinstance(pred_fn_pairs, dict):
        if not exclusive:
            raise ValueError("tf.case: a dict of pred_fn_pairs has no order; pass a list of pairs.")
        pairs: list[Any] = [
            (p.deref() if hasattr(p, "deref") else p, f) for p, f in pred_fn_pairs.items()
        ]
    elif isinstance(pred_fn_pairs, (list, tuple)):
        pairs = list(pred_fn_pairs)
    else:
        raise TypeError(
            f"tf.case: pred_fn_pairs must be a list of (predicate, function) pairs, got {shown(pred_fn_pairs)}"
        )
    if not pairs:
        raise ValueError("tf.case: pred_fn_pairs is empty; give at least one (predicate, function)")
    for pair in pairs:
        if not isinstance(pair, tuple) or len(pair) != 2:
            raise TypeError(
                f"tf.case: each of pred_fn_pairs must be a pair (predicate, function), got {shown(pair)}"
            )
        if not isinstance(pair[0], Tensor):
            raise TypeError(f"tf.case: a predicate must be a bool tensor, got {shown(pair[0])}")
        if not pair[0].dtype.is_bool:
            raise TypeError(f"tf.case: a predicate must be a bool tensor, got {shown(pair[0])}")
        _check_callable("case", "the function of a pair", pair[1])
    if default is not None:
        _check_callable("case", "default", default)
    if exclusive:
        predicates = [predicate for predicate, _ in pairs]
        told = (
            f"tf.case: with exclusive=True at most one of the {len(pairs)} conditions may be true:"
        )
        Assert(count_nonzero(predicates) <= 1, [told, predicates], summarize=-1)
    return _first_true(pairs, default, len(pairs))


def _first_true(pairs: list[Any], default: Branch | None, total: int) -> Any:
    for position, (predicate, function) in enumerate(pairs):
        if _is_open(predicate):  # the rest is a branch
            rest = pairs[position + 1 :]
            if default is None and not rest:
                Assert(predicate, [_none_true(total)])
                return function()
            names = [f"function {total - len(rest)}", "the functions after it"]
            others = [function, partial(_first_true, rest, default, total)]
            return _switch("case", predicate, others, names)
        if _is_true("case", predicate):
            return function()
    if default is None:
        raise invalid(_none_true(total))
    return default()


def _none_true(total: int) -> str:
    return f"tf.case: None of the {total} conditions is true, and there is no default"


@export("switch_case")
def switch_case(
    branch_index: Any,
    branch_fns: Any,
    default: Branch | None = None,
    name: str | None = "switch_case",
) -> Any:
    """Calls the function with a number.

    >>> tf.switch_case(tf.constant(1), [lambda: "zero", lambda: "one"])
    'one'

    Args:
      branch_index: a scalar integer tensor.
      branch_fns: the functions: a list, a dict by number, or a list of pairs (number, function).
      default: called for a number that has no function. By default that is the last one.
      name: accepted for compatibility.
    """
    branches = _numbered(branch_fns)
    if not isinstance(branch_index, Tensor):
        raise TypeError(f"tf.switch_case: branch_index must be a tensor, got {shown(branch_index)}")
    if not branch_index.dtype.is_integer:
        raise TypeError(
            f"tf.switch_case: branch_index must be an integer tensor, got {branch_index.dtype.name}"
        )
    if default is not None:
        _check_callable("switch_case", "default", default)
    if _is_open(branch_index):
        if branch_index.dtype is not int32:
            raise TypeError(
                "tf.switch_case: inside tf.function and tf.vectorized_map branch_index must be int32, got "
                f"{branch_index.dtype.name}. Use tf.cast."
            )
        last = [] if default is None else [default]
        names = [f"branch {i}" for i in range(len(branches))] + ["default"] * len(last)
        return _switch("switch_case", branch_index, branches + last, names)
    index = integer("switch_case", "branch_index", branch_index)
    if not 0 <= index < len(branches):
        return branches[-1]() if default is None else default()
    return branches[index]()


def _numbered(branch_fns: Any) -> list[Branch]:
    if isinstance(branch_fns, dict):
        items = list(branch_fns.items())
    elif isinstance(branch_fns, (list, tuple)):
        items = list(branch_fns)
        if all(callable(f) for f in items):
            items = list(enumerate(items))
    else:
        raise TypeError(
            f"tf.switch_case: branch_fns must be a list or a dict of functions, got {shown(branch_fns)}"
        )
    if not items:
        raise ValueError("tf.switch_case: branch_fns is empty; give at least one function")
    for item in items:
        if not isinstance(item, tuple) or len(item) != 2:
            raise TypeError(
                f"tf.switch_case: each of branch_fns must be a function or a pair (number, function), got {shown(item)}"
            )
        if not isinstance(item[0], int):
            raise TypeError(
                f"tf.switch_case: the number of a branch must be an int, got {shown(item[0])}"
            )
        _check_callable("switch_case", f"branch {item[0]}", item[1])
    functions = dict(items)
    if len(functions) != len(items) or set(functions) != set(range(len(items))):
        raise ValueError(
            f"tf.switch_case: branches must have the numbers 0 to {len(items) - 1}, got {sorted(n for n, _ in items)}"
        )
    return [functions[i] for i in range(len(items))]


@export("while_loop")
def while_loop(
    cond: Callable[..., Any],
    body: Callable[..., Any],
    loop_vars: Any,
    shape_invariants: Any = None,
    parallel_iterations: int = 10,
    back_prop: bool = True,
    swap_memory: bool = False,
    maximum_iterations: Any = None,
    name: str | None = None,
) -> Any:
    """Calls `body` on the loop variables as long as `cond` of them is true.

    >>> i, total = tf.while_loop(
    ...     lambda i, total: i < 4, lambda i, total: (i + 1, total * 2.0), (0, tf.constant(1.0)))
    >>> total.numpy()
    np.float32(16.0)

    Args:
      cond: takes the loop variables and says whether to go on.
      body: takes the loop variables and returns the next ones, in the same structure.
      loop_vars: a list or tuple of what to begin with: tensors, structures of them, `tf.TensorArray`s.
      shape_invariants: shapes that hold in every iteration, with None for sizes that change. Run eagerly, shapes may
        change freely.
      parallel_iterations: accepted for compatibility.
      back_prop: whether gradients flow through the loop.
      swap_memory: accepted for compatibility.
      maximum_iterations: stops the loop after this many.
      name: accepted for compatibility.

    Returns:
      The last loop variables, as tensors.
    """
    _check_callable("while_loop", "cond", cond)
    _check_callable("while_loop", "body", body)
    if not isinstance(loop_vars, (list, tuple)) or not loop_vars:
        raise ValueError(
            f"tf.while_loop: loop_vars must be a list or tuple of at least one value, got {shown(loop_vars)}"
        )
    limit = None if maximum_iterations is None else _limit(maximum_iterations)
    scope = contextlib.nullcontext() if back_prop else no_recorders()
    with scope:
        if context.tracer is not None:
            loop = context.tracer.while_loop
        elif isinstance(limit, Tensor):  # differs between examples
            loop = of_examples().while_loop
        else:
            values = _looped(cond, body, loop_vars, shape_invariants, limit)
            return nest.map_structure(_as_loop_value, values)
        found = loop(
            cond, body, loop_vars, shape_invariants, limit, partial(_next_values, loop_vars)
        )
    if type(found) is type(loop_vars) or context.tracer is None:
        return found  # of the kind that body returns: eagerly so in TensorFlow, too
    kind: Any = type(loop_vars)
    return kind(*found) if hasattr(kind, "_fields") else kind(found)


def _looped(
    cond: Callable[..., Any],
    body: Callable[..., Any],
    loop_vars: Any,
    shape_invariants: Any,
    limit: int | None,
) -> Any:
    values, done = loop_vars, 0
    next_values = partial(_next_values, loop_vars)
    while limit is None or done < limit:
        condition = cond(*values)
        if _is_open(condition):
            rest = None if limit is None else limit - done
            return of_examples().while_loop(cond, body, values, shape_invariants, rest, next_values)
        if not _goes_on(condition, limit):
            break
        values = next_values(body(*values))
        done += 1
    return values


def _goes_on(condition: Any, limit: int | None) -> bool:
    """Whether a loop goes on by what `cond` has returned: anything, as in TensorFlow, unless there is a limit, too."""
    if limit is None:
        return bool(condition)
    tensor = convert_to_tensor(condition, dtype_hint=bool_)
    if not tensor.dtype.is_bool:
        raise DTypeError(
            None,
            None,
            f"tf.while_loop: with maximum_iterations cond must return a bool, got {shown(condition)}",
        )
    return bool(tensor)


def _limit(maximum_iterations: Any) -> int | Tensor:
    tensor = convert_to_tensor(maximum_iterations)
    if tensor.ndim:
        raise ValueError(
            f"tf.while_loop: maximum_iterations must be a scalar, got shape {tensor.shape}"
        )
    if not tensor.dtype.is_integer:
        raise ValueError(
            f"tf.while_loop: maximum_iterations must be an integer, got {shown(maximum_iterations)}"
        )
    return tensor if tensor.symbolic else int(tensor)


def _next_values(loop_vars: Any, values: Any) -> Any:
    if len(loop_vars) == 1 and not isinstance(values, (list, tuple)):
        values = type(loop_vars)([values]) if type(loop_vars) in (list, tuple) else [values]
    if not isinstance(values, (list, tuple)):
        raise TypeError(
            f"tf.while_loop: body must return the {len(loop_vars)} loop variables as a list or tuple, got "
            f"{shown(values)}"
        )
    nest.assert_same_structure(list(loop_vars), list(values))
    return values


def _as_loop_value(value: Any) -> Any:
    return value if isinstance(value, (TensorArray, CompositeTensor)) else convert_to_tensor(value)


def _check_callable(op: str, argument: str, value: Any) -> None:
    if not callable(value):
        raise TypeError(f"tf.{op}: {argument} must be callable, got {shown(value)}")
