"""What could be better in a step, each with the line it is about and what there is to gain, measured or bounded."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from tapeflow._src.autodiff.explain.answers import SourceExplanation
from tapeflow._src.inspector.collecting import Collected
from tapeflow._src.inspector.functions import Facts
from tapeflow._src.inspector.observer import is_users
from tapeflow._src.inspector.recomputing import curve, savings
from tapeflow._src.inspector.steps import BACKWARD, Step
from tapeflow._src.profiler.profile import Place
from tapeflow._src.profiler.tables import size

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


def advice(found: Collected, facts: Facts | None, copies: list[str]) -> list[Advice]:
    """What to say of a step."""
    return [
        *_not_finite(found.steps),
        *_gradients(found),
        *_recompute(found),
        *_python(found, facts),
        *_double(found.steps),
        *_unrolled(facts),
        *_retraced(facts),
        *(Advice(text) for text in copies),
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


def _python(found: Collected, facts: Facts | None) -> Iterator[Advice]:
    time = sum(step.time for step in found.steps)
    python = sum(step.before for step in found.steps)
    if facts is None and found.wall and len(found.steps) > 10 and python > 0.4 * time:
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


def _unrolled(facts: Facts | None) -> Iterator[Advice]:
    counts: dict[tuple[str, str], int] = {}
    for fate in facts.fates if facts is not None else ():
        line = fate.node.line
        if line is not None and not line.backward and is_users(line.file):
            key = (f"{line.file}:{line.number}", fate.node.primitive.name)
            counts[key] = counts.get(key, 0) + 1
    if counts:
        (place, name), count = max(counts.items(), key=lambda item: item[1])
        if count >= _MANY:
            yield Advice(
                f"One line makes {name} {count} times in the traced graph: a Python loop is unrolled. Loop over "
                "tf.range, and it is traced once.",
                place.rpartition("/")[2],
            )


def _retraced(facts: Facts | None) -> Iterator[Advice]:
    if facts is not None and facts.traces >= _RETRACED:
        why = (
            facts.retraced
            or "Pass tensors in the place of Python numbers, or give an input_signature."
        )
        yield Advice(f"{facts.name} was traced {facts.traces} times. {why}", facts.place)
