"""Checks: what a program on XLA finds out about its values while it runs.

XLA cannot stop at a bad value. A program that is to mean what the same Python means in eager mode computes, beside its
results, whether all is well: whether each check (see `lowerings`) of its nodes holds. If one does not, the results are
dropped, and NumPy runs the nodes again and says what is wrong. See `checked`.

Most checks are settled early. One that depends on constants is answered when the program is made, and one whose values
come from the inputs by a few cheap steps is made by NumPy before the program is started.
"""

from __future__ import annotations

import functools
import operator
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import jax.numpy as jnp
import numpy as np

from tapeflow._src.core.scopes import setting
from tapeflow._src.core.sizes.dims import is_dynamic
from tapeflow._src.engines.xla.lowerings import CHECKS, Check
from tapeflow._src.graph.graph import Node, Value, subgraphs
from tapeflow._src.primitives.table import TABLE, parameters

# What a check looks at.


def looked_at(node: Node) -> list[Value]:
    """The inputs of a node whose values its check looks at."""
    names = parameters(CHECKS[node.primitive.name].holds)
    return [v for v, name in zip(node.inputs, _names(node), strict=True) if name in names]


def measured(node: Node) -> list[Value]:
    """The inputs of a node whose shapes its check looks at."""
    names = parameters(CHECKS[node.primitive.name].holds)
    return [v for v, n in zip(node.inputs, _names(node), strict=True) if f"{n}_shape" in names]


def holds(node: Node, found: Mapping[Value, Any], attrs: dict[str, Any]) -> Any:
    """Whether the check of a node holds, for arrays of what it looks at (or things with their shapes)."""
    return CHECKS[node.primitive.name].holds(**arguments_of(node, found, attrs))


def arguments_of(node: Node, found: Mapping[Value, Any], attrs: dict[str, Any]) -> dict[str, Any]:
    """What the check of a node is given: an array for each input that it looks at."""
    arguments: dict[str, Any] = dict(attrs)
    for value, name in zip(node.inputs, _names(node), strict=True):
        array = found.get(value)
        if array is not None:
            arguments.update({name: array, f"{name}_shape": array.shape})
        arguments[f"{name}_dtype"] = value.dtype.np_dtype
    return {n: arguments[n] for n in parameters(CHECKS[node.primitive.name].holds)}


def _names(node: Node) -> tuple[str, ...]:
    names = TABLE[node.primitive.name].inputs
    return names if len(names) == len(node.inputs) else names * len(node.inputs)


# Which nodes have something to look at.


def doubtful(nodes: Sequence[Node], constants: Mapping[Value, Any]) -> list[Node]:
    """Those nodes whose values have to be looked at when they run: nodes with a check, and blocks with such nodes."""
    return [node for node in nodes if _is_doubtful(node, constants)]


def _is_doubtful(node: Node, constants: Mapping[Value, Any]) -> bool:
    check = own_check(node)
    if check is None:
        return any(doubtful(graph.nodes, graph.constants) for graph in subgraphs(node))
    if check.when is not None and not _applies(check.when, node):
        return False
    values = [*looked_at(node), *measured(node)]
    if not all(v in constants for v in looked_at(node)) or _is_dynamic_for(node, values):
        return True
    known = {v: constants.get(v, v) for v in values}
    return not holds(node, known, node.attrs)


def own_check(node: Node) -> Check | None:
    """The check of a node itself."""
    name = node.primitive.name
    # What is not in the table (a conditional, say) may have the name of something else.
    return CHECKS.get(name) if TABLE.get(name) is node.primitive else None


def _applies(when: Callable[..., bool], node: Node) -> bool:
    known: dict[str, Any] = dict(node.attrs)
    for value, name in zip(node.inputs, _names(node), strict=True):
        known.update({f"{name}_dtype": value.dtype.np_dtype, f"{name}_shape": value.shape})
    return when(**{name: known[name] for name in parameters(when)})


def _is_dynamic_for(node: Node, values: Sequence[Value]) -> bool:
    names = parameters(CHECKS[node.primitive.name].holds)
    return any(is_dynamic(v.shape) for v in values) or any(
        is_dynamic(node.attrs[name]) for name in names if name in node.attrs
    )


# Collecting what holds, while jax traces.


class _Lowering(threading.local):
    """What this thread is lowering."""

    def __init__(self) -> None:
        self.noted: list[Any] | None = None


_lowering = _Lowering()


class noting(setting):
    """Within this context what checks say is put into the list that it gives; or, if off, they are not made."""

    def __init__(self, on: bool = True) -> None:
        self._found: list[Any] = []
        super().__init__(_lowering, noted=self._found if on else None)

    def __enter__(self) -> list[Any]:
        super().__enter__()
        return self._found


def is_noting() -> bool:
    """Whether checks are made."""
    return _lowering.noted is not None


def note(ok: Any) -> None:
    """Adds what a check says."""
    found = _lowering.noted
    if found is not None:
        found.append(ok)


def all_of(found: Sequence[Any]) -> Any:
    """Whether all that was noted holds, as one bool on the device."""
    return functools.reduce(
        operator.and_, [jnp.asarray(ok, np.bool_) for ok in found], jnp.array(True)
    )


# What checks are made of. They are given arrays of NumPy or of jax.


def space(x: Any) -> Any:
    """The module of functions for an array."""
    return np if isinstance(x, (np.ndarray, np.generic)) else jnp


def within(x: Any, size: int) -> Any:
    """Whether all integers number one of `size` things."""
    if not x.size:
        return True
    if space(x) is np:
        # As unsigned numbers, negative ones are beyond any size: one pass finds both mistakes.
        return bool(x.max() < size) if x.dtype.kind == "u" else bool(_unsigned(x).max() < size)
    return (x >= 0).all() & below(x, size)


def _unsigned(x: Any) -> Any:
    return x.view(f"u{x.dtype.itemsize}")


def below(x: Any, size: int) -> Any:
    """Whether all integers, of which some may be negative, are below a size."""
    return x.max() < size if x.size and size <= np.iinfo(x.dtype).max else True


def tame(x: Any) -> Any:
    """Whether there is no NaN, no infinity, and nothing whose square would be: there every library is another."""
    return (abs(x) < float(np.finfo(x.dtype).max) ** 0.5).all()


def are_sound(pivots: Any) -> Any:
    """Whether no pivot is so small, beside the largest of its matrix, that rounding may have made it, or zero of it."""
    size = abs(pivots)
    if not size.size:
        return True
    noise = 8 * size.shape[-1] * float(np.finfo(pivots.dtype).eps)
    return (size.min(-1) > noise * size.max(-1)).all()
