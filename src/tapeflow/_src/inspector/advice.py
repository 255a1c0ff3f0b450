"""What could be better in a step, each with the line it is about and what there is to gain, measured or bounded."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from tapeflow._src.autodiff.explain.answers import SourceExplanation
from tapeflow._src.core.placement.transfers import Repeated
from tapeflow._src.inspector.collecting import Collected
from tapeflow._src.inspector.functions import Facts
from tapeflow._src.inspector.observer import is_users
from tapeflow._src.inspector.recomputing import curve, savings
from tapeflow._src.inspector.steps import BACKWARD, Step
from tapeflow._src.inspector.traces import Traced
from tapeflow._src.profiler.tables import seconds, size
from tapeflow._src.profiler.ways import Place

_LARGE = 2**18  # bytes: less is not worth a word
_MUCH = 0.1  # of the peak
_FEW = 3
_MANY = 40  # times that one line makes the same op
_RETRACED = 5


class Advice(NamedTuple):
    """A sentence, where it applies, and what is gained."""

    text: str
    where: str = ""
    gain: str = ""
    step: int | None = None
    bad: bool = False  # something is wrong, rather than slow


def advice(
    found: Collected,
    functions: Sequence[Facts] = (),
    traces: Iterable[Traced] = (),
    copies: Sequence[Repeated] = (),
    elapsed: int = 0,
) -> list[Advice]:
    """What to say of a step.

    Args:
      found: what is known of it.
      functions: the traced functions in it.
      traces: those of the whole program.
      copies: the lines that copy from a device again and again.
      elapsed: nanoseconds that the whole program took, if that is what was watched.
    """
    return [
        *_not_finite(found.steps),
        *_gradients(found),
        *_recompute(found),
        *_python(found, functions),
        *_double(found.steps),
        *(each for facts in functions for each in _unrolled(facts)),
        *(each for one in traces for each in _retraced(one, elapsed)),
        *(_copied(each, elapsed) for each in copies),
    ]


def _not_finite(steps: list[Step]) -> Iterator[Advice]:
    for step in steps:
        if step.values is not None and step.values.bad:
            kinds = [(step.values.nans, "NaN"), (step.values.infs, "infinity")]
            text = " and ".join(f"{count} {kind}" for count, kind in kinds if count)
            which = "The gradient's" if step.phase == BACKWARD else "The op"
            spoilt = f" Its input {step.spoilt} had such before the step." if step.spoilt else ""
            yield Advice(
                f"{which} {step.name} is the first to give numbers that are not finite: {text}.{spoilt}",
                str(step.place or ""),
                step=step.number,
                bad=True,
            )
            return


def _gradients(found: Collected) -> Iterator[Advice]:
    for each in found.gradients:
        if each.missing is not None:
            yield Advice(
                f"The gradient by {each.name} is None: {each.missing.fix or each.missing.text}",
                _cut(each.missing),
                bad=True,
            )
        elif each.numbers is not None and each.numbers.zeros == 1:
            yield Advice(f"The gradient by {each.name} is zero everywhere.", bad=True)


def _cut(missing: SourceExplanation) -> str:
    """The line where a path ends."""
    cuts = [hop for hop in missing.path if hop.cut and hop.file]
    return str(Place(str(cuts[0].file), cuts[0].line or 0)) if cuts else ""


def _recompute(found: Collected) -> Iterator[Advice]:
    """Blocks whose intermediate results could be computed twice in the place of being kept."""
    peak = int(curve(found.steps, found.arrays).max()) if found.steps else 0
    told: list[str] = []
    for saving in sorted(savings(found.steps, found.arrays), key=lambda s: (-s.peak, s.block)):
        inside = any(f"{saving.block}/".startswith(f"{other}/") for other in told)
        around = any(f"{other}/".startswith(f"{saving.block}/") for other in told)
        if saving.peak < max(_LARGE, _MUCH * peak) or inside or around or len(told) == _FEW:
            continue
        told.append(saving.block)
        yield Advice(
            f"tf.recompute_grad around {saving.block} would lower the peak by {size(saving.peak)} of {size(peak)}: it "
            f"keeps {size(saving.kept)} less for the backward pass, for {saving.time:.0%} more time.",
            str(saving.first.place or ""),
            step=saving.first.number,
        )


def _python(found: Collected, functions: Sequence[Facts]) -> Iterator[Advice]:
    time = sum(step.time for step in found.steps)
    python = sum(step.before for step in found.steps)
    if not functions and found.wall and len(found.steps) > 10 and python > 0.4 * time:
        yield Advice(
            "Much of the step is Python between small ops: tf.function runs them as one program.",
            gain=f"at most {python / time:.0%} of the time",
        )


def _double(steps: list[Step]) -> Iterator[Advice]:
    doubled = [s for s in steps if any(t.startswith("float64") for t in s.shapes)]
    time, whole = sum(s.time for s in doubled), sum(s.time for s in steps)
    if doubled and whole and time > 0.2 * whole:
        yield Advice(
            "Most of it computes in float64. float32 takes half the memory, and about half the time.",
            str(doubled[0].place or ""),
            f"at most {time / whole / 2:.0%} of the time",
            doubled[0].number,
        )


def _unrolled(facts: Facts) -> Iterator[Advice]:
    counts: dict[tuple[str, str], int] = {}
    for fate in facts.fates:
        line = fate.node.line
        if line is not None and not line.backward and is_users(line.file):
            key = (f"{line.file}:{line.number}", fate.node.primitive.name)
            counts[key] = counts.get(key, 0) + 1
    if counts:
        (place, name), count = max(counts.items(), key=lambda item: item[1])
        if count >= _MANY:
            tracing = facts.tracing // max(1, facts.traces)
            bound = f"at most {1 - 1 / count:.0%} of the {seconds(tracing)} that a trace takes"
            yield Advice(
                f"One line makes {name} {count} times in the graph of {facts.name}: a Python loop is unrolled. Loop "
                "over tf.range, and it is traced once.",
                place.rpartition("/")[2],
                bound if tracing else "",
            )


def _retraced(traces: Traced, elapsed: int) -> Iterator[Advice]:
    if traces.count >= _RETRACED:
        why = (
            traces.why or "Pass tensors in the place of Python numbers, or give an input_signature."
        )
        gain = f"all traces but one took {seconds(traces.again)}{_of(traces.again, elapsed)}"
        yield Advice(f"{traces.name} was traced {traces.count} times. {why}", traces.place, gain)


def _copied(copies: Repeated, elapsed: int) -> Advice:
    return Advice(
        f"One line has copied {copies.what} back from a device {copies.times} times, and the program has waited for "
        f"the device each time. {copies.fix}",
        copies.line.rpartition("/")[2],
        f"at most {seconds(copies.waited)} of waiting{_of(copies.waited, elapsed)}",
    )


def _of(time: int, elapsed: int) -> str:
    return f", {time / elapsed:.0%} of the program" if elapsed else ""
