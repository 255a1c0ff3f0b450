"""A signal handler asks for a name while that very name is being imported, in the thread that imports it.

It gets the name or is told why not, and either way the import around it goes on and ends as if nothing had been.
"""

import os
import subprocess
import sys

import pytest

PROGRAM = """
import os, signal, sys
import tapeflow as tf

wanted, every = sys.argv[1], int(sys.argv[2])
found, passed = [], 0


def get():
    value = tf
    for part in wanted.split("."):
        value = getattr(value, part)
    return value


def handler(*_):
    try:
        found.append(f"got {get().__name__}")
    except AttributeError as error:
        found.append(str(error))


def trace(frame, event, _):
    global passed
    if "tapeflow" not in frame.f_globals.get("__name__", ""):
        return None
    if event == "line":
        passed += 1
        if passed % every == 0:
            if not os.fork():
                sys.settrace(None)
                signal.raise_signal(signal.SIGINT)
                return None  # and the import goes on
            os.wait()
    return trace


signal.signal(signal.SIGINT, handler)
sys.settrace(trace)
value = get()
sys.settrace(None)
assert value is get()
assert value.__name__ == wanted.rpartition(".")[2]
for text in found:
    sys.stdout.write(text + "\\n")
sys.stdout.flush()
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no forks")
@pytest.mark.parametrize(
    ("wanted", "every"), [("linalg.svd", 131), ("reduce_logsumexp", 17), ("data.Dataset", 977)]
)
def test_a_handler_asks_for_what_is_being_imported(wanted: str, every: int):
    run = subprocess.run(
        [sys.executable, "-c", PROGRAM, wanted, str(every)],
        capture_output=True,
        text=True,
        timeout=240,
    )
    assert run.returncode == 0, run.stderr
    assert not run.stderr
    answers = run.stdout.splitlines()
    assert answers
    namespace, _, name = f"tapeflow.{wanted}".rpartition(".")
    for answer in answers:
        # Python's own words, where the public file is not finished.
        unfinished = f"partially initialized module '{namespace}' has no attribute '{name}'"
        told = f"tf.{wanted} is asked for by a signal handler"
        assert answer == f"got {name}" or unfinished in answer or told in answer
