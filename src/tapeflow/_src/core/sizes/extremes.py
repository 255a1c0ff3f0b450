"""Which of two sizes is larger: what is known of that, and sizes that are the smaller or the larger one of two.

Also what a size is in terms of others, which takes all of them.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterator
from typing import Any

from tapeflow._src.core.sizes.algebra import Algebra
from tapeflow._src.core.sizes.dims import Atom, Compound, Dim

# The smaller, the larger, and what two sizes are when they meet.


def smaller(a: Any, b: Any) -> Any:
    """The smaller of two sizes."""
    return _chosen("min", a, b) if type(a) is Dim or type(b) is Dim else min(a, b)


def larger(a: Any, b: Any) -> Any:
    """The larger of two sizes."""
    return _chosen("max", a, b) if type(a) is Dim or type(b) is Dim else max(a, b)


def broadcast(a: Any, b: Any) -> Any:
    """The size of an elementwise op on two sizes, of which one may be 1.

    Where they turn out not to fit, the op fails when it runs. ValueError, if that is known already.
    """
    if type(a) is Dim or type(b) is Dim:
        return _chosen("with", a, b)
    if a != b and 1 not in (a, b):
        raise ValueError(f"the sizes {a} and {b} differ, and neither is 1")
    return b if a == 1 else a


def agreed(a: Any, b: Any) -> Any:
    """Two sizes that have to be equal, as one: the number, if one of them is known.

    Where they turn out not to be, the op fails when it runs. ValueError, if that is known already.
    """
    if surely_unequal(a, b):
        raise ValueError(f"the sizes {a} and {b} differ")
    return a if type(a) is int else b if type(b) is int else a


def _chosen(kind: str, a: Any, b: Any) -> Any:
    found: list[Any] = []
    for each in (*_choices(kind, a), *_choices(kind, b)):
        if not any(_settles(kind, other, each) for other in found):
            found = [other for other in found if not _settles(kind, each, other)]
            found.append(each)
    first, *rest = sorted(found, key=_place)
    for each in rest:
        first = Dim.of(Compound(kind, first, each))
    return first


def _choices(kind: str, size: Any) -> Iterator[Any]:
    """What a size is the smaller or larger one of, or itself."""
    atom = size.atom if isinstance(size, Dim) else None
    if isinstance(atom, Compound) and atom.kind == kind:
        yield from _choices(kind, atom.a)
        yield from _choices(kind, atom.b)
    else:
        yield size


def _settles(kind: str, one: Any, other: Any) -> bool:
    """Whether `other` need not be looked at where there is `one`."""
    if kind != "with":
        return never_more(one, other) if kind == "min" else never_more(other, one)
    low, high = bounds(one - other)
    if low == high == 0:
        return True
    if _never_one(one) and _never_one(other) and (low > 0 or high < 0):
        raise ValueError(f"the sizes {one} and {other} differ, and neither is 1")
    if isinstance(other, Dim):
        return _never_one(one)
    return other == 1


def never_more(a: Any, b: Any) -> bool:
    """Whether a size is at most another one whatever they are."""
    if bounds(a - b)[1] <= 0:
        return True
    fewer, more = [*_choices("min", a)], [*_choices("max", b)]
    return (len(fewer) > 1 and any(never_more(each, b) for each in fewer)) or (
        len(more) > 1 and any(never_more(a, each) for each in more)
    )


def _never_one(size: Any) -> bool:
    low, high = bounds(size)
    return low > 1 or high < 1


def _place(size: Any) -> Any:
    """An order in which to write sizes, so that the same ones are always written alike."""
    if not isinstance(size, Dim):
        return ()
    return tuple(sorted((len(p), *[atom.order for atom in p], f) for p, f in size.monomials()))


KINDS: dict[str, Callable[[Any, Any], Any]] = {
    "//": operator.floordiv,
    "%": operator.mod,
    "min": smaller,
    "max": larger,
    "with": broadcast,
}
"""What a compound can be, and how it is computed."""


# What is known of sizes.

Bounds = tuple[float, float]


def bounds(size: Any) -> Bounds:
    """What a size is at least, and at most."""
    return _INTERVALS.evaluated(size, _atom_bounds)


def surely_less(a: Any, b: Any) -> bool:
    """Whether a size is less than another one whatever they are. Nothing is asked."""
    difference = a - b
    return bounds(difference)[1] < 0 if isinstance(difference, Dim) else difference < 0


def surely_unequal(a: Any, b: Any) -> bool:
    """Whether two sizes differ whatever they are. Nothing is asked."""
    return surely_less(a, b) or surely_less(b, a)


def _atom_bounds(atom: Atom) -> Bounds:
    return (-math.inf if atom.origin[1] is None else 0), math.inf


def _quotient_bounds(a: Bounds, b: Bounds) -> Bounds:
    if b[0] > 0:
        return _spread(_over, a, b)
    return (0 if min(a[0], b[0]) >= 0 else -math.inf), math.inf


def _remainder_bounds(a: Bounds, b: Bounds) -> Bounds:
    return (0, b[1] - 1) if b[0] > 0 else ((0 if b[0] >= 0 else -math.inf), math.inf)


def _spread(operation: Callable[[float, float], float], a: Bounds, b: Bounds) -> Bounds:
    corners = [operation(x, y) for x in a for y in b]
    return min(corners), max(corners)


def _times(x: float, y: float) -> float:
    return x * y if x and y else 0  # nothing times infinity is nothing here


def _over(x: float, y: float) -> float:
    if math.isinf(x):
        return x
    return (0 if x >= 0 else -1) if math.isinf(y) else x // y


_INTERVALS = Algebra(
    {
        "//": _quotient_bounds,
        "%": _remainder_bounds,
        "min": lambda a, b: (min(a[0], b[0]), min(a[1], b[1])),
        "max": lambda a, b: (max(a[0], b[0]), max(a[1], b[1])),
        "with": lambda a, b: (min(a[0], b[0]), max(a[1], b[1])),
    },
    number=lambda n: (n, n),
    times=lambda a, b: _spread(_times, a, b),
    plus=lambda a, b: (a[0] + b[0], a[1] + b[1]),
)


# Sizes in terms of others.

evaluated = Algebra(KINDS).evaluated
"""A size where a function says what each atom is: a number, or another size. None where it says so of one."""


def hint_of(size: Any) -> int | None:
    """A typical number for a size; None if one of its atoms has none."""
    try:
        return evaluated(size, lambda atom: atom.hint)
    except (ZeroDivisionError, ValueError):  # such a number cannot be
        return None
