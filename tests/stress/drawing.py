"""Draws random programs that have a meaning."""

from __future__ import annotations

import math

import numpy as np
from tests.stress.dice import Dice
from tests.stress.evaluator import World, is_valid
from tests.stress.grammar import ASSIGNMENTS, GIVEN, TAKEN, VALUES, Unclear, kind_of
from tests.stress.layouts import BROADCAST, LAYOUTS
from tests.stress.scripts import Event, Given, Line, Made, Program

_SIZES = {2: 3, 3: 4, 4: 3, 5: 3, 1: 1.5, 8: 1, 0: 0.6, 64: 1, 70: 0.6, 130: 0.6}
_MAIN_DTYPES = {
    "float32": 8, "float64": 3, "float16": 0.7, "bfloat16": 0.7, "int32": 1.2, "int64": 1, "int8": 0.3,
    "complex64": 0.7, "complex128": 0.3,
}  # fmt: skip


def draw_program(dice: Dice) -> Program:
    """A program that has a meaning."""
    while True:
        drawing = _Drawing(dice)
        program = drawing.function()
        drawn = None if program is None else drawing.with_events(program)
        if drawn is not None:
            return drawn


def draw_function(dice: Dice) -> Program | None:
    """A function that nothing happens to yet, or None where it assigns nothing."""
    return _Drawing(dice).function()


class _Drawing:
    def __init__(self, dice: Dice) -> None:
        self.dice = dice
        self.count = 0

    def number(self) -> int:
        self.count += 1
        return self.count

    def made(self, name: str, shape: tuple[int, ...], dtype: str) -> Made:
        layout = "c" if self.dice.chance(0.3) else self.dice.choice([*LAYOUTS, BROADCAST])
        return Made(name, self.number(), shape, dtype, layout)

    def function(self) -> Program | None:
        dice = self.dice
        n, k, m = (dice.weighted(_SIZES) for _ in range(3))
        dtype = dice.weighted(_MAIN_DTYPES)
        shapes = [(k, m), (k, m), (m, k), (n, k), (m,), (), (k, k)]
        variables = [(k, m), *dice.choices(shapes, k=dice.randint(0, 3))]
        inputs = [(n, k), (n, m), *dice.choices([*shapes, (2, k, m)], k=dice.randint(0, 2))]
        other = dice.weighted(_MAIN_DTYPES)

        def of() -> str:
            return dtype if dice.chance(0.85) else other

        base = Program(
            tuple(self.made(f"v{i}", shape, of()) for i, shape in enumerate(variables)),
            tuple(self.made(f"a{i}", shape, of()) for i, shape in enumerate(inputs)),
            (),
            (),
            (),
        )
        return self.with_body(base)

    # The function.

    def with_body(self, base: Program) -> Program | None:
        dice = self.dice
        world = World(base)
        arrays = [world.values[a.name] for a in base.arrays]
        values = dict(world.values)
        for a in base.arrays:
            del values[a.name]
        values.update(zip(base.parameters, arrays, strict=True))
        body: list[Line] = []
        wanted = dice.randint(1, 7)
        pending: list[Line] = []
        for _ in range(60):
            if len(body) >= wanted and any(not line.out for line in body) and not pending:
                break
            line = pending.pop() if pending else self.line(values, len(body))
            if line is None:
                continue
            if line.op == "decay" and dice.chance(0.5):  # as the speed of a momentum
                moved = dice.choice([n for n in values if n[0] == "v"])
                pending.append(Line("assign_sub", "", (moved, line.operands[0]), {}))
            try:
                operands = [values[n] for n in line.operands]
                if len({a.dtype for a in operands}) != 1:
                    continue
                result = world.compute(line.row, operands, line.attrs)
                if not line.out:
                    world.fitting(values[line.operands[0]], result)
            except (ValueError, IndexError, TypeError, Unclear):
                continue
            values[line.out or line.operands[0]] = result
            body.append(line)
        if not any(not line.out for line in body):
            return None
        returns = dice.choices(list(values), k=dice.randint(0, 3))
        return base._replace(body=tuple(body), returns=tuple(returns))

    def line(self, values: dict[str, np.ndarray], number: int) -> Line | None:
        """A line with names of the same dtype for its operands, or None if they do not fit."""
        dice = self.dice
        assigning = dice.chance(0.45)
        table = ASSIGNMENTS if assigning else VALUES
        name = dice.weighted({key: op.weight for key, op in table.items()})
        op = table[name]
        variables = [n for n in values if n[0] == "v"]
        first = dice.choice(variables) if assigning else dice.choice(list(values))
        dtype = values[first].dtype
        if kind_of(values[first]) not in op.kinds:
            return None
        alike = [n for n in values if values[n].dtype == dtype]
        for _ in range(12):
            operands = (first, *dice.choices(alike, k=op.arity - 1))
            attrs = op.attrs(dice, *[values[n] for n in operands])
            if attrs is not None:
                return Line(name, "" if assigning else f"t{number}", operands, attrs)
        return None

    # What happens around it.

    def with_events(self, program: Program) -> Program | None:
        dice = self.dice
        events: list[Event] = []
        world = World(program)
        first = tuple(Given("itself", a.name, {}) for a in program.arrays)
        pending = [Event("call", "r0", given=first)]
        calls = 1
        for _ in range(dice.randint(8, 22)):
            event = pending.pop() if pending else self.event(program, world, calls)
            if event is None:
                continue
            before = dict(world.values)
            try:
                world.happen(event)
            except (ValueError, IndexError, TypeError, Unclear):
                world.values = before
                if not events:
                    return None
                continue
            calls += event.kind in ("call", "slope")
            events.append(event._replace(look=dice.chance(0.4)))
        # Twice at the end, so that what was let go or given away shows.
        for _ in range(2):
            last = Event("call", f"r{calls}", given=first)
            calls += 1
            if is_valid(program._replace(events=(*events, last))):
                events.append(last)
        return program._replace(events=tuple(events))

    def event(self, program: Program, world: World, calls: int) -> Event | None:
        dice = self.dice
        kind = dice.weighted(
            {"call": 5, "slope": 1, "assign": 5, "keep": 3, "drop": 1.5, "write": 1, "save": 0.15}
        )
        kept = [n for n in world.values if n[0] in "rk"]
        variables = [v.name for v in program.variables]
        if kind in ("call", "slope"):
            given = []
            for a in program.arrays:
                wanted = world.values[a.name] if dice.chance(0.9) else None
                found = self.given(world, wanted, a.dtype)
                given.append(found or Given("itself", a.name, {}))
            made = None
            if kind == "slope":
                v = dice.choice(program.variables)
                if not program.dtypes() <= {"float32", "float64", "int32", "int64"}:
                    return None  # others are too coarse for differences
                if not v.dtype.startswith("float"):
                    return None
                made = Made(v.name, self.number(), v.shape, v.dtype, "c")
            return Event(kind, f"r{calls}", given=tuple(given), made=made)
        if kind == "assign":
            name = dice.choice(variables)
            held = world.values[name]
            op = dice.choice(
                [
                    "assign",
                    "assign",
                    "assign",
                    "assign_add",
                    "assign_sub",
                    "scatter_add",
                    "scatter_update",
                ]
            )
            found = self.given(world, held, None)
            if found is None:
                return None
            attrs = ASSIGNMENTS[op].attrs(dice, held, world.given(found))
            return None if attrs is None else Event("assign", name, op, (found,), attrs)
        if kind == "keep":
            name = dice.choice([*variables, *variables, *kept])
            op = dice.weighted({key: op.weight for key, op in TAKEN.items()})
            if name[0] != "v" and op in ("value", "read_value", "numpy", "ensure"):
                op = "asarray"
            attrs = TAKEN[op].attrs(dice, world.values[name])
            if attrs is None:
                return None
            given = (Given("itself", name, {}),)
            return Event("keep", f"k{self.number()}", op, given, attrs)
        if kind == "drop":
            return Event("drop", dice.choice(kept)) if kept else None
        if kind == "write":
            choices = [a for a in program.arrays if a.layout not in ("read_only", BROADCAST)]
            if not choices:
                return None
            a = dice.choice(choices)
            made = Made(a.name, self.number(), a.shape, a.dtype, "c")
            return Event("write", a.name, made=made)
        return Event("save", dice.choice(variables))

    def given(self, world: World, wanted: np.ndarray | None, dtype: str | None) -> Given | None:
        """Any value of this shape and dtype, from wherever it may come."""
        dice = self.dice
        names = list(world.values)
        for _ in range(30):
            name = dice.choice(names)
            form = dice.weighted({key: op.weight for key, op in GIVEN.items()})
            value = world.values[name]
            if form == "transpose" and name[0] == "a":
                continue  # a mere array, which has this by NumPy
            attrs = GIVEN[form].attrs(dice, value)
            if attrs is None:
                continue
            found = Given(form, name, attrs)
            result = world.given(found)
            if math.prod(result.shape) > 200_000:
                continue
            if wanted is None:
                if str(result.dtype) == dtype:
                    return found
            elif result.dtype == wanted.dtype and result.shape == wanted.shape:
                return found
        return None
