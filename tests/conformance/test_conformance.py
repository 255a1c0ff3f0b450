"""tapeflow gives what TensorFlow gave: values, shapes, dtypes, `None`s, warnings, exceptions."""

from __future__ import annotations

from typing import Any

import case_helpers
import comparison
import pytest
from accepted import ACCEPTED

import tapeflow as tf

AREAS = comparison.areas()
CASES = {
    f"{area}/{name}": (area, name, case)
    for area in AREAS
    for name, case in comparison.load_cases(area).items()
}
EXPECTED = {area: comparison.load_expected(area) for area in AREAS}


def differences_of(expected: dict[str, Any], actual: dict[str, Any]) -> list[str]:
    problems: list[str] = []
    error = actual.get("error")
    if "raises" in expected or error is not None:
        # An `except` clause sees base classes too, so a more specific exception is no difference.
        names = [base.__name__ for base in type(error).__mro__] if error is not None else []
        if expected.get("raises") not in names:
            got = repr(error) if error is not None else comparison._short(actual["result"])
            wanted = expected.get("raises", comparison._short(expected.get("result")))
            problems.append(f"expected {wanted}, got {got}")
    else:
        problems += comparison.differences(expected["result"], actual["result"])
    if expected.get("warns") != actual.get("warns"):
        problems.append(f"expected warnings {expected.get('warns')}, got {actual.get('warns')}")
    return problems


# What runs everywhere is compiled for everybody in a fourth of its cases, and in the others in the exhaustive part.
EVERYWHERE = [
    key
    for key, (area, *_) in CASES.items()
    if area in ("casts", "edges_of_ops", "edges_of_linalg") and key not in ACCEPTED
]
COMPILED_LATER = [key for i, key in enumerate(EVERYWHERE) if i % 4]


@pytest.mark.parametrize("key", list(CASES))
@pytest.mark.sample(3)
def test_gives_what_tensorflow_gives(key: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if key in COMPILED_LATER:
        monkeypatch.setattr(case_helpers, "COMPILES", False)
    check(key)


@pytest.mark.exhaustive
@pytest.mark.parametrize("key", COMPILED_LATER)
def test_gives_it_compiled(key: str) -> None:
    check(key)


def check(key: str) -> None:
    area, name, case = CASES[key]
    assert name in EXPECTED[area], "not recorded: run record.py where TensorFlow is installed"
    expected = EXPECTED[area][name]
    actual = comparison.run_case(tf, case)
    problems = differences_of(expected, actual)
    if key in ACCEPTED:
        assert problems, "agrees with TensorFlow by now: remove it from accepted.py"
        problems = differences_of(ACCEPTED[key].outcome, actual)
    if problems:
        raise AssertionError("\n".join(problems)) from actual.get("error")


def test_every_recorded_case_is_there() -> None:
    recorded = {
        f"{path.stem}/{name}"
        for path in (comparison.HERE / "expected").glob("*.json")
        for name in comparison.load_expected(path.stem)
    }
    assert recorded - CASES.keys() == set()


def test_accepted_differences_name_cases() -> None:
    assert ACCEPTED.keys() - CASES.keys() == set()
