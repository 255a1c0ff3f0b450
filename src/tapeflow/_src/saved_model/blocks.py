"""Conditionals and loops from a file: whether they say of their blocks what these are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tapeflow._src.core.dtypes import DType, bool_, int32
from tapeflow._src.core.sizes.dims import Dim
from tapeflow._src.function.control_flow.loop_kernel import Plan
from tapeflow._src.function.control_flow.primitives import spec_from
from tapeflow._src.function.graph_function import GraphFunction
from tapeflow._src.primitives.array.stack import StackShape, is_stack
from tapeflow._src.saved_model.damage import Damage, index

Shapes = tuple[tuple[Any, DType], ...]


def conditional_of(attrs: dict[str, Any], count: int) -> tuple[Any, tuple[int, ...], Shapes]:
    """The places of the inputs of the branches, how much each keeps, and the shapes of the outputs."""
    _check_names("cond", attrs, ("branches", "places", "kept", "shapes"), ("effect",))
    branches, places, kept = attrs["branches"], attrs["places"], attrs["kept"]
    if not branches or not len(branches) == len(places) == len(kept):
        raise Damage(f"cond has {len(branches)} branches, and says something of {len(places)}")
    for place in (p for own in places for p in own):
        index(place, count - 1, "an input of a branch")
    for number in kept:
        index(number, 2**31, "what a branch keeps")
    return places, kept, _shapes("cond", attrs["shapes"])


def check_branches(
    graph_functions: Sequence[GraphFunction], kept: tuple[int, ...], shapes: Shapes
) -> None:
    """Whether branches that keep something for a backward pass give what was noted."""
    count = len(shapes) - sum(kept)
    at = count
    for graph_function, more in zip(graph_functions, kept, strict=True):
        own = (*shapes[: max(0, count)], *shapes[at : at + more])
        if (
            count < 0
            or len(own) != len(graph_function.symbols)
            or not all(map(_fits, graph_function.symbols, own))
        ):
            raise Damage("a branch of cond does not give what was noted")
        at += more


def loop_of(attrs: dict[str, Any], count: int) -> tuple[Plan, Shapes]:
    """How a loop uses its inputs and outputs, and the shapes of the outputs."""
    _check_names("while", attrs, ("body", "plan", "shapes"), ("condition", "effect"))
    plan = Plan(*attrs["plan"])
    for number in (plan.carried, plan.scanned, plan.kept):
        index(number, 2**31, "a number in the plan of a loop")
    likes = [p for p in plan.stacked if p is not None] + [p for _, p in plan.sums]
    for place in (*likes, *plan.condition, *plan.body):
        index(place, count, "an input of a loop")
    if plan.first + plan.carried + plan.scanned > count:
        raise Damage(f"a loop has {count} inputs, and takes {plan.carried + plan.scanned}")
    flags = (plan.counted, plan.reverse, *[rows for rows, _ in plan.sums])
    numbers = [n for n in (plan.limit, plan.trips) if n is not None]
    if any(type(x) is not bool for x in flags) or any(type(n) is not int for n in numbers):
        raise Damage(f"a loop has the plan {plan}")
    if not plan.counted and "condition" not in attrs and (plan.limit is None or plan.scanned):
        raise Damage("a loop has neither a condition nor a number of turns")
    if plan.counted and "condition" in attrs:
        raise Damage("a loop has a condition and a number of turns")
    return plan, _shapes("while", attrs["shapes"])


def check_loop(
    plan: Plan, shapes: Shapes, body: GraphFunction, condition: GraphFunction | None
) -> None:
    """Whether the blocks of a loop give what was noted."""
    outer = plan.carried + len(plan.stacked) + len(plan.sums) + 1 + plan.kept
    inner = plan.carried + len(plan.stacked) + sum(1 + rows for rows, _ in plan.sums) + plan.kept
    if len(shapes) != outer or len(body.symbols) != inner:
        raise Damage(f"a loop has {len(shapes)} outputs, and its body {len(body.symbols)}")
    kept = zip(body.symbols[inner - plan.kept :], shapes[outer - plan.kept :], strict=True)
    if (
        not all(x.dtype is s[1] for x, s in zip(body.symbols[: plan.carried], shapes, strict=False))
        or not all(x.dtype is s[1] and s[0][:1] == ("stack",) for x, s in kept)
        or shapes[outer - plan.kept - 1] != ((), int32)
    ):
        raise Damage("the body of a loop does not give what was noted")
    if condition is not None:
        (more,) = condition.symbols
        if more.dtype is not bool_ or more._array.shape != ():
            raise Damage("the condition of a loop is not a scalar of dtype bool")


def _check_names(
    name: str, attrs: dict[str, Any], needed: tuple[str, ...], more: tuple[str, ...]
) -> None:
    if attrs.keys() - {*needed, *more} or {*needed} - attrs.keys():
        raise Damage(f"{name} has the attributes {', '.join(sorted(attrs))[:200]}")
    if attrs.get("effect", True) is not True:
        raise Damage(f"{name} has an effect of another kind")


def _shapes(name: str, shapes: Any) -> Shapes:
    """Shapes of outputs as they are noted: sizes, or `("stack", length, shape of the elements)`, and dtypes."""
    for shape, dtype in shapes:
        sizes = shape
        if shape[:1] == ("stack",):
            _, length, element = shape
            sizes = (length, *(() if element is None else element))
        if (
            not isinstance(dtype, DType)
            or type(shape) is not tuple
            or not all(map(_is_size, sizes))
        ):
            raise Damage(f"{name} has an output of shape {str(shape)[:100]}")
    return shapes


def _is_size(value: Any) -> bool:
    return value is None or type(value) is Dim or (type(value) is int and 0 <= value < 2**63)


def _fits(x: Any, described: tuple[Any, DType]) -> bool:
    shape, dtype = spec_from(*described)
    own = x._array.shape
    if x.dtype is not dtype or is_stack(x) is not isinstance(shape, StackShape):
        return False
    return is_stack(x) or (
        len(own) == len(shape)
        and all(
            type(a) is not int or type(b) is not int or a == b
            for a, b in zip(own, shape, strict=True)
        )
    )
