"""The functions of a graph that TensorFlow wrote, each as a row of steps in an order in which they can be run.

What a step takes and gives follows from the descriptions of ops in `descriptions.py`. Everything that a function refers
to is looked up here, so that what is damaged is found before something is run. An op that is not described is an error
only where it is run.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from tapeflow._src.core.dtypes import DType, as_dtype
from tapeflow._src.tensorflow_files.descriptions import Argument, Description, descriptions
from tapeflow._src.tensorflow_files.messages import Damage, Record
from tapeflow._src.tensorflow_files.structures import array_of, shape_of

_MOST_OUTPUTS = 2**20
_DEEPEST = 100
INPUTS = -1  # as the number of a step: the inputs of the function


class Place(NamedTuple):
    """Where a value comes from: which output of which step."""

    step: int
    output: int


class Step(NamedTuple):
    """A node of a function: what is run, on what."""

    name: str
    op: str
    inputs: dict[str, Any]  # by name a place, or a list of them
    attrs: dict[str, Any]
    unusual: tuple[str, ...]  # attributes that are not what they are by default
    outputs: int


class GraphFunction(NamedTuple):
    """A function."""

    name: str
    inputs: int
    steps: list[Step]
    results: list[Place]


class HandleType(int):
    """The type of something that is no tensor, such as a variable, by its number."""


class FunctionName(str):
    """The name of a function, as the value of an attribute."""

    __slots__ = ()


class Library:
    """The functions of a graph by name.

    Args:
      functions: as they are in the file.
    """

    def __init__(self, functions: Sequence[Record]) -> None:
        self._functions = {f.signature.name: f for f in functions}
        self._planned: dict[str, GraphFunction] = {}

    def __contains__(self, name: str) -> bool:
        return name in self._functions

    def __getitem__(self, name: str) -> GraphFunction:
        if name not in self._planned:
            if name not in self._functions:
                raise Damage(f"there is no function {name[:200]!r}")
            function = self._functions[name]
            arguments = [a.name for a in function.signature.input_arg]
            planner = Planner(function.node_def, arguments, self.description)
            self._planned[name] = planner.planned(function)
        return self._planned[name]

    def description(self, node: Record) -> Description | None:
        """What the op of a node takes and gives, if that is known. A function may be called as if it were an op."""
        if node.op not in self._functions:
            return descriptions().get(node.op)
        said = self._functions[node.op].signature
        takes = tuple([Argument(a.name) for a in said.input_arg])
        gives = tuple([Argument(a.name) for a in said.output_arg])
        return Description(takes, gives, (), {})

    def check(self, names: Iterable[str]) -> None:
        """Looks through functions and all that they call. Damage if something is missing, or one calls itself."""
        done: set[str] = set()
        around: dict[str, None] = {}
        waiting = [(name, False) for name in names]
        while waiting:
            name, ready = waiting.pop()
            if ready:
                del around[name]
                done.add(name)
            elif name in around:
                raise Damage(f"the function {name!r} calls itself")
            elif name not in done:
                if len(around) > _DEEPEST:
                    raise Damage(f"more than {_DEEPEST} functions call each other")
                around[name] = None
                waiting.append((name, True))
                waiting += [(n, False) for step in self[name].steps for n in called(step, self)]


def called(step: Step, library: Library) -> list[str]:
    """The functions that a step calls."""
    found = [step.op] if step.op in library else []
    for value in step.attrs.values():
        values = value if isinstance(value, list) else [value]
        found += [str(v) for v in values if isinstance(v, FunctionName)]
    return found


class Planner:
    """Makes steps of nodes.

    Args:
      nodes: of one function.
      arguments: the names of its inputs.
      describe: gives the description of a node's op, or None.
    """

    def __init__(self, nodes: Sequence[Record], arguments: Sequence[str], describe: Any) -> None:
        self._describe = describe
        self._nodes: dict[str, Record] = {}
        for node in nodes:
            if node.name in self._nodes:
                raise Damage(f"two nodes are called {node.name!r}")
            self._nodes[node.name] = node
        self._arguments = {name: i for i, name in enumerate(arguments)}
        self._numbers: dict[str, int] = {}
        self._outputs: dict[str, dict[str, int] | None] = {}

    def planned(self, function: Record) -> GraphFunction:
        """The function whose nodes these are."""
        wanted = [*function.ret.values(), *(f"^{name}" for name in function.control_ret.values())]
        order = self._ordered(wanted)
        self._numbers = {name: number for number, name in enumerate(order)}
        steps = [self._step(self._nodes[name]) for name in order]
        results = []
        for argument in function.signature.output_arg:
            if argument.name not in function.ret:
                raise Damage(f"{function.signature.name!r} does not say what {argument.name!r} is")
            results.append(self._place(function.ret[argument.name]))
        return GraphFunction(function.signature.name, len(self._arguments), steps, results)

    def _ordered(self, wanted: Sequence[str]) -> list[str]:
        """The names of the nodes that are wanted, and of those that must run before them, in such an order."""
        done: dict[str, None] = {}
        open_: set[str] = set()
        waiting = [(name, False) for name in map(self._node_name, reversed(wanted)) if name]
        while waiting:
            name, ready = waiting.pop()
            if ready:
                open_.discard(name)
                done[name] = None
            elif name not in done:
                if name in open_:
                    raise Damage(f"the node {name!r} waits for itself")
                open_.add(name)
                waiting.append((name, True))
                before = [self._node_name(i) for i in reversed(self._nodes[name].input)]
                waiting += [(n, False) for n in before if n and n not in done]
        return list(done)

    def _node_name(self, said: str) -> str | None:
        """The node that an input comes from, None for an input of the function."""
        name = said.removeprefix("^").partition(":")[0]
        if name in self._nodes:
            return name
        if name in self._arguments:
            return None
        raise Damage(f"there is no node {name[:200]!r}")

    def _place(self, said: str) -> Place:
        name, _, rest = said.partition(":")
        if name not in self._nodes:
            return Place(INPUTS, self._arguments[name])
        output, _, number = rest.partition(":")
        outputs = self._outputs[name]
        if outputs is None:  # of an op that is not known
            return Place(self._numbers[name], 0)
        if output not in outputs or not (number or "0").isdecimal() or len(number) > 9:
            raise Damage(f"the node {name!r} has no output {rest[:100]!r}")
        return Place(self._numbers[name], outputs[output] + int(number or 0))

    def _step(self, node: Record) -> Step:
        said = self._describe(node)
        if said is None:
            self._outputs[node.name] = None
            return Step(node.name, node.op, {}, {}, (), 1)
        attrs = dict(said.defaults)
        attrs |= {name: attribute(node.attr[name]) for name in said.attrs if name in node.attr}
        counts = {argument.several for argument in (*said.inputs, *said.outputs)}
        unusual = tuple(
            [n for n, v in attrs.items() if n not in counts and not _is_usual(v, n, said.defaults)]
        )
        outputs, at = {}, 0
        for argument in said.outputs:
            outputs[argument.name] = at
            at += _count(argument, attrs, node)
        if at > _MOST_OUTPUTS:
            raise Damage(f"the node {node.name!r} would have {at} outputs")
        self._outputs[node.name] = outputs
        return Step(node.name, node.op, self._inputs(node, said, attrs), attrs, unusual, at)

    def _inputs(self, node: Record, said: Description, attrs: Mapping[str, Any]) -> dict[str, Any]:
        places = [self._place(i) for i in node.input if not i.startswith("^")]
        found: dict[str, Any] = {}
        at = 0
        for argument in said.inputs:
            count = _count(argument, attrs, node)
            own = places[at : at + count]
            if len(own) != count:
                break
            found[argument.name] = own if argument.several else own[0]
            at += count
        if at != len(places) or len(found) != len(said.inputs):
            raise Damage(
                f"the node {node.name!r} has {len(places)} inputs, and {node.op} takes others"
            )
        return found


def _count(argument: Argument, attrs: Mapping[str, Any], node: Record) -> int:
    """How many tensors an argument stands for."""
    if not argument.several:
        return 1
    count = attrs.get(argument.several)
    if isinstance(count, list):
        count = len(count)
    if not isinstance(count, int) or not 0 <= count <= _MOST_OUTPUTS:
        raise Damage(f"the node {node.name!r} does not say how many {argument.name!r} there are")
    return count


def _is_usual(value: Any, name: str, defaults: Mapping[str, Any]) -> bool:
    """Whether an attribute is a dtype, which follows from the inputs, or what it is by default."""
    types = value if isinstance(value, list) and value else [value]
    if all(isinstance(each, (DType, HandleType)) for each in types):
        return True
    return name in defaults and repr(defaults[name]) == repr(value)


# Attributes.

_LISTS = ("s", "i", "f", "b", "type", "shape", "tensor", "func")


def attribute(said: Record) -> Any:
    """The value of an attribute."""
    kind = said.which(*_LISTS)
    if kind is not None:
        return _READ[kind](getattr(said, kind))
    if "list" in said:
        for name in _LISTS:
            if name in said.list:
                return [_READ[name](each) for each in getattr(said.list, name)]
        return []
    return None


def _text(data: bytes) -> Any:
    try:
        return data.decode()
    except UnicodeDecodeError:
        return data


def _type(number: int) -> Any:
    """A dtype, or the number of one that tensors do not have."""
    try:
        found = as_dtype(number)
    except TypeError:
        return HandleType(number)
    return found if found.is_numpy_compatible else HandleType(number)


def _same_value(value: Any) -> Any:
    return value


_READ: dict[str, Any] = {
    "s": _text,
    "i": _same_value,
    "f": _same_value,
    "b": _same_value,
    "type": _type,
    "shape": shape_of,
    "tensor": array_of,
    "func": lambda said: FunctionName(said.name),
}
