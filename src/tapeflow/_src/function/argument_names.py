"""Names of the tensors that a function takes, by its arguments."""

from __future__ import annotations

import itertools
from typing import Any

from tapeflow._src.core.composites.composite import is_expandable
from tapeflow._src.function.signature import Signature, flattened


def names_of_leaves(signature: Signature, structure: tuple[Any, Any]) -> list[str]:
    """A name for each leaf: that of its argument, with a number where the argument has several."""
    names: list[str] = []
    for name, leaves in by_name(signature, structure):
        number = iter(range(len(leaves)))
        # The spec of a composite tensor is none of the tensors that names are for.
        single = len(leaves) == 1
        names += [
            name if single or is_expandable(leaf) else f"{name}_{next(number)}" for leaf in leaves
        ]
    return names


def by_name(signature: Signature, structure: tuple[Any, Any]) -> list[tuple[str, list[Any]]]:
    """The leaves of each argument."""
    args, kwargs = structure
    given = [*zip(signature.names(len(args)), args, strict=True), *kwargs.items()]
    return [(name, flattened(value)) for name, value in given]


def told_apart(names: list[str]) -> list[str]:
    """Names of which no two are equal: one that is taken gets a number, as in TensorFlow: x, x_1, x_2."""
    found: list[str] = []
    for name in names:
        numbered = (f"{name}_{i}" for i in itertools.count(1))
        found.append(next(n for n in itertools.chain([name], numbered) if n not in found))
    return found
