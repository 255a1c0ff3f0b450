"""Findings for sources that no path leads from, and for those that nobody watched."""

from __future__ import annotations

from tapeflow._src.autodiff.explain import paths, source_names
from tapeflow._src.autodiff.explain.findings import Finding, Question, code_at, step_of
from tapeflow._src.autodiff.explain.journal import Entry, Journal, Operation, Place, Watch
from tapeflow._src.autodiff.explain.paths import Reason, Start
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.core.variables.variable import Variable

MORE_WITH_DEBUG = (
    "For the line where the path is cut, create the tape with tf.GradientTape(debug=True)."
)


def no_path(
    question: Question, journal: Journal, source: Tensor | Variable, name: str, start: Start
) -> Finding:
    """Why there is no path at all from a source, by the journal."""
    if not question.made_here and not any(isinstance(t, Variable) for t in question.targets):
        return Finding(
            Reason.TARGET_OUTSIDE,
            f"{question.name} was not computed while the tape was recording",
            fix=f"Compute {question.name} inside the `with` block.",
        )
    earlier = _before_tape(question, journal, name)
    if earlier is not None:
        return earlier
    uses = [
        e
        for e in question.events
        if isinstance(e, Operation) and not start.ids.isdisjoint(e.inputs)
    ]
    if uses:
        last = uses[-1]
        details = [f"It was used last by {step_of(last)}:", *code_at(last.place)]
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
            or f"Compute {question.name} from this very tensor: a copy of it is another one.",
        )
    read = journal.first_read(start.ids)
    if read is not None:
        return Finding(
            Reason.NEVER_USED,
            f"it was read ({read}), but no op on the tape used its value",
            code_at(read),
            f"Compute {question.name} from it.",
        )
    return _never_read(question)


def _never_read(question: Question) -> Finding:
    return Finding(
        Reason.NEVER_USED,
        "it was never read while the tape was recording",
        fix=f"Use it inside the `with` block, where {question.name} is computed. A branch that was "
        "not taken, a layer not called and a use before the tape began all look like this.",
    )


def _before_tape(question: Question, journal: Journal, name: str) -> Finding | None:
    """What the target needs and the program's text computes from the source before the tape."""
    file, line = journal.begun
    derived = source_names.derived_names(journal.begun, {name}, last=line - 1)
    if not derived:
        return None
    needed = paths.ancestors(question.events, question.ids)
    for event in question.events:
        if isinstance(event, Entry) and event.place is not None and event.tensor in needed:
            used = source_names.names_used(event.place.code)
            for local, where in derived.items():
                if event.place.file == file and local in used:
                    place = Place(file, where)
                    return Finding(
                        Reason.BEFORE_TAPE,
                        f"{local} was computed from it before the tape began ({place})",
                        code_at(place),
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
            best = paths.routes(question.events, question.start(variable), question.follows)
            if any(t in best and best[t].cost == 0 for t in question.ids):
                return (
                    f"It is a tensor that came from the variable {variable.name!r}, and "
                    f"{question.name} uses the variable itself: ask for the gradient with respect "
                    "to the variable."
                )
    return ""


def not_recorded(question: Question, source: Tensor | Variable, name: str, start: Start) -> Finding:
    """What can be said without a journal."""
    tape = question.tape
    if isinstance(source, Variable):
        if id(source) not in tape._watched:
            return (
                _never_read(question)
                if start.watched_by_itself
                else not_watched(question, source, name, None)
            )
    elif source._id not in tape._tracked:
        return not_watched(question, source, name, None)
    uses = [
        e
        for e in question.events
        if isinstance(e, Operation) and not start.ids.isdisjoint(e.inputs)
    ]
    details = (
        [f"It was used last by {step_of(uses[-1])}."]
        if uses
        else ["No op that was recorded uses it."]
    )
    if question.made_here:
        headline = f"{question.name} does not depend on it"
    else:
        headline = f"{question.name} does not depend on anything that was recorded"
        details.append(
            "It may have been computed outside the `with` block, or from values that have no "
            "gradient: tf.stop_gradient, integers, argmax, .numpy()."
        )
    return Finding(Reason.NO_PATH, headline, details, MORE_WITH_DEBUG)


def not_watched(
    question: Question, source: Tensor | Variable, name: str, use: Operation | None
) -> Finding:
    """Why the tape did not follow a source in its first `use`."""
    watch = f"Call tape.watch({name}) at the start of the `with` block."
    where = "" if use is None or use.place is None else f" ({use.place})"
    code = code_at(use.place) if use is not None else []
    late = _late_watch(question, source)
    if (
        late is not None
        and question.journal is not None
        and late.epoch < len(question.journal.resets)
    ):
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
    ids = question.start(source).ids
    return next(
        (e for e in reversed(question.events) if isinstance(e, Watch) and e.tensor in ids), None
    )
