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

import contextvars
import linecache
import re
from collections.abc import Sequence
from sys import getrefcount
from typing import Any

import numpy as np

from tapeflow.core.context import context, is_busy, quiet_runner
from tapeflow.core.dims import Atom, Dim, Ratio
from tapeflow.core.dtypes import DType
from tapeflow.core.errors import InvalidArgumentError, OpError
from tapeflow.core.scopes import setting
from tapeflow.core.tensor import Tensor
from tapeflow.function.executors.lifetimes import Lifetimes, ufunc_of
from tapeflow.function.executors.numpy_fusions import fused
from tapeflow.function.executors.numpy_kernels import SPECIAL, in_float32
from tapeflow.function.executors.ownership import references_if_alone
from tapeflow.function.graph import Graph, Node, Value
from tapeflow.function.sizes import atoms_in, origin
from tapeflow.primitives.table import KERNEL_FAILURES


class NumpyProgram:
    """A graph as a Python function of arrays.

    Attributes:
      source: the generated code.
    """

    name = "numpy"

    def __init__(self, graph: Graph) -> None:
        writer = _Writer(fused(graph))
        self.source = writer.source()
        self._nodes = writer.lines
        self._donations = writer.donations
        self._has_effects = any(node.has_effect for node in graph.nodes)
        self._file = f"<tapeflow {graph.name} {id(self):x}>"
        namespace = writer.namespace
        exec(compile(self.source, self._file, "exec"), namespace)
        linecache.cache[self._file] = (len(self.source), None, self.source.splitlines(True), "")
        self._program = namespace["program"]

    def run(self, tensors: Sequence[Tensor]) -> list[Tensor]:
        """The outputs, followed by the new values of assigned variables."""
        arrays = [x._array for x in tensors]
        for i in self._donations:
            x = tensors[i]
            array = x._array
            # Where nobody but the variable can see the old value, the new one is written over it.
            alone = (
                type(x) is Tensor
                and getrefcount(x) <= _ALONE
                and getrefcount(array) <= _ARRAY_ALONE
                and array.flags.owndata
                and array.flags.writeable
            )
            arrays.append(array if alone else None)
        return [Tensor(array) for array in self.run_arrays(arrays)]

    def finish(self, results: Sequence[Tensor]) -> None:
        """Waits until the results are there: they are."""

    def run_arrays(self, arrays: Sequence[Any]) -> tuple[Any, ...]:
        """The same on arrays."""
        if self._has_effects and context.outside is None:  # it may call the user's Python code
            with setting(context, outside=contextvars.copy_context()):
                return self.run_arrays(arrays)
        run, active = context.hot
        try:
            return run(self._program, *arrays)
        except KERNEL_FAILURES as error:
            raise self._told(error) from error.__cause__
        except RuntimeError:
            if not is_busy(run):
                raise
        with setting(context, hot=(quiet_runner(), active)):
            return self.run_arrays(arrays)

    def __del__(self) -> None:
        linecache.cache.pop(self._file, None)

    def _told(self, error: Exception) -> Exception:
        """The failure of a kernel in the user's words, with the user's line."""
        if hasattr(error, "from_users_code"):  # it has a traceback that leads there
            return error
        traceback = error.__traceback__
        while traceback is not None:
            if traceback.tb_frame.f_code.co_filename == self._file:
                node = self._nodes.get(traceback.tb_lineno)
                if node is not None:
                    return told(error, node)
            traceback = traceback.tb_next
        return error


def told(error: Exception, node: Node) -> Exception:
    """An error with the line where the failing op was written."""
    where = "" if node.line is None else f"\n  defined at {node.line} in {node.line.function}"
    if isinstance(error, OpError):
        kind: Any = type(error)
        new: Exception = kind(error.node_def, error.op, f"{error.message}{where}")
    else:
        specs = ", ".join(str(v.spec) for v in node.inputs)
        message = f"{node.primitive.name}: {error} (inputs: {specs}){where}"
        new = InvalidArgumentError(None, None, message)
    return new


_ALONE, _ARRAY_ALONE = references_if_alone(lambda: Tensor(np.zeros(1)), "_array", named=True)


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
        self.donations: list[int] = []

    def source(self) -> str:
        graph = self.graph
        for node in graph.nodes:
            for atom in atoms_in(tuple(node.attrs.values())):
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
        self.donations = [inputs.index(v) for v in self.donated]
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
            assert atom.origin is not None
            _, axis, position = atom.origin
            name = self.names[value]
            right = f"{name}.shape[{axis}]" if axis is not None else f"int({name}.flat[{position}])"
            if axis is None and not value.shape:
                right = f"int({name})"
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
            arguments += [f"{k}={self.attribute(v)}" for k, v in attributes.items()]
            return f"{self.function(node.primitive.name, function)}({', '.join(arguments)})"
        converted = in_float32(node)
        ufunc = ufunc_of(node)
        if ufunc is not None and converted is None:
            arguments += [] if out is None else [f"out={out}"]
            return f"{self.function(ufunc.__name__, ufunc)}({', '.join(arguments)})"
        arguments += [f"{key}={self.attribute(value)}" for key, value in node.attrs.items()]
        function = self.function(node.primitive.name, converted or node.primitive.kernel)
        return f"{function}({', '.join(arguments)})"

    # Names for what code cannot spell.

    def function(self, name: str, function: Any) -> str:
        return self._named(re.sub(r"\W", "_", f"f_{name}_"), function)

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
        if value is None or type(value) in (bool, int, str):
            return repr(value)
        if isinstance(value, tuple) and any(True for _ in atoms_in(value)):
            return f"({''.join(f'{self.attribute(v)}, ' for v in value)})"
        if isinstance(value, slice) and any(True for _ in atoms_in(value)):
            parts = (value.start, value.stop, value.step)
            return f"slice({', '.join(map(self.attribute, parts))})"
        if isinstance(value, DType):
            return self._named(f"{value.name}_", value)
        return self.constant(value)

    def size(self, dim: Any) -> str:
        """The code for a size."""
        if type(dim) is not Dim:
            return repr(dim)
        terms = []
        for product, factor in dim.terms.items():
            factors = [] if factor == 1 and product else [str(factor)]
            terms.append("*".join([*factors, *map(self._atom, product)]))
        return f"({' + '.join(terms)})"

    def _atom(self, atom: Atom) -> str:
        if isinstance(atom, Ratio):
            return f"({self.size(atom.a)} {atom.kind} {self.size(atom.b)})"
        return self.atoms[atom]
