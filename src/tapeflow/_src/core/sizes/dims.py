"""Sizes that are known only when a function runs.

While `tf.function` traces, a dimension that was declared `None` has no number yet, but ops compute with it all the
same: they multiply sizes for a reshape, divide by them for a mean. A `Dim` stands for such a size and keeps what was
computed as a polynomial in *atoms*: the unknown sizes themselves, and what is no polynomial of them, such as quotients
that do not come out, or the smaller of two sizes.

    Dim n times 3 plus 1        ->  3*n + 1
    the smaller of n and m      ->  min(n, m)
    n and m in one operation    ->  with(n, m): the other one where one is 1

So a size is computed when the function runs, and nothing has to be guessed: see `extremes`. What is left are questions
that only numbers can answer (is n equal to 1?): see `guards`.
"""

from __future__ import annotations

import itertools
import operator
from collections.abc import ItemsView, Iterable, Iterator
from typing import Any

from tapeflow._src.core.late import late

_numbers = itertools.count()


class Atom:
    """A size that nothing is known of but where it will come from.

    Attributes:
      origin: a tensor, and the axis whose size it is, or if that is None the position of the element that it is.
      hint: a typical size, or None where there is none: a size that follows from values.
      made_up: whether nobody has ever seen a tensor of that size.
    """

    __slots__ = ("hint", "made_up", "name", "order", "origin")

    def __init__(
        self, name: str, origin: Origin, hint: int | None = None, made_up: bool = False
    ) -> None:
        self.name = name
        self.origin = origin
        self.hint = hint
        self.made_up = made_up
        self.order = (next(_numbers), "")

    def __repr__(self) -> str:
        return self.name


class Compound(Atom):
    """What is computed of two sizes and is no polynomial of them. Two that are written alike are one."""

    __slots__ = ("_key", "a", "b", "kind")

    def __init__(self, kind: str, a: Any, b: Any) -> None:
        self.kind, self.a, self.b = kind, a, b
        infix = kind in ("//", "%")
        self.name = f"({a} {kind} {b})" if infix else f"{kind}({a}, {b})"
        self.order = (max(atom.order[0] for x in (a, b) for atom in atoms_of(x)), self.name)
        self._key = (kind, key_of_size(a), key_of_size(b))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Compound) and self._key == other._key

    def __hash__(self) -> int:
        return hash(self._key)


Terms = dict[tuple[Atom, ...], int]

Origin = tuple[Any, int | None, int]
"""A tensor, an axis or None, and the position of an element."""


class Dim:
    """A polynomial in unknown sizes."""

    __slots__ = ("_key", "_terms")

    def __init__(self, terms: Terms) -> None:
        self._terms = terms
        self._key = frozenset(terms.items())

    @classmethod
    def of(cls, atom: Atom) -> Dim:
        """The size that an atom stands for."""
        return cls({(atom,): 1})

    @property
    def atom(self) -> Atom | None:
        """The atom that this size is, or None if it is computed of atoms."""
        if len(self._terms) == 1:
            ((product, factor),) = self._terms.items()
            if factor == 1 and len(product) == 1:
                return product[0]
        return None

    def monomials(self) -> ItemsView[tuple[Atom, ...], int]:
        """Products of atoms, each with its factor: this size is their sum."""
        return self._terms.items()

    # Arithmetic.

    def __add__(self, other: Any) -> Any:
        terms = _terms(other)
        if terms is None:
            return NotImplemented
        total = dict(self._terms)
        for product, factor in terms.items():
            total[product] = total.get(product, 0) + factor
        return _simplest(total)

    __radd__ = __add__

    def __neg__(self) -> Any:
        return self * -1

    def __pos__(self) -> Dim:
        return self

    def __abs__(self) -> Any:
        from tapeflow._src.core.sizes.extremes import larger

        return larger(self, -self)

    def __sub__(self, other: Any) -> Any:
        return NotImplemented if _terms(other) is None else self + other * -1

    def __rsub__(self, other: Any) -> Any:
        return NotImplemented if _terms(other) is None else self * -1 + other

    def __mul__(self, other: Any) -> Any:
        terms = _terms(other)
        if terms is None:
            return NotImplemented
        total: Terms = {}
        for (p, f), (q, g) in itertools.product(self._terms.items(), terms.items()):
            product = tuple(sorted((*p, *q), key=lambda atom: atom.order))
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
        return _ask("==", self, other)

    def __ne__(self, other: Any) -> bool:
        return not self == other

    def __lt__(self, other: Any) -> bool:
        return _ask("<", self, other)

    def __ge__(self, other: Any) -> bool:
        return not _ask("<", self, other)

    def __gt__(self, other: Any) -> bool:
        return _ask("<", other, self)

    def __le__(self, other: Any) -> bool:
        return not _ask("<", other, self)

    def __bool__(self) -> bool:
        return self != 0

    def __hash__(self) -> int:
        return hash(self._key)

    def __index__(self) -> int:
        from tapeflow._src.core.sizes.guards import pinned

        return pinned(self)

    __int__ = __index__

    def __float__(self) -> float:
        return float(self.__index__())

    # As something else.

    def __tf_tensor__(self, dtype: Any = None, name: str | None = None) -> Any:
        return late.size(self, dtype)

    def __repr__(self) -> str:
        parts = []
        for product, factor in sorted(self._terms.items(), key=lambda t: [a.order for a in t[0]]):
            atoms = "*".join(map(str, product))
            if not product:
                parts.append(str(factor))
            else:
                parts.append({1: atoms, -1: f"-{atoms}"}.get(factor, f"{factor}*{atoms}"))
        return " + ".join(parts).replace("+ -", "- ")


def _ask(comparison: str, a: Any, b: Any) -> bool:
    # What to do with questions lies above what sizes are.
    from tapeflow._src.core.sizes.guards import ask

    return ask(comparison, a, b)


def _terms(value: Any) -> Terms | None:
    if isinstance(value, Dim):
        return value._terms
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


def is_dynamic(value: Any) -> bool:
    """Whether a size is known only when the function runs, or one of those in a shape or in an attribute is."""
    kind = type(value)
    if kind in _STATIC:
        return False
    if kind is Dim:
        return True
    if isinstance(value, (tuple, list)):
        for each in value:  # noqa: SIM110  # a generator takes three times as long, and graphs ask of every shape
            if type(each) is not int and is_dynamic(each):
                return True
        return False
    if kind is slice:
        return is_dynamic((value.start, value.stop, value.step))
    return isinstance(value, dict) and is_dynamic([*value.values()])


_STATIC = frozenset({int, bool, str, float, type(None)})


def key_of_size(size: Any) -> Any:
    return size._key if isinstance(size, Dim) else size


def key_of_shape(shape: Iterable[Any]) -> tuple[Any, ...]:
    """What two shapes have in common that are equal whatever their sizes are; to compare it asks nothing."""
    return tuple([key_of_size(size) for size in shape])


def atoms_of(size: Any) -> Iterator[Atom]:
    """The atoms that a size comes from, compounds taken apart."""
    if isinstance(size, Dim):
        for product in size._terms:
            for atom in product:
                if isinstance(atom, Compound):
                    yield from atoms_of(atom.a)
                    yield from atoms_of(atom.b)
                else:
                    yield atom


def same_size(a: Any, b: Any) -> bool:
    """Whether two sizes are known to be equal. Nothing is asked."""
    if type(a) is Dim or type(b) is Dim:
        return type(a) is type(b) and a._key == b._key
    return a == b


def same_sizes(a: tuple[Any, ...], b: tuple[Any, ...]) -> bool:
    """Whether two shapes are known to be equal. Nothing is asked."""
    return len(a) == len(b) and all(map(same_size, a, b))


# Quotients.


def _divided(a: Any, b: Any) -> tuple[Any, Any]:
    """Quotient and remainder. What divides evenly, as sizes mostly do, gives a polynomial again."""
    top, bottom = _terms(a), _terms(b)
    if top is None or bottom is None:
        return NotImplemented, NotImplemented
    exact = _quotient(top, bottom)
    if exact is not None:
        return _simplest(exact), 0
    if isinstance(b, Dim):
        return Dim.of(Compound("//", a, b)), Dim.of(Compound("%", a, b))
    whole: Any = _simplest({p: f // b for p, f in top.items() if not f % b})
    rest: Any = _simplest({p: f for p, f in top.items() if f % b})
    if not isinstance(rest, Dim):
        return whole + rest // b, rest % b
    return whole + Dim.of(Compound("//", rest, b)), Dim.of(Compound("%", rest, b))


def _quotient(top: Terms, bottom: Terms) -> Terms | None:
    """The quotient of two polynomials, or None if there is a remainder."""

    def rank(product: tuple[Atom, ...]) -> Any:
        return len(product), [atom.order for atom in reversed(product)]

    first = max(bottom, key=rank)
    if not bottom[first]:
        raise ZeroDivisionError("a size is divided by zero")
    rest: Terms = dict(top)
    quotient: Terms = {}
    while rest:
        product = max(rest, key=rank)
        others = list(product)
        for atom in first:
            if atom not in others:
                return None
            others.remove(atom)
        factor, left = divmod(rest[product], bottom[first])
        if left:
            return None
        part = {tuple(others): factor}
        quotient.update(part)
        new = Dim(rest) - Dim(part) * Dim(bottom)
        rest = new._terms if isinstance(new, Dim) else {(): new} if new else {}
    return quotient
