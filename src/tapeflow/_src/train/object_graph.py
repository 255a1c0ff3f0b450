"""Which objects a checkpoint holds: everything with a state that can be reached from one object by attributes.

The objects are found by what they can do and not by their class, so that Keras's layers, models, metrics and
optimizers are found without Keras: what holds a `tf.Variable` is a variable, what has `variables` has parts.
"""

from __future__ import annotations

import functools
import types
from collections import deque
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from tapeflow._src.core.tracked import Tracked
from tapeflow._src.core.variables.variable import Variable
from tapeflow._src.train.python_state import PythonState

VARIABLE = "VARIABLE_VALUE"
ITERATOR = "ITERATOR_STATE"
PYTHON = "py_state"
TABLE = "table"  # as TensorFlow calls it, which has the two tensors of these endings
TABLE_PARTS = ("-keys", "-values")

# What Keras keeps besides the attributes that a user sets: the same objects once more, in an order that changes when a
# model is built. A model's `layers` is in their place.
_KERAS_LISTS = frozenset(
    {
        "_functional",
        "_inbound_nodes",
        "_layers",
        "_nodes",
        "_nodes_by_depth",
        "_operations",
        "_operations_by_depth",
        "_outbound_nodes",
        "_tracker",
    }
)


def variable_of(value: Any) -> Variable | None:
    """The variable that an object is, or that is inside a Keras variable."""
    if isinstance(value, Variable):
        return value
    inner = getattr(value, "__dict__", _NOTHING).get("_value")
    return inner if isinstance(inner, Variable) else None


_NOTHING: dict[str, Any] = {}


def is_iterator(value: Any) -> bool:
    """Whether it is an iterator over a dataset, which knows how far it has come."""
    kind = type(value)
    return hasattr(kind, "_checkpoint_state") and hasattr(kind, "_restore_state")


def is_tracked(value: Any) -> bool:
    """Whether a checkpoint saves an object, or looks into it."""
    if isinstance(value, (Variable, Tracked, list, tuple, dict)):
        return True
    kind = type(value)
    if kind in _PLAIN or isinstance(value, _FOREIGN):
        return False
    return variable_of(value) is not None or is_iterator(value) or _has_parts(kind, value)


_PLAIN = frozenset({bool, int, float, complex, str, bytes, type(None)})
_FOREIGN = (type, types.ModuleType, types.FunctionType, types.MethodType)


_OF_FUNCTIONS = ("get_concrete_function", "structured_input_signature")


def _has_parts(kind: type, value: Any) -> bool:
    if hasattr(kind, "variables"):  # and is not a traced function, which only uses them
        return not any(hasattr(kind, name) for name in _OF_FUNCTIONS)
    held = getattr(value, "__dict__", _NOTHING)
    return any(variable_of(held.get(name)) is not None for name in ("state", "_state"))


def children(owner: Any) -> dict[str, Any]:
    """The objects inside an object that a checkpoint looks at, by name."""
    if isinstance(owner, (list, tuple)):
        return {str(i): value for i, value in enumerate(owner) if is_tracked(value)}
    if isinstance(owner, dict):
        return _items(owner)
    if variable_of(owner) is not None or is_iterator(owner) or isinstance(owner, PythonState):
        return {}
    held = getattr(owner, "__dict__", _NOTHING)
    if isinstance(owner, Tracked) and not _is_keras(owner):
        found = {name: value for name, value in held.items() if is_tracked(value)}
    else:
        found = {
            k: value for k, value in held.items() if k not in _KERAS_LISTS and is_tracked(value)
        }
        layers = getattr(owner, "layers", None)
        if isinstance(layers, list):
            found["layers"] = layers
    return found


def tensorflow_children(owner: Any) -> dict[str, Any]:
    """The same as TensorFlow tracks them: Keras's layers are in a model's list of operations.

    It does not know the seeds of Keras's layers, and what a model counts while it trains.
    """
    found = children(owner)
    if not isinstance(owner, (list, tuple, dict)) and _is_keras(owner):
        held = vars(owner)
        found |= {k: held[k] for k in _TENSORFLOWS if isinstance(held.get(k), (list, Tracked))}
        order = [name for name in held if name in found and name not in _OF_TRAINING]
        found = {k: found[k] for k in order if type(found[k]).__name__ != "SeedGenerator"}
    return found


_TENSORFLOWS = ("_functional", "_operations")
_OF_TRAINING = frozenset({"_compile_metrics", "_loss_tracker", "_seed_generators"})

Children = Callable[[Any], dict[str, Any]]


def _is_keras(owner: Any) -> bool:
    return any(kind.__module__.startswith("keras.") for kind in type(owner).__mro__)


def _items(owner: dict[Any, Any]) -> dict[str, Any]:
    found = {key: value for key, value in owner.items() if is_tracked(value)}
    for key, value in found.items():
        if not isinstance(key, str) and any(True for _ in leaves(value)):
            raise ValueError(
                f"A checkpoint cannot hold the dictionary with the key {key!r} of type {type(key).__name__}, whose "
                "value is or contains a variable: the keys must be strings. Use "
                f"{str(key)!r} as the key, or keep the dictionary where the checkpoint does not look."
            )
    return {key: value for key, value in found.items() if isinstance(key, str)}


def child(owner: Any, name: str) -> Any:
    """The object of a name inside another, or None."""
    return children(owner).get(name)


class Found(NamedTuple):
    """An object that was reached, and how."""

    value: Any
    path: tuple[str, ...]
    number: int


def identity(value: Any) -> int:
    """The same for a Keras variable and the variable inside it."""
    inner = variable_of(value)
    return id(value if inner is None else inner)


def walk(
    root: Any, more: dict[str, Any] | None = None, inside_of: Children = children
) -> Iterator[tuple[Found, dict[str, int]]]:
    """All objects from a root on, nearest first, each with the numbers of its children.

    Args:
      root: where to begin.
      more: further children of the root.
      inside_of: what gives the children of an object.
    """
    first = Found(root, (), 0)
    numbers = {identity(root): 0}
    waiting = deque([first])
    alive = []  # lists that are made when they are asked for must not be mistaken for each other
    while waiting:
        found = waiting.popleft()
        inside = inside_of(found.value)
        if more and not found.path:
            inside = {**inside, **more}
        alive.append(inside)
        named: dict[str, int] = {}
        for name, value in inside.items():
            key = identity(value)
            if key not in numbers:
                numbers[key] = len(numbers)
                waiting.append(Found(value, (*found.path, name), numbers[key]))
            named[name] = numbers[key]
        yield found, named


def leaves(root: Any, inside_of: Children = children) -> Iterator[Any]:
    """The objects with a state of their own, from a root on."""
    for found, _ in walk(root, None, inside_of):
        value = found.value
        if variable_of(value) is not None or is_iterator(value) or isinstance(value, PythonState):
            yield value


def key_of(path: tuple[str, ...], attribute: str) -> str:
    """The name of a tensor in a checkpoint, as in TensorFlow."""
    return "/".join([*map(_escaped, path), ".ATTRIBUTES", attribute])


def _escaped(name: str) -> str:
    return name.replace(".", "..").replace("/", ".S")


def path_text(path: tuple[str, ...]) -> str:
    """A way through the objects in words, as in TensorFlow: `(root).model.w`."""
    return functools.reduce(lambda text, name: f"{text}.{name}", path, "(root)")
