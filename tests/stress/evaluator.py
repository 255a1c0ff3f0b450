"""The slow evaluator: what a program means, in plain NumPy on arrays that share nothing, without tapeflow."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from tests.stress.grammar import ASSIGNMENTS, GIVEN, TAKEN, Op, Unclear, kind_of, meaning
from tests.stress.scripts import Event, Given, Line, Made, Program


class World:
    """The values of all names, each an array of its own."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.values = {m.name: m.values for m in (*program.variables, *program.arrays)}
        self.largest = 1.0

    def happen(self, event: Event) -> None:
        """Does what an event does."""
        given = [self.given(g) for g in event.given]
        if event.kind in ("call", "slope"):
            variables = {v.name: self.values[v.name] for v in self.program.variables}
            run = Run(self, event.given, given)
            results = run.results()
            for i, value in enumerate(results):
                self.values[f"{event.name}_{i}"] = value
            if event.kind == "slope":
                assert event.made is not None
                self.values[event.name] = self.slope(run, variables, event.made)
            self.values.update(run.variables)
        elif event.kind == "assign":
            now = self.values[event.name]
            self.values[event.name] = self.fitting(
                now, self.compute(ASSIGNMENTS[event.op], [now, *given], event.attrs)
            )
        elif event.kind == "keep":
            self.values[event.name] = self.compute(TAKEN[event.op], given, event.attrs)
        elif event.kind == "drop":
            del self.values[event.name]
        elif event.kind == "write":
            assert event.made is not None
            if event.made.shape != self.values[event.name].shape:
                raise Unclear("another shape")
            self.values[event.name] = event.made.values

    def given(self, given: Given) -> np.ndarray:
        return self.compute(GIVEN[given.form], [self.values[given.name]], given.attrs)

    def slope(self, run: Run, variables: dict[str, np.ndarray], made: Made) -> np.ndarray:
        """The derivative of the sum of the results, in a direction of a variable: by differences."""

        def total(change: float) -> float:
            direction = change * made.values.astype(np.float64)
            return Run(self, run.given, run.arrays, variables, run, (made.name, direction)).total()

        sums = [total(x) for x in (-2e-4, -1e-4, 0.0, 1e-4, 2e-4)]
        found = (8 * (sums[3] - sums[1]) - (sums[4] - sums[0])) / 12e-4
        scale = 1 + max(abs(found), *(abs(x) for x in sums))
        for first, second, width in ((0, 2, 2e-4), (2, 4, 2e-4), (1, 2, 1e-4), (2, 3, 1e-4)):
            if abs((sums[second] - sums[first]) / width - found) > 1e-2 * scale:
                raise Unclear("there is no derivative here")
        self.largest = max(self.largest, 50 * scale)
        dtype = variables[made.name].dtype
        return np.asarray(found, dtype)

    def fitting(self, old: np.ndarray, new: np.ndarray) -> np.ndarray:
        if old.shape != new.shape or old.dtype != new.dtype:
            raise Unclear("an assignment that does not fit")
        return new

    def compute(
        self, op: Op, operands: list[np.ndarray], attrs: dict[str, Any], rounded: bool = True
    ) -> np.ndarray:
        result = meaning(op, operands, attrs, rounded)
        if result.size and kind_of(result) != "i":
            self.largest = max(self.largest, float(np.abs(result.astype(np.complex128)).max()))
        return result


class Run:
    """A run of the function.

    Args:
      world: the values of all names.
      given: where the arguments come from.
      arrays: the arguments.
      variables: what they hold at the beginning, where that is not what they hold now.
      base: another run, whose assignments and stopped values are to be taken: then nothing is rounded.
      change: a variable, and what is to be added whenever it is read.
    """

    def __init__(
        self,
        world: World,
        given: tuple[Given, ...],
        arrays: list[np.ndarray],
        variables: dict[str, np.ndarray] | None = None,
        base: Run | None = None,
        change: tuple[str, Any] = ("", 0.0),
    ) -> None:
        self.world, self.given, self.arrays = world, given, arrays
        self.base, self.change = base, change
        program = world.program
        # A parameter that is a variable is another name for it.
        self.places = {
            p: g.name if g.is_variable else p
            for p, g in zip(program.parameters, given, strict=True)
        }
        self.values = dict(variables or {v.name: world.values[v.name] for v in program.variables})
        self.values.update(zip(program.parameters, arrays, strict=True))
        # What is assigned and what gradients stop at, line by line.
        self.fixed: list[np.ndarray] = []
        for line in program.body:
            self._line(line)
        self.variables = {v.name: self.values[v.name] for v in program.variables}

    def _read(self, name: str) -> np.ndarray:
        place = self.places.get(name, name)
        value = self.values[place]
        return value + self.change[1] if place == self.change[0] else value

    def _line(self, line: Line) -> None:
        world, base = self.world, self.base
        is_fixed = not line.out or line.op == "stop"
        if base is not None and is_fixed:
            result = base.fixed[len(self.fixed)]
        else:
            operands = [self._read(n) for n in line.operands]
            if base is None and len({a.dtype for a in operands}) != 1:
                raise Unclear("different dtypes")
            result = world.compute(line.row, operands, line.attrs, rounded=base is None)
        if is_fixed:
            self.fixed.append(result)
        if line.out:
            self.values[line.out] = result
        else:
            name = line.operands[0]
            self.values[name] = world.fitting(self.values[name], result)

    def results(self) -> list[np.ndarray]:
        """What the function returns."""
        return [np.array(self._read(r)) for r in self.world.program.returns]

    def total(self) -> float:
        """The sum of all results that are floats, and were before this run's changes."""
        assert self.base is not None
        pairs = zip(self.results(), self.base.results(), strict=True)
        return float(sum(x.sum(dtype=np.float64) for x, y in pairs if y.dtype.kind == "f"))


def evaluated(program: Program) -> Iterator[World]:
    """The world before the first event, and after each."""
    world = World(program)
    yield world
    for event in program.events:
        world.happen(event)
        yield world


def is_valid(program: Program) -> bool:
    """Whether the program has a meaning at all: one that was made smaller may not."""
    try:
        for _ in evaluated(program):
            pass
    except (KeyError, ValueError, IndexError, TypeError, Unclear):
        return False
    return True
