"""Questions about unknown sizes that only numbers can answer, and what becomes of a trace that relies on an answer.

While a function is traced, a question such as "is n equal to 1?" is answered for a typical n, the *hint*, and the
answer is noted as a *guard* on the trace: the trace holds for calls where the answer is the same, and another one is
made for others. A size that follows from values has no hint. The answer is then what is most likely, and a node in the
graph checks it when the function runs. Nothing is ever silently wrong.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from tapeflow._src.core.carried import carried
from tapeflow._src.core.context import context
from tapeflow._src.core.scopes import Scope, setting
from tapeflow._src.core.sizes.dims import Atom, Dim, atoms_of, key_of_size
from tapeflow._src.core.sizes.extremes import bounds, evaluated, hint_of, never_more


class Guard(NamedTuple):
    """A comparison (`==` or `<`), its operands, and the answer that a trace relies on."""

    comparison: str
    a: Any
    b: Any
    answer: bool

    def __str__(self) -> str:
        word = {"==": ("==", "!="), "<": ("<", ">=")}[self.comparison][not self.answer]
        return f"{self.a} {word} {self.b}"


Book = dict[Any, Guard]
"""Guards by what they compare."""


class Undecided(Exception):
    """A question was asked where nothing may be guessed."""


class _Notes(threading.local):
    """What this thread is doing with questions."""

    def __init__(self) -> None:
        self.books: tuple[tuple[Book, Callable[[Atom], bool]], ...] = ()
        self.deciding = True
        self.checking = False


notes = carried(_Notes())


class noting(setting):
    """Within this context questions may be asked. Gives the guards that were noted.

    Args:
      known: whether a size means something to who notes it: it is one of the trace, or of a trace around it.
    """

    def __init__(self, known: Callable[[Atom], bool]) -> None:
        self._book: Book = {}
        super().__init__(notes, books=(*notes.books, (self._book, known)))

    def __enter__(self) -> Book:
        super().__enter__()
        return self._book


def undecided() -> setting:
    """Within this context a question that is not plain raises `Undecided`."""
    return setting(notes, deciding=False)


def validity() -> setting:
    """Within this context a shape rule asks whether what a primitive is given fits. Its kernel checks that, too."""
    return setting(notes, checking=True)


def ask(comparison: str, a: Any, b: Any) -> bool:
    """Whether `a` is equal to (`==`) or less than (`<`) `b`. What follows from what sizes are is plain."""
    difference = a - b
    if not isinstance(difference, Dim):
        return difference == 0 if comparison == "==" else difference < 0
    low, high = bounds(difference)
    if low > 0 or (comparison == "<" and low >= 0):
        return False
    if high < 0:
        return comparison == "<"
    if comparison == "<" and never_more(b, a):
        return False
    return _guess(comparison, a, b)


def _guess(comparison: str, a: Any, b: Any) -> bool:
    """The answer to a question that is not plain, which is noted."""
    if not notes.deciding:
        raise Undecided(f"{a} {comparison} {b}")
    number = hint_of(a - b)
    if number is None:
        guard = Guard(comparison, a, b, _likely(comparison, a, b))
        if not notes.checking and context.tracer is not None:
            context.tracer.check_size(guard)
        return guard.answer
    answer = number == 0 if comparison == "==" else number < 0
    if notes.checking and comparison == "==":
        # A branch may be for other sizes than those of the call that is traced for.
        if answer or _free(a, b) or getattr(context.tracer, "inline", False):
            answer = answer or _likely(comparison, a, b)
        if answer:  # it fits, and if it does not, the kernel says so when it runs
            return True
    if _free(a, b):
        known = _known(comparison, a, b)
        if known is not None:
            return known
        if comparison == "==" and not answer:
            answer = _likely(comparison, a, b)
    _note(Guard(comparison, a, b, answer))
    return answer


def _note(guard: Guard) -> None:
    if not notes.books:
        raise RuntimeError(f"No function is being traced, and it was asked whether {guard}.")
    atoms = [*atoms_of(guard.a), *atoms_of(guard.b)]
    for book, known in notes.books:
        if all(map(known, atoms)):
            book.setdefault((guard.comparison, key_of_size(guard.a), key_of_size(guard.b)), guard)


def _known(comparison: str, a: Any, b: Any) -> bool | None:
    """What was answered before."""
    key = (comparison, key_of_size(a), key_of_size(b))
    return next((book[key].answer for book, _ in reversed(notes.books) if key in book), None)


def _likely(comparison: str, a: Any, b: Any) -> bool:
    """The answer where nothing is known: sizes fit each other, and are neither 0 nor 1."""
    known = b if isinstance(a, Dim) else a
    if comparison == "==":
        # A rule that names a 1 wants it to be there; elsewhere it is a case apart.
        return isinstance(known, Dim) or known not in ((0,) if notes.checking else (0, 1))
    return isinstance(b, Dim) and not isinstance(a, Dim) and a <= 1


def _free(a: Any, b: Any) -> bool:
    """Whether one of two sizes may be anything, so that one answer is as good as the other."""
    one, other = set(atoms_of(a)), set(atoms_of(b))
    return any(atom.made_up for atom in one ^ other)


def assume(guard: Guard) -> bool:
    """Notes an answer that somebody else relies on, if it can be the answer here, and tells whether it can."""
    comparison, a, b, answer = guard
    low, high = bounds(a - b)
    if low <= 0 <= high and low < high and _free(a, b):
        known = _known(comparison, a, b)
        if known is None:
            _note(guard)
        return known is None or known == answer
    return ask(comparison, a, b) == answer


def pinned(size: Dim) -> int:
    """The number that a size has in all calls that a trace is used for."""
    number = hint_of(size)
    if number is None:
        raise TypeError(
            f"The size {size} is known only when the function runs, and a Python number is needed here. Use "
            "tf.shape(x) in the place of x.shape, and tensors in the place of Python numbers."
        )
    if not notes.deciding:
        raise Undecided(str(size))
    _note(Guard("==", size, number, True))
    return number


# Guards of a finished trace.

Sizes = Mapping[Atom, Any]
"""What the atoms of a trace are in a call: numbers, or sizes of the trace around it."""


def failing(guards: Iterable[Guard], sizes: Sizes) -> Guard | None:
    """The first guard that does not hold in a call. In a call inside of a trace its question is asked there."""
    for guard in guards:
        try:
            a, b = (evaluated(x, lambda atom: sizes.get(atom, Dim.of(atom))) for x in guard[1:3])
            if assume(guard._replace(a=a, b=b)):
                continue
        except (ZeroDivisionError, ValueError):  # there is no such size
            pass
        return guard
    return None


class hinted(Scope):
    """Within this context the sizes of a call are those that questions are answered for."""

    def __init__(self, sizes: Sizes) -> None:
        self._sizes = sizes
        self._before = [(atom, atom.hint, atom.made_up) for atom in sizes]

    def __enter__(self) -> None:
        self._guard = self._latest
        for atom, size in self._sizes.items():
            atom.hint = hint_of(size)
            atom.made_up = any(each.made_up for each in atoms_of(size))

    def _leave(self, *exception: Any) -> None:
        for atom, hint, made_up in self._before:
            atom.hint, atom.made_up = hint, made_up
        self._guard = None


class Variants:
    """Things that were traced for a call, each with the guards that it relies on."""

    def __init__(self) -> None:
        self._made: list[tuple[tuple[Guard, ...], Any]] = []

    def __iter__(self) -> Iterator[Any]:
        return iter([made for _, made in self._made])

    def found(self, sizes: Sizes) -> Any:
        """The first one whose guards hold in a call, or None."""
        for guards, made in self._made:
            if not guards or failing(guards, sizes) is None:
                return made
        return None

    def add(self, guards: Iterable[Guard], made: Any) -> Any:
        """Adds a new one, and gives it."""
        self._made.append((tuple(guards), made))
        return made
