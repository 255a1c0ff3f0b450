"""A plugin for pytest: what became of each test, written line by line as it happens, so that a crash loses little.

It is loaded into two environments, with TensorFlow and with tapeflow in its place, and knows neither.
"""

from __future__ import annotations

import json
import os
import re
import signal
from collections.abc import Generator
from typing import Any

import pytest

LIMIT_SECONDS = int(os.environ.get("LIBRARIES_LIMIT", "120"))
FILE = os.environ.get("LIBRARIES_OUTCOMES", "")
_RANK = {"skipped": 1, "passed": 2, "failed": 3}
_worst: dict[str, str] = {}


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Writes what became of a part of a test, unless it is no worse than what is written."""
    counts = report.when == "call" or report.outcome != "passed"
    outcome = "skipped" if hasattr(report, "wasxfail") else report.outcome
    if counts and _RANK[outcome] > _RANK.get(_worst.get(report.nodeid, ""), 0):
        _worst[report.nodeid] = outcome
        _write(report.nodeid, outcome, report)


def pytest_collectreport(report: pytest.CollectReport) -> None:
    """A file that cannot be read is a test that fails."""
    if report.failed:
        _write(report.nodeid, "failed", report)


def _write(name: str, outcome: str, report: Any) -> None:
    # Addresses of objects are other ones in another process.
    line = {"test": re.sub(r"0x[0-9a-f]+", "", name), "outcome": outcome}
    if outcome == "failed":
        line["error"] = _error(report)
    numbers = dict(getattr(report, "user_properties", ()))
    if numbers:
        line["numbers"] = numbers
    with open(FILE, "a", encoding="utf-8") as file:
        file.write(json.dumps(line) + "\n")


def _error(report: Any) -> str:
    """The line that says what went wrong."""
    crash = getattr(report.longrepr, "reprcrash", None)
    text = str(report.longrepr) if crash is None else crash.message
    lines = [line.removeprefix("E").strip() for line in text.splitlines() if line.strip()]
    if not lines:
        return ""
    return lines[-1 if crash is None else 0][:300]


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, Any, Any]:
    """Ends a test that does not end."""

    def end(*_: Any) -> None:
        raise TimeoutError(f"more than {LIMIT_SECONDS} seconds")

    signal.signal(signal.SIGALRM, end)
    signal.alarm(LIMIT_SECONDS)
    try:
        return (yield)
    finally:
        signal.alarm(0)
