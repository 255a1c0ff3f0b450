"""Signal handlers that save, read and assign in the middle of a step: they work, and so does the step."""

from __future__ import annotations

import contextlib
import os
import signal
import tempfile
import time
import traceback
from collections.abc import Callable
from typing import Any

import numpy as np
from tests.stress.dice import Dice
from tests.stress.engines import compiled, running
from tests.stress.interrupting import surroundings
from tests.stress.places import Places, places_of
from tests.stress.run import counts
from tests.stress.scenarios import Broken, expect

import tapeflow as tf

ENGINES = ("eager", "numpy", "xla", "hybrid", "default")
KINDS = ("save", "read", "assign", "step", "restore", "mixed")
SIZE = 6000  # elements: more than what an assignment in place needs


class _Work:
    """A step, and a handler that looks at its variables.

    The variables count steps, each in all of its elements. What a handler may find in each is a whole number of steps
    between that before and that after the step it interrupts.
    """

    def __init__(self, dice: Dice, engine: str, folder: str) -> None:
        self.dice, self.engine, self.folder = dice, engine, folder
        self.variables = [
            tf.Variable(np.zeros(shape, np.float32)) for shape in ((4, 3), (SIZE,), ())
        ]
        self.extra = tf.Variable(np.zeros(SIZE, np.float32))  # only handlers assign it
        self.checkpoint = tf.train.Checkpoint(variables=self.variables, extra=self.extra)
        self.done = 0  # steps that have ended
        self.handled = 0
        self.added = 0
        self.problems: list[str] = []
        self.written: list[str] = []  # files of this step
        self.cold = dice.chance(0.3)  # handlers also while it is traced and compiled
        kinds = [*KINDS]
        if self.cold or engine not in ("eager", "numpy"):
            # A handler that compiles waits for ever for jax's own locks, where it interrupts a compilation.
            kinds = ["save", "read", "assign", "restore"]
        self.kind = dice.choice(kinds)
        self.busy = False

        def step(x: Any) -> Any:
            with tf.GradientTape() as tape:
                loss = -tf.add_n([tf.reduce_sum(v) for v in self.variables])
            for v, g in zip(self.variables, tape.gradient(loss, self.variables), strict=True):
                v.assign_sub(g)
            return tf.reduce_sum(tf.matmul(x, x))

        self.step = compiled(engine, step)
        self.other = compiled(engine, lambda: self.extra.assign_add(tf.ones([SIZE])))
        self.saved = self.checkpoint.write(os.path.join(folder, "before"))

    def one_step(self) -> None:
        """The step, once."""
        total = self.step(np.ones((3, 3), np.float32))
        if float(total) != 27.0:
            self.problems.append(f"the step gives {float(total)}")
        self._read_back()
        self.done += 1

    def handler(self, number: int = 0, frame: Any = None) -> None:
        """What a user's handler does. A handler that raises would end the step."""
        if self.busy:
            return
        self.busy = True
        try:
            # In the middle of a trace ops would become part of the function that is traced. Who has a handler that may
            # run then says that it is none of it, as in TensorFlow.
            with tf.init_scope() if self.cold else contextlib.nullcontext():
                self._handle(self.kind)
        except Exception:
            self.problems.append(f"the handler ({self.kind}): {traceback.format_exc()}")
        finally:
            self.busy = False
            self.handled += 1

    def _handle(self, kind: str) -> None:
        if kind == "mixed":
            kind = ("save", "read", "assign", "step")[self.handled % 4]
        if kind == "save":
            path = self.checkpoint.write(os.path.join(self.folder, f"saved {self.handled}"))
            self.written.append(path)
        elif kind == "read":
            found = [v.numpy() for v in self.variables]
            self._check(found, "read")
            self._check([(v + 0.0).numpy() for v in self.variables], "computed with")
        elif kind == "assign":
            self.extra.assign_add(tf.ones([SIZE]))
            self.added += 1
        elif kind == "step":
            self.other()
            self.added += 1
        elif kind == "restore":
            other = tf.Variable(tf.ones([SIZE]))
            tf.train.Checkpoint(extra=other).read(self.saved).expect_partial()
            if other.numpy().any():
                self.problems.append("restored something else")

    def _read_back(self) -> None:
        self.busy = True
        for path in self.written:
            others = [tf.Variable(-tf.ones_like(v)) for v in self.variables]
            tf.train.Checkpoint(variables=others).read(path).expect_partial()
            self._check([v.numpy() for v in others], "saved")
            counts["checkpoints read back"] += 1
        self.written.clear()
        self.busy = False

    def _check(self, found: list[Any], how: str) -> None:
        for i, value in enumerate(found):
            first = float(np.asarray(value).flat[0])
            if not (value == first).all():
                self.problems.append(f"variable {i} was {how} half: {np.unique(value)[:4]}")
            elif first not in (self.done, self.done + 1):
                self.problems.append(f"variable {i} was {how} as {first}, in step {self.done + 1}")

    def check(self) -> None:
        """At the end, all steps and all that handlers have done is there."""
        expect(
            not self.problems,
            f"{len(self.problems)} problems, the first: " + "\n".join(self.problems[:2]),
        )
        for i, v in enumerate(self.variables):
            found = v.numpy()
            expect(
                bool((found == self.done).all()),
                f"variable {i}: {np.unique(found)} after {self.done} steps",
            )
        found = self.extra.numpy()
        expect(
            bool((found == self.added).all()),
            f"{np.unique(found)} after {self.added} additions of handlers",
        )


def run_case(seed: int, case: int) -> str | None:
    """Handlers at places of a step, and by a timer at any time."""
    dice = Dice("signals", seed, case)
    engine = ENGINES[case % len(ENGINES)]
    work: _Work | None = None
    try:
        with running(engine), tempfile.TemporaryDirectory(prefix="stress-") as folder:
            work = _Work(dice, engine, folder)
            if not work.cold:
                for _ in range(6):
                    work.one_step()
                work.handler()
                work.check()
            before = surroundings()
            if dice.chance(0.5) and not work.cold:
                _at_places(work, dice)
            else:
                _by_timer(work, dice)
            work.check()
            after = surroundings()
            changed = {k: (before[k], after[k]) for k in before if before[k] != after[k]}
            expect(not changed, f"not as before: {changed}")
    except Broken as broken:
        return f"on {engine}, {work and work.kind}: {broken}"
    except Exception:
        return f"on {engine}, {work and work.kind}: {traceback.format_exc()}"
    return None


def _at_places(work: _Work, dice: Dice) -> None:
    """The handler runs at places where a signal may arrive, as the trace function finds them."""
    places = places_of(work.one_step)
    for _ in range(25):
        calling = Places(dice.choice(dice.choice(places)), work.handler)
        with calling:
            work.one_step()
        counts["handlers at places"] += 1
        expect(not work.problems, f"{calling.where}: {work.problems[:1]}")


def _by_timer(work: _Work, dice: Dice) -> None:
    """A real signal arrives again and again while steps go on."""
    which = dice.choice([signal.SIGALRM, signal.SIGTERM])
    old = signal.signal(which, work.handler)
    interval = dice.choice([0.0007, 0.002, 0.005])
    end = time.monotonic() + 20.0
    handled = work.handled
    ticking: Callable[[], None] = lambda: None  # noqa: E731
    try:
        if which == signal.SIGALRM:
            signal.setitimer(signal.ITIMER_REAL, interval, interval)
        else:
            ticking = _sender(which, interval)
        while work.handled < handled + 30 and time.monotonic() < end:
            work.one_step()
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        ticking()
        signal.signal(which, old)
    counts["handlers by timer"] += work.handled - handled


def _sender(which: signal.Signals, interval: float) -> Callable[[], None]:
    """Another process sends a signal again and again, as a cluster's manager does. Call the result to end it."""
    import subprocess
    import sys

    text = f"import os, time\nwhile True:\n    time.sleep({interval})\n    os.kill({os.getpid()}, {int(which)})"
    process = subprocess.Popen([sys.executable, "-S", "-c", text])

    def end() -> None:
        process.kill()
        process.wait()

    return end
