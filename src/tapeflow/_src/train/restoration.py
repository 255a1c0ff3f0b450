"""Putting the values of a checkpoint into objects, also into those that are made later.

The objects of the program are matched with those in the checkpoint from the root on, by the names of attributes. Where
the checkpoint has an attribute that the object does not have yet, the object is told to expect it (see
`core.tracked`): when it is set, matching goes on from there. Lists and dictionaries that still miss something are
replaced by ones that notice what is added to them.
"""

from __future__ import annotations

import atexit
import contextlib
import functools
import sys
import weakref
from collections import deque
from typing import Any

from tapeflow._src.core.context import context
from tapeflow._src.core.errors import InvalidArgumentError
from tapeflow._src.core.log import get_logger
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.core.tracked import Tracked
from tapeflow._src.core.variables.variable import Variable
from tapeflow._src.tensorflow_files.bundle import Bundle
from tapeflow._src.train.iterator_state import state_of
from tapeflow._src.train.object_graph import (
    ITERATOR,
    PYTHON,
    TABLE,
    TABLE_PARTS,
    VARIABLE,
    children,
    identity,
    is_tracked,
    tensorflow_children,
    variable_of,
)
from tapeflow._src.train.python_state import PythonState
from tapeflow._src.train.saving import Node, opened


class Restoration:
    """A checkpoint that is being restored into objects.

    Args:
      prefix: of the checkpoint.
      root: what was saved.
      more: further children of the root, by name.
    """

    def __init__(self, prefix: str, root: Any, more: dict[str, Any]) -> None:
        # Nobody complains of what is missing until the values that are there have found their places.
        self.partial_expected = True
        self.prefix = prefix
        file, self.nodes = opened(prefix)
        self.file: Any = file  # let go when nothing is missing any more
        self._is_tensorflows = isinstance(file, Bundle)
        self.children = tensorflow_children if self._is_tensorflows else children
        self.bound: dict[int, Any] = {}  # objects of the program by number of the node
        self.numbers: dict[int, int] = {}  # and back
        for name, value in more.items():
            if name in self.nodes[0].children:
                self._bind(self.nodes[0].children[name], value)
        self._bind(0, root)
        self.partial_expected = False
        self._finish()
        _remember(self)

    # Matching.

    def _bind(self, number: int, value: Any) -> None:
        """Matches an object with a node, and what is inside it with what is inside that."""
        waiting = deque([(number, value)])
        while waiting:
            number, value = waiting.popleft()
            if not self._take(number, value):
                continue
            inside = self.children(value)
            missing = False
            for name, inner in self.nodes[number].children.items():
                if name not in inside:
                    missing |= inner not in self.bound
                    continue
                found = inside[name]
                if type(found) in _NOTICING and self._misses(inner, found, set()):
                    found = _replaced(value, name, found)
                waiting.append((inner, found))
            if missing:
                _expect(value, self, number)

    def _take(self, number: int, value: Any) -> bool:
        """Restores the object itself. False if it is known already, or somebody else is in its place."""
        if not isinstance(value, (list, tuple, dict)):
            here = self.bound.get(number)
            if here is not None:
                if identity(here) != identity(value):
                    self._warn_of_two(number, here, value)
                return False
            self.bound[number] = value
            if identity(value) in self.numbers:  # two objects then, one now: the first one counts
                return False
            self.numbers[identity(value)] = number
        else:
            self.bound[number] = value
        try:
            for kind, key in self.nodes[number].values.items():
                self._restore(kind, key, value, number)
        except BaseException:  # nobody is to take it for restored
            self.bound.pop(number, None)
            self.numbers.pop(identity(value), None)
            raise
        return True

    def _restore(self, kind: str, key: str, value: Any, number: int) -> None:
        if kind == PYTHON and isinstance(value, PythonState):
            value.deserialize(self.file.read(key)[()])
            return
        if self._is_tensorflows and kind == TABLE and hasattr(value, "_import_from_tensorflow"):
            try:
                arrays = [self.file.read(key + ending) for ending in TABLE_PARTS]
                value._import_from_tensorflow(*arrays)
            except (KeyError, ValueError, TypeError) as error:
                raise self.file.refused(f"{key!r} is no table of this kind ({error!r})") from error
            return
        if self._is_tensorflows and kind != VARIABLE:
            get_logger().warning(
                "The checkpoint %s was written by TensorFlow: the %s at %s is left as it is.",
                *(self.prefix, _WORDS.get(kind, kind), self.nodes[number].text),
            )
            return
        if kind == ITERATOR and hasattr(value, "_restore_state"):
            try:
                state = state_of(key, self.file.read)
            except (ValueError, *_NONSENSE) as error:
                raise self.file.refused(f"{key!r} is no iterator's state ({error!r})") from error
            try:
                value._restore_state(state)
            except _NONSENSE as error:
                raise self.file.refused(f"{key!r} tells no place ({error!r})") from error
            return
        variable = variable_of(value)
        if kind != VARIABLE or variable is None:
            raise ValueError(
                f"The checkpoint {self.prefix} has a {_WORDS.get(kind, kind)} at {self.nodes[number].text}, and the "
                f"program has an object of type {type(value).__name__} there."
            )
        _assign(variable, self.file, key, self.prefix)

    def _misses(self, number: int, value: Any, seen: set[int]) -> bool:
        """Whether a container has less inside than the checkpoint, at any depth of plain containers."""
        seen.add(number)
        inside = self.children(value)
        for name, inner in self.nodes[number].children.items():
            if name not in inside:
                return True
            found = inside[name]
            if inner not in seen and type(found) in _NOTICING and self._misses(inner, found, seen):
                return True
        return False

    def _warn_of_two(self, number: int, here: Any, value: Any) -> None:
        get_logger().warning(
            "Inconsistent references when loading the checkpoint %s into this object graph: the object at %s in the "
            "checkpoint is one, and the program has two in its place. Only the first was restored: %r, and not %r.",
            self.prefix,
            self.nodes[number].text,
            here,
            value,
        )

    # What comes later.

    def arrived(self, owner: Any, number: int, name: str, value: Any) -> Any:
        """Restores a new attribute of a known object, and gives what to put in its place."""
        inner = self.nodes[number].children.get(name)
        if inner is None or inner in self.bound or not is_tracked(value):
            return value
        if type(value) in _NOTICING and self._misses(inner, value, set()):
            value = _NOTICING[type(value)](value)
        self._bind(inner, value)
        self._finish()
        return value

    def again(self, root: Any, more: dict[str, Any]) -> None:
        """Looks for what has appeared in places that do not tell."""
        if self.file is None:
            return
        waiting = deque([(0, root)])
        waiting += [
            (self.nodes[0].children[k], v) for k, v in more.items() if k in self.nodes[0].children
        ]
        seen = set()
        while waiting:
            number, value = waiting.popleft()
            if number in seen:
                continue
            seen.add(number)
            if number not in self.bound:
                self._bind(number, value)
            inside = self.children(value)
            for name, inner in self.nodes[number].children.items():
                if name in inside:
                    waiting.append((inner, inside[name]))
        self._finish()

    def _finish(self) -> None:
        if self.file is not None and not self.unresolved():
            self.file = None

    def unresolved(self) -> list[Node]:
        """The objects with values that the program does not have."""
        return [n for i, n in enumerate(self.nodes) if n.values and i not in self.bound]

    def expects(self, number: int) -> bool:
        """Whether something inside an object is still missing."""
        return any(inner not in self.bound for inner in self.nodes[number].children.values())

    def complain(self) -> None:
        """Logs what nobody has asked for, unless that was to be expected."""
        left = [] if self.partial_expected else self.unresolved()
        if left:
            self.partial_expected = True
            names = ", ".join(node.text for node in left[:5])
            get_logger().warning(
                "Restoring the checkpoint %s left %d of its values unused, because the objects were never made: %s%s. "
                "If that is intended, call status.expect_partial() on what restore() returned.",
                self.prefix,
                len(left),
                names,
                " and others" if len(left) > 5 else "",
            )

    def __del__(self) -> None:
        if not sys.is_finalizing() and hasattr(self, "nodes"):
            self.complain()


_NONSENSE = (LookupError, TypeError, AttributeError, RecursionError)
_WORDS = {
    VARIABLE: "variable",
    ITERATOR: "dataset iterator",
    "ITERATOR": "dataset iterator",  # as TensorFlow calls it
    TABLE: "table",
}


def _assign(variable: Variable, file: Any, key: str, prefix: str) -> None:
    entry = file.entries[key]
    # What Keras counts steps with is int64 with TensorFlow.
    counts = isinstance(file, Bundle) and entry.dtype.is_integer and variable.dtype.is_integer
    if entry.dtype is not variable.dtype and not (counts and not entry.shape):
        raise InvalidArgumentError(
            None,
            None,
            f"The checkpoint {prefix} has {entry.dtype.name} at {key!r}, and the variable {variable.name!r} has "
            f"dtype {variable.dtype.name}. Make the variable with dtype=tf.{entry.dtype.name}, or read the value with "
            "tf.train.load_variable and cast it.",
        )
    if not variable.shape.is_compatible_with(entry.shape):
        raise ValueError(
            f"Received incompatible tensor with shape {entry.shape} when attempting to restore variable with shape "
            f"{variable.shape} and name {variable.name}. It is at {key!r} in the checkpoint {prefix}."
        )
    read = file.read(key)
    value = Tensor(read.astype(variable.dtype.np_dtype) if counts else read)
    # A variable may be made while a function is traced: its value is put in before the function runs, not by it.
    with contextlib.nullcontext() if context.tracer is None else context.tracer.suspended():
        variable.assign(value)


# Objects that expect something.


class Expectations:
    """For one object, the restorations that have values for attributes it does not have yet."""

    def __init__(self) -> None:
        self.waiting: list[tuple[Restoration, int]] = []

    def arrived(self, owner: Any, name: str, value: Any) -> Any:
        """Restores a new attribute from the latest restoration that has it."""
        if hasattr(type(value), "_when_made") and value._value is None:
            # A variable of Keras, in a layer that is built while only shapes are known: its value comes later.
            value._when_made = functools.partial(self.arrived, owner, name, value)
            return value
        for restoration, number in reversed(self.waiting):
            inner = restoration.nodes[number].children.get(name)
            if inner is not None and inner not in restoration.bound:
                value = restoration.arrived(owner, number, name, value)
                break
        self.waiting = [(r, n) for r, n in self.waiting if r.expects(n)]
        if not self.waiting:
            vars(owner).pop("_expecting", None)
        return value


def _expect(owner: Any, restoration: Restoration, number: int) -> None:
    if not isinstance(owner, (Tracked, NoticingList, NoticingDict)):
        return  # it cannot tell: `again` finds what is new
    expecting = vars(owner).setdefault("_expecting", Expectations())
    expecting.waiting.append((restoration, number))


class NoticingList(list[Any]):
    """A list that restores what is added to it."""

    def _noticed(self, begin: int) -> None:
        for i in range(begin, len(self)):
            expecting = self.__dict__.get("_expecting")
            if expecting is not None:
                super().__setitem__(i, expecting.arrived(self, str(i), self[i]))

    def append(self, value: Any) -> None:
        """Adds an element."""
        super().append(value)
        self._noticed(len(self) - 1)

    def extend(self, values: Any) -> None:
        """Adds elements."""
        before = len(self)
        super().extend(values)
        self._noticed(before)

    def insert(self, index: Any, value: Any) -> None:
        """Adds an element somewhere."""
        super().insert(index, value)
        self._noticed(0)

    def __iadd__(self, values: Any) -> NoticingList:
        self.extend(values)
        return self

    def __reduce__(self) -> Any:
        return list, (list(self),)


class NoticingDict(dict[Any, Any]):
    """A dictionary that restores what is added to it."""

    def __setitem__(self, key: Any, value: Any) -> None:
        expecting = self.__dict__.get("_expecting")
        if expecting is not None:
            value = expecting.arrived(self, key, value)
        super().__setitem__(key, value)

    def update(self, *args: Any, **kwargs: Any) -> None:
        """Adds elements."""
        for key, value in dict(*args, **kwargs).items():
            self[key] = value

    def setdefault(self, key: Any, default: Any = None) -> Any:
        """Adds an element that is not there yet."""
        if key not in self:
            self[key] = default
        return self[key]

    def __ior__(self, other: Any) -> NoticingDict:  # pyright: ignore[reportIncompatibleMethodOverride]
        self.update(other)
        return self

    def __reduce__(self) -> Any:
        return dict, (dict(self),)


_NOTICING: dict[type, type] = {list: NoticingList, dict: NoticingDict}


def _replaced(owner: Any, name: str, value: Any) -> Any:
    """Puts a container that notices in the place of a plain one, where its owner is one that tells."""
    new = _NOTICING[type(value)](value)
    if isinstance(owner, NoticingList):
        list.__setitem__(owner, int(name), new)
    elif isinstance(owner, NoticingDict):
        dict.__setitem__(owner, name, new)
    elif isinstance(owner, Tracked) and type(owner).__setattr__ is Tracked.__setattr__:
        object.__setattr__(owner, name, new)
    else:
        return value
    return new


# Values that nobody asks for until the program ends.

_live: weakref.WeakSet[Restoration] = weakref.WeakSet()


def _remember(restoration: Restoration) -> None:
    if restoration.file is not None:
        if not _live:
            atexit.register(_complain)
        _live.add(restoration)


def _complain() -> None:
    for restoration in list(_live):
        restoration.complain()
