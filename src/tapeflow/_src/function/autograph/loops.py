"""`while` and `for` statements.

Python runs a loop whose condition or items it knows. Others become `tf.while_loop`s, whose loop variables are the
variables that the loop changes. A loop that starts with values and meets a symbolic condition later is handed over at
that point.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tapeflow._src.core.convert import convert_to_tensor
from tapeflow._src.core.shapes import TensorShape
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.function.autograph import symbolic
from tapeflow._src.function.autograph.branches import State, condition, if_stmt
from tapeflow._src.function.autograph.iterables import Iterable, Range, symbolic_iterable
from tapeflow._src.function.autograph.loop_variables import (
    Body,
    Get,
    Names,
    Options,
    Set,
    check,
    check_invariant,
    flat_shapes,
    flattened,
    initialised,
    shape_invariants,
    unflattened,
)
from tapeflow._src.function.autograph.variables import Undefined
from tapeflow._src.ops.control import control_flow
from tapeflow._src.ops.debugging.assertions import Assert
from tapeflow._src.ops.elementwise.logic import logical_and


def while_stmt(
    test: Callable[[], Any],
    body: Body,
    get_state: Get,
    set_state: Set,
    symbol_names: Names,
    opts: Options,
) -> None:
    """The statement `while test(): body()`, whose variables are `symbol_names`."""
    with symbolic.scratch():  # a loop of the program evaluates its condition again
        going_on = symbolic.read(test())
    while True:
        if symbolic.is_symbolic(going_on) or (
            isinstance(going_on, Tensor) and symbolic.is_tracing()
        ):
            stage(test, body, get_state, set_state, symbol_names, opts)
            return
        if not going_on:
            return
        body()
        going_on = symbolic.read(test())


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
    elif symbolic.is_tracing() and hasattr(iterated, "__tf_iterate__"):
        _for_elements(
            iterated.__tf_iterate__(), extra_test, body, get_state, set_state, symbol_names, opts
        )
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
        # Whether the loop was left, only the running program knows.
        if symbolic.is_symbolic(going_on):
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


def _for_elements(
    elements: Any,
    extra_test: Callable[[], Any] | None,
    body: Body,
    get_state: Get,
    set_state: Set,
    names: Names,
    opts: Options,
) -> None:
    """A loop over a dataset, whose end is known only when it is there.

    `elements` has a method `more(going_on)`, which tells if there is another element, and a method `item()`, which
    takes it. After a `break` no more is read.
    """

    def test() -> Any:
        return elements.more(True if extra_test is None else extra_test())

    stage(test, lambda: body(elements.item()), get_state, set_state, names, opts)


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
    shapes = shape_invariants(given, opts)
    before = initialised(given, names, shapes, body, get_state, set_state)
    for name, value, shape in zip(names, before, shapes, strict=True):
        if shape is not None:
            check_invariant(name, "before the loop", value, shape)
    # A variable that only the loop defines has a value only if the loop had a turn: one more variable tells.
    waiting = [
        name
        for name, x, y in zip(names, given, before, strict=True)
        if not runs and (x is None or isinstance(x, Undefined)) and y is not None
    ]
    flat = flattened(before)
    more = 1 if waiting or not flat else 0  # a loop has at least one variable

    def loop_test(*flat: Any) -> Any:
        set_state(unflattened(before, flat[more:]))
        going_on = symbolic.read(test())
        if not isinstance(going_on, Tensor):
            return convert_to_tensor(bool(going_on))
        return condition(going_on, "while loop")

    def loop_body(*flat: Any) -> list[Any]:
        entry = unflattened(before, flat[more:])
        set_state(entry)
        body()
        after = get_state()
        check(names, entry, after, shapes)
        return [convert_to_tensor(True)] * more + flattened(after, before)

    flags: dict[str, Any] = {}
    if any(s is not None for s in shapes):
        flags["shape_invariants"] = [TensorShape(())] * more + flat_shapes(before, shapes)
    if opts.get("maximum_iterations") is not None:
        flags["maximum_iterations"] = opts["maximum_iterations"]
    flat = [convert_to_tensor(False)] * more + flat
    flat = control_flow.while_loop(loop_test, loop_body, flat, **flags)
    if waiting:
        text = f"the loop must have at least one turn to give {', '.join(waiting)} a value"
        Assert(flat[0], [text])
    set_state(unflattened(before, flat[more:]))
