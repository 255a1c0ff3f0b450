"""Random programs: variables, arrays, a step function, and what happens around it.

A program is data, so that it can be shown as a script, evaluated without tapeflow, and made smaller.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from tests.stress.dice import Dice
from tests.stress.grammar import ASSIGNMENTS, GIVEN, TAKEN, VALUES, Op, Unclear, kind_of, meaning
from tests.stress.layouts import BROADCAST, LAYOUTS, numbers


class Made(NamedTuple):
    """An array, or a variable made of one."""

    name: str
    seed: int
    shape: tuple[int, ...]
    dtype: str
    layout: str

    @property
    def text(self) -> str:
        return f"array({self.seed}, {self.shape}, {self.dtype!r}, {self.layout!r})"

    @property
    def values(self) -> np.ndarray:
        values = numbers(self.seed, self.shape, self.dtype)
        if self.layout == BROADCAST and self.shape and self.shape[0]:
            values = np.array(np.broadcast_to(values[:1], self.shape))
        return values


class Line(NamedTuple):
    """A line of the step function."""

    op: str
    out: str  # the name it gives to its value; empty for an assignment
    operands: tuple[str, ...]
    attrs: dict[str, Any]

    @property
    def row(self) -> Op:
        return VALUES[self.op] if self.out else ASSIGNMENTS[self.op]

    @property
    def text(self) -> str:
        text = self.row.text.format(*self.operands, **self.attrs)
        return f"{self.out} = {text}" if self.out else text


class Given(NamedTuple):
    """A value as it is handed over."""

    form: str
    name: str
    attrs: dict[str, Any]

    @property
    def is_variable(self) -> bool:
        """Whether it is one of the variables itself, and not a value."""
        return self.form == "itself" and self.name[0] == "v"

    @property
    def text(self) -> str:
        return GIVEN[self.form].text.format(self.name, **self.attrs)


class Event(NamedTuple):
    """Something that happens outside of the function.

    Attributes:
      kind: call, slope (a call under a tape), assign, keep, drop, write or save.
      name: what it makes or changes.
      op: the row, for an assignment or for what is kept.
      given: what it takes.
      attrs: of the row.
      look: whether variables are looked at afterwards. Looking makes a reference, and a variable that somebody has
        looked at is treated otherwise.
    """

    kind: str
    name: str
    op: str = ""
    given: tuple[Given, ...] = ()
    attrs: dict[str, Any] = {}  # noqa: RUF012
    look: bool = True
    made: Made | None = None


class Program(NamedTuple):
    """All of it."""

    variables: tuple[Made, ...]
    arrays: tuple[Made, ...]
    body: tuple[Line, ...]
    returns: tuple[str, ...]
    events: tuple[Event, ...]

    @property
    def parameters(self) -> list[str]:
        return [f"p{i}" for i in range(len(self.arrays))]

    @property
    def has_loop(self) -> bool:
        return any(line.op == "loop" for line in self.body)

    def dtypes(self) -> set[str]:
        cast = {line.attrs["dtype"] for line in self.body if "dtype" in line.attrs}
        return {m.dtype for m in (*self.variables, *self.arrays)} | cast

    # As text.

    def beginning(self, decorator: str) -> str:
        """The text up to the function."""
        lines = [f"{v.name} = tf.Variable({v.text})" for v in self.variables]
        lines += [f"{a.name} = {a.text}" for a in self.arrays]
        if decorator:
            lines.append(decorator)
        lines.append(f"def step({', '.join(self.parameters)}):")
        for line in self.body:
            lines += ["    " + part for part in line.text.split("\n")]
        returned = "".join(f"tf.convert_to_tensor({r}), " for r in self.returns)
        lines.append(f"    return ({returned})")
        return "\n".join(lines) + "\n"

    def event_text(self, event: Event, eager: bool) -> str:
        """The text of an event."""
        if event.kind in ("call", "slope"):
            given = [g.text for g in event.given]
            if eager:  # what a function does with arrays by itself
                given = [
                    text if g.is_variable else f"tf.convert_to_tensor({text})"
                    for g, text in zip(event.given, given, strict=True)
                ]
            outputs = [f"{event.name}_{i}" for i in range(len(self.returns))]
            out = "".join(f"{name}, " for name in outputs) or "_"
            if event.kind == "call":
                return f"{out} = step({', '.join(given)})"
            assert event.made is not None
            return (
                f"arguments = [{', '.join(given)}]\n"
                "with tf.GradientTape() as tape:\n"
                f"    {out} = step(*arguments)\n"
                f"    total = total_of([{', '.join(outputs)}])\n"
                f"slope = tape.gradient(total, {event.made.name}, unconnected_gradients='zero')\n"
                f"{event.name} = tf.reduce_sum(tf.convert_to_tensor(slope) * {event.made.text})\n"
                "del arguments, tape, total, slope"
            )
        if event.kind == "assign":
            return ASSIGNMENTS[event.op].text.format(
                event.name, *(g.text for g in event.given), **event.attrs
            )
        if event.kind == "keep":
            taken = TAKEN[event.op].text.format(event.given[0].name, **event.attrs)
            return f"{event.name} = {taken}"
        if event.kind == "drop":
            return f"del {event.name}"
        if event.kind == "write":
            assert event.made is not None
            return f"{event.name}[...] = {event.made.text}"
        assert event.kind == "save"
        return f"restored({event.name})"

    def script(self, decorator: str) -> str:
        """A program that can be run by hand."""
        lines = [
            "import copy",
            "import numpy as np",
            "import tapeflow as tf",
            "from tests.stress.layouts import array",
            "",
            self.beginning(decorator),
        ]
        lines += [self.event_text(event, not decorator) for event in self.events]
        for kind, name in (("save", "restored"), ("slope", "total_of")):
            if any(event.kind == kind for event in self.events):
                lines.insert(4, f"from tests.stress.playing import {name}")
        return "\n".join(lines)


class World:
    """The slow evaluator: the values of all names, each an array of its own."""

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
        found = (sums[3] - sums[1]) / 2e-4
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
        self.fixed: list[
            np.ndarray
        ] = []  # what is assigned and what gradients stop at, line by line
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


# Drawing.

_SIZES = {2: 3, 3: 4, 4: 3, 5: 3, 1: 1.5, 8: 1, 0: 0.6, 64: 1, 70: 0.6, 130: 0.6}
_MAIN_DTYPES = {
    "float32": 8, "float64": 3, "float16": 0.7, "bfloat16": 0.7, "int32": 1.2, "int64": 1, "int8": 0.3,
    "complex64": 0.7, "complex128": 0.3,
}  # fmt: skip


def draw_program(dice: Dice) -> Program:
    """A program that has a meaning."""
    while True:
        drawn = _Drawing(dice).program()
        if drawn is not None:
            return drawn


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

    def program(self) -> Program | None:
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
        program = self.with_body(base)
        if program is None:
            return None
        return self.with_events(program)

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
        for _ in range(60):
            if len(body) >= wanted and any(not line.out for line in body):
                break
            line = self.line(values, len(body))
            if line is None:
                continue
            try:
                result = world.compute(line.row, [values[n] for n in line.operands], line.attrs)
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
