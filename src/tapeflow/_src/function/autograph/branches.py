"""`if` statements and conditional expressions.

If the condition has a value, Python decides. If it is symbolic, both branches are traced by `tf.cond`: what they leave
in the variables comes out of it as tensors. Converted code gives the branches as functions without arguments, and the
variables that they change through a function that reads them all and one that sets them all.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Any

from tapeflow._src.core import nest
from tapeflow._src.core.convert import convert_to_tensor
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.function.autograph import symbolic
from tapeflow._src.function.autograph.errors import here
from tapeflow._src.function.autograph.variables import UndefinedReturnValue, is_undefined
from tapeflow._src.ops.array.creation import zeros
from tapeflow._src.ops.array.shaping import reshape
from tapeflow._src.ops.control import control_flow

State = tuple[Any, ...]

# Names that the passes make: whether a function has returned, or a loop was left.
_CONTROL = ("do_return", "break_", "continue_")


class _Notes(threading.local):
    """What the operators tell each other."""

    negation: tuple[Any, Any] = (None, None)  # the last result of `not`, and what it negates
    without_return: str = ""  # the branch that was last found not to return, while the other does


notes = _Notes()


def if_stmt(
    cond: Any,
    body: Callable[[], None],
    orelse: Callable[[], None],
    get_state: Callable[[], State],
    set_state: Callable[[State], None],
    symbol_names: tuple[str, ...],
    nouts: int,
) -> None:
    """The statement `if cond: body() else: orelse()`, whose variables are `symbol_names`.

    The first `nouts` of them are used after the statement.
    """
    cond = symbolic.read(cond)
    if not symbolic.is_symbolic(cond):
        if cond:
            body()
        else:
            orelse()
        return
    before = get_state()

    def branch(block: Callable[[], None]) -> State:
        set_state(before)
        block()
        return get_state()[:nouts]

    after = decide(
        condition(cond, "if statement"),
        lambda: branch(body),
        lambda: branch(orelse),
        symbol_names[:nouts],
    )
    set_state((*after, *before[nouts:]))


def if_exp(
    cond: Any, if_true: Callable[[], Any], if_false: Callable[[], Any], expr_repr: str
) -> Any:
    """The expression `if_true() if cond else if_false()`."""
    cond = symbolic.read(cond)
    if not symbolic.is_symbolic(cond):
        return if_true() if cond else if_false()
    (result,) = decide(
        condition(cond, "conditional expression"),
        lambda: (if_true(),),
        lambda: (if_false(),),
        (expr_repr,),
    )
    return result


def condition(cond: Tensor, of: str) -> Tensor:
    """A symbolic condition, if it is one: a scalar of dtype bool."""
    if not cond.dtype.is_bool:
        raise ValueError(
            f"The condition of the {of} must be a scalar of dtype bool, got {cond.dtype.name} of shape {cond.shape}. "
            f"Use tf.cast(x, tf.bool), or compare: x != 0. To check for None, use `is not None`.{here()}"
        )
    dims = cond.shape.as_list()
    if any(d is not None and d != 1 for d in dims):
        raise ValueError(
            f"The condition of the {of} must be a scalar of dtype bool, got one of shape {cond.shape}. Use "
            f"tf.reduce_all or tf.reduce_any, or tf.where for an elementwise choice.{here()}"
        )
    return reshape(cond, ()) if dims else cond


class _Missing(Exception):
    """A branch has no value for a variable that is not read after it: try again with zeros in its place."""

    def __init__(self, position: int, like: Any) -> None:
        self.position = position
        self.like = like


def decide(
    cond: Tensor,
    if_true: Callable[[], State],
    if_false: Callable[[], State],
    names: Sequence[str],
) -> State:
    """What one of two functions returns, by a symbolic condition. Each result has a name for messages."""
    stand_ins: dict[int, Any] = {}
    for _ in range(len(names) + 1):
        try:
            return _decided(cond, if_true, if_false, names, stand_ins)
        except _Missing as missing:
            stand_ins[missing.position] = missing.like
    raise AssertionError("unreachable")


def _decided(
    cond: Tensor,
    if_true: Callable[[], State],
    if_false: Callable[[], State],
    names: Sequence[str],
    stand_ins: dict[int, Any],
) -> State:
    seen: dict[str, State] = {}

    def traced(branch: str, function: Callable[[], State]) -> list[Any]:
        values = function()
        for i, like in stand_ins.items():
            if is_undefined(values[i]):
                values = (*values[:i], nest.map_structure(_zeros, like), *values[i + 1 :])
        for other in seen.values():  # the branch that was traced first
            main, orelse = (values, other) if branch == "main" else (other, values)
            _check_branches(names, main, orelse)
        seen[branch] = values
        return [symbolic.as_value(x) for x in nest.flatten(values) if symbolic.is_value(x)]

    flat = control_flow.cond(
        cond, lambda: traced("main", if_true), lambda: traced("else", if_false)
    )
    outputs = iter(flat if isinstance(flat, (list, tuple)) else [flat])
    values = next(iter(seen.values()))
    joined = nest.pack_sequence_as(
        values, [next(outputs) if symbolic.is_value(x) else x for x in nest.flatten(values)]
    )
    if len(seen) < 2:  # the condition had a value after all
        known = [
            n.startswith(_CONTROL) and type(x) is bool for n, x in zip(names, values, strict=True)
        ]
        return tuple(x if k else y for k, x, y in zip(known, values, joined, strict=True))
    triples = zip(names, joined, seen["main"], seen["else"], strict=True)
    return tuple(_known(cond, name, x, main, orelse) for name, x, main, orelse in triples)


def _known(cond: Tensor, name: str, joined: Any, main: Any, orelse: Any) -> Any:
    """The result, or what is known of it without running: then the statements after it need no condition."""
    if type(main) is type(orelse) is str and main == orelse:
        return main
    if not name.startswith(_CONTROL):
        return joined
    if type(main) is type(orelse) is bool and main == orelse:
        return main
    negation, negated = notes.negation
    if negation is cond and main is True and orelse is negated:  # `if not d: d = True`
        return True
    return joined


def _check_branches(names: Sequence[str], main: State, orelse: State) -> None:
    for branch, values, others in (("main", main, orelse), ("else", orelse, main)):
        ends = any(n.startswith(_CONTROL) and x is True for n, x in zip(names, values, strict=True))
        for i, (name, value, other) in enumerate(zip(names, values, others, strict=True)):
            if not is_undefined(value) or is_undefined(other):
                continue
            if isinstance(value, UndefinedReturnValue):
                # Whether the function goes on is known at its end: see `FunctionScope.ret`.
                if other is not None:
                    notes.without_return = (
                        f"the {branch} branch must also have a return statement{here()}"
                    )
                    raise _Missing(i, other)
            elif ends:  # after `return`, `break` or `continue` nobody reads it
                raise _Missing(i, other)
            else:
                raise ValueError(
                    f"'{name}' must also be initialized in the {branch} branch{here()}"
                )
    for name, a, b in zip(names, main, orelse, strict=True):
        _check_same(name, a, b)


def _check_same(name: str, main: Any, orelse: Any) -> None:
    if main is orelse or is_undefined(main) or is_undefined(orelse):
        return
    try:
        nest.assert_same_structure(main, orelse)
    except (TypeError, ValueError) as error:
        raise TypeError(
            f"'{name}' must have the same nested structure in the main and else branches:\n{error}{here()}"
        ) from None
    for a, b in zip(nest.flatten(main), nest.flatten(orelse), strict=True):
        _check_leaves(name, a, b)


def _check_leaves(name: str, main: Any, orelse: Any) -> None:
    if main is orelse:
        return
    for branch, value in (("main", main), ("else", orelse)):
        if value is None:
            raise ValueError(f"'{name}' is None at the end of the {branch} branch{here()}")
    if not (symbolic.is_value(main) and symbolic.is_value(orelse)):
        raise TypeError(
            f"'{name}' is a {type(main).__name__} in the main branch and a {type(orelse).__name__} in the else branch "
            "of an `if` that is decided when the function runs. Only tensors, numbers, TensorArrays, and lists, "
            f"tuples and dicts of them can differ.{here()}"
        )
    a, b = symbolic.as_value(main), symbolic.as_value(orelse)
    if isinstance(a, Tensor) and isinstance(b, Tensor) and a.dtype is not b.dtype:
        raise TypeError(
            f"'{name}' has dtype {a.dtype.name} in the main branch, but dtype {b.dtype.name} in the else branch. Use "
            f"tf.cast in one of them.{here()}"
        )


def _zeros(like: Any) -> Any:
    if not symbolic.is_value(like):
        return like
    tensor = convert_to_tensor(like)
    return zeros([d or 0 for d in tensor.shape.as_list()], tensor.dtype)
