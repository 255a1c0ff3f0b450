"""What is called: every public name, the methods of public classes, operators."""

from __future__ import annotations

import enum
import inspect
from collections.abc import Iterator
from typing import Any

from tests.differential.calls import Entry
from tests.differential.catalogue import CATALOGUE
from tests.differential.draw import Dice, Draw, arrays, code, shapes
from tests.differential.values import Code
from tests.hostile.oddities import anything, odd
from tests.hostile.plausible import EXPRESSIONS, OBJECTS, PLAUSIBLE

from tapeflow._src.core.missing import namespaces, public_names

NOT_CALLED = {
    "tf.test.main": "ends the process",
    "tf.test.TestCase": "Python's own class for tests",
    "tf.distribute.MultiWorkerMirroredStrategy": "may be made once a process, before anything else",
    "tf.distribute.experimental.MultiWorkerMirroredStrategy": "may be made once a process, before anything else",
    "tf.config": "changes settings of the process, which other calls would see",
    "tf.debugging.enable_check_numerics": "changes what every later call does",
    "tf.debugging.disable_traceback_filtering": "changes what every later error shows",
    "tf.debugging.set_log_device_placement": "changes what every later call writes",
    "tf.autograph.set_verbosity": "changes what every later call writes",
    "tf.random.set_global_generator": "changes what every later call gives",
    "tf.random.experimental.set_global_generator": "changes what every later call gives",
    "tf.summary.experimental.set_step": "changes what every later summary needs",
    "tf.summary.SummaryWriter.set_as_default": "changes what every later summary does",
    "tf.autograph.trace": "Python's own print",
    "tf.get_logger": "Python's own logger",
    "tf.Tensor": "users get it, and do not make it",
    "tf.Operation": "users get it, and do not make it",
    "tf.experimental.numpy.ndarray": "users get it, and do not make it",
    "tf.types.experimental.AtomicFunction": "users get it, and do not make it",
    "tf.types.experimental.ConcreteFunction": "users get it, and do not make it",
    "tf.train.checkpoints_iterator": "waits for files, for ever if it is told to",
    "tf.data.Iterator": "users get it, and do not make it",
    "tf.data.NumpyIterator": "users get it, and do not make it",
    "tf.progress": "draws on the terminal",
    **{
        f"tf.{tape}.{name}": "part of how tapes hear of ops"
        for tape in ("GradientTape", "autodiff.ForwardAccumulator")
        for name in ("follows", "note", "read", "record", "record_call")
    },
}
"""With the reason. A name stands for all that is in it."""

ANY = Draw(lambda dice, drawn: anything(dice))


def entries() -> dict[str, Entry]:
    """All that is called, by label."""
    found: dict[str, Entry] = dict(CATALOGUE)
    called = {id(find(f"tf.{e.name}")) for e in CATALOGUE.values() if e.expression is None}
    for name, value in public():
        if inspect.isclass(value):
            found.update(methods(name, value))
        if id(value) not in called and not is_excluded(name):
            called.add(id(value))
            found[name] = of_signature(name.removeprefix("tf."), value)
    x = arrays(
        shape=shapes(0, 2),
        dtypes=("float32", "int32", "bool", "float64"),
        forms=("tensor", "tensor", "variable"),
    )
    for text in EXPRESSIONS:
        found[text] = Entry(text, {"x": x, "y": ANY}, expression=text)
    return found


def public() -> Iterator[tuple[str, Any]]:
    """Public functions and classes."""
    for place, module in namespaces():
        for name in public_names(module):
            value = getattr(module, name)
            is_kind = inspect.isclass(value) and issubclass(value, (enum.Enum, Exception))
            ours = getattr(value, "__module__", "").startswith("tapeflow.")
            if callable(value) and ours and not is_kind:
                yield f"{place}.{name}", value


def find(name: str) -> Any:
    """What a dotted name stands for."""
    places = dict(namespaces())
    place, _, last = name.rpartition(".")
    return getattr(places[place], last, None) if place in places else None


def is_excluded(name: str) -> bool:
    """Whether a name is not called, or a namespace around it is not."""
    parts = name.split(".")
    around = [".".join(parts[:i]) for i in range(2, len(parts)) if parts[i - 1].islower()]
    return any(each in NOT_CALLED for each in (*around, name))


def of_signature(name: str, value: Any, receiver: str | None = None) -> Entry:
    """An entry whose arguments are drawn by the names of the parameters."""
    try:
        parameters = list(inspect.signature(value).parameters.values())
    except (TypeError, ValueError):
        parameters = []
    if receiver is not None and parameters and parameters[0].name in ("self", "cls"):
        parameters = parameters[1:]
    named = [p for p in parameters if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)]
    draws = {p.name: PLAUSIBLE.get(p.name, ANY) for p in named if p.default is p.empty}
    several = any(p.kind is p.VAR_POSITIONAL for p in parameters)
    if receiver is None and not several:
        return Entry(name, draws)
    called = f"tf.{name}" if receiver is None else f"(self).{name.rpartition('.')[2]}"
    passed = [*(["*few(args)"] if several else []), *(f"{n}={n}" for n in draws), "**more"]
    if several:
        draws["args"] = Draw(lambda dice, drawn: [PLAUSIBLE["x"].make(dice, drawn)])
    draws["more"] = optional([p.name for p in named if p.default is not p.empty])
    if receiver is not None:
        draws["self"] = code(receiver)
    return Entry(name, draws, expression=f"{called}({', '.join(passed)})")


def optional(names: list[str]) -> Draw:
    """Arguments that may be left out: mostly none, now and then one."""

    def make(dice: Dice, drawn: dict[str, Any]) -> Code:
        if not names or dice.chance(0.6):
            return Code("{}")
        return Code(f"{{{dice.one(names)!r}: {odd(dice)}}}")

    return Draw(make)


def methods(name: str, kind: type) -> Iterator[tuple[str, Entry]]:
    """The public methods of a class, on each object that is known for it."""
    names = [m for m in dir(kind) if not m.startswith("_") or m == "__call__"]
    for number, receiver in enumerate(OBJECTS.get(name, ())):
        for method in names:
            value = getattr(kind, method, None)  # what is `Absent` is in the class, and not there
            if not callable(value) or is_excluded(f"{name}.{method}"):
                continue
            bound = inspect.getattr_static(kind, method)
            of_class = isinstance(bound, (classmethod, staticmethod))
            label = f"{name}.{method}" + (f" of object {number}" if number else "")
            if of_class:
                if not number:
                    yield label, of_signature(f"{name.removeprefix('tf.')}.{method}", value)
            else:
                yield label, of_signature(f"{name}.{method}", value, receiver)
