"""Kills while saving: whenever a process dies, the old file or the new one loads.

One process imports the library; each victim is a copy of it (`fork`) that saves one number after the other and tells
which it has saved. It is killed after a random time, or kills itself at a random line of any Python code that saving
runs. Then somebody else loads what is there.
"""

from __future__ import annotations

import itertools
import os
import select
import shutil
import signal
import sys
import tempfile
import time
import traceback
from collections.abc import Callable
from types import FrameType
from typing import Any

from tests.stress.dice import Dice
from tests.stress.run import counts
from tests.stress.scenarios import Broken, expect
from tests.stress.writers import WRITERS, Writer

KILLS = 8  # in one folder, one after the other


def run_case(seed: int, case: int) -> str | None:
    """One writer, killed a few times."""
    names = sorted(WRITERS)
    name = names[case % len(names)]
    dice = Dice("kills", seed, case)
    folder = tempfile.mkdtemp(prefix="stress-")
    try:
        _kill(WRITERS[name], dice, folder)
    except Broken as broken:
        return f"{name}: {broken}"
    except Exception:
        return f"{name}: {traceback.format_exc()}"
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return None


def _kill(kind: type[Writer], dice: Dice, folder: str) -> None:
    clean = os.path.join(folder, "clean")
    os.mkdir(clean)
    reference = kind(clean)
    reference.save(1)  # imports what is imported late, so that all victims have it
    start = time.perf_counter()
    reference.save(2)
    seconds = time.perf_counter() - start
    lines = _lines_of(lambda: reference.save(3))
    expected = {f.count(os.sep) for f in _files(clean)}, len(_files(clean))
    place = os.path.join(folder, "killed")
    os.mkdir(place)
    last = 0
    for _ in range(KILLS):
        at_line = dice.chance(0.6)
        if at_line:
            what = f"killed at line {(number := dice.randint(1, 2 * lines))} of {lines}"
            reported = _victim(kind, place, last, None, number)
        else:
            after = dice.random() * 4 * seconds
            what = f"killed after {after * 1e3:.1f} ms; a save takes {seconds * 1e3:.1f} ms"
            reported = _victim(kind, place, last, after, 0)
        counts["kills"] += 1
        saved = max(reported, last)
        try:
            found = kind(place).load()
        except Exception:
            raise Broken(
                f"{what}, {saved} was saved before. It does not load:\n{traceback.format_exc()}"
            ) from None
        allowed = {saved, saved + 1} if saved else {None, 1}
        expect(found in allowed, f"{what}: {found} was loaded, {saved} was saved before")
        last = found or 0
    kind(place).save(last + 1)
    found = kind(place).load()
    expect(found == last + 1, f"after all kills: {found} was loaded in place of {last + 1}")
    left = _files(place)
    expect(
        len(left) <= expected[1] + kind.more_files,
        f"{KILLS} kills leave {len(left)} files where {expected[1]} are enough: {left}",
    )


def _files(folder: str) -> list[str]:
    return sorted(
        os.path.relpath(os.path.join(base, name), folder)
        for base, _, names in os.walk(folder)
        for name in names
    )


def _victim(kind: type[Writer], folder: str, last: int, seconds: float | None, line: int) -> int:
    """Lets a process save until it is killed. The last number it has told of."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.close(read)
            writer = kind(folder)
            os.write(write, b"begin\n")
            if line:
                sys.settrace(_Killer(line))
            for number in itertools.count(last + 1):
                writer.save(number)
                os.write(write, f"{number}\n".encode())
        except BaseException:
            sys.settrace(None)
            os.write(write, ("error " + traceback.format_exc().replace("\n", "; ") + "\n").encode())
        finally:
            os._exit(1)
    os.close(write)
    text = b""
    end: float | None = None
    while True:
        now = time.monotonic()
        if end is None and seconds is not None and text.startswith(b"begin\n"):
            end = now + seconds
        wait = 60.0 if end is None else max(0.0, end - now)
        ready, _, _ = select.select([read], [], [], wait)
        if not ready:
            os.kill(child, signal.SIGKILL)
            end = now + 60.0
            continue
        part = os.read(read, 65536)
        if not part:
            break
        text += part
    os.close(read)
    os.waitpid(child, 0)
    lines = text.decode().splitlines()
    expect(
        not any(line.startswith("error") for line in lines),
        f"saving fails: {lines[-1] if lines else ''}",
    )
    numbers = [int(line) for line in lines if line.isdigit()]
    return numbers[-1] if numbers else 0


class _Killer:
    """A trace function that ends the process at a line, of whatever file."""

    def __init__(self, line: int) -> None:
        self.left = line

    def __call__(self, frame: FrameType, event: str, argument: Any) -> Any:
        if event == "line":
            self.left -= 1
            if not self.left:
                os.kill(os.getpid(), signal.SIGKILL)
        return self


def _lines_of(action: Callable[[], Any]) -> int:
    counter = _Killer(0)
    sys.settrace(counter)
    try:
        action()
    finally:
        sys.settrace(None)
    return -counter.left
