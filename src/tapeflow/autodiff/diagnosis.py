"""The reasoning behind `GradientTape.explain`: one source and a target in, a finding out.

First the path with the fewest obstacles is looked for. If there is one, its first obstacle is the reason; if there is
none, what is known of the source and of the target says why.
"""

from __future__ import annotations

import linecache
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from tapeflow.autodiff import paths, source_names
from tapeflow.autodiff.advice import at_cut, public_name
from tapeflow.autodiff.journal import Entry, Escape, Event, Journal, Operation, Place, Watch
from tapeflow.autodiff.paths import Hop, Reason, Start
from tapeflow.core.tensor import Tensor
from tapeflow.core.variable import Variable

if TYPE_CHECKING:
    from tapeflow.autodiff.tape import GradientTape

MORE_WITH_DEBUG = "For the line where the path is cut, create the tape with tf.GradientTape(debug=True)."
SHOWN = 7
"""How many steps of a path are printed."""


class Step(NamedTuple):
    """One operation on a path. File and line are known to a debug tape only."""

    op: str
    file: str | None
    line: int | None
    cut: bool = False

    def __str__(self) -> str:
        if self.file is None or self.line is None:
            return self.op
        return f"{self.op} ({Place(self.file, self.line)})"


class Finding(NamedTuple):
    """Why a source is connected or not, in words."""

    reason: Reason
    headline: str = ""
    details: Sequence[str] = ()
    fix: str = ""
    path: list[Step] = []  # noqa: RUF012  it is never changed


class Question:
    """What is asked of a tape, the same for all sources."""

    def __init__(
        self, tape: GradientTape, events: Sequence[Event], targets: list[Any], name: str
    ) -> None:
        self.tape = tape
        self.journal: Journal | None = tape._journal
        self.targets = targets
        self.name = name
        self.values = [t._value if isinstance(t, Variable) else t for t in targets]
        self.ids = [v._id or -1 - i for i, v in enumerate(self.values)]  # negative: seen by no tape
        made = {o for e in events if isinstance(e, Operation) for o in e.outputs}
        self.made_here = not made.isdisjoint(self.ids)
        # Nothing has used a target yet that came from outside, so it enters now.
        self.events = [*events, *(Entry(i, False, None) for i in self.ids if i not in made)]

    def follows(self, escape: Escape, entry: Entry) -> bool | None:
        """Whether the value that entered comes from the one that escaped, as far as the program's text tells."""
        names = source_names.assigned_names(escape.place.code)
        last = entry.place.line if entry.place is not None else _last_line(escape.place.file)
        names |= source_names.derived_names(escape.place.file, names, escape.place.line, last).keys()
        if entry.place is None:
            return True if self.name in names else None
        if entry.place == escape.place or source_names.mentions(entry.place.code, names):
            return True
        return None if escape.how in ("bool()", "format()") else False


def _last_line(file: str) -> int:
    return len(linecache.getlines(file))


def diagnose(question: Question, source: Tensor | Variable, name: str) -> Finding:
    """Finds out how the target depends on one source, which the user calls `name`."""
    if any(t is source for t in question.targets):
        return Finding(Reason.CONNECTED, "it is the target itself")
    if not source.dtype.is_differentiable:
        return Finding(
            Reason.NOT_FLOATING,
            f"its dtype is {source.dtype.name}, and only floating and complex tensors have gradients",
            fix=f"Make {name} a float: write 1.0 for 1, or use tf.cast(value, tf.float32) before it is used.",
        )
    if not any(v.dtype.is_differentiable for v in question.values):
        return _target_not_floating(question)
    start = _start(question, source)
    best = paths.routes(question.events, start, question.follows)
    reached = [t for t in question.ids if t in best]
    if not reached:
        if question.journal is None:
            return _unconnected_records(question, source, name, start)
        return _no_path(question, question.journal, source, name, start)
    hops = paths.hops(best, min(reached, key=lambda t: best[t][:2]))
    first = next((h for h in hops if h.obstacle), None)
    if first is None:
        return _connected(question, source, hops, paths.count(question.events, start, reached))
    return _obstructed(question, source, name, hops, first)._replace(path=_steps(hops))


def _start(question: Question, source: Tensor | Variable) -> Start:
    tape, journal = question.tape, question.journal
    epoch = len(journal.resets) if journal is not None else 0
    if isinstance(source, Tensor):
        return Start({source._id} if source._id else set(), False, epoch)
    if journal is not None:
        ids = journal.values_of(source)
    else:
        ids = {i for i, v in tape._reads.items() if v is source}
    return Start(ids, tape._watch_accessed and source.trainable, epoch)


def _target_not_floating(question: Question) -> Finding:
    dtype = question.values[0].dtype.name
    headline = f"{question.name} has dtype {dtype}, and only floating and complex tensors have gradients"
    maker = next(
        (e for e in question.events if isinstance(e, Operation) and question.ids[0] in e.outputs), None
    )
    details = []
    fix = "Take the gradient of a float."
    if maker is not None and maker.place is not None:
        details = [f"It was made by {_step(maker)}:", *_code(maker.place)]
        end = next((e for e in maker.ends if e is not None), None)
        if end is not None:
            fix = at_cut(maker.name, end, maker.dtype, len(maker.inputs) == 1)
    return Finding(Reason.NOT_FLOATING, headline, details, fix)


# A path without obstacles.


def _connected(question: Question, source: Tensor | Variable, hops: list[Hop], count: int) -> Finding:
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
                f"It was assigned to ({places[-1]}). Assignments are not differentiated: the gradient is taken at the "
                "value that was read."
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
        _step(h.event, cut=h.obstacle is not None) for h in hops if isinstance(h.event, Operation)
    ]


def _step(op: Operation, cut: bool = False) -> Step:
    file, line = op.place if op.place is not None else (None, None)
    return Step(public_name(op.name), file, line, cut)


def _code(place: Place | None) -> list[str]:
    return [place.code] if place is not None and place.code else []


# A path with an obstacle.


def _obstructed(
    question: Question, source: Tensor | Variable, name: str, hops: list[Hop], hop: Hop
) -> Finding:
    reason = hop.obstacle
    assert reason is not None
    if isinstance(hop.event, Entry):
        return _left(question, hop)
    op = hop.event
    code = _code(op.place)
    step = _step(op)
    if reason is Reason.NOT_WATCHED:
        finding = _not_watched(question, source, name, op)
        other = next((h for h in hops if h.obstacle and h is not hop), None)
        if other is not None:
            besides = _obstructed(question, source, name, hops, other).headline
            finding = finding._replace(details=[*finding.details, f"Besides, {besides}."])
        return finding
    if reason is Reason.CUT:
        fix = at_cut(op.name, op.ends[hop.position] or "", op.dtype, len(op.inputs) == 1)
        what = f"{op.name} to {op.dtype}" if op.name == "cast" else step.op
        if op.name == "cast_to_discrete":
            what = f"cast to {op.dtype}"
        return Finding(reason, f"the path is cut at {what} ({op.place})", code, fix)
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
    code = _code(escape.place)
    if entry.place is None:
        headline = f"{out}, and {question.name} was made from plain numbers"
    elif entry.place == escape.place:
        headline = f"{out}, and came back as a new tensor"
    else:
        headline = f"{out}, and came back as a new tensor ({entry.place})"
        code += _code(entry.place)
    if not hop.certain:
        headline = f"{out}, and may have come back as a new tensor ({entry.place})"
    return Finding(
        Reason.LEFT_TENSORFLOW,
        headline,
        code,
        "Stay with tensors all the way: tf.sin(x) for np.sin(x), x for x.numpy() or float(x).",
    )


def _not_watched(
    question: Question, source: Tensor | Variable, name: str, use: Operation | None
) -> Finding:
    watch = f"Call tape.watch({name}) at the start of the `with` block."
    where = "" if use is None or use.place is None else f" ({use.place})"
    code = _code(use.place) if use is not None else []
    late = _late_watch(question, source)
    if late is not None and question.journal is not None and late.epoch < len(question.journal.resets):
        place = question.journal.resets[-1]
        return Finding(
            Reason.RESET,
            f"it was watched ({late.place}) before the tape was reset ({place})",
            code,
            f"Call tape.watch({name}) again after tape.reset().",
        )
    if late is not None:
        return Finding(
            Reason.NOT_WATCHED,
            f"it was used{where} before it was watched ({late.place})",
            code,
            watch,
        )
    if isinstance(source, Tensor):
        return Finding(Reason.NOT_WATCHED, "it is not watched", code, watch)
    if not source.trainable:
        return Finding(
            Reason.NOT_TRAINABLE,
            "it is a variable with trainable=False, which tapes do not watch by themselves",
            code,
            f"{watch[:-1]}, or create it with trainable=True.",
        )
    return Finding(
        Reason.NOT_WATCHED,
        "it is not watched, and the tape was created with watch_accessed_variables=False",
        code,
        watch,
    )


def _late_watch(question: Question, source: Tensor | Variable) -> Watch | None:
    if question.journal is None:
        return None
    ids = _start(question, source).ids
    return next((e for e in reversed(question.events) if isinstance(e, Watch) and e.tensor in ids), None)


# No path at all.


def _no_path(
    question: Question, journal: Journal, source: Tensor | Variable, name: str, start: Start
) -> Finding:
    if not question.made_here and not any(isinstance(t, Variable) for t in question.targets):
        return Finding(
            Reason.TARGET_OUTSIDE,
            f"{question.name} was not computed while the tape was recording",
            fix=f"Compute {question.name} inside the `with` block.",
        )
    earlier = _before_tape(question, journal, name)
    if earlier is not None:
        return earlier
    uses = [e for e in question.events if isinstance(e, Operation) and not start.ids.isdisjoint(e.inputs)]
    if uses:
        last = uses[-1]
        details = [f"It was used last by {_step(last)}:", *_code(last.place)]
        return Finding(
            Reason.NO_PATH,
            f"{question.name} does not depend on it",
            details,
            _other_tensor(question, journal, source)
            or f"Check that {question.name} is computed from the result of that line.",
        )
    if isinstance(source, Tensor):
        return Finding(
            Reason.NEVER_USED,
            "no op on the tape used it",
            fix=_other_tensor(question, journal, source)
            or f"Compute {question.name} from this very tensor: a copy or a conversion of it is another one.",
        )
    read = journal.first_read(start.ids)
    if read is not None:
        return Finding(
            Reason.NEVER_USED,
            f"it was read ({read}), but no op on the tape used its value",
            _code(read),
            f"Compute {question.name} from it.",
        )
    return _never_read(question)


def _never_read(question: Question) -> Finding:
    return Finding(
        Reason.NEVER_USED,
        "it was never read while the tape was recording",
        fix=f"Use it inside the `with` block, where {question.name} is computed. A branch that was not taken, a layer "
        "that was not called and a use before the tape began all look like this.",
    )


def _before_tape(question: Question, journal: Journal, name: str) -> Finding | None:
    """Whether something the target needs was computed from the source before the tape began, by the program's text."""
    file, line = journal.begun
    derived = source_names.derived_names(file, {name}, 1, line - 1)
    if not derived:
        return None
    needed = paths.ancestors(question.events, question.ids)
    for event in question.events:
        if isinstance(event, Entry) and event.place is not None and event.tensor in needed:
            for local, where in derived.items():
                if event.place.file == file and source_names.mentions(event.place.code, {local}):
                    place = Place(file, where)
                    return Finding(
                        Reason.BEFORE_TAPE,
                        f"{local} was computed from it before the tape began ({place})",
                        _code(place),
                        "Move this line into the `with` block.",
                    )
    return None


def _other_tensor(question: Question, journal: Journal, source: Tensor | Variable) -> str:
    """What to ask for if the source is a tensor that came from a variable the target depends on."""
    if isinstance(source, Variable) or not source._id:
        return ""
    for identity in sorted(paths.ancestors(question.events, [source._id])):
        variable = journal.variable_with(identity)
        if variable is not None:
            best = paths.routes(question.events, _start(question, variable), question.follows)
            if any(t in best and best[t].cost == 0 for t in question.ids):
                return (
                    f"It is a tensor that came from the variable {variable.name!r}, and {question.name} uses the "
                    "variable itself: ask for the gradient with respect to the variable."
                )
    return ""


def _unconnected_records(
    question: Question, source: Tensor | Variable, name: str, start: Start
) -> Finding:
    """What can be said without a journal."""
    tape = question.tape
    if isinstance(source, Variable):
        if id(source) not in tape._watched:
            return _never_read(question) if start.watched_by_itself else _not_watched(question, source, name, None)
    elif source._id not in tape._tracked:
        return _not_watched(question, source, name, None)
    uses = [e for e in question.events if isinstance(e, Operation) and not start.ids.isdisjoint(e.inputs)]
    details = [f"It was used last by {_step(uses[-1])}."] if uses else ["No op that was recorded uses it."]
    if question.made_here:
        headline = f"{question.name} does not depend on it"
    else:
        headline = f"{question.name} does not depend on anything that was recorded"
        details.append(
            "It may have been computed outside the `with` block, or from values that have no gradient: "
            "tf.stop_gradient, integers, argmax, .numpy()."
        )
    return Finding(Reason.NO_PATH, headline, details, MORE_WITH_DEBUG)
