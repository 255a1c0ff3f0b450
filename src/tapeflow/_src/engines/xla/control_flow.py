"""Conditionals and loops as jax's own.

A conditional is `lax.switch`. A loop whose number of turns follows from the shapes of what it scans, or is known, is
`lax.scan`, and others are `lax.while_loop`. What is kept of each turn for a backward pass is an array here, where NumPy
has a stack of arrays; so a loop that keeps something but does not know its number of turns stays on the host.

Where checks are made (see `checking`), whether those inside hold is one more output, or one more carried value.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax.numpy as jnp
from jax import lax

from tapeflow._src.core.sizes.dims import same_size
from tapeflow._src.core.sizes.extremes import hint_of
from tapeflow._src.engines.xla.checks import all_of, doubtful, is_noting, note, noting
from tapeflow._src.engines.xla.hoisting.while_loops import Hoisted
from tapeflow._src.graph.graph import Graph, Node, subgraphs
from tapeflow._src.graph.sizes import atoms_in

LowerGraph = Callable[[Graph], Callable[..., tuple[Any, ...]]]


def lowerable_block(node: Node, lowerable: Callable[[Node], bool]) -> bool:
    """Whether XLA can run a conditional or loop; `lowerable` says so for the nodes in it."""
    if node.has_effect or any(v.dtype.np_dtype.kind == "O" for v in (*node.inputs, *node.outputs)):
        return False
    shapes = node.attrs["shapes"]
    if not all(_is_static(shape) for shape, _ in shapes):
        return False
    for atom in atoms_in(shapes):
        if atom.origin[1] is None:
            return False
    if node.primitive.name == "while" and not _is_lowerable_loop(node):
        return False
    if node.primitive.name == "cond" and not _is_lowerable_cond(node):
        return False
    return all(lowerable(each) for graph in subgraphs(node) for each in graph.nodes)


def _is_lowerable_cond(node: Node) -> bool:
    """Whether all branches could run on what is given to the one that does: XLA compiles them all."""
    if any(_is_stack(shape) for shape, _ in node.attrs["shapes"]):
        return False
    given = node.inputs[1:]
    return all(
        same_size(size, mine) or hint_of(size) is not None
        for graph, own in zip(node.attrs["branches"], node.attrs["places"], strict=True)
        for place, x in zip(own, graph.inputs, strict=True)
        for size, mine in zip(given[place].shape, x.shape, strict=True)
    )


def _is_lowerable_loop(node: Node) -> bool:
    plan, shapes = node.attrs["plan"], node.attrs["shapes"]
    if any(_is_stack(shape) for shape, _ in shapes[: plan.carried]):
        return False
    carried = range(plan.first, plan.first + plan.carried)
    places = {*carried, *plan.body, *plan.condition, *[like for _, like in plan.sums]}
    if any(type(node.inputs[p].shape) is not tuple for p in places):
        return False  # stacks
    if any(getattr(v.shape, "element", ()) is None for v in node.inputs):
        return False
    if plan.kept or plan.stacked:
        return plan.scanned > 0 or plan.trips is not None
    return True


def _is_stack(shape: Any) -> bool:
    return shape[:1] == ("stack",)


def _is_static(shape: Any) -> bool:
    if _is_stack(shape):
        return shape[2] is not None and None not in shape[2]
    return None not in shape


def lower_cond(
    lower: LowerGraph,
    index: Any,
    *arrays: Any,
    branches: tuple[Graph, ...],
    places: Any,
    kept: tuple[int, ...],
    shapes: Any,
    effect: bool = False,
) -> tuple[Any, ...]:
    """A conditional on jax arrays."""
    count = len(shapes) - sum(kept)
    watched = is_noting() and any(doubtful(graph.nodes, graph.constants) for graph in branches)

    def branch(number: int) -> Callable[..., tuple[Any, ...]]:
        run = lower(branches[number])

        def function(*operands: Any) -> tuple[Any, ...]:
            with noting(watched) as found:
                results = run(*[operands[p] for p in places[number]])
            outputs = [
                _as(x, dtype) for x, (_, dtype) in zip(results, shapes[:count], strict=False)
            ]
            at = count
            for other, more in enumerate(kept):
                those = shapes[at : at + more]
                if other == number:
                    extra = results[count:]
                    outputs += [_as(x, dtype) for x, (_, dtype) in zip(extra, those, strict=True)]
                else:
                    outputs += [jnp.zeros(shape, dtype.np_dtype) for shape, dtype in those]
                at += more
            return (*outputs, all_of(found)) if watched else tuple(outputs)

        return function

    functions = [branch(i) for i in range(len(branches))]
    number = jnp.asarray(index).astype(jnp.int32)
    inside = (number >= 0) & (number < len(branches))
    number = jnp.where(inside, number, len(branches) - 1)
    outputs = lax.switch(number, functions, *arrays)
    if watched:
        *outputs, ok = outputs
        note(ok)
    return tuple(outputs)


def lower_while(
    lower: LowerGraph,
    *arrays: Any,
    body: Graph,
    plan: Any,
    shapes: Any,
    condition: Graph | None = None,
    effect: bool = False,
) -> tuple[Any, ...]:
    """A loop on jax arrays."""
    first, n = plan.first, plan.carried
    scanned = arrays[first + n : first + n + plan.scanned]
    turns = scanned[0].shape[0] if scanned else None if condition is None else plan.trips
    hoisted = Hoisted(body, plan, scanned, [arrays[p] for p in plan.body], turns)
    body, fixed, stacked = hoisted.body, hoisted.fixed, hoisted.lists
    run = lower(body)
    state = tuple(_as(x, dtype) for x, (_, dtype) in zip(arrays[first:], shapes[:n], strict=False))
    sums = tuple(jnp.zeros_like(jnp.asarray(arrays[like])) for _, like in hoisted.sums)
    graphs = (body,) if condition is None else (body, condition)
    watched = is_noting() and any(doubtful(graph.nodes, graph.constants) for graph in graphs)

    def turn(carry: Any, rows: Any) -> tuple[Any, Any]:
        state, totals, *fine = carry
        with noting(watched) as found:
            results = run(*state, *rows, *fixed)
        at, new = n + stacked, []
        for total, (by_rows, _) in zip(totals, hoisted.sums, strict=True):
            if by_rows:
                values = results[at].reshape((-1, *total.shape[1:]))
                new.append(total.at[results[at + 1].reshape(-1)].add(values))
            else:
                new.append(total + results[at])
            at += 2 if by_rows else 1
        following = tuple(_as(x, s.dtype) for x, s in zip(results, state, strict=False))
        fine = [all_of([*fine, *found])] if watched else []
        return (following, tuple(new), *fine), (results[n : n + stacked], results[at:])

    start = (state, sums, jnp.array(True)) if watched else (state, sums)
    if turns is not None:
        (state, sums, *fine), (lists, kept) = lax.scan(
            turn, start, tuple(hoisted.scanned), length=turns, reverse=plan.reverse
        )
        _note_all(fine)
        lists, sums, kept = hoisted.finish(lists, sums, kept)
        return (*state, *lists, *sums, jnp.int32(turns), *kept)
    test = None if condition is None else lower(condition)
    test_fixed = [arrays[p] for p in plan.condition]
    limit = arrays[0] if plan.counted else plan.limit

    def going_on(carry: Any) -> Any:
        done, (state, _, *fine) = carry
        more = True if limit is None else done < limit
        with noting(watched) as found:
            if test is not None:
                more = jnp.logical_and(more, test(*state, *test_fixed)[0])
        # With values that nobody has checked a loop might go on for ever.
        return all_of([more, *fine, *found]) if watched else jnp.asarray(more)

    def step(carry: Any) -> Any:
        done, inner = carry
        return done + 1, turn(inner, ())[0]

    done, (state, sums, *fine) = lax.while_loop(going_on, step, (jnp.int32(0), start))
    _note_all(fine)
    if watched and test is not None:
        test(*state, *test_fixed)  # what stopped the loop may have been a check in its condition
    return (*state, *sums, done)


def _note_all(found: list[Any]) -> None:
    for ok in found:
        note(ok)


def _as(x: Any, dtype: Any) -> Any:
    return jnp.asarray(x, getattr(dtype, "np_dtype", dtype))
