"""The NumPy executor: straight-line Python generated from a graph.

    def program(x, w):
        a = multiply(x, w)
        b = sum(a, axis=c0, keepdims=c1); del a
        return (b,)

Each node is one line that calls its kernel, so that an error is traced back to its node by the line number. Values are
let go after their last use. Where a buffer is not needed any more and has the right shape, the next elementwise result
is written into it.
"""

from __future__ import annotations

import contextlib
import contextvars
import itertools
import keyword
import linecache
import re
from collections.abc import Sequence
from typing import Any

from tapeflow._src.core.context import context, is_busy, quiet_runner
from tapeflow._src.core.errors import InvalidArgumentError, OpError
from tapeflow._src.core.scopes import setting
from tapeflow._src.core.sizes.algebra import Algebra
from tapeflow._src.core.sizes.dims import Atom, Dim, is_dynamic
from tapeflow._src.core.sizes.extremes import evaluated
from tapeflow._src.core.system.memory import exhausted, keep_freed_memory
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.core.variables.steps import Step
from tapeflow._src.engines.numpy.fusions import fused
from tapeflow._src.engines.numpy.kernels import SPECIAL, in_float32, shared_ufunc
from tapeflow._src.engines.numpy.lifetimes import Lifetimes, ufunc_of
from tapeflow._src.graph.graph import Graph, Node, Value
from tapeflow._src.graph.sizes import atoms_in, is_sized, mapped, mistake, origin
from tapeflow._src.primitives.dispatch import KERNEL_FAILURES

_numbers = itertools.count()
_gone: list[str] = []
"""Programs whose source nobody needs any more. Not when they die: that may be while Python goes through all sources."""


def _forget_sources() -> None:
    with contextlib.suppress(IndexError):  # where another thread has taken the last
        while _gone:
            linecache.cache.pop(_gone.pop(), None)


class NumpyProgram:
    """A graph as a Python function of arrays.

    Attributes:
      source: the generated code.
    """

    def __init__(self, graph: Graph) -> None:
        keep_freed_memory()
        _forget_sources()
        self._file = f"<tapeflow {_word(graph.name)} {next(_numbers)}>"
        writer = _Writer(fused(graph))
        self.source = writer.source()
        self._nodes = writer.lines
        self._names, self._atoms = writer.names, writer.atoms
        self._donations = writer.donations
        effects = [node for node in graph.nodes if node.has_effect]
        self._has_effects = bool(effects)
        self._calls_users = any(getattr(node.primitive, "of_users", True) for node in effects)
        namespace = writer.namespace
        exec(compile(self.source, self._file, "exec"), namespace)
        linecache.cache[self._file] = (len(self.source), None, self.source.splitlines(True), "")
        self._program = namespace["program"]
        self._program.nodes = tuple(writer.lines.values())  # for `watched`
        lines = [node.line for node in graph.nodes if node.line is not None]
        self._program.scopes = {
            each.made: each.scope for each in lines if each.scope
        }  # for `scopes_of`

    def run(self, tensors: Sequence[Tensor], step: Step | None = None) -> list[Tensor]:
        """The outputs, followed by the new values of the variables that `step` has claimed."""
        arrays = [x._array for x in tensors]
        # What has effects calls Python, which might look at a variable.
        if step is not None and not self._has_effects:
            for i, position in self._donations:
                x = tensors[i]
                array = arrays[i]
                # Where nobody but the variable can see the old value, the new one is written over it, by the one
                # kernel that makes it: at no moment is a part of it new and a part old.
                alone = (
                    step.private[position]
                    and type(x) is Tensor
                    and array.flags.owndata
                    and array.flags.writeable
                )
                arrays.append(array if alone else None)
        return [Tensor(array) for array in self.run_arrays(arrays)]

    def finish(self, results: Sequence[Tensor]) -> None:
        """Waits until the results are there: they are."""

    def details(self) -> list[str]:
        """Nothing."""
        return []

    def run_arrays(self, arrays: Sequence[Any]) -> tuple[Any, ...]:
        """The same on arrays."""
        if self._calls_users and context.outside is None:
            with setting(context, outside=contextvars.copy_context()):
                return self.run_arrays(arrays)
        run, active = context.dispatch
        try:
            return run(self._program, *arrays)
        except KERNEL_FAILURES as error:
            raise self.with_user_line(error) from error.__cause__
        except RuntimeError:
            if not is_busy(run):
                raise
        with setting(context, dispatch=(quiet_runner(), active)):
            return self.run_arrays(arrays)

    def __del__(self) -> None:
        if hasattr(self, "_file"):  # it was not interrupted before
            _gone.append(self._file)

    def with_user_line(self, error: Exception) -> Exception:
        """The failure of a kernel in the user's words, with the user's line."""
        if hasattr(error, "from_users_code"):  # it has a traceback that leads there
            return error
        traceback = error.__traceback__
        while traceback is not None:
            if traceback.tb_frame.f_code.co_filename == self._file:
                node = self._nodes.get(traceback.tb_lineno)
                if node is not None:
                    return with_user_line(self._named(error, node, traceback.tb_frame), node)
            traceback = traceback.tb_next
        return error

    def _named(self, error: Exception, node: Node, frame: Any) -> Exception:
        """What the shape rule has against the arrays that a kernel was given, in words; else the error as it is."""
        if isinstance(error, OpError) or not is_sized(node):
            return error
        found = {**frame.f_globals, **frame.f_locals}
        attrs = mapped(node.attrs, lambda dim: evaluated(dim, lambda a: found[self._atoms[a]]))
        try:
            shapes = [found[self._names[v]].shape for v in node.inputs]
            return mistake(node, shapes, attrs) or error
        except (KeyError, TypeError, AttributeError):  # a kernel of the executor's own
            return error


def with_user_line(error: Exception, node: Node) -> Exception:
    """An error with the line where the failing op was written."""
    where = "" if node.line is None else f"\n  defined at {node.line} in {node.line.function}"
    if isinstance(error, OpError):
        kind: Any = type(error)
        new: Exception = kind(error.node_def, error.op, f"{error.message}{where}")
    else:
        specs = ", ".join(str(v.spec) for v in node.inputs)
        inputs = f" (inputs: {specs}){where}"
        if isinstance(error, MemoryError):
            return exhausted(node.primitive.name, error, inputs)
        new = InvalidArgumentError(None, None, f"{node.primitive.name}: {error}{inputs}")
    return new


_PARAMETER = re.compile(r"[a-z_][a-z0-9_]{0,60}")


def _word(name: str) -> str:
    """A name as it may stand in code."""
    return re.sub(r"\W", "_", name, flags=re.ASCII)[:60]


_COMPOUNDS = {
    "//": "({} // {})".format,
    "%": "({} % {})".format,
    "min": "min({}, {})".format,
    "max": "max({}, {})".format,
    "with": "({1} if {0} == 1 else {0})".format,
}
"""How sizes that are no polynomials are written."""


class _Writer:
    """Writes the code of a graph."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.names: dict[Value, str] = {}
        self.namespace: dict[str, Any] = {}
        self.constants: dict[int, str] = {}
        self.lines: dict[int, Node] = {}
        self.text: list[str] = []
        self.atoms: dict[Atom, str] = {}
        self.by_origin: dict[Value, list[Atom]] = {}
        self.donated: dict[Value, str] = {}
        # For each variable whose memory is used: its place among the inputs and among the assigned ones.
        self.donations: list[tuple[int, int]] = []

    def source(self) -> str:
        graph = self.graph
        for node in graph.nodes:
            for atom in atoms_in(node.attrs) if is_dynamic(node.attrs) else ():
                if atom not in self.atoms:
                    self.atoms[atom] = f"n{len(self.atoms)}"
                    self.by_origin.setdefault(origin(atom), []).append(atom)
        inputs = [v for v in graph.inputs if v not in graph.constants]
        for i, value in enumerate(inputs):
            self.names[value] = f"x{i}"
        for value, array in graph.constants.items():
            self.names[value] = self.constant(array)
        self.text.append("")
        for value in graph.inputs:
            self._sizes(value)
        lifetimes = Lifetimes(graph)
        for index, node in enumerate(graph.nodes):
            self._node(index, node, lifetimes)
        assigned = list(graph.assigned)
        self.donations = [(inputs.index(v), assigned.index(v)) for v in self.donated]
        parameters = [
            *(self.names[v] for v in inputs),
            *(f"{o}=None" for o in self.donated.values()),
        ]
        self.text[0] = f"def program({', '.join(parameters)}):"
        results = [self.names[v] for v in (*graph.outputs, *graph.assigned.values())]
        self.text.append(f"    return ({''.join(f'{r}, ' for r in results)})")
        return "\n".join(self.text) + "\n"

    def _sizes(self, value: Value) -> None:
        for atom in self.by_origin.get(value, ()):
            _, axis, position = atom.origin
            name = self.names[value]
            right = f"int({name})"
            if axis is not None:
                right = f"{name}.shape[{self.constant(axis)}]"
            elif value.shape:
                right = f"int({name}.flat[{self.constant(position)}])"
            self.text.append(f"    {self.atoms[atom]} = {right}")

    def _node(self, index: int, node: Node, lifetimes: Lifetimes) -> None:
        call = self._call(index, node, lifetimes)
        for value in node.outputs:
            self.names[value] = f"v{len(self.names)}"
        left = ", ".join(self.names[v] for v in node.outputs)
        if node.primitive.outputs != 1:
            left = f"({left},)" if len(node.outputs) == 1 else left
        dead = lifetimes.dead_after(index)
        ends = f"; del {', '.join(self.names[v] for v in dead)}" if dead else ""
        self.text.append(f"    {left} = {call}{ends}" if left else f"    {call}{ends}")
        self.lines[len(self.text)] = node
        for value in node.outputs:
            self._sizes(value)

    def _call(self, index: int, node: Node, lifetimes: Lifetimes) -> str:
        """The code that computes a node."""
        arguments = [self.names[v] for v in node.inputs]
        variable = lifetimes.donated.get(index)
        reused = lifetimes.reusable(index)
        out = None if reused is None else self.names[reused]
        if variable is not None:
            self.donated[variable] = out = f"o{len(self.donated)}"
        special = SPECIAL.get(node.primitive.name)
        found = None if special is None else special(node)
        if found is not None:
            function, attributes = found
            arguments += [] if out is None else [out]
            arguments += self.keywords(attributes)
            return f"{self.function(node.primitive.name, function)}({', '.join(arguments)})"
        converted = in_float32(node)
        ufunc = ufunc_of(node)
        if ufunc is not None and converted is None:
            arguments += [] if out is None else [f"out={out}"]
            function = self.function(ufunc.__name__, shared_ufunc(node, ufunc))
            return f"{function}({', '.join(arguments)})"
        arguments += self.keywords(node.attrs)
        function = self.function(node.primitive.name, converted or node.primitive.kernel)
        return f"{function}({', '.join(arguments)})"

    # Code holds names of our own, and names of parameters. Whatever has a value is an object in the namespace, and not
    # text: a graph may come from a file.

    def function(self, name: str, function: Any) -> str:
        return self._named(f"f_{_word(name)}_", function)

    def keywords(self, attributes: dict[str, Any]) -> list[str]:
        """The code that passes attributes."""
        for name in attributes:
            if not _PARAMETER.fullmatch(name) or keyword.iskeyword(name):
                raise ValueError(f"an attribute cannot be called {name!r}")
        return [f"{name}={self.attribute(value)}" for name, value in attributes.items()]

    def constant(self, value: Any) -> str:
        return self._named("c", value)

    def _named(self, prefix: str, value: Any) -> str:
        found = self.constants.get(id(value))
        if found is None:
            found = self.constants[id(value)] = f"{prefix}{len(self.constants)}"
            self.namespace[found] = value
        return found

    def attribute(self, value: Any) -> str:
        """The code for an attribute."""
        if type(value) is Dim:
            return self.size(value)
        if value is None or type(value) is bool:
            return repr(value)
        if isinstance(value, tuple) and is_dynamic(value):
            return f"({''.join(f'{self.attribute(v)}, ' for v in value)})"
        if isinstance(value, slice) and is_dynamic(value):
            parts = (value.start, value.stop, value.step)
            return f"slice({', '.join(map(self.attribute, parts))})"
        return self.constant(value)

    def size(self, dim: Any) -> str:
        """The code for a size."""
        code = Algebra(_COMPOUNDS, self.constant, "({} * {})".format, "({} + {})".format)
        return code.evaluated(dim, self.atoms.__getitem__)
