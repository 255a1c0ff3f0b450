"""How a loop node runs on NumPy: a Python loop over the program of its body."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from tapeflow._src.function.control_flow.primitives import (
    ControlFlow,
    Described,
    program,
    with_user_line,
)
from tapeflow._src.graph.graph import Graph
from tapeflow._src.primitives.array.stack import Stack, stack_of
from tapeflow._src.primitives.dispatch import KERNEL_FAILURES


class Plan(NamedTuple):
    """How the inputs and outputs of a loop node are used.

    The inputs are the number of turns (if it is given), carried values, scanned ones, and invariants; the outputs are
    carried values, stacked ones, sums, the number of turns, and what is kept.
    """

    counted: bool  # whether the first input is the number of turns
    carried: int
    scanned: int
    stacked: tuple[int | None, ...]  # for each stacked output an input of its form, if there is one
    sums: tuple[tuple[bool, int], ...]  # whether it is made of rows, and an input of its form
    kept: int
    # Which inputs the graph of the condition takes after the carried values,
    condition: tuple[int, ...]
    # and the graph of the body, after carried and scanned ones.
    body: tuple[int, ...]
    reverse: bool  # whether the last row is the first turn's
    limit: int | None  # how many turns there are at most
    trips: int | None = None  # how many there are, if the condition does not depend on inputs

    @property
    def first(self) -> int:
        """The position of the first carried value."""
        return int(self.counted)

    def __repr__(self) -> str:
        words = [f"carried={self.carried}"]
        words += [f"{k}={n}" for k, n in (("scanned", self.scanned), ("kept", self.kept)) if n]
        words += [f"{k}={len(n)}" for k, n in (("stacked", self.stacked), ("sums", self.sums)) if n]
        words += ["reverse"] if self.reverse else []
        words += [] if self.limit is None else [f"limit={self.limit}"]
        return f"loop({', '.join(words)})"


def _while_kernel(
    *arrays: Any,
    body: Graph,
    plan: Plan,
    shapes: tuple[Described, ...],
    condition: Graph | None = None,
    effect: bool = False,
) -> tuple[Any, ...]:
    try:
        state, lists, sums, turns, kept = _turns(arrays, body, condition, plan)
    except KERNEL_FAILURES as error:
        raise with_user_line(error, body, condition) from error.__cause__
    outputs = list(state)
    for rows, like, (shape, dtype) in zip(lists, plan.stacked, shapes[len(state) :], strict=False):
        outputs.append(_stacked(rows, None if like is None else arrays[like], shape, dtype))
    for total, (_, like) in zip(sums, plan.sums, strict=True):
        outputs.append(_zeros(arrays[like]) if total is None else total)
    outputs.append(np.int32(turns))
    for rows, (shape, dtype) in zip(kept, shapes[len(outputs) :], strict=True):
        outputs.append(stack_of(rows, dtype.np_dtype, shape[2]))
    return tuple(outputs)


def _turns(
    arrays: Sequence[Any], body: Graph, condition: Graph | None, plan: Plan
) -> tuple[Sequence[Any], list[list[Any]], list[Any], int, list[list[Any]]]:
    """Runs all turns: the last state, the rows of stacked results, sums, the number of turns, and what is kept."""
    first, n = plan.first, plan.carried
    state: Sequence[Any] = arrays[first : first + n]
    scanned = arrays[first + n : first + n + plan.scanned]
    fixed = [arrays[p] for p in plan.body]
    test_fixed = [arrays[p] for p in plan.condition]
    lists: list[list[Any]] = [[] for _ in range(len(plan.stacked))]
    kept: list[list[Any]] = [[] for _ in range(plan.kept)]
    sums: list[Any] = [None] * len(plan.sums)
    step = program(body)
    more = None if condition is None else program(condition)
    count = int(arrays[0]) if plan.counted else plan.limit
    plain = not lists and not kept and not sums
    turn = 0
    while count is None or turn < count:
        if more is not None and not more(*state, *test_fixed)[0]:
            break
        if scanned:
            row = count - 1 - turn if plan.reverse else turn  # type: ignore[operator]
            results = step(*state, *[x[row] for x in scanned], *fixed)
        else:
            results = step(*state, *fixed)
        turn += 1
        if plain:
            state = results
            continue
        state = results[:n]
        at = n
        for rows in lists:
            rows.append(results[at])
            at += 1
        for i, (by_rows, like) in enumerate(plan.sums):
            if by_rows:
                sums[i] = _added_rows(sums[i], results[at], results[at + 1], arrays[like])
                at += 2
            else:
                sums[i] = _added(sums[i], results[at])
                at += 1
        for rows in kept:
            rows.append(results[at])
            at += 1
    if plan.reverse:
        for rows in (*lists, *kept):
            rows.reverse()
    return state, lists, sums, turn, kept


def _added(total: Any, part: Any) -> Any:
    """A sum, in place: the first part is copied, so the memory belongs to the loop."""
    if isinstance(part, Stack):
        return part if total is None else total + part
    if total is None:
        return np.array(part) if part.ndim else part
    if not part.ndim:
        return total + part
    total += part
    return total


def _added_rows(total: Any, values: Any, indices: Any, like: Any) -> Any:
    if total is None:
        total = np.zeros_like(like)
    if indices.size == 1:
        total[int(indices.reshape(-1)[0])] += values.reshape(total.shape[1:])
    else:
        np.add.at(total, indices, values)
    return total


def _stacked(rows: list[Any], like: Any, shape: Any, dtype: Any) -> Any:
    if isinstance(like, Stack):
        return stack_of(rows, like.dtype)
    if rows:
        return np.stack(rows)
    if like is not None:
        return np.zeros_like(like)
    return np.zeros((0, *[d or 0 for d in shape[1:]]), dtype.np_dtype)


def _zeros(like: Any) -> Any:
    return like.full_like(0) if isinstance(like, Stack) else np.zeros_like(like)


WHILE = ControlFlow("while", _while_kernel)
