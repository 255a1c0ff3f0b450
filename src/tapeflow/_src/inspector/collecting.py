"""Running what is to be inspected: once closely, and a few times for the clock."""

from __future__ import annotations

import gc
import math
import statistics
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np

from tapeflow._src.autodiff.explain.answers import SourceExplanation
from tapeflow._src.autodiff.tape import GradientTape
from tapeflow._src.core import nest
from tapeflow._src.core.convert import convert_to_tensor
from tapeflow._src.core.system.timeline import now
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.core.variables.variable import Variable
from tapeflow._src.inspector import explaining
from tapeflow._src.inspector.clock import Clock, Timed
from tapeflow._src.inspector.observer import Observer
from tapeflow._src.inspector.steps import BACKWARD, Alive, Numbers, Step

_RUNS = 5
_LONG = 1_500_000_000  # nanoseconds for the runs in all
_MOST, _ALIKE = (
    12,
    0.05,
)  # how many runs there are if the fastest of those that are watched differs by more
_WATCHING = 10_000  # nanoseconds that it may cost to watch an op; more is other programs' doing


class Gradient(NamedTuple):
    """The gradient by a variable or an argument; where there is none, why."""

    name: str
    shape: str
    bytes: int
    numbers: Numbers | None
    missing: SourceExplanation | None


class Collected(NamedTuple):
    """What is known of a step.

    Attributes:
      title: what was inspected.
      steps: its ops, in order.
      arrays: the arrays that they made.
      gradients: by its variables.
      wall: nanoseconds of a typical run that nobody watches; 0 if there was none.
      measured_peak: bytes allocated at most, as Python counts them.
      held: bytes of variables and arguments, which are there before.
    """

    title: str
    steps: list[Step]
    arrays: list[Alive]
    gradients: list[Gradient]
    wall: int
    measured_peak: int
    held: int


@contextmanager
def as_they_were() -> Iterator[None]:
    """Within this context variables may be changed: they get back what they held."""
    found = [v for v in gc.get_objects() if issubclass(type(v), Variable) and hasattr(v, "_value")]
    # Copies: if we held what a variable holds, its memory could not be used again.
    before = [(v, np.array(v._value)) for v in found if not v._has_copies]
    del found
    try:
        yield
    finally:
        for variable, held in before:
            if not np.array_equal(np.asarray(variable._value), held):
                variable.assign(held)


def collected(title: str, call: Callable[[], Any], args: Any) -> Collected:
    """Runs a step a few times, and takes note of everything."""
    with as_they_were():
        call()  # what is made at the first call is made now
    with as_they_were(), Observer() as observer:
        result = call()
    differentiated = False
    if not any(step.phase == BACKWARD for step in observer.steps):
        with_gradients = _differentiated(call, result, observer, args)
        if with_gradients is not None:
            differentiated, call = True, with_gradients
            with as_they_were(), Observer() as observer:
                call()
    del result
    wall = timed(call, observer)
    missing: list[SourceExplanation] = []
    sources = [v for v in observer.variables.values() if v.trainable]
    is_lost = differentiated and not any(step.phase == BACKWARD for step in observer.steps)
    if is_lost or any(id(v) not in observer.gradients for v in sources):
        with as_they_were():
            missing = explaining.explanations(call)
    if differentiated:
        # Our own step has asked by its variables, and then by its arguments.
        names = {
            f"sources[{len(sources) + i}]": f"argument {i}" for i in range(len(nest.flatten(args)))
        }
        missing = [each._replace(name=names.get(each.name, each.name)) for each in missing]
    return Collected(
        title,
        observer.steps,
        observer.arrays,
        gradients_of(observer, missing),
        wall,
        observer.measured_peak,
        _held(observer, args),
    )


def _differentiated(
    call: Callable[[], Any], result: Any, observer: Observer, args: Any
) -> Callable[[], Any] | None:
    """A step that also takes the gradient of all results, if there is anything to differentiate."""
    outputs = [x for x in nest.flatten(result) if isinstance(x, Tensor)]
    if not any(x.dtype.is_differentiable for x in outputs):
        return None
    variables = [v for v in observer.variables.values() if v.trainable]
    tensors = [x for x in nest.flatten(args) if isinstance(x, Tensor) and x.dtype.is_differentiable]
    if not variables and not tensors:
        return None

    def step() -> Any:
        with GradientTape() as tape:
            tape.watch(tensors)
            found = call()
        targets = [
            x for x in nest.flatten(found) if isinstance(x, Tensor) and x.dtype.is_differentiable
        ]
        return found, tape.gradient(targets, [*variables, *tensors])

    return step


def timed(call: Callable[[], Any], observer: Observer) -> int:
    """Puts the times of a few more runs into the steps, and gives that of a run that nobody watches."""
    with as_they_were():
        runs = _runs(call)
    wall, clock = _typical(runs)
    take_times(observer, _usual(runs, clock), wall)
    return wall


def _runs(call: Callable[[], Any]) -> list[tuple[int, Clock]]:
    """Times of runs, each with the run after it, which was watched."""
    runs: list[tuple[int, Clock]] = []
    begun = now()
    while not _are_settled(runs, now() - begun):
        begin = now()
        call()
        wall = now() - begin
        with Clock() as clock:
            call()
        runs.append((wall, clock))
    return runs


def _are_settled(runs: list[tuple[int, Clock]], spent: int) -> bool:
    """Whether there were enough runs: there are more while they get faster, or other programs slow some of them."""
    walls = [wall for wall, _ in runs]
    if len(runs) < 2 or (len(runs) < _RUNS and spent < _LONG):
        return False
    if len(runs) >= _MOST or spent >= 4 * _LONG:
        return True
    if min(walls[-2:]) < min(walls[:-2], default=math.inf):  # they still get faster
        return False
    wall, clock = _typical(runs)
    return abs(clock.elapsed - wall) <= _ALIKE * wall


def _typical(runs: list[tuple[int, Clock]]) -> tuple[int, Clock]:
    """How long a run takes that nothing has slowed, and the one that was watched which is most like it.

    What is much slower than the fastest was among the first, or other programs ran beside it.
    """
    least = min(wall for wall, _ in runs)
    wall = int(statistics.median(wall for wall, _ in runs if wall <= (1 + 2 * _ALIKE) * least))
    return wall, min((clock for _, clock in runs), key=lambda c: abs(c.elapsed - wall))


def _usual(runs: list[tuple[int, Clock]], like: Clock) -> Clock:
    """A run whose ops take what they usually take: in a single one, some were interrupted by other programs."""
    names = [op.name for op in like.ops]
    alike = [clock for _, clock in runs if [op.name for op in clock.ops] == names]
    found = Clock()
    found.elapsed = like.elapsed
    for same in zip(*(clock.ops for clock in alike), strict=True):
        kernel = int(statistics.median(op.kernel for op in same))
        found.ops.append(
            Timed(same[0].name, kernel, int(statistics.median(op.before for op in same)))
        )
    return found


def take_times(observer: Observer, clock: Clock, wall: int = 0) -> None:
    """Gives the steps of a run the times of another one, without what it cost to watch that.

    The time of a traced function's program is divided among its ops as they took it one by one.

    Args:
      observer: has seen the steps.
      clock: has seen the same ones. If they are others, nothing is changed.
      wall: nanoseconds of a run that nobody watches, if that is known: they are to add up to it.
    """
    in_calls = {number for call in observer.calls for number in call}
    apart = [step for step in observer.steps if step.number not in in_calls]
    ops = [op for op in clock.ops if op.name is not None]
    programs = [op for op in clock.ops if op.name is None]
    if [step.name for step in apart] != [op.name for op in ops]:
        return
    if len(programs) != len(observer.calls):
        return
    cost, share = 0, 1.0
    if wall:
        # Watching takes some microseconds between any two ops. The rest is how fast the processor was in either run.
        cost = min(max(0, clock.elapsed - wall) // max(1, len(clock.ops)), _WATCHING)
        share = wall / (sum(op.kernel + max(0, op.before - cost) for op in clock.ops) or 1)
    singles, calls = iter(apart), iter(observer.calls)
    last, before = None, 0
    for op in clock.ops:
        steps = [next(singles)] if op.name else [observer.steps[number] for number in next(calls)]
        kernel = int(op.kernel * share)
        before += int(max(0, op.before - cost) * share)
        if not steps:  # a function that has no ops, or that failed before it had run any
            before += kernel
            continue
        whole = sum(step.kernel for step in steps)
        for step in steps:
            step.kernel = kernel * step.kernel // whole if whole else kernel // len(steps)
            step.before, before = before, 0
            last = step
    if last is not None:
        last.before += before


def gradients_of(observer: Observer, missing: list[SourceExplanation]) -> list[Gradient]:
    """A line for each trainable variable, and for what else has no gradient."""
    why = {each.name: each for each in missing}
    found: list[Gradient] = []
    variables = sorted(observer.variables.values(), key=lambda v: v._created)
    names = [v.name.removesuffix(":0") for v in variables]
    for variable, name in zip(variables, names, strict=True):
        if variable.trainable:
            reason = why.pop(name, None) or why.pop(variable.name, None)
            if names.count(name) > 1:  # where it is read says more
                name = f"{observer.scopes[id(variable)]}/{name.rpartition('/')[2]}"
            value = variable._now()
            shape = f"{variable.dtype.name}{list(value._array.shape)}"
            if id(variable) in observer.gradients or reason is not None:
                numbers = observer.gradients.get(id(variable))
                found.append(Gradient(name, shape, value._array.nbytes, numbers, reason))
    found += [Gradient(each.name, "", 0, None, each) for each in why.values()]
    return found


def _held(observer: Observer, args: Any) -> int:
    variables = sum(v._now()._array.nbytes for v in observer.variables.values())
    tensors = [x for x in nest.flatten(args) if isinstance(x, (Tensor, np.ndarray))]
    return variables + sum(
        x.nbytes if isinstance(x, np.ndarray) else x._array.nbytes for x in tensors
    )


def as_tensors(args: tuple[Any, ...]) -> tuple[Any, ...]:
    """Arguments with tensors for arrays of floating numbers, so that gradients by them can be taken."""

    def converted(x: Any) -> Any:
        return convert_to_tensor(x) if isinstance(x, np.ndarray) and x.dtype.kind == "f" else x

    return nest.map_structure(converted, args)
