"""`while` and `for` statements.

Python runs a loop whose condition or items it knows. Others become `tf.while_loop`s, whose loop variables are the
variables that the loop changes. A loop that starts with values and meets a symbolic condition later is handed over at
that point.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tapeflow.core import nest
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.shapes import TensorShape
from tapeflow.core.tensor import Tensor
from tapeflow.function.autograph import symbolic
from tapeflow.function.autograph.branches import State, condition, if_stmt
from tapeflow.function.autograph.errors import here
from tapeflow.function.autograph.iterables import Iterable, Range, symbolic_iterable
from tapeflow.function.autograph.variables import Undefined, UndefinedReturnValue, is_undefined
from tapeflow.ops import control_flow
from tapeflow.ops.creation import zeros
from tapeflow.ops.debugging import Assert
from tapeflow.ops.logic import logical_and

Body = Callable[..., None]
Get = Callable[[], State]
Set = Callable[[State], None]
Names = tuple[str, ...]
Options = dict[str, Any]


def while_stmt(
    test: Callable[[], Any],
    body: Body,
    get_state: Get,
    set_state: Set,
    symbol_names: Names,
    opts: Options,
) -> None:
    """The statement `while test(): body()`, whose variables are `symbol_names`."""
    while True:
        with symbolic.scratch():
            going_on = symbolic.read(test())
        if symbolic.is_symbolic(going_on) or (
            isinstance(going_on, Tensor) and symbolic.is_tracing()
        ):
            stage(test, body, get_state, set_state, symbol_names, opts)
            return
        if not going_on:
            return
        body()


def for_stmt(
    iterated: Any,
    extra_test: Callable[[], Any] | None,
    body: Body,
    get_state: Get,
    set_state: Set,
    symbol_names: Names,
    opts: Options,
) -> None:
    """The statement `for item in iterated: body(item)`, as long as `extra_test()`.

    The extra test is there if the loop has a `break` or `return`.
    """
    items = symbolic_iterable(iterated)
    if items is not None:
        _for_items(items, extra_test, body, get_state, set_state, symbol_names, opts)
    elif symbolic.is_tracing() and callable(getattr(iterated, "reduce", None)):
        iterate_dataset(iterated, extra_test, body, get_state, set_state, symbol_names)
    elif extra_test is None:
        for item in iterated:
            body(item)
    else:
        _for_python(iterated, extra_test, body, get_state, set_state, symbol_names)


def _for_python(
    iterated: Any,
    extra_test: Callable[[], Any],
    body: Body,
    get_state: Get,
    set_state: Set,
    names: Names,
) -> None:
    going_on = extra_test()
    if not symbolic.is_symbolic(going_on) and not going_on:
        return
    for item in iterated:
        if symbolic.is_symbolic(
            going_on
        ):  # the loop was left, or not: only the running program knows
            if_stmt(
                going_on,
                lambda item=item: body(item),
                lambda: None,
                get_state,
                set_state,
                names,
                len(names),
            )
        else:
            body(item)
        going_on = extra_test()
        if not symbolic.is_symbolic(going_on) and not going_on:
            return


def _for_items(
    items: Iterable,
    extra_test: Callable[[], Any] | None,
    body: Body,
    get_state: Get,
    set_state: Set,
    names: Names,
    opts: Options,
) -> None:
    turn: Any = 0
    target = opts.get("iterate_names")

    def get() -> State:
        state = get_state()
        if isinstance(items, Range):  # its variable has a value even if there are no turns
            state = tuple(
                items.first if n == target and isinstance(x, Undefined) else x
                for n, x in zip(names, state, strict=True)
            )
        return (turn, *state)

    def set_(state: State) -> None:
        nonlocal turn
        turn, *rest = state
        set_state(tuple(rest))

    def test() -> Any:
        more = turn < items.turns
        if extra_test is None:
            return more
        also = extra_test()  # it reads nothing but whether the loop was left
        if isinstance(also, bool):
            return more if also else False
        return logical_and(more, also)

    def one_turn() -> None:
        nonlocal turn
        body(items.at(convert_to_tensor(turn)))
        turn = turn + 1

    runs = isinstance(items.turns, int) and items.turns > 0
    stage(test, one_turn, get, set_, ("the turn", *names), opts, runs)


def iterate_dataset(
    dataset: Any,
    extra_test: Callable[[], Any] | None,
    body: Body,
    get_state: Get,
    set_state: Set,
    names: Names,
) -> None:
    """A loop over a dataset: anything with a method `reduce(initial_state, reduce_func)`.

    After a `break` the rest of the dataset is read, and nothing is done with it.
    """
    before = get_state()
    for name, value in zip(names, before, strict=True):
        if value is None or is_undefined(value):
            raise _undefined(name, value)

    def step(state: Any, item: Any) -> Any:
        set_state(_unflattened(before, state))
        if extra_test is None:
            body(item)
        else:
            going_on = extra_test()
            if_stmt(
                going_on, lambda: body(item), lambda: None, get_state, set_state, names, len(names)
            )
        after = get_state()
        _check(names, before, after, (None,) * len(names))
        return tuple(_flattened(after, before))

    result = dataset.reduce(tuple(_flattened(before)), step)
    set_state(_unflattened(before, result))


# Loops of the program.


def stage(
    test: Callable[[], Any],
    body: Body,
    get_state: Get,
    set_state: Set,
    names: Names,
    opts: Options,
    runs: bool = False,
) -> None:
    """A `tf.while_loop`. `runs` says that it is known to have a turn."""
    given = get_state()
    shapes = _shape_invariants(given, opts)
    before = _initialised(given, names, shapes, body, get_state, set_state)
    for name, value, shape in zip(names, before, shapes, strict=True):
        if shape is not None:
            _check_invariant(name, "before the loop", value, shape)
    # A variable that only the loop defines has a value only if the loop had a turn.
    waiting = [
        name
        for name, x in zip(names, given, strict=True)
        if (x is None or isinstance(x, Undefined)) and not runs
    ]
    waiting = [n for n, x in zip(names, before, strict=True) if n in waiting and x is not None]

    def loop_test(ran: Any, *flat: Any) -> Any:
        set_state(_unflattened(before, flat))
        going_on = symbolic.read(test())
        if not isinstance(going_on, Tensor):
            return convert_to_tensor(bool(going_on))
        return condition(going_on, "while loop")

    def loop_body(ran: Any, *flat: Any) -> list[Any]:
        entry = _unflattened(before, flat)
        set_state(entry)
        body()
        after = get_state()
        _check(names, entry, after, shapes)
        return [True, *_flattened(after, before)]

    flags: dict[str, Any] = {}
    if any(s is not None for s in shapes):
        flags["shape_invariants"] = [TensorShape(()), *_flat_shapes(before, shapes)]
    if opts.get("maximum_iterations") is not None:
        flags["maximum_iterations"] = opts["maximum_iterations"]
    flat_before = [convert_to_tensor(False), *_flattened(before)]
    ran, *flat = control_flow.while_loop(loop_test, loop_body, flat_before, **flags)
    if waiting:
        Assert(ran, [f"the loop must have at least one turn to give {', '.join(waiting)} a value"])
    set_state(_unflattened(before, flat))


def _initialised(
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
            set_state(
                _unflattened(given, _flattened(given))
            )  # numbers become tensors, as in the loop
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
            raise _undefined(name, before, why)
        result.append(before)
    return tuple(result)


def _undefined(name: str, value: Any, why: str = "") -> Exception:
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


def _flattened(state: State, like: State | None = None) -> list[Any]:
    """The leaves of the variables that travel through the loop, as tensors."""
    leaves = nest.flatten(state)
    entry = leaves if like is None else nest.flatten(like)
    return [
        symbolic.as_value(x, symbolic.as_value(y) if y is not x else None)
        for x, y in zip(leaves, entry, strict=True)
        if symbolic.is_value(y)
    ]


def _unflattened(state: State, flat: Any) -> State:
    """The variables with other leaves; what does not travel through the loop stays."""
    values = iter(flat)
    return nest.pack_sequence_as(
        state, [next(values) if symbolic.is_value(x) else x for x in nest.flatten(state)]
    )


def _shape_invariants(state: State, opts: Options) -> tuple[Any, ...]:
    """The shape that the user has said each variable keeps, by position."""
    pairs = opts.get("shape_invariants") or ()
    found = []
    for value in state:
        shape = [s for v, s in pairs if v is value]
        found.append(shape[0] if shape else None)
    return tuple(found)


def _flat_shapes(state: State, shapes: tuple[Any, ...]) -> list[Any]:
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


def _check(names: Names, entry: State, after: State, shapes: tuple[Any, ...]) -> None:
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
        _check_invariant(name, "after one iteration", b, shape)


def _check_invariant(name: str, when: str, value: Any, shape: Any) -> None:
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
