"""Running a graph that is data: its primitives are called one by one, which copies them into the function around.

Conditionals and loops are traced anew from the graphs of their branches and bodies, so that what comes out can be
differentiated and run by any executor.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tapeflow._src.core.dtypes import as_dtype
from tapeflow._src.core.sizes.dims import is_dynamic
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.function.control_flow.blocks import Block, LoopBlock, current
from tapeflow._src.function.control_flow.cond import COND, conditional
from tapeflow._src.function.control_flow.loop_kernel import WHILE
from tapeflow._src.function.control_flow.loops import Loop
from tapeflow._src.function.control_flow.primitives import spec_from
from tapeflow._src.function.control_flow.trips import known_trips
from tapeflow._src.function.graph_function import GraphFunction
from tapeflow._src.function.tracing.symbols import UnknownRank
from tapeflow._src.primitives.all_rows import TABLE, UNLISTED
from tapeflow._src.primitives.array.sizes import shape_check, size_check
from tapeflow._src.saved_model import blocks
from tapeflow._src.saved_model.attributes import checked
from tapeflow._src.saved_model.damage import Damage
from tapeflow._src.saved_model.encoding import decoded, decoded_size

Read = Callable[[str], np.ndarray]


def replay(data: dict[str, Any], inputs: Sequence[Tensor], read: Read) -> dict[int, Tensor]:
    """Calls the primitives of a graph inside a traced function, and gives all values by number."""
    values: dict[int, Tensor] = {}
    _defined(values, data["inputs"], inputs, "the graph")
    for name, taken, attrs_data, given in data["nodes"]:
        attrs = {k: _attribute(v, values, read) for k, v in attrs_data.items()}
        tensors = [values[number] for number in taken]
        if name == "cond":
            outputs = _cond(tensors, attrs, read)
        elif name == "while":
            outputs = _while(tensors, attrs, read)
        else:
            outputs = _called(name, tensors, attrs, len(given))
        _defined(values, given, outputs, name)
    return values


def results(data: dict[str, Any], values: dict[int, Tensor]) -> list[Tensor]:
    """The outputs of a graph that was replayed."""
    return [values[number] for number in data["outputs"]]


def _called(
    name: Any, tensors: list[Tensor], attrs: dict[str, Any], count: int
) -> Sequence[Tensor]:
    row = _row(name)
    if row is None:
        raise Damage(
            f"it uses the primitive {str(name)[:100]!r}, which this version of tapeflow does not have. Install the "
            "version that it was saved with, or a newer one"
        )
    if len(tensors) != len(row.inputs) if not row.variadic else not tensors:
        raise Damage(f"{name} has {len(tensors)} inputs, and takes {len(row.inputs)}")
    if name == "unstack" and count != _length(tensors[0], checked(row, attrs)["axis"]):
        raise Damage(f"{name} has {count} outputs")  # before there are as many as it says
    outputs = row.call(*tensors, **checked(row, attrs))
    return (outputs,) if row.outputs == 1 else outputs


def _row(name: Any) -> Any:
    # Rows of folders that are imported on first use are there with them.
    folder = name.partition(".")[0] if isinstance(name, str) else ""
    if folder == "strings":
        from tapeflow._src.strings import loaded  # noqa: F401
    elif folder == "lookup":
        from tapeflow._src.lookup import static  # noqa: F401
    elif folder == "sparse":
        from tapeflow._src.sparse import loaded as sparse_rows  # noqa: F401
    checks = {"size_check": size_check, "shape_check": shape_check}
    return checks.get(name) or TABLE.get(name) or UNLISTED.get(name)


def _length(x: Tensor, axis: Any) -> Any:
    return x._array.shape[axis] if -x._array.ndim <= axis < x._array.ndim else None


def _defined(
    values: dict[int, Tensor], said: Sequence[Any], tensors: Sequence[Tensor], name: str
) -> None:
    """Gives tensors their numbers, if they are what the file says they are."""
    if len(said) != len(tensors):
        raise Damage(f"{name} gives {len(tensors)} values, and {len(said)} were noted")
    for (number, shape, dtype), x in zip(said, tensors, strict=True):
        if type(number) is not int or number in values:
            raise Damage(f"a value of {name} has the number {str(number)[:50]}, which is taken")
        if not is_like(x, shape, dtype):
            raise Damage(
                f"{name} gives {x.dtype.name} of shape {_shape(x)}, and {dtype} of shape {shape} was noted"
            )
        values[number] = x


def is_like(x: Tensor, shape: Any, dtype: Any) -> bool:
    """Whether a tensor is of a dtype, and as far as they are known of a shape."""
    if x.dtype is not as_dtype(dtype):
        return False
    there = _shape(x)
    if shape is None or type(there) is not tuple:  # of unknown rank, or a stack
        return shape is None
    return len(there) == len(shape) and all(
        d is None or is_dynamic(own) or own == d for own, d in zip(there, shape, strict=True)
    )


def _shape(x: Tensor) -> Any:
    return None if isinstance(x._array, UnknownRank) else x._array.shape


def _attribute(data: Any, values: dict[int, Tensor], read: Read) -> Any:
    if isinstance(data, dict) and "graph" in data:
        return data["graph"]
    if isinstance(data, dict) and "graphs" in data:
        return data["graphs"]
    return decoded(data, read, lambda held: decoded_size(held, values))


def _traced(
    block: Block, data: dict[str, Any], inputs: Sequence[Tensor], read: Read
) -> GraphFunction:
    found = block.run(lambda: results(data, replay(data, inputs, read)))
    return block.graph_function(found)


def _cond(tensors: list[Tensor], attrs: dict[str, Any], read: Read) -> Sequence[Tensor]:
    places, kept, shapes = blocks.conditional_of(attrs, len(tensors))
    index, *pool = tensors
    graph_functions = [
        _traced(Block("branch", current()), data, [pool[p] for p in own], read)
        for data, own in zip(attrs["branches"], places, strict=True)
    ]
    if not any(kept):
        return conditional(graph_functions, index, [[]] * len(graph_functions))
    blocks.check_branches(graph_functions, kept, shapes)
    # Its derivative is in the function, too: the node keeps what that needs, and has no derivative of its own.
    more: list[Tensor] = []
    own_places = []
    for graph_function in graph_functions:
        own_places.append(tuple(range(len(more), len(more) + len(graph_function.captured))))
        more += graph_function.captured
    new = {
        "branches": tuple([graph_function.graph for graph_function in graph_functions]),
        "places": tuple(own_places),
        "kept": kept,
        "shapes": shapes,
    }
    return COND.node([index, *more], {**attrs, **new})[1]


def _while(tensors: list[Tensor], attrs: dict[str, Any], read: Read) -> Sequence[Tensor]:
    plan, shapes = blocks.loop_of(attrs, len(tensors))
    first, n = plan.first, plan.carried
    carried = tensors[first : first + n]
    scanned = tensors[first + n : first + n + plan.scanned]
    graph_functions: list[GraphFunction] = []
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
        graph_functions.append(block.graph_function(found))
    body = graph_functions[0]
    condition = graph_functions[1] if "condition" in attrs else None
    blocks.check_loop(plan, shapes, body, condition)
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
        plan = plan._replace(trips=known_trips(condition.graph, body.graph, plan, given))
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
