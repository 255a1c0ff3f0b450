"""Libraries are imported once and whole, whoever else asks for them meanwhile."""

import subprocess
import sys
import textwrap
from pathlib import Path

PROGRAM = """
import signal
import sys

from tapeflow._src.core.system import loading

name, made = "", []


def ask(*_):
    assert loading.loaded(name, made.append) is sys.modules[name]


signal.signal(signal.SIGINT, ask)


def asked_at(number):
    '''Whether there was an instruction of this number, before which a handler asked for what was being loaded.'''
    global name
    name, passed = f"lazy_{number % 100}", 0
    sys.modules.pop(name, None)
    loading._loaders.clear()
    made.clear()

    def trace(frame, event, _):
        nonlocal passed
        if frame.f_globals.get("__name__") not in (loading.__name__, "threading"):
            return None
        frame.f_trace_opcodes = True
        if event == "opcode":
            if passed == number:
                signal.raise_signal(signal.SIGINT)
            passed += 1
        return trace

    sys.settrace(trace)
    try:
        found = loading.loaded(name, made.append)
    finally:
        sys.settrace(None)
    assert made == [found], "what must be done once"
    return passed > number


asked_at(-1)  # Python 3.12 tells of instructions only where it has been told to before
number = 0
while asked_at(number):
    number += 1
print(number)
"""


def test_a_signal_handler_asks_for_what_is_being_loaded(tmp_path: Path):
    for number in range(100):
        (tmp_path / f"lazy_{number}.py").write_text("")
    run = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        capture_output=True,
        text=True,
        timeout=240,
        env={"PYTHONPATH": f"{tmp_path}:{':'.join(filter(None, sys.path))}"},
    )
    assert run.returncode == 0, run.stderr
    assert int(run.stdout) > 20


def test_what_fails_is_tried_again(tmp_path: Path):
    program = """
        import importlib
        import sys
        from pathlib import Path
        from tapeflow._src.core.system import loading

        file = Path(sys.argv[1]) / "fails_at_first.py"
        for text in ("1 / 0", "raise ImportError('no')", "x = 3"):
            file.write_text(text)
            importlib.invalidate_caches()
            try:
                print(loading.loaded("fails_at_first").x)
            except (ArithmeticError, ImportError) as error:
                print(error)
        start = loading.start_new_thread
        def refuse(*_):
            raise RuntimeError("can't start new thread")
        loading.start_new_thread = refuse
        file.with_name("other.py").write_text("x = 4")
        try:
            loading.loaded("other")
        except RuntimeError as error:
            print(error)
        loading.start_new_thread = start
        importlib.invalidate_caches()
        print(loading.loaded("other").x)
    """
    run = subprocess.run(
        [sys.executable, "-B", "-c", textwrap.dedent(program), str(tmp_path)],
        capture_output=True,
        text=True,
        timeout=240,
        env={"PYTHONPATH": f"{tmp_path}:{':'.join(filter(None, sys.path))}"},
    )
    expected = ["division by zero", "no", "3", "can't start new thread", "4"]
    assert run.stdout.splitlines() == expected, run.stderr
