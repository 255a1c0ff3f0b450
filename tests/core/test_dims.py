"""Sizes that are known only when a function runs: arithmetic, what is known of them, and questions about them."""

from __future__ import annotations

import itertools
import operator
import random
from typing import Any

import pytest

from tapeflow._src.core.sizes.dims import Atom, Dim, is_dynamic, same_size
from tapeflow._src.core.sizes.extremes import (
    KINDS,
    agreed,
    bounds,
    broadcast,
    evaluated,
    larger,
    smaller,
    surely_less,
)
from tapeflow._src.core.sizes.guards import Guard, Undecided, failing, noting, undecided


def size(name: str, hint: int | None = None, made_up: bool = False) -> Any:
    return Dim.of(Atom(name, (None, 0, 0), hint, made_up))


n, m, k = size("n", 7), size("m", 4), size("k", 840, made_up=True)


def everything(atom: Atom) -> bool:
    return True


# Arithmetic.


def test_what_divides_evenly_is_a_polynomial_again():
    assert same_size((n + 1) * (m + 2) // (m + 2), n + 1)
    assert same_size((n * n - m * m) // (n + m), n - m)
    assert same_size((6 * n + 3) // 3, 2 * n + 1)
    assert same_size((6 * n + 4) // 3, 2 * n + 1)
    assert same_size((6 * n + 4) % 3, 1)
    assert str(n // 2) == "(n // 2)"
    with pytest.raises(ZeroDivisionError):
        n // 0


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        (smaller(n, n), n),
        (smaller(n, n + 1), n),
        (larger(n, 0), n),
        (larger(n, -3), n),
        (smaller(n, smaller(m, n)), smaller(m, n)),
        (larger(larger(n, m), larger(m, n)), larger(n, m)),
        (smaller(n, larger(n, m)), n),
        (larger(smaller(n, 3), 5), 5),
        (larger(n - 1, larger(0, n - 2)), larger(n - 1, 0)),
        (broadcast(n, 1), n),
        (broadcast(1, n), n),
        (broadcast(n, 3), 3),
        (broadcast(n, 0), 0),
        (broadcast(n, broadcast(m, n)), broadcast(n, m)),
        (broadcast(n + 2, m), n + 2),
        (broadcast(broadcast(n, m), 5), 5),
        (agreed(n, 3), 3),
        (agreed(n, m), n),
        (abs(n - m), larger(n - m, m - n)),
    ],
)
def test_choices_are_written_alike(found: Any, expected: Any):
    assert same_size(found, expected), f"{found} and {expected}"


def test_what_cannot_fit_is_refused():
    with pytest.raises(ValueError, match="differ"):
        broadcast(3, 2)
    with pytest.raises(ValueError, match="differ"):
        broadcast(n + 4, 3)
    with pytest.raises(ValueError, match="differ"):
        agreed(n, n + 1)


def test_a_size_is_what_its_atoms_make_it():
    """Random expressions: their values, and their bounds, are those of the same expressions on numbers."""
    rng = random.Random(3)
    atoms = [Atom(name, (None, 0, 0)) for name in "abc"]
    for _ in range(300):
        numbers = {atom: rng.randrange(6) for atom in atoms}
        pairs: list[tuple[Any, int]] = [(Dim.of(a), numbers[a]) for a in atoms]
        pairs += [(c, c) for c in (1, 2, 3)]
        for _ in range(6):
            (x, a), (y, b) = rng.choice(pairs), rng.choice(pairs)
            kind = rng.choice([*KINDS, "+", "-", "*"])
            try:
                plain = {"+": operator.add, "-": operator.sub, "*": operator.mul}
                value = (plain.get(kind) or KINDS[kind])(a, b)
                pairs.append(((plain.get(kind) or KINDS[kind])(x, y), value))
            except (ZeroDivisionError, ValueError):
                continue
        for expression, value in pairs:
            assert evaluated(expression, numbers.__getitem__) == value, str(expression)
            low, high = bounds(expression)
            assert low <= value <= high, str(expression)


@pytest.mark.parametrize("value", [n, (2, n), [(n,)], slice(0, n), {"shape": (1, n)}])
def test_what_holds_a_size_that_is_not_known_is_dynamic(value: Any):
    assert is_dynamic(value)


@pytest.mark.parametrize("value", [3, None, (2, -1), slice(0, 3), {"axis": (0,)}, n - n, "n"])
def test_what_holds_none_is_not(value: Any):
    assert not is_dynamic(value)


# Questions.


def test_what_follows_from_what_sizes_are_is_plain():
    with undecided():
        assert n + 1 > 0
        assert not n < 0
        assert n != n + 1
        assert smaller(n, 3) < 4
        assert larger(n, 1) != 0
        assert n % 3 < 3
        assert surely_less(n, n + 1)
        assert smaller(n, m) <= n
        with pytest.raises(Undecided):
            bool(n == m)
        with pytest.raises(Undecided):
            int(n)


def test_an_element_of_a_tensor_may_be_negative():
    element = Dim.of(Atom("v", (None, None, 0), 3))
    with undecided(), pytest.raises(Undecided):
        bool(element < 0)


def test_an_answer_is_noted():
    with noting(everything) as book:
        assert n > m
        assert n != 1
        assert int(m) == 4
        assert n > m  # once is enough
    assert [str(guard) for guard in book.values()] == ["m < n", "n != 1", "m == 4"]
    a, b = n.atom, m.atom
    assert failing(book.values(), {a: 9, b: 4}) is None
    assert failing(book.values(), {a: 9, b: 5}) == Guard("==", m, 4, True)
    assert failing(book.values(), {a: 3, b: 4}) == Guard("<", m, n, True)


def test_a_size_that_is_made_up_fits():
    with noting(everything) as book:
        assert k == 3
        assert k == n
        assert k != 1
        assert k != 0
        assert k > 100
    assert len(book) == 5


def test_nothing_is_noted_of_sizes_that_mean_nothing():
    own = n.atom
    with noting(lambda atom: atom is own) as book:
        assert n > m
        assert n > 3
    assert [str(guard) for guard in book.values()] == ["3 < n"]


def test_a_question_outside_of_a_trace_is_a_mistake():
    with pytest.raises(RuntimeError, match="m < n"):
        bool(m < n)


def test_orders_of_writing():
    for a, b, c in itertools.permutations([n, m, k]):
        assert same_size(smaller(smaller(a, b), c), smaller(n, smaller(m, k)))
        assert same_size(smaller(a, b) * c + smaller(b, a), smaller(b, a) + c * smaller(a, b))
