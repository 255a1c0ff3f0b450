"""The variables of a loop: what they hold before it, and that they stay what they are.

A loop of the program takes a flat list of tensors. The variables may be structures of them; what is in them besides
tensors and numbers does not travel through the loop, and must not change in it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tapeflow._src.core import nest
from tapeflow._src.core.shapes import TensorShape
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.function.autograph import symbolic
from tapeflow._src.function.autograph.branches import State
from tapeflow._src.function.autograph.errors import here
from tapeflow._src.function.autograph.variables import Undefined, UndefinedReturnValue, is_undefined
from tapeflow._src.ops.array.creation import zeros

Body = Callable[..., None]
Get = Callable[[], State]
Set = Callable[[State], None]
Names = tuple[str, ...]
Options = dict[str, Any]


def initialised(
    given: State,
    names: Names,
    shapes: tuple[Any, ...],
    body: Body,
    get_state: Get,
    set_state: Set,
) -> State:
    """The variables before the loop, with zeros for those that the first turn defines."""
    missing = [x is None or is_undefined(x) for x in given]
    if not any(missing):
        return given
    why = ""
    first: State = (None,) * len(given)
    try:
        with symbolic.scratch():
            # Numbers become tensors, as in the loop.
            set_state(unflattened(given, flattened(given)))
            body()
            first = get_state()
    except (UnboundLocalError, TypeError, ValueError, KeyError) as error:
        text = str(error).partition("\n  File ")[0]
        why = f"\nThe loop was run once to find out what it is, with this result: {type(error).__name__}: {text}"
    finally:
        set_state(given)
    result = []
    for name, before, absent, after, shape in zip(
        names, given, missing, first, shapes, strict=True
    ):
        if absent and after is not None and not is_undefined(after):
            before = _placeholders(name, after, shape)
        elif isinstance(before, Undefined) or (absent and why):
            raise undefined(name, before, why)
        result.append(before)
    return tuple(result)


def undefined(name: str, value: Any, why: str = "") -> Exception:
    """The error for a variable without a value before the loop."""
    if isinstance(value, UndefinedReturnValue):
        return NotImplementedError(
            f"a return statement cannot be placed inside this loop.{why}{here()}"
        )
    if value is None:
        return ValueError(f"'{name}' is not allowed to be None before the loop.{why}{here()}")
    return ValueError(f"'{name}' must be defined before the loop.{why}{here()}")


def _placeholders(name: str, like: Any, shape: Any) -> Any:
    return nest.map_structure(lambda x: _placeholder(name, x, shape), like)


def _placeholder(name: str, like: Any, shape: Any) -> Any:
    if isinstance(like, (bool, int, float)):
        return type(like)(0)
    if not isinstance(like, Tensor):
        raise TypeError(
            f"'{name}' is given a {type(like).__name__} by the loop and is not defined before it. A loop that is "
            f"decided when the function runs takes tensors and numbers. Define it before the loop.{here()}"
        )
    dims = like.shape.as_list() if shape is None else TensorShape(shape).as_list()
    return zeros([d or 0 for d in dims], like.dtype)


def flattened(state: State, like: State | None = None) -> list[Any]:
    """The leaves of the variables that travel through the loop, as tensors."""
    leaves = nest.flatten(state)
    entry = leaves if like is None else nest.flatten(like)
    return [
        symbolic.as_value(x, symbolic.as_value(y) if y is not x else None)
        for x, y in zip(leaves, entry, strict=True)
        if symbolic.is_value(y)
    ]


def unflattened(state: State, flat: Any) -> State:
    """The variables with other leaves; what does not travel through the loop stays."""
    values = iter(flat)
    return nest.pack_sequence_as(
        state, [next(values) if symbolic.is_value(x) else x for x in nest.flatten(state)]
    )


def shape_invariants(state: State, opts: Options) -> tuple[Any, ...]:
    """The shape that the user has said each variable keeps, by position."""
    pairs = opts.get("shape_invariants") or ()
    found = []
    for value in state:
        shape = [s for v, s in pairs if v is value]
        found.append(shape[0] if shape else None)
    return tuple(found)


def flat_shapes(state: State, shapes: tuple[Any, ...]) -> list[Any]:
    """The shapes of what travels through the loop, as far as they are kept."""
    flat: list[Any] = []
    for value, shape in zip(state, shapes, strict=True):
        leaves = [x for x in nest.flatten(value) if symbolic.is_value(x)]
        if shape is not None and len(leaves) == 1:
            flat.append(TensorShape(shape))
        elif shape is not None:
            flat += nest.flatten(shape)
        else:
            flat += [getattr(symbolic.as_value(x), "shape", None) for x in leaves]
    return flat


def check(names: Names, entry: State, after: State, shapes: tuple[Any, ...]) -> None:
    """Whether the variables are after one turn what they were before it."""
    for name, a, b, shape in zip(names, entry, after, shapes, strict=True):
        if a is b:
            continue
        if b is None:
            raise ValueError(f"'{name}' is None at the end of the iteration.{here()}")
        if is_undefined(b):
            raise ValueError(f"'{name}' is undefined at the end of the iteration.{here()}")
        try:
            nest.assert_same_structure(a, b)
        except (TypeError, ValueError) as error:
            raise TypeError(
                f"'{name}' does not have the same nested structure after one iteration.\n{error}{here()}"
            ) from None
        for x, y in zip(nest.flatten(a), nest.flatten(b), strict=True):
            _check_leaf(name, x, y, shape)


def _check_leaf(name: str, before: Any, after: Any, shape: Any) -> None:
    if before is after:
        return
    if not symbolic.is_value(before) or not symbolic.is_value(after):
        raise TypeError(
            f"'{name}' is a {type(before).__name__} before the loop, and another {type(after).__name__} after one "
            "iteration. In a loop that is decided when the function runs, only tensors, numbers, TensorArrays, and "
            f"lists, tuples and dicts of them can change.{here()}"
        )
    a = symbolic.as_value(before)
    b = symbolic.as_value(after, a)
    if not isinstance(a, Tensor) or not isinstance(b, Tensor):
        return
    if a.dtype is not b.dtype:
        raise TypeError(
            f"'{name}' has dtype {a.dtype.name} before the loop, but dtype {b.dtype.name} after one iteration. Give it "
            f"that dtype before the loop, or use tf.cast in it.{here()}"
        )
    if shape is None and not _holds(a.shape, b.shape):
        raise ValueError(
            f"'{name}' has shape {a.shape} before the loop, but shape {b.shape} after one iteration. Use "
            f"tf.autograph.experimental.set_loop_options to set shape invariants.{here()}"
        )
    if shape is not None:
        check_invariant(name, "after one iteration", b, shape)


def check_invariant(name: str, when: str, value: Any, shape: Any) -> None:
    """Raises unless a value has the shape that the user has said it keeps."""
    if not isinstance(value, Tensor) or not isinstance(shape, (TensorShape, list, tuple)):
        return
    if not TensorShape(shape).is_compatible_with(value.shape):
        raise ValueError(
            f"'{name}' has shape {value.shape} {when}, which does not conform with the shape invariant "
            f"{TensorShape(shape)}{here()}"
        )


def _holds(shape: TensorShape, other: TensorShape) -> bool:
    """Whether every size that is known in `shape` is the same in `other`."""
    a, b = shape.as_list(), other.as_list()
    return len(a) == len(b) and all(x is None or x == y for x, y in zip(a, b, strict=True))
