"""What an entry point is for the interruptions: something to do, and what must hold before, after and half-way."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

import numpy as np
from tests.stress.dice import Dice
from tests.stress.engines import running
from tests.stress.scenarios import expect

import tapeflow as tf

ENTRIES: dict[str, type[Entry]] = {}


class Entry:
    """An entry point. Its variables hold one number each, many times, so that half of a value shows.

    Attributes:
      engines: the engines it is tried on; one is drawn.
      cold: whether only the first time counts: then each interruption gets a new object.
      turns: how often it is interrupted in one case.
      times: how often a run adds one.
      in_this_process: whether the run is interrupted from here; otherwise it sees to it by itself.
    """

    engines: tuple[str, ...] = ()
    cold = False
    turns = 30
    times = 1
    in_this_process = True

    def __init__(self, dice: Dice, engine: str = "") -> None:
        self.dice = dice
        self.engine = engine or (dice.choice(self.engines) if self.engines else "")
        self.variables: list[Any] = []
        self.steps = 0
        self.prepare()

    def __init_subclass__(cls) -> None:
        if not cls.__name__.startswith("_"):
            ENTRIES[cls.__name__] = cls

    def engine_running(self) -> AbstractContextManager[None]:
        """The context in which functions take the engine."""
        return running(self.engine)

    def variable(self, *shape: int, value: float = 0.0, dtype: Any = np.float32) -> Any:
        """A variable that is watched: a run adds one to it, or nothing."""
        made = tf.Variable(np.full(shape, value, dtype))
        self.variables.append(made)
        return made

    # What an entry point defines.

    def prepare(self) -> None:
        """Makes what `run` uses."""

    def run(self) -> None:
        """Is interrupted. Adds one to each variable, `times` times."""
        raise NotImplementedError

    def check_results(self) -> None:
        """Whether more than the variables is right; after a run that was not interrupted."""

    def clean_up(self) -> None:
        """Lets go of what has threads."""

    # What holds.

    def check_values(self) -> None:
        """After an interruption: each variable has its value before or after the run."""
        for i, variable in enumerate(self.variables):
            found = variable.numpy()
            first = found.flat[0]
            expect(bool((found == first).all()), f"variable {i} is half: {np.unique(found)[:5]}")
            expect(float(first).is_integer(), f"variable {i} is {first}, not a number of steps")

    def check(self) -> None:
        """A run that is not interrupted adds to each variable what it should, and is right."""
        before = [v.numpy() for v in self.variables]
        self.run()
        for i, (variable, old) in enumerate(zip(self.variables, before, strict=True)):
            found = variable.numpy()
            expect(
                bool((found == old + self.times).all()),
                f"variable {i}: {found.flat[0]} after {old.flat[0]}",
            )
        self.check_results()
        for variable in self.variables:  # it can be assigned, too
            variable.assign(tf.zeros_like(variable))
            expect(not variable.numpy().any(), "an assignment is not there")


def ones_by_gradient(variable: Any) -> Any:
    """Minus one for each element of a variable, as a gradient that a tape computes."""
    with tf.GradientTape() as tape:
        loss = -tf.reduce_sum(variable)
    return tape.gradient(loss, variable)


Action = Callable[[], Any]
