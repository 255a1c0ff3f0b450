"""A test of one row becomes a test of all rows of a primitive.

There are thousands of rows, and to pytest every test costs more than most rows do.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import pytest


def for_each_row(cases: Iterable[Any]) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Of the cases (`pytest.param`, the primitive first), those of one primitive are one test.

    It goes on after a row that fails, and says which rows did.
    """
    groups: dict[str, list[Any]] = {}
    for case in cases:
        groups.setdefault(case.values[0].name, []).append(case)

    def decorate(test: Callable[..., None]) -> Callable[..., None]:
        def all_rows(rows: list[Any]) -> None:
            failures = []
            for case in rows:
                try:
                    test(*case.values)
                except Exception as error:
                    error.add_note(f"in row {case.id}")
                    failures.append(error)
            if len(failures) == 1:
                raise failures[0]
            if failures:
                raise ExceptionGroup(f"{len(failures)} of {len(rows)} rows fail", failures)

        all_rows.__name__, all_rows.__doc__ = test.__name__, test.__doc__
        all_rows.__module__ = test.__module__
        marked = [pytest.param(rows, id=name) for name, rows in groups.items()]
        return pytest.mark.parametrize("rows", marked)(all_rows)

    return decorate
