"""The XLA executor: a graph compiled by XLA through jax, with what XLA cannot run on the host in between."""

from __future__ import annotations

import os
import weakref
from collections.abc import Callable, Sequence
from sys import getrefcount
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

import tapeflow.engines.xla  # noqa: F401  # fills the table of lowerings
from tapeflow.core.device_tensor import DeviceTensor
from tapeflow.core.memory import LARGE, is_aligned
from tapeflow.core.tensor import Tensor
from tapeflow.engines.xla.lower import lower_nodes, lowerable
from tapeflow.function.executors.numpy_program import NumpyProgram
from tapeflow.function.executors.ownership import references_if_alone
from tapeflow.function.executors.partition import Stage, stages
from tapeflow.function.graph import Graph, Node, Value


def keep_compiled_programs() -> None:
    """Lets jax keep compiled programs on disk, unless the user has said where or that it should not."""
    config: Any = jax.config
    if config.jax_compilation_cache_dir is None and config.jax_enable_compilation_cache:
        base = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
        config.update("jax_compilation_cache_dir", os.path.join(base, "tapeflow", "xla"))


class XlaProgram:
    """A graph as a few XLA programs, mostly one, and host code between them.

    Args:
      graph: the graph.
      on_host: which nodes to run on the host although XLA could.
    """

    name = "xla"

    def __init__(self, graph: Graph, on_host: Callable[[Node], bool] | None = None) -> None:
        self._graph = graph
        keep_compiled_programs()

        def host(node: Node) -> bool:
            return not lowerable(node) or (on_host is not None and on_host(node))

        self._stages = stages(graph, host)
        self._inputs = [v for v in graph.inputs if v not in graph.constants]
        self._outputs = [*graph.outputs, *graph.assigned.values()]
        self._donated = {self._inputs.index(v) for v in graph.assigned}
        self._whole = len(self._stages) == 1 and not self._stages[0].on_host
        self._runs: list[Any] = []
        self._build()

    def _build(self) -> None:
        """Makes what runs the stages."""
        if self._whole:  # then variables give their memory to their new values
            nodes = self._stages[0].nodes
            function = lower_nodes(nodes, self._inputs, self._outputs, self._graph.constants)
            function.__name__ = _identifier(self._graph.name)
            self._run_whole = jax.jit(function, donate_argnums=tuple(sorted(self._donated)))
        else:
            self._runs = [self._runner(stage, i) for i, stage in enumerate(self._stages)]

    def _runner(self, stage: Stage, number: int) -> Any:
        constants = {
            v: self._graph.constants[v]
            for node in stage.nodes
            for v in node.inputs
            if v in self._graph.constants
        }
        if stage.on_host:
            part = Graph(self._graph.name)
            part.inputs = [*stage.inputs, *constants]
            part.constants = constants
            part.nodes = stage.nodes
            part.outputs = stage.outputs
            return NumpyProgram(part).run_arrays
        function = lower_nodes(stage.nodes, stage.inputs, stage.outputs, constants)
        function.__name__ = f"{_identifier(self._graph.name)}_{number}"
        return jax.jit(function)

    def run(self, tensors: Sequence[Tensor]) -> list[Tensor]:
        """The outputs, followed by the new values of assigned variables."""
        with jax.enable_x64(True):
            if self._whole:
                arrays = _lent(tensors, besides=self._donated)
                for i in self._donated:
                    x = tensors[i]
                    if type(x) is DeviceTensor and not (
                        x._host is None
                        and getrefcount(x) <= _ALONE
                        and getrefcount(x._buffer) <= _BUFFER_ALONE
                    ):
                        # Somebody else can see the old value of the variable, which is to be overwritten.
                        arrays[i] = jnp.array(x._buffer, copy=True)
                return [DeviceTensor(a) for a in self._run_whole(*arrays)]
            return self._run_stages(tensors)

    def finish(self, results: Sequence[Tensor]) -> None:
        """Waits until the results are there."""
        jax.block_until_ready([x._buffer for x in results if type(x) is DeviceTensor])

    def _run_stages(self, tensors: Sequence[Tensor]) -> list[Tensor]:
        values: dict[Value, Any] = dict(zip(self._inputs, tensors, strict=True))
        for stage, run in zip(self._stages, self._runs, strict=True):
            if stage.on_host:
                found = run([values[v]._array for v in stage.inputs])
                values.update(zip(stage.outputs, map(Tensor, found), strict=True))
            else:
                found = run(*_lent([values[v] for v in stage.inputs]))
                values.update(zip(stage.outputs, map(DeviceTensor, found), strict=True))
        constants = self._graph.constants
        given = set(self._inputs)
        return [
            (values[v].__copy__() if v in given else values[v])
            if v in values
            else Tensor(constants[v])
            for v in self._outputs
        ]


def _lent(tensors: Sequence[Tensor], besides: Sequence[int] | set[int] = ()) -> list[Any]:
    """The memory of tensors for XLA to read. Large arrays are not copied, where their place allows."""
    arrays = [buffer_of(x) for x in tensors]
    for i, array in enumerate(arrays):
        if type(array) is np.ndarray and array.nbytes >= LARGE and i not in besides:
            arrays[i] = _lent_one(tensors[i], array)
    return arrays


_lent_before: dict[int, tuple[weakref.ref[Tensor], Any]] = {}
"""XLA's view of the memory of a tensor, as long as the tensor lives: making one can take longer than a program."""


def _lent_one(x: Tensor, array: Any) -> Any:
    key = id(x)
    known = _lent_before.get(key)
    if known is not None and known[0]() is x:
        return known[1]
    if not is_aligned(array):
        return array
    buffer = jax.device_put(array, may_alias=True)
    _lent_before[key] = (weakref.ref(x, lambda _: _lent_before.pop(key, None)), buffer)
    return buffer


def buffer_of(x: Tensor) -> Any:
    """The memory of a tensor, wherever it is."""
    if type(x) is DeviceTensor:
        return x._buffer
    array = x._array
    return array if isinstance(array, (np.ndarray, np.generic)) else np.asarray(array)  # of a stack


_ALONE, _BUFFER_ALONE = references_if_alone(lambda: DeviceTensor(object()), "_buffer", named=False)


def _identifier(name: str) -> str:
    return "".join(c if c.isalnum() else "_" for c in name).strip("_") or "function"
