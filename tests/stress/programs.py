"""Random programs: on each engine every value is what the slow evaluator says, before and after every call."""

from __future__ import annotations

from tests.stress.dice import Dice
from tests.stress.drawing import draw_program
from tests.stress.engines import DECORATORS
from tests.stress.playing import play
from tests.stress.run import counts
from tests.stress.shrinking import shrunk


def run_case(seed: int, case: int) -> str | None:
    """Draws a program and plays it in eager mode, on NumPy, and on one of the engines that compile."""
    dice = Dice("programs", seed, case)
    program = draw_program(dice)
    for engine in ("eager", "numpy", ("xla", "hybrid", "default", "one_pass")[case % 4]):
        counts["programs played"] += 1
        failure = play(program, engine)
        if failure is None:
            continue
        small = shrunk(program, lambda p, engine=engine: play(p, engine) is not None)
        again = play(small, engine)
        decorator = DECORATORS[engine]
        lines = [f"On the engine {engine!r}:", failure]
        if again is None:  # it does not fail every time
            small, again = program, "It did not fail again: the whole program is below."
        return "\n".join(
            [*lines, "", "As small as it gets:", "", small.script(decorator), "", again]
        )
    return None
