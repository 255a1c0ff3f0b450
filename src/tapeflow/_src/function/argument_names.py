"""Names of the tensors that a function takes, by its arguments."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from typing import Any

from tapeflow._src.core import nest
from tapeflow._src.core.composites.composite import is_expandable
from tapeflow._src.function.signature import Signature, flattened


def names_of_leaves(signature: Signature, structure: tuple[Any, Any]) -> list[str]:
    """A name for each leaf: that of its argument, followed by where in the argument it is: x, x_0, x_key_0."""
    return [
        name for given, value in _arguments(signature, structure) for name in _within(given, value)
    ]


def _within(name: str, value: Any) -> Iterator[str]:
    if nest.is_nested(value):
        for key, child in nest.named_children(value):
            yield from _within(re.sub(r"\W", "_", f"{name}_{key}"), child)
    elif is_expandable(value):
        # The spec of a composite tensor is none of the tensors that names are for.
        yield name
        yield from (f"{name}_{i}" for i in range(len(nest.flatten(value, expand_composites=True))))
    else:
        yield name


def names_by_argument(signature: Signature, structure: tuple[Any, Any]) -> list[str]:
    """For each leaf the name of the argument that it belongs to."""
    return [n for n, value in _arguments(signature, structure) for _ in flattened(value)]


def _arguments(signature: Signature, structure: tuple[Any, Any]) -> list[tuple[str, Any]]:
    args, kwargs = structure
    return [*zip(signature.names(len(args)), args, strict=True), *kwargs.items()]


def told_apart(names: list[str]) -> list[str]:
    """Names of which no two are equal: one that is taken gets a number, as in TensorFlow: x, x_1, x_2."""
    found: list[str] = []
    for name in names:
        numbered = (f"{name}_{i}" for i in itertools.count(1))
        found.append(next(n for n in itertools.chain([name], numbered) if n not in found))
    return found
