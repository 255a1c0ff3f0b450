"""Whatever a call is given, it is answered by a result or by an exception of a documented type."""

from __future__ import annotations

import sys
import zlib
from pathlib import Path

import pytest
from tests.differential.calls import Call, Entry
from tests.hostile.calls import drawn
from tests.hostile.documented import is_documented
from tests.hostile.pool import Worker
from tests.hostile.report import judged, made
from tests.hostile.targets import NOT_CALLED, entries, public

ENTRIES = entries()
ROOT = Path(__file__).resolve().parents[2]

pytestmark = pytest.mark.skipif(
    not sys.platform.startswith("linux"),
    reason="the limits on memory and time that keep a hostile call from the machine are those of Linux",
)


@pytest.fixture(autouse=True)
def _path(monkeypatch):
    """The process that makes the calls finds this tree."""
    monkeypatch.setenv("PYTHONPATH", f"{ROOT / 'src'}:{ROOT}")


@pytest.mark.parametrize(
    ("engine", "seed", "count"), [("eager", 101, 250), ("numpy", 102, 60), ("xla", 103, 20)]
)
@pytest.mark.sample(3)
def test_calls_are_answered(engine, seed, count):
    if engine == "xla":
        pytest.importorskip("jax")
    # Which are drawn, and how they are called, is a matter of their names: a new one changes nothing for the others.
    numbers = {label: zlib.crc32(f"{seed} {label}".encode()) for label in ENTRIES}
    some = {label: ENTRIES[label] for label in sorted(ENTRIES, key=numbers.__getitem__)[:count]}
    wrong = []
    with Worker(engine=engine, gigabytes=2.0) as worker:
        for label, call in drawn(some, seed, len(some)):
            verdict = judged(label, made(worker, call, numbers[label]))
            if verdict not in ("result", "raised"):
                wrong.append(f"{verdict} for {call}")
    assert not wrong, "\n".join(wrong)


def test_what_is_wrong_is_noticed():
    expected = {
        "tf.constant(1.0)": "result",
        "tf.constant(object())": "raised",
        "__import__('os').abort()": "DIED (ended by SIGABRT)",
        "any(iter(int, 1))": "DIED (took too long)",
        "bytes(2**40)": "UNDOCUMENTED builtins.MemoryError",
        "{}[0]": "UNDOCUMENTED builtins.KeyError",
        "np.zeros(2).sum(axis=7)": "UNDOCUMENTED numpy.exceptions.AxisError",
        "tf.constant(2.0)": "result",
    }
    found = {}
    with Worker(gigabytes=1.0, seconds=1) as worker:
        for text in expected:
            call = Call(Entry(text, {}, expression=text), {}, 0)
            found[text] = judged("", made(worker, call, 0))
    assert found == expected


def test_the_same_seed_draws_the_same_calls():
    first, second, other = ([str(c) for _, c in drawn(ENTRIES, s, 300)] for s in (1, 1, 2))
    assert first == second
    assert first != other


def test_every_public_name_is_called_or_left_out_with_a_reason():
    called = {label.removeprefix("tf.").split(" ")[0] for label in ENTRIES}
    names = {entry.name.removeprefix("tf.") for entry in ENTRIES.values()} | called
    same = {id(value): name for name, value in public() if name.removeprefix("tf.") in names}
    text = "\n".join(entry.expression or "" for entry in ENTRIES.values())
    missing = [
        name
        for name, value in public()
        if name.removeprefix("tf.") not in names
        and id(value) not in same
        and f"{name}(" not in text
        and not any(name == n or name.startswith(f"{n}.") for n in NOT_CALLED)
    ]
    assert missing == []
    assert all(len(why) > 10 for why in NOT_CALLED.values())


@pytest.mark.parametrize(
    ("kinds", "holds"),
    [
        ([("builtins", "ValueError"), ("builtins", "Exception")], True),
        (
            [
                ("tapeflow._src.core.errors", "InvalidArgumentError"),
                ("tapeflow._src.core.errors", "OpError"),
            ],
            True,
        ),
        (
            [
                ("tapeflow._src.core.errors", "InternalError"),
                ("tapeflow._src.core.errors", "OpError"),
            ],
            False,
        ),
        ([("builtins", "AttributeError"), ("builtins", "Exception")], False),
        ([("builtins", "MemoryError"), ("builtins", "Exception")], False),
        ([("numpy.exceptions", "AxisError"), ("builtins", "ValueError")], False),
        ([("jax.errors", "JaxRuntimeError"), ("builtins", "RuntimeError")], False),
    ],
)
def test_documented_types(kinds, holds):
    assert is_documented("tf.zeros", kinds) is holds
