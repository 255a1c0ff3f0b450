"""What `tf.test.TestCase` asserts of Python's objects, beyond `unittest`: names that TensorFlow takes from absl."""

from __future__ import annotations

import re
import unittest
from collections.abc import Callable, Iterable, Sequence, Sized
from contextlib import AbstractContextManager
from typing import Any

from tapeflow._src.core.errors import InvalidArgumentError, OpError


class Assertions(unittest.TestCase):
    """Assertions about sizes, elements and exceptions."""

    def assertEmpty(self, container: Sized, msg: str | None = None) -> None:
        """Fails unless there is nothing in it."""
        self.assertLen(container, 0, msg)

    def assertNotEmpty(self, container: Sized, msg: str | None = None) -> None:
        """Fails if there is nothing in it."""
        if not len(container):
            self.fail(self._formatMessage(msg, f"{container!r} is empty"))

    def assertLen(self, container: Sized, expected_len: int, msg: str | None = None) -> None:
        """Fails unless it has so many elements."""
        if len(container) != expected_len:
            text = f"{container!r} has {len(container)} elements and not {expected_len}"
            self.fail(self._formatMessage(msg, text))

    def assertBetween(self, value: Any, minv: Any, maxv: Any, msg: str | None = None) -> None:
        """Fails unless a value lies between two others, or is one of them."""
        if not minv <= value <= maxv:
            self.fail(self._formatMessage(msg, f"{value!r} is not between {minv!r} and {maxv!r}"))

    def assertStartsWith(self, actual: Any, expected_start: Any, msg: str | None = None) -> None:
        """Fails unless a text begins with another one."""
        if not actual.startswith(expected_start):
            text = f"{actual!r} does not start with {expected_start!r}"
            self.fail(self._formatMessage(msg, text))

    def assertEndsWith(self, actual: Any, expected_end: Any, msg: str | None = None) -> None:
        """Fails unless a text ends with another one."""
        if not actual.endswith(expected_end):
            self.fail(self._formatMessage(msg, f"{actual!r} does not end with {expected_end!r}"))

    def assertSameElements(
        self, expected_seq: Iterable[Any], actual_seq: Iterable[Any], msg: str | None = None
    ) -> None:
        """Fails unless two sequences have the same elements, however often."""
        self.assertSetEqual(set(expected_seq), set(actual_seq), msg)

    def assertContainsSubset(
        self, expected_subset: Iterable[Any], actual_set: Iterable[Any], msg: str | None = None
    ) -> None:
        """Fails unless all elements of the first are among the second."""
        missing = set(expected_subset) - set(actual_set)
        if missing:
            self.fail(self._formatMessage(msg, f"{missing!r} are not among {actual_set!r}"))

    def assertSequenceAlmostEqual(
        self,
        expected_seq: Sequence[Any],
        actual_seq: Sequence[Any],
        places: int | None = None,
        msg: str | None = None,
        delta: float | None = None,
    ) -> None:
        """Fails unless two sequences of numbers are equal, but for so many digits or so much."""
        self.assertLen(actual_seq, len(expected_seq), msg)
        for expected, actual in zip(expected_seq, actual_seq, strict=True):
            if delta is None:
                self.assertAlmostEqual(expected, actual, places, msg)
            else:
                self.assertAlmostEqual(expected, actual, msg=msg, delta=delta)

    def assertRaisesWithLiteralMatch(
        self, expected_exception: Any, expected_exception_message: str, *args: Any, **kwargs: Any
    ) -> Any:
        """Fails unless an exception of this kind is raised, whose text is this one."""
        pattern = f"^{re.escape(expected_exception_message)}$"
        return self.assertRaisesRegex(expected_exception, pattern, *args, **kwargs)

    def assertRaisesWithPredicateMatch(
        self, exception_type: Any, expected_err_re_or_predicate: str | Callable[[Any], Any]
    ) -> AbstractContextManager[Any]:
        """Fails unless an exception of this kind is raised, that matches a pattern or a predicate."""
        if isinstance(expected_err_re_or_predicate, str):
            return self.assertRaisesRegex(exception_type, expected_err_re_or_predicate)
        return _Raises(self, exception_type, expected_err_re_or_predicate)

    def assertRaisesOpError(self, expected_err_re_or_predicate: Any) -> AbstractContextManager[Any]:
        """The same for any `tf.errors.OpError`."""
        return self.assertRaisesWithPredicateMatch(OpError, expected_err_re_or_predicate)

    def assertRaisesIncompatibleShapesError(
        self, exception_type: Any = InvalidArgumentError, *args: Any, **kwargs: Any
    ) -> Any:
        """Fails unless shapes that do not fit are complained of."""
        return self.assertRaisesRegex(exception_type, "shape", *args, **kwargs)


class _Raises(AbstractContextManager[None]):
    """Within it, an exception has to be raised for which a predicate holds."""

    def __init__(self, case: unittest.TestCase, kind: Any, predicate: Callable[[Any], Any]) -> None:
        self._case, self._kind, self._predicate = case, kind, predicate

    def __exit__(self, kind: Any, error: Any, traceback: Any) -> bool:
        if kind is None:
            self._case.fail(f"{self._kind} was not raised")
        if not issubclass(kind, self._kind):
            return False
        if not self._predicate(error):
            self._case.fail(f"{error!r} is not the exception that was expected")
        return True
