"""Sizes that are known only when a function runs.

While `tf.function` traces, a dimension that was declared `None` has no number yet, but ops compute with it all the
same: they multiply sizes for a reshape, divide by them for a mean. A `Dim` stands for such a size and keeps what was
computed as a polynomial in *atoms*: the unknown sizes themselves, and quotients and remainders that do not come out.

    Dim n times 3 plus 1  ->  3*n + 1

A question that only numbers can answer (is n equal to 1?) is answered for a typical n, the *hint*, and the answer is
noted as a *guard* on the trace: it holds for calls where the answer is the same, and another trace is made for others.
Using a `Dim` as an index does the same: the trace then holds for that size alone. Nothing is ever silently wrong.
"""

from __future__ import annotations

import itertools
import operator
from collections.abc import Callable
from typing import Any

_numbers = itertools.count()


class Atom:
    """A size that nothing is known of but where it will come from.

    Attributes:
      origin: a tensor, and the axis whose size it is, or if that is None the position of the element that it is.
      hint: a typical size, or None where there is none: a size that follows from values.
      guards: the list in which answers about it are noted.
    """

    __slots__ = ("guards", "hint", "name", "number", "origin")

    def __init__(
        self, name: str, origin: Origin | None, hint: int | None, guards: list[Guard]
    ) -> None:
        self.name = name
        self.origin = origin
        self.hint = hint
        self.guards = guards
        self.number = next(_numbers)

    def __repr__(self) -> str:
        return self.name


class Ratio(Atom):
    """A quotient or remainder that is not a polynomial."""

    __slots__ = ("a", "b", "kind")

    def __init__(self, kind: str, a: Any, b: Any) -> None:
        hints = hint_of(a), hint_of(b)
        hint = None if None in hints or not hints[1] else _RATIOS[kind](*hints)
        super().__init__(f"({a} {kind} {b})", None, hint, _guards_of(a, b))
        self.kind, self.a, self.b = kind, a, b


_RATIOS: dict[str, Callable[[Any, Any], Any]] = {"//": operator.floordiv, "%": operator.mod}

Guard = tuple[str, Any, Any, bool]
"""A comparison (`==` or `<`), its operands, and the answer that the trace relies on."""

Terms = dict[tuple[Atom, ...], int]

Origin = tuple[Any, int | None, int]
"""A tensor, an axis or None, and the position of an element."""


class Dim:
    """A polynomial in unknown sizes."""

    __slots__ = ("_key", "terms")

    def __init__(self, terms: Terms) -> None:
        self.terms = terms
        self._key = frozenset(terms.items())

    @classmethod
    def of(cls, atom: Atom) -> Dim:
        """The size that an atom stands for."""
        return cls({(atom,): 1})

    @property
    def atoms(self) -> set[Atom]:
        """The atoms it is made of."""
        return {atom for product in self.terms for atom in product}

    # Arithmetic.

    def __add__(self, other: Any) -> Any:
        terms = _terms(other)
        if terms is None:
            return NotImplemented
        total = dict(self.terms)
        for product, factor in terms.items():
            total[product] = total.get(product, 0) + factor
        return _simplest(total)

    __radd__ = __add__

    def __neg__(self) -> Any:
        return self * -1

    def __pos__(self) -> Dim:
        return self

    def __sub__(self, other: Any) -> Any:
        return NotImplemented if _terms(other) is None else self + other * -1

    def __rsub__(self, other: Any) -> Any:
        return NotImplemented if _terms(other) is None else self * -1 + other

    def __mul__(self, other: Any) -> Any:
        terms = _terms(other)
        if terms is None:
            return NotImplemented
        total: Terms = {}
        for (p, f), (q, g) in itertools.product(self.terms.items(), terms.items()):
            product = tuple(sorted((*p, *q), key=lambda atom: atom.number))
            total[product] = total.get(product, 0) + f * g
        return _simplest(total)

    __rmul__ = __mul__

    def __pow__(self, exponent: int) -> Any:
        result: Any = 1
        for _ in range(operator.index(exponent)):
            result = result * self
        return result

    def __floordiv__(self, other: Any) -> Any:
        return _divided(self, other)[0]

    def __rfloordiv__(self, other: Any) -> Any:
        return _divided(other, self)[0]

    def __mod__(self, other: Any) -> Any:
        return _divided(self, other)[1]

    def __rmod__(self, other: Any) -> Any:
        return _divided(other, self)[1]

    def __divmod__(self, other: Any) -> Any:
        return _divided(self, other)

    def __truediv__(self, other: Any) -> Any:
        return self.__tf_tensor__() / other

    def __rtruediv__(self, other: Any) -> Any:
        return other / self.__tf_tensor__()

    # Questions.

    def __eq__(self, other: Any) -> bool:
        if other is None or _terms(other) is None:
            return False
        return ask("==", self, other)

    def __ne__(self, other: Any) -> bool:
        return not self == other

    def __lt__(self, other: Any) -> bool:
        return ask("<", self, other)

    def __ge__(self, other: Any) -> bool:
        return not ask("<", self, other)

    def __gt__(self, other: Any) -> bool:
        return ask("<", other, self)

    def __le__(self, other: Any) -> bool:
        return not ask("<", other, self)

    def __bool__(self) -> bool:
        return self != 0

    def __hash__(self) -> int:
        return hash(self._key)

    def __index__(self) -> int:
        number = hint_of(self)
        if number is None:
            raise TypeError(
                f"The size {self} is known only when the function runs, and a Python number is needed here. Use "
                "tf.shape(x) in the place of x.shape, and tensors in the place of Python numbers."
            )
        ask("==", self, number)
        return number

    __int__ = __index__

    def __float__(self) -> float:
        return float(self.__index__())

    # As something else.

    def __tf_tensor__(self, dtype: Any = None, name: str | None = None) -> Any:
        from tapeflow.primitives.sizes import tensor_of  # a tensor is made of it by ops

        return tensor_of(self, dtype)

    def __repr__(self) -> str:
        parts = []
        for product, factor in sorted(self.terms.items(), key=lambda t: [a.number for a in t[0]]):
            atoms = "*".join(map(str, product))
            if not product:
                parts.append(str(factor))
            else:
                parts.append(atoms if factor == 1 else f"{factor}*{atoms}")
        return " + ".join(parts).replace("+ -", "- ")


def _terms(value: Any) -> Terms | None:
    if isinstance(value, Dim):
        return value.terms
    try:
        return {(): operator.index(value)}
    except TypeError:
        return None


def _simplest(terms: Terms) -> Any:
    """A `Dim`, or an int if nothing unknown is left."""
    terms = {product: factor for product, factor in terms.items() if factor}
    if not terms:
        return 0
    if terms.keys() == {()}:
        return terms[()]
    return Dim(terms)


def _divided(a: Any, b: Any) -> tuple[Any, Any]:
    """Quotient and remainder. What divides evenly, as sizes mostly do, gives a polynomial again."""
    top, bottom = _terms(a), _terms(b)
    if top is None or bottom is None:
        return NotImplemented, NotImplemented
    if len(bottom) == 1:
        ((product, factor),) = bottom.items()
        if not factor:
            raise ZeroDivisionError("a size is divided by zero")
        quotient: Terms = {}
        for p, f in top.items():
            rest = list(p)
            try:
                for atom in product:
                    rest.remove(atom)
            except ValueError:
                break
            if f % factor:
                break
            quotient[tuple(rest)] = f // factor
        else:
            return _simplest(quotient), 0
    elif ask("==", a, b):
        return 1, 0
    return Dim.of(_ratio("//", a, b)), Dim.of(_ratio("%", a, b))


_ratios: dict[tuple[str, Any, Any], Ratio] = {}


def _ratio(kind: str, a: Any, b: Any) -> Ratio:
    key = (kind, _key(a), _key(b))
    if key not in _ratios:
        if len(_ratios) > 10_000:
            _ratios.clear()
        _ratios[key] = Ratio(kind, a, b)
    return _ratios[key]


def _key(value: Any) -> Any:
    return value._key if isinstance(value, Dim) else value


def _guards_of(*values: Any) -> list[Guard]:
    for value in values:
        if isinstance(value, Dim):
            for atom in value.atoms:
                return atom.guards
    return []


def hint_of(value: Any) -> int | None:
    """A typical number for a size; None if one of its atoms has none."""
    if not isinstance(value, Dim):
        return value
    return value_of(value, lambda atom: atom.hint)


def value_of(size: Any, number: Callable[[Atom], int | None]) -> int | None:
    """The number that a size is, where `number` knows the atoms, or None where it does not know one."""
    if not isinstance(size, Dim):
        return size
    total = 0
    for product, factor in size.terms.items():
        for atom in product:
            found = number(atom)
            if found is None and isinstance(atom, Ratio):
                a, b = value_of(atom.a, number), value_of(atom.b, number)
                if a is not None and b:
                    found = _RATIOS[atom.kind](a, b)
            if found is None:
                return None
            factor *= found
        total += factor
    return total


def ask(comparison: str, a: Any, b: Any) -> bool:
    """Whether `a` is equal to (`==`) or less than (`<`) `b`, noting the answer as a guard if it is not plain."""
    difference = a - b
    if not isinstance(difference, Dim):
        return difference == 0 if comparison == "==" else difference < 0
    signs = {factor > 0 for factor in difference.terms.values()}
    constant = difference.terms.get((), 0)
    if comparison == "<" and signs == {True}:  # sizes are not negative, so this is not
        return False
    if (signs == {True} and constant > 0) or (signs == {False} and constant < 0):
        return comparison == "<"  # never 0
    number = hint_of(difference)
    if number is None:
        return _assumed(comparison, a, b)
    answer = number == 0 if comparison == "==" else number < 0
    guards = _guards_of(difference)
    guard = (comparison, a, b, answer)
    if not any(_same(guard, known) for known in guards):
        guards.append(guard)
    return answer


def _same(a: Guard, b: Guard) -> bool:
    return a[0] == b[0] and _key(a[1]) == _key(b[1]) and _key(a[2]) == _key(b[2])


def _assumed(comparison: str, a: Any, b: Any) -> bool:
    """The answer for sizes that follow from values: they fit each other, and are neither 0 nor 1.

    Kernels check what they are given when they run.
    """
    known = b if isinstance(a, Dim) else a
    if comparison == "==":
        return isinstance(known, Dim) or known not in (0, 1)
    return isinstance(b, Dim) and not isinstance(a, Dim) and a <= 1


def holds(guard: Guard, number: Callable[[Atom], int | None]) -> bool:
    """Whether a trace that relies on a guard may be used where `number` knows the sizes."""
    comparison, a, b, answer = guard
    x, y = value_of(a, number), value_of(b, number)
    if x is None or y is None:
        return True
    return (x == y if comparison == "==" else x < y) == answer
