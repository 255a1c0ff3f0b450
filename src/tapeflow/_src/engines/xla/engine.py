"""XLA's engine, if jax is installed: for whole graphs, and for primitives on tensors that live on a device.

jax takes a second to load, and is loaded when a program is made or a tensor is placed.
"""

from __future__ import annotations

import importlib.util
import sys
from typing import Any

from tapeflow._src.core.errors import FailedPreconditionError
from tapeflow._src.core.placement.devices import devices
from tapeflow._src.core.system import jax_loading
from tapeflow._src.core.system.loading import loaded
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.engines.protocol import NEVER, Engine, Program
from tapeflow._src.graph.graph import Graph
from tapeflow._src.graph.repeats.rolling import length
from tapeflow._src.graph.workers import workers_of
from tapeflow._src.primitives.table import Primitive

_IMPORT_SECONDS = 1.0
_COMPILE_SECONDS = 0.3
_COMPILE_SECONDS_A_NODE = 0.002
TOO_LONG = 2500
"""Nodes that are not compiled any more. What is found several times in a graph counts once."""


class XlaEngine(Engine):
    """Compiles a graph with XLA, through jax."""

    name = "xla"
    compiles = True

    def missing(self) -> Exception | None:
        """Jax is not installed, or was in use before a fork."""
        if jax_loading.lost_in_fork():
            return FailedPreconditionError(
                None,
                None,
                "tf.function(jit_compile=True): XLA was in use when this process was forked, and its threads are "
                "not in the child. Start processes by 'spawn' or 'forkserver' (multiprocessing.set_start_method), "
                "or fork before XLA is used. Without jit_compile, functions run on NumPy here.",
            )
        if "jax" not in sys.modules and importlib.util.find_spec("jax") is None:
            return ModuleNotFoundError(
                "tf.function(jit_compile=True) compiles with XLA through jax, which is not installed. Install it "
                "with: pip install 'tapeflow[xla]'. Without jit_compile, functions run on NumPy."
            )
        return None

    def leads(self) -> bool:
        """Where there is a GPU, everything is XLA's."""
        return self.missing() is None and devices.policy != "cpu" and devices.any_accelerator()

    def may_run(self, graph: Graph) -> bool:
        """Whether XLA is there. What repeats itself in a long graph is searched for when that counts, for the price."""
        return self.missing() is None

    def price(self, graph: Graph) -> float:
        """What it takes to load jax and to compile."""
        if self.missing() is not None:
            return NEVER
        count = self.length(graph)
        if count > TOO_LONG:
            return NEVER
        loading = 0.0 if "jax" in sys.modules else _IMPORT_SECONDS
        return loading + _COMPILE_SECONDS + _COMPILE_SECONDS_A_NODE * count

    def length(self, graph: Graph) -> int:
        """How many nodes are compiled: of a long program, those that repeat themselves once."""
        return len(graph.nodes) if len(graph.nodes) <= TOO_LONG else length(graph)

    def program(self, graph: Graph, checked: bool = True) -> Program:
        """A compiled program."""
        jax_loading.load()
        return loaded("tapeflow._src.engines.xla.program").XlaProgram(graph, checked=checked)

    def replicated(self, graph: Graph, checked: bool = True) -> Any:
        """One program for all replicas in a graph, or in words why there is none."""
        jax_loading.load()
        workers = workers_of(graph)
        try:
            if workers is None:
                one = loaded("tapeflow._src.engines.xla.replicas.program")
                return one.ReplicasProgram(graph, checked)
            several = loaded("tapeflow._src.engines.xla.replicas.workers_program")
            return several.WorkersProgram(graph, checked, workers)
        except loaded("tapeflow._src.engines.xla.replicas.alike").Unlike as error:
            return str(error)

    def execute(
        self, primitive: Primitive, inputs: tuple[Tensor, ...], attrs: dict[str, Any]
    ) -> Any:
        """The output of a primitive, on the device that the scope names, or where the largest input is."""
        return _eager().execute(primitive, inputs, attrs)

    def put(self, array: Any, device: Any) -> Any:
        """A copy of an array as a buffer on a device of jax's, or in a layout."""
        return _eager().put(array, device)

    def everywhere(self, layout: Any) -> Any:
        """The layout of what each device of the same mesh has the whole of."""
        return _sharding().everywhere(layout.mesh)

    def whole(self, buffer: Any) -> Any:
        """A buffer in a layout as an array of NumPy's. If no process has all of it, all of them must ask for it."""
        with _eager().x64_enabled():
            return _sharding().whole(buffer)

    def take(self, array: Any) -> Any:
        """A copy, as a buffer, of an array of another library that is on a device and speaks DLPack."""
        return _eager().take(array)


_found: Any = None


def _eager() -> Any:
    global _found
    if _found is None:
        jax_loading.load()
        _found = loaded("tapeflow._src.engines.xla.eager")
    return _found


def _sharding() -> Any:
    _eager()
    return loaded("tapeflow._src.engines.xla.sharding")


XLA = XlaEngine()
"""The engine of all tensors that are on devices."""
