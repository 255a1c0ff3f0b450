"""A tape that has recorded: its records are the forward steps, and its walk back is watched."""

from __future__ import annotations

from typing import Any

from tapeflow._src.autodiff.explain.answers import SourceExplanation
from tapeflow._src.autodiff.explain.journal import Operation
from tapeflow._src.autodiff.tape import GradientTape
from tapeflow._src.autodiff.targets_and_sources import seeds_of, tensors_in, variable_of
from tapeflow._src.inspector.collecting import Collected, Gradient
from tapeflow._src.inspector.explaining import unconnected
from tapeflow._src.inspector.kept import formula, tensors_behind, words
from tapeflow._src.inspector.observer import Observer
from tapeflow._src.inspector.steps import Alive, Step, numbers_of
from tapeflow._src.profiler.memory import owner_of
from tapeflow._src.profiler.ways import Place


def collected_tape(tape: GradientTape, target: Any = None, sources: Any = None) -> Collected:
    """What a tape holds; and with a target and sources, the walk back and why some have no gradient."""
    if tape._records is None:
        raise RuntimeError(
            "tapeflow.inspect: this tape has nothing left to show: it let go of its records when a gradient was "
            "computed. Inspect it before that, or create it with tf.GradientTape(persistent=True)."
        )
    steps, arrays, numbers = _recorded(tape)
    missing: list[SourceExplanation] = []
    gradients: list[Gradient] = []
    if target is not None and sources is not None:
        missing = unconnected(tape, target, sources, ("subject", "target", "sources"))
        observer = Observer()
        observer.begin_after(steps, numbers)
        seeds = seeds_of(tape, target, None)
        flat = tensors_in(sources)
        with observer:
            found = tape._backward(seeds, flat, release=False)
        steps, arrays = observer.steps, [*arrays, *observer.arrays]
        lost = iter(missing)
        for source, g in zip(flat, found, strict=True):
            variable = variable_of(source)
            name = "source" if variable is None else variable.name.removesuffix(":0")
            reason = next(lost, None) if g is None else None
            name = name if reason is None else reason.name
            shape = f"{source.dtype.name}{list(source.shape)}"
            gradients.append(Gradient(name, shape, 0, numbers_of(g), reason))
    return Collected("a tape", steps, arrays, gradients, 0, 0, 0)


def _recorded(tape: GradientTape) -> tuple[list[Step], list[Alive], dict[int, int]]:
    """The records as steps, what they keep as arrays, and for each identity the step that made it."""
    numbers: dict[int, int] = {}
    steps: list[Step] = []
    arrays: list[Alive] = []
    held: set[int] = set()
    journal = tape._journal
    places = (
        {e.outputs[0]: e for e in journal.events if isinstance(e, Operation) and e.outputs}
        if journal is not None
        else {}
    )
    names = {i: v.name for i, v in tape._reads.items()}
    own = {id(owner_of(v._now()._array)) for v in tape._watched.values()}
    for output, operation, edges in tape._records or ():
        joint = type(output) is not int
        ids = output if joint else (output,)
        step = Step(len(steps), operation.name)
        sources = [i for i in edges if i] if joint else [edge[0] for edge in edges]
        step.inputs = [numbers.get(i, names.get(i)) for i in sources]
        rules = [] if joint else [rule for _, rule, _ in edges]
        step.keeps, step.formula = ([], "") if joint else (words(operation, rules), formula(rules))
        if joint:
            step.shapes = [str(spec) for spec in operation.outputs]
        known = places.get(ids[0])
        if known is not None and known.place is not None:
            step.place = Place(*known.place)
        for x in tensors_behind(operation.pullback if joint else [kept for _, _, kept in edges]):
            holder = owner_of(x._array)
            if holder is not None and id(holder) not in held and id(holder) not in own:
                held.add(id(holder))
                step.kept += holder.nbytes
                arrays.append(Alive(step.number, None, holder.nbytes))
        numbers.update(dict.fromkeys(ids, step.number))
        steps.append(step)
    return steps, arrays, numbers
