"""What a size becomes where each of its atoms becomes something: a number, another size, a tensor, code, bounds."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from tapeflow._src.core.sizes.dims import Atom, Compound, Dim


def _same(number: int) -> int:
    return number


class Algebra(NamedTuple):
    """How one computes with what sizes become.

    Attributes:
      compounds: for each kind of compound, what it is of two operands.
      number: what a number becomes.
      times: the product of two.
      plus: the sum of two.
    """

    compounds: Mapping[str, Callable[[Any, Any], Any]]
    number: Callable[[int], Any] = _same
    times: Callable[[Any, Any], Any] = operator.mul
    plus: Callable[[Any, Any], Any] = operator.add

    def evaluated(self, size: Any, of: Callable[[Atom], Any]) -> Any:
        """What a size becomes where `of` says it of each atom. None where it says so of one."""
        compounds, number, times, plus = self
        if type(size) is not Dim:
            return number(size)
        total: Any = None
        for product, factor in size.monomials():
            term: Any = number(factor) if factor != 1 or not product else None
            for atom in product:
                if type(atom) is Compound:
                    a, b = self.evaluated(atom.a, of), self.evaluated(atom.b, of)
                    found = None if a is None or b is None else compounds[atom.kind](a, b)
                else:
                    found = of(atom)
                if found is None:
                    return None
                term = found if term is None else times(term, found)
            total = term if total is None else plus(total, term)
        return total
