"""Changes of variables: each is seen as a whole, none is lost, and an unfinished one loses nothing.

Python changes threads, and runs signal handlers, only at calls and where a loop begins again. So to look what a
variable holds and then to store a tensor in it, with no call between the two, is one operation that nobody comes into.
An assignment is that, and needs no lock. So is the end of the update of a small array, which begins again if the
variable has changed since it was read.

A change that takes longer is a `Step`: the update of a large array, or a call of a traced function that assigns. It
*claims* the variables that it is going to assign. Until it has ended, these hold an `Unsettled` tensor in place of
their value:

- Another thread that reads such a variable gets that tensor, and waits for the step where it needs the value.
- Another thread that wants to assign waits.
- Whatever happens to the step, an `Unsettled` tensor knows what the variable held before, and what it holds afterwards
  from the moment on that it is there: a variable has one of the two, even if the step was interrupted in the middle of
  putting its results into variables. That is why a program may write over the old value.
- A signal handler, or Python code that the step itself calls, gets a copy of that, and need not wait.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Sequence
from operator import is_
from threading import RLock, get_ident
from typing import TYPE_CHECKING, Any

from tapeflow._src.core.context import quietly
from tapeflow._src.core.dtypes import DType
from tapeflow._src.core.placement.remote import moved_beside
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.core.variables.ownership import are_private

if TYPE_CHECKING:
    from tapeflow._src.core.variables.variable import Variable

# Held while variables are claimed, so that two steps do not wait for each other. It is never held by somebody who
# waits. A signal handler may take it again, in the thread that has it.
claims = threading.RLock()


class Step:
    """A change of some variables that takes a while.

        step = Step()
        with step.lock:
            try:
                [before] = step.claim([v], [0])
                step.commit([Tensor(...)])
            except BaseException:
                step.give_up()
                raise

    Attributes:
      lock: held by the thread that makes the change until it has ended. Others wait for it.
      before: what the claimed variables held.
      private: for each of them, whether nobody else could see that value: then it may be overwritten.
      made: gives the new value of a claimed variable, by its number, or None if it is not there yet.
      waited: whether another thread has waited for it.
    """

    __slots__ = (
        "_claimed",
        "_process",
        "_running",
        "_thread",
        "before",
        "lock",
        "made",
        "private",
        "waited",
    )

    def __init__(self) -> None:
        self.lock = RLock()
        self.before: list[Tensor] = []
        self.private: list[bool] = []
        self.made: Callable[[int], Tensor | None] | None = None
        self._claimed: list[Variable] = []
        self._running = True
        self._thread = get_ident()
        self._process = _process
        self.waited = False

    def claim(self, variables: Sequence[Variable], assigned: Sequence[int]) -> list[Tensor]:
        """Claims those of the variables that will be assigned, and gives the values of all, at one moment."""
        while True:
            with claims:
                values = [v._value for v in variables]
                if Unsettled not in map(type, values):
                    self._take(variables, values, assigned)
                    if len(assigned) == len(values):
                        return values
                    return _at_one_moment(variables, values, assigned)
            for variable, value in zip(variables, values, strict=True):
                if type(value) is Unsettled:
                    settle(variable, value)

    def claim_one(self, variable: Variable) -> Tensor:
        """The same for one variable, faster."""
        while True:
            with claims:
                values = [variable._value]
                if type(values[0]) is not Unsettled:
                    self._take((variable,), values, (0,))
                    return values[0]
            settle(variable, values[0])

    def _take(
        self, variables: Sequence[Variable], values: list[Tensor], assigned: Sequence[int]
    ) -> None:
        before, claimed = self.before, self._claimed
        for position, i in enumerate(assigned):
            variable = variables[i]
            stand_in = Unsettled(self, position)
            before.append(values[i])
            claimed.append(variable)
            # No call from here to the end of the exchange: no assignment of another thread gets lost in between.
            held = variable._value
            variable._value = stand_in
            before[position] = values[i] = held
        held = stand_in = None  # not to be counted as references
        # Only now that nobody can get hold of the values any more can be told who has.
        self.private = are_private(values, assigned)

    def commit(self, values: Sequence[Tensor]) -> None:
        """Puts new values into the variables."""
        self.made = values.__getitem__
        for variable, value in zip(self._claimed, values):  # noqa: B905  # it is called for each small step
            variable._value = value
        self._running = False

    def let_others(self) -> None:
        """Lets those go on who have waited. A thread that changes a variable in a loop would always be the next."""
        if self.waited:
            time.sleep(1e-5)

    def give_up(self) -> None:
        """Gives variables that have no new value their old one back."""
        self._running = False
        for position, variable in enumerate(self._claimed):
            if type(variable._value) is Unsettled and variable._value.step is self:
                variable._value = self.outcome(position)

    def outcome(self, position: int) -> Tensor:
        """What a claimed variable holds now."""
        found = None if self.made is None else self.made(position)
        return self.before[position] if found is None else found

    def seen(self, position: int) -> Tensor:
        """What a claimed variable holds when the step has ended; for the thread that makes it, what it holds now."""
        if self._thread != get_ident() and self._process == _process:
            self.waited = True
            with self.lock:
                return self.outcome(position)
        found = self.outcome(position)
        return found.__deepcopy__({}) if self._running else found


class Unsettled(Tensor):
    """Stands in a variable for the value that a step will leave there."""

    __slots__ = ("_found", "_position", "step")

    def __init__(self, step: Step, position: int) -> None:
        self.step = step
        self._position = position
        self._found: Tensor | None = None
        self._id = 0

    def settled(self) -> Tensor:
        """The value, for which it waits."""
        if self._found is None:
            found = self.step.seen(self._position)
            if self._found is None:  # a tensor has one value, whoever was the first to ask
                self._found = found
        return self._found

    @property
    def _array(self) -> Any:  # pyright: ignore[reportIncompatibleVariableOverride]
        return self.settled()._array

    @property
    def dtype(self) -> DType:
        """The dtype, which a step does not change."""
        return self.step.before[self._position].dtype

    def __copy__(self) -> Tensor:
        return self.settled().__copy__()


def _at_one_moment(
    variables: Sequence[Variable], values: list[Tensor], claimed: Sequence[int]
) -> list[Tensor]:
    """What variables hold of which some are claimed, and have their values. The others are read until none changes."""
    while len(claimed) < len(variables):
        again = [v._value for v in variables]
        for i in claimed:
            again[i] = values[i]
        if all(map(is_, again, values)):
            break
        values = again
    return values


def settle(variable: Variable, value: Tensor) -> None:
    """Waits until a variable has a value again. One that an interrupted step has left behind is tidied up."""
    found = settled(value)
    if variable._value is value:  # no call from here to the end
        variable._value = found


def store(variable: Variable, value: Tensor) -> None:
    """Puts a value into a variable, after the change that is under way, if there is one."""
    while True:
        held = variable._value
        if held.__class__ is value.__class__:  # `type(held)` would be a call
            variable._value = value
            return
        if type(held) is Unsettled:
            settle(variable, held)
        else:
            value = moved_beside(value, held)
            if variable._value is held:
                variable._value = value
                return


def combine(variable: Variable, ufunc: Any, array: Any, passing: bool) -> None:
    """Puts what `ufunc` makes of a large value and an array into a variable.

    A large array costs as much to allocate as to compute. So what nobody else can see is overwritten: the operand, if
    it is `passing`, for it was written last and is still near this processor, or the old value.
    """
    step = Step()
    with step.lock:
        try:
            value = step.claim_one(variable)
            held = value._array
            if held.shape != array.shape or type(value) is not Tensor:
                room = None
            elif passing and array.flags.c_contiguous and _may_be_overwritten(array):
                room = array
            elif step.private[0] and _may_be_overwritten(held):
                room = held
            else:
                room = None
            variable._value = Tensor(quietly(ufunc, held, array, room))
        except BaseException:
            step.give_up()
            raise
    step.let_others()


def _may_be_overwritten(array: Any) -> bool:
    flags = array.flags
    return flags.owndata and flags.writeable


def settled(value: Tensor) -> Tensor:
    """A tensor that was read from a variable, with its value."""
    return value.settled() if type(value) is Unsettled else value


_process = 0  # counts forks: a child has but one thread, and the steps of the others will never end


def _begin_in_child() -> None:
    global claims, _process
    claims = threading.RLock()
    _process += 1


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_begin_in_child)
