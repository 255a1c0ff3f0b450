"""What a debug tape writes down beside its records, for `GradientTape.explain`.

A tape keeps what it needs for gradients: operations that lead from something watched to something
differentiable. To say why there is *no* gradient one needs the rest: operations that nobody
watched, that have no gradient, or that ran while the tape was paused; values that left for NumPy,
and values that came from there; assignments; and the line of the user's program where each of these
happened. A journal is a second recorder next to a debug tape that notes all that as identities and
strings. It never holds a tensor or an array, so it changes nothing about memory, and without
`debug=True` there is none.
"""

from __future__ import annotations

import linecache
import os
import re
import sys
import weakref
from types import FrameType
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import optree

from tapeflow._src.autodiff.explain.advice import INSIDE
from tapeflow._src.core.context import identify, quietly
from tapeflow._src.core.system.package import FOLDER
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.core.variables.variable import Variable

if TYPE_CHECKING:
    from tapeflow._src.autodiff.backprop import Call
    from tapeflow._src.autodiff.tape import GradientTape


# Where something happened.


class Place(NamedTuple):
    """A line of the user's program."""

    file: str
    line: int

    @property
    def code(self) -> str:
        """The text of the line, or nothing if the source is not at hand."""
        return linecache.getline(self.file, self.line).strip()

    def __str__(self) -> str:
        return f"{os.path.basename(self.file)}:{self.line}"


# NumPy calls `__array__` from its own Python files, and optree the functions of `tf.nest`.
_NOT_THE_USER = (
    FOLDER,
    *[
        os.path.join(os.path.dirname(os.path.abspath(f)), "")
        for f in (np.__file__, optree.__file__)
    ],
)


def user_frame() -> FrameType:
    """The innermost frame that runs the user's code."""
    frame = sys._getframe(1)
    while frame.f_code.co_filename.startswith(_NOT_THE_USER) and frame.f_back is not None:
        frame = frame.f_back
    return frame


def here() -> Place:
    """The line of the user's program that is running."""
    frame = user_frame()
    return Place(frame.f_code.co_filename, frame.f_lineno)


# What happened.


class Operation(NamedTuple):
    """An operation, with or without a gradient, recorded by the tape or not."""

    name: str
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]
    # For each input, its name if there is no gradient with respect to it.
    ends: tuple[str | None, ...]
    tracked: tuple[bool, ...]  # for each input, whether the tape followed it at that moment
    dead: frozenset[int] = frozenset()  # outputs whose dtype has no gradients
    dtype: str = ""  # of the first output
    place: Place | None = None
    paused: bool = False
    epoch: int = 0  # how often the tape had been reset


class Escape(NamedTuple):
    """The value of a tensor became one of NumPy's or Python's."""

    tensor: int
    how: str
    place: Place


class Entry(NamedTuple):
    """A tensor that no operation on this tape made was used for the first time."""

    tensor: int
    literal: bool  # written as a number in the program, so it cannot come from elsewhere
    place: Place | None


class Watch(NamedTuple):
    """`tape.watch` was called."""

    tensor: int
    place: Place
    epoch: int


class Assignment(NamedTuple):
    """A variable got another value."""

    variable: int  # its place in the list of variables
    place: Place


Event = Operation | Escape | Entry | Watch | Assignment


class Journal:
    """The recorder of everything, made by `GradientTape(debug=True)`."""

    def __init__(self, tape: GradientTape) -> None:
        self.events: list[Event] = []
        self.begun = here()
        self.paused = False
        self.resets: list[Place] = []
        # A cycle would keep the tape's arrays until the next collection.
        self._tape = weakref.ref(tape)
        self._known: set[int] = set()
        self._variables: list[weakref.ref[Variable]] = []
        self._positions: dict[int, int] = {}  # id(variable) -> its place in the list above
        self._values: list[set[int]] = []  # for each variable, the identities of its values
        self._reads: dict[int, Place] = {}  # identity of a value -> where it was first read

    # The protocol of recorders.

    def record(self, primitive: Any, inputs: Any, output: Any, attrs: Any) -> None:
        """Notes any operation."""
        outputs = output if isinstance(output, tuple) else (output,)
        ends = tuple(
            None
            if primitive.gradients[i] is not None
            else primitive.inputs[0 if primitive.variadic else i]
            for i in range(len(inputs))
        )
        self._operation(primitive.name, inputs, outputs, ends, joint=primitive.joint)

    def record_call(self, call: Call) -> None:
        """Notes a computation with its own pullback."""
        lost = () if call.lost is None else call.lost()
        ends = tuple(INSIDE if i in lost else None for i in range(len(call.inputs)))
        self._operation(call.name, call.inputs, call.outputs, ends, joint=True)

    substitutes = False

    def read(self, variable: Variable, value: Tensor) -> Tensor:
        """Notes the first time that a value of a variable is read."""
        identity = identify(value)
        if identity not in self._reads:
            self._reads[identity] = here()
            self._values[self._position(variable)].add(identity)
            self._known.add(identity)
        return value

    def follows(self, identity: int) -> bool:
        """It needs no pullbacks."""
        return False

    def note(self, event: str, subject: Any, **details: Any) -> None:
        """Notes an escape, an assignment, a watch or a reset."""
        place = here()
        if event == "escape":
            self._meet(subject, place)
            self.events.append(Escape(identify(subject), details["how"], place))
        elif event == "watch":
            value = subject if isinstance(subject, Tensor) else subject.handle._now()
            self._meet(value, place)
            self.events.append(Watch(identify(value), place, len(self.resets)))
        elif event == "assign":
            self._assign(subject, details["origins"], place)
        elif event == "reset":
            self.resets.append(place)

    def _operation(
        self, name: str, inputs: Any, outputs: Any, ends: tuple[str | None, ...], joint: bool
    ) -> None:
        place = here()
        tape = self._tape()
        tracked = tape._tracked if tape is not None else ()
        for x in inputs:
            self._meet(x, place)
        ids = tuple(identify(x) for x in inputs)
        made = tuple(identify(y) for y in outputs)
        self._known.update(made)
        # A tape follows any single output, and of several those with a dtype that has gradients.
        dead = frozenset(identify(y) for y in outputs if joint and not y.dtype.is_differentiable)
        self.events.append(
            Operation(
                name,
                ids,
                made,
                ends,
                tuple(i in tracked for i in ids),
                dead,
                outputs[0].dtype.name if outputs else "",
                place,
                self.paused,
                len(self.resets),
            )
        )

    def _meet(self, tensor: Tensor, place: Place) -> None:
        """Notes a tensor that is new to the journal: it entered from outside."""
        identity = identify(tensor)
        if identity not in self._known:
            self._known.add(identity)
            self.events.append(Entry(identity, _is_literal(tensor._array), place))

    def _assign(self, variable: Variable, origins: tuple[Any, ...], place: Place) -> None:
        """Notes an assignment as an operation without a gradient to the variable."""
        position = self._position(variable)
        self._values[position].add(identify(variable._now()))
        self.events.append(Assignment(position, place))
        values = [o._now() if isinstance(o, Variable) else o for o in origins]
        tensors = tuple(v for v in values if isinstance(v, Tensor))
        self._operation(
            "assign", tensors, (variable._now(),), ("value",) * len(tensors), joint=False
        )

    # What `explain` asks.

    def _position(self, variable: Variable) -> int:
        position = self._positions.get(id(variable))
        if position is None or self._variables[position]() is not variable:  # id() is used again
            position = self._positions[id(variable)] = len(self._variables)
            self._variables.append(weakref.ref(variable))
            self._values.append(set())
        return position

    def values_of(self, variable: Variable) -> set[int]:
        """The identities of all values of a variable that the journal knows of."""
        return self._values[self._position(variable)] | {variable._now()._id or -1}

    def variable_with(self, identity: int) -> Variable | None:
        """The variable that has or had this value, if it still exists."""
        for ref, values in zip(self._variables, self._values, strict=True):
            if identity in values:
                return ref()
        return None

    def first_read(self, identities: set[int]) -> Place | None:
        """Where a value of a variable was first read."""
        return next((place for i, place in self._reads.items() if i in identities), None)

    def assignments_to(self, variable: Variable) -> list[Place]:
        """Where a variable was assigned to."""
        position = self._position(variable)
        return [
            e.place for e in self.events if isinstance(e, Assignment) and e.variable == position
        ]


_NUMBER = re.compile(r"(?<![\w.])(?:\d[\d_]*\.?\d*|\.\d+)(?:[eE][+-]?\d+)?")


def _is_literal(array: Any) -> bool:
    """Whether all numbers in `array` are written in the running line, the user's or an op's."""
    if not isinstance(array, np.ndarray | np.generic):
        return True  # it stands for a value, and has none
    if array.size > 16 or array.dtype.kind in "OSU":
        return False
    user = user_frame()
    frame: FrameType | None = sys._getframe(1)
    written: list[float] = []
    while frame is not None:
        written += map(
            float, _NUMBER.findall(linecache.getline(frame.f_code.co_filename, frame.f_lineno))
        )
        frame = None if frame is user else frame.f_back
    values = np.abs(np.asarray(array)).reshape(-1, 1)
    # Numbers of that line that do not fit the dtype are no mistake.
    known = quietly(np.asarray(written).astype, values.dtype)
    return bool((values == known).any(axis=1).all())
