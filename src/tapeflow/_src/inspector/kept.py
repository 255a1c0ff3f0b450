"""What a tape keeps of an op for the backward pass, and the formula that asks for it."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Iterator
from typing import Any

from tapeflow._src.autodiff.tape import GradientTape
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.primitives.table import parameters

_DEEPEST = 4
_LONGEST = 300


def kept_tensors(tapes: list[GradientTape], primitive: Any, inputs: Any, output: Any, attrs: Any):
    """The tensors that tapes keep of an op, and the rules that they keep them for."""
    tensors: list[Tensor] = []
    rules: list[Any] = []
    for tape in tapes:
        edges = primitive.edges(tape._tracked, inputs, output, attrs)
        if not edges:
            continue
        if primitive.joint:
            tensors += tensors_behind(edges[1])
            continue
        for _, rule, kept in edges:
            tensors += tensors_behind(kept)
            rules.append(rule)
    return tensors, rules


def tensors_behind(value: Any, depth: int = 0) -> Iterator[Tensor]:
    """The tensors that a value holds: a pullback holds what its variables from outside do."""
    if isinstance(value, Tensor):
        if not value.symbolic:
            yield value
    elif depth < _DEEPEST:
        inner: Any = ()
        if isinstance(value, (tuple, list)):
            inner = value
        elif isinstance(value, dict):
            inner = value.values()
        elif isinstance(value, functools.partial):
            inner = (*value.args, *value.keywords.values(), value.func)
        elif inspect.isfunction(value):
            inner = [_content(cell) for cell in value.__closure__ or ()]
        for each in inner:
            yield from tensors_behind(each, depth + 1)


def _content(cell: Any) -> Any:
    try:
        return cell.cell_contents
    except ValueError:  # it is empty
        return None


def words(primitive: Any, rules: list[Any]) -> list[str]:
    """What is kept, as the gradients name it: `y` is the output."""
    found: list[str] = []
    for rule in rules:
        if inspect.isfunction(rule):
            names = parameters(_written(rule))
            found += [
                n for n in names if n == "y" or n in primitive.inputs or n in ("xs", "others")
            ]
    return list(dict.fromkeys(found))


def _written(rule: Any) -> Any:
    """What the row of an op says: its derivative, where the gradient is a product with it; else the gradient."""
    free = dict(zip(rule.__code__.co_freevars, rule.__closure__ or (), strict=True))
    inner = _content(free["derivative"]) if "derivative" in free else None
    return inner if inspect.isfunction(inner) else rule


@functools.cache
def _source(code: Any) -> str:
    try:
        text = inspect.getsource(code)
    except (OSError, TypeError):
        return ""
    text = " ".join(text.split())
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 4]} ..."


def formula(rules: list[Any]) -> str:
    """The text of the gradients, as they stand in the table."""
    texts = dict.fromkeys(_source(_written(r).__code__) for r in rules if inspect.isfunction(r))
    return "\n".join(text for text in texts if text)
