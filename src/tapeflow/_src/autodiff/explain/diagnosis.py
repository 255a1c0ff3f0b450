"""The reasoning behind `GradientTape.explain`: one source and a target in, a finding out.

First the path with the fewest obstacles is looked for. If there is one, its first obstacle is the
reason; if there is none, what is known of the source and of the target says why.
"""

from __future__ import annotations

from tapeflow._src.autodiff.explain import paths
from tapeflow._src.autodiff.explain.advice import at_cut
from tapeflow._src.autodiff.explain.findings import Finding, Question, Step, code_at, step_of
from tapeflow._src.autodiff.explain.journal import Entry, Operation
from tapeflow._src.autodiff.explain.paths import Hop, Reason
from tapeflow._src.autodiff.explain.unconnected import no_path, not_recorded, not_watched
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.core.variables.variable import Variable

SHOWN = 7
"""How many steps of a path are printed."""


def diagnose(question: Question, source: Tensor | Variable, name: str) -> Finding:
    """Finds out how the target depends on one source, which the user calls `name`."""
    if any(t is source for t in question.targets):
        return Finding(Reason.CONNECTED, "it is the target itself")
    if not source.dtype.is_differentiable:
        return Finding(
            Reason.NOT_FLOATING,
            f"its dtype is {source.dtype.name}, and only floats and complex numbers have gradients",
            fix=f"Make {name} a float: write 1.0 for 1, or use tf.cast(value, tf.float32) first.",
        )
    if not any(v.dtype.is_differentiable for v in question.values):
        return _target_not_floating(question)
    start = question.start(source)
    best = paths.routes(question.events, start, question.follows)
    reached = [t for t in question.ids if t in best]
    if not reached:
        if question.journal is None:
            return not_recorded(question, source, name, start)
        return no_path(question, question.journal, source, name, start)
    hops = paths.hops(best, min(reached, key=lambda t: best[t][:2]))
    first = next((h for h in hops if h.obstacle), None)
    if first is None:
        return _connected(question, source, hops, paths.count(question.events, start, reached))
    return _obstructed(question, source, name, hops, first)._replace(path=_steps(hops))


def _target_not_floating(question: Question) -> Finding:
    dtype = question.values[0].dtype.name
    headline = (
        f"{question.name} has dtype {dtype}, and only floats and complex numbers have gradients"
    )
    maker = next(
        (e for e in question.events if isinstance(e, Operation) and question.ids[0] in e.outputs),
        None,
    )
    details = []
    fix = "Take the gradient of a float."
    if maker is not None and maker.place is not None:
        details = [f"It was made by {step_of(maker)}:", *code_at(maker.place)]
        end = next((e for e in maker.ends if e is not None), None)
        if end is not None:
            fix = at_cut(maker.name, end, maker.dtype, len(maker.inputs) == 1)
    return Finding(Reason.NOT_FLOATING, headline, details, fix)


# A path without obstacles.


def _connected(
    question: Question, source: Tensor | Variable, hops: list[Hop], count: int
) -> Finding:
    steps = _steps(hops)
    details = [" -> ".join(_elided(steps))] if steps else []
    if count >= paths.MANY:
        details.append(f"and at least {paths.MANY - 1} other paths")
    elif count > 1:
        details.append(f"and {count - 1} other path{'s' if count > 2 else ''}")
    headline = "" if steps else "it is the target itself"
    if isinstance(source, Variable) and question.journal is not None:
        places = question.journal.assignments_to(source)
        if places:
            details.append(
                f"It was assigned to ({places[-1]}). Assignments are not differentiated: the "
                "gradient is taken at the value that was read."
            )
    return Finding(Reason.CONNECTED, headline, details, path=steps)


def _elided(steps: list[Step]) -> list[str]:
    texts = [str(s) for s in steps]
    if len(texts) <= SHOWN:
        return texts
    head, tail = (SHOWN + 1) // 2, SHOWN // 2
    return [*texts[:head], f"... {len(texts) - head - tail} more ops ...", *texts[-tail:]]


def _steps(hops: list[Hop]) -> list[Step]:
    return [
        step_of(h.event, cut=h.obstacle is not None) for h in hops if isinstance(h.event, Operation)
    ]


# A path with an obstacle.


def _obstructed(
    question: Question, source: Tensor | Variable, name: str, hops: list[Hop], hop: Hop
) -> Finding:
    reason = hop.obstacle
    assert reason is not None
    if isinstance(hop.event, Entry):
        return _left(question, hop)
    op = hop.event
    code = code_at(op.place)
    step = step_of(op)
    if reason is Reason.NOT_WATCHED:
        finding = not_watched(question, source, name, op)
        other = next((h for h in hops if h.obstacle and h is not hop), None)
        if other is not None:
            besides = _obstructed(question, source, name, hops, other).headline
            finding = finding._replace(details=[*finding.details, f"Besides, {besides}."])
        return finding
    if reason is Reason.CUT:
        argument = op.ends[hop.position]
        if argument is None:
            fix = f"Use a floating result of {step.op}: the others have no gradient."
        else:
            fix = at_cut(op.name, argument, op.dtype, len(op.inputs) == 1)
        what = f"cast to {op.dtype}" if op.name == "cast_to_discrete" else step.op
        where = "" if op.place is None else f" ({op.place})"
        return Finding(reason, f"the path is cut at {what}{where}", code, fix)
    if reason is Reason.ASSIGNED:
        return Finding(
            reason,
            f"its value was put into a variable ({op.place}), and assignment is not differentiated",
            code,
            "Compute with the tensor that is assigned instead of with the variable.",
        )
    if reason is Reason.PAUSED:
        return Finding(
            reason,
            f"the tape was paused by stop_recording when {step.op} ran ({op.place})",
            code,
            "Move this line out of the `with tape.stop_recording():` block.",
        )
    if reason is Reason.RESET:
        assert question.journal is not None
        return Finding(
            reason,
            f"the tape was reset ({question.journal.resets[-1]}) after {step.op} ran ({op.place})",
            code,
            "Compute it again after tape.reset(), which forgets everything recorded before.",
        )
    return Finding(
        Reason.BEFORE_TAPE,
        f"it was read before the tape began, which only sees the value in {step.op} ({op.place})",
        code,
        f"Read {name} inside the `with` block.",
    )


def _left(question: Question, hop: Hop) -> Finding:
    escape, entry = hop.escape, hop.event
    assert escape is not None
    assert isinstance(entry, Entry)
    out = f"its value left for NumPy or Python through {escape.how} ({escape.place})"
    code = code_at(escape.place)
    if entry.place is None:
        headline = f"{out}, and {question.name} was made from plain numbers"
    elif entry.place == escape.place:
        headline = f"{out}, and came back as a new tensor"
    else:
        headline = f"{out}, and came back as a new tensor ({entry.place})"
        code += code_at(entry.place)
    if not hop.certain:
        headline = f"{out}, and may have come back as a new tensor ({entry.place})"
    return Finding(
        Reason.LEFT_TENSORFLOW,
        headline,
        code,
        "Stay with tensors all the way: tf.sin(x) for np.sin(x), x for x.numpy() or float(x).",
    )
