"""Running a graph that is data: its primitives are called one by one, which copies them into the function around.

Conditionals and loops are traced anew from the graphs of their branches and bodies, so that what comes out can be
differentiated and run by any executor.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tapeflow.core.dtypes import as_dtype
from tapeflow.core.tensor import Tensor
from tapeflow.function.control_flow.blocks import Block, LoopBlock, current
from tapeflow.function.control_flow.cond import COND, conditional
from tapeflow.function.control_flow.loop_kernel import WHILE, Plan
from tapeflow.function.control_flow.loops import Loop
from tapeflow.function.control_flow.rows import spec_from
from tapeflow.function.control_flow.stacks import UNLISTED
from tapeflow.function.routine import Routine
from tapeflow.primitives.sizes import size_check
from tapeflow.primitives.table import TABLE
from tapeflow.saved_model.encoding import decoded, decoded_size

Read = Callable[[str], np.ndarray]


def replay(data: dict[str, Any], inputs: Sequence[Tensor], read: Read) -> dict[int, Tensor]:
    """Calls the primitives of a graph inside a traced function, and gives all values by number."""
    values = {number: x for (number, _, _), x in zip(data["inputs"], inputs, strict=True)}
    for name, taken, attrs_data, given in data["nodes"]:
        attrs = {k: _attribute(v, values, read) for k, v in attrs_data.items()}
        tensors = [values[number] for number in taken]
        if name == "cond":
            outputs = _cond(tensors, attrs, read)
        elif name == "while":
            outputs = _while(tensors, attrs, read)
        else:
            row = size_check if name == "size_check" else TABLE.get(name) or UNLISTED.get(name)
            if row is None:
                raise ValueError(
                    f"The saved model uses the primitive {name!r}, which this version of tapeflow does not have. "
                    "Install the version that it was saved with, or a newer one."
                )
            outputs = row.call(*tensors, **attrs)
            if row.outputs == 1:
                outputs = (outputs,)
        values.update(zip(given, outputs, strict=False))
    return values


def results(data: dict[str, Any], values: dict[int, Tensor]) -> list[Tensor]:
    """The outputs of a graph that was replayed."""
    return [values[number] for number in data["outputs"]]


def _attribute(data: Any, values: dict[int, Tensor], read: Read) -> Any:
    if isinstance(data, dict) and "graph" in data:
        return data["graph"]
    if isinstance(data, dict) and "graphs" in data:
        return data["graphs"]
    return decoded(data, read, lambda held: decoded_size(held, values))


def _traced(block: Block, data: dict[str, Any], inputs: Sequence[Tensor], read: Read) -> Routine:
    found = block.run(lambda: results(data, replay(data, inputs, read)))
    return block.routine(found)


def _cond(tensors: list[Tensor], attrs: dict[str, Any], read: Read) -> Sequence[Tensor]:
    index, *pool = tensors
    places, kept, shapes = attrs["places"], attrs["kept"], attrs["shapes"]
    routines = [
        _traced(Block("branch", current()), data, [pool[p] for p in own], read)
        for data, own in zip(attrs["branches"], places, strict=True)
    ]
    if not any(kept):
        return conditional(routines, index, [[]] * len(routines))
    # Its derivative is in the function, too: the node keeps what that needs, and has no derivative of its own.
    more: list[Tensor] = []
    own_places = []
    for routine in routines:
        own_places.append(tuple(range(len(more), len(more) + len(routine.captured))))
        more += routine.captured
    new = {
        "branches": tuple([routine.graph for routine in routines]),
        "places": tuple(own_places),
        "kept": kept,
        "shapes": shapes,
    }
    return COND.node([index, *more], {**attrs, **new})[1]


def _while(tensors: list[Tensor], attrs: dict[str, Any], read: Read) -> Sequence[Tensor]:
    plan, shapes = Plan(*attrs["plan"]), attrs["shapes"]
    first, n = plan.first, plan.carried
    carried = tensors[first : first + n]
    scanned = tensors[first + n : first + n + plan.scanned]
    blocks: list[Routine] = []
    for name, places, rows in (("body", plan.body, scanned), ("condition", plan.condition, [])):
        if name not in attrs:
            continue
        data = attrs[name]
        block = LoopBlock(name, current())
        own = data["inputs"]
        mine = [
            block.own(_carried_shape(shape, said), as_dtype(dtype))
            for (_, shape, dtype), (said, _) in zip(own[:n], shapes, strict=False)
        ]
        mine += [
            block.own(_row_shape(shape, x), as_dtype(dtype))
            for (_, shape, dtype), x in zip(own[n : n + len(rows)], rows, strict=True)
        ]
        block.arguments = list(mine)
        found = block.run(
            lambda data=data, mine=mine, places=places: results(
                data, replay(data, [*mine, *[tensors[p] for p in places]], read)
            )
        )
        blocks.append(block.routine(found))
    body = blocks[0]
    condition = blocks[1] if "condition" in attrs else None
    if not plan.kept:
        loop = Loop(
            body,
            n,
            plan.scanned,
            condition=condition,
            stacked=len(plan.stacked),
            sums=[rows for rows, _ in plan.sums],
            reverse=plan.reverse,
            limit=plan.limit,
        )
        return loop.call(
            carried,
            scanned,
            turns=tensors[0] if plan.counted else None,
            stacked_like=[tensors[p] for p in plan.stacked if p is not None],
            sums_like=[tensors[p] for _, p in plan.sums],
        )
    # Its derivative is in the function, too: the node keeps what that needs, and has no derivative of its own.
    given = list(tensors)
    plan = plan._replace(body=_added(given, body.captured))
    new: dict[str, Any] = {"body": body.graph}
    if condition is not None:
        plan = plan._replace(condition=_added(given, condition.captured))
        new["condition"] = condition.graph
    return WHILE.node(given, {**attrs, **new, "plan": plan})[1]


def _added(tensors: list[Tensor], more: Sequence[Tensor]) -> tuple[int, ...]:
    begin = len(tensors)
    tensors += more
    return tuple(range(begin, len(tensors)))


def _carried_shape(saved: Any, said: Any) -> Any:
    """The shape that a carried value has in every turn."""
    shape = spec_from(said, None).shape  # pyright: ignore[reportArgumentType]
    if saved is None or len(saved) != len(shape):
        return shape
    return tuple([b if a is None else a for a, b in zip(saved, shape, strict=True)])


def _row_shape(saved: Any, x: Tensor) -> Any:
    shape = x._array.shape
    element = getattr(shape, "element", shape[1:])
    if saved is None:
        return element
    if element is None:
        element = (None,) * len(saved)
    return tuple([b if a is None else a for a, b in zip(saved, element, strict=True)])
