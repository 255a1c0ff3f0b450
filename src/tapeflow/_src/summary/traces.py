"""`tf.summary.trace_on`, `trace_export` and `trace_off`: the graphs of the functions that run, and a profile."""

from __future__ import annotations

from typing import Any

import numpy as np

from tapeflow._src.core.context import context, pop_recorder, push_recorder
from tapeflow._src.core.export import export
from tapeflow._src.core.log import get_logger
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.core.variables.variable import Variable
from tapeflow._src.graph.graph import Graph
from tapeflow._src.io import wire
from tapeflow._src.profiler import session
from tapeflow._src.summary.event_file import metadata_of, summary_of
from tapeflow._src.summary.graphs import graph_def
from tapeflow._src.summary.state import state
from tapeflow._src.summary.writing import recorded


class GraphCollector:
    """A recorder that is told of the graphs that run, and of nothing else."""

    substitutes = False

    def __init__(self) -> None:
        self.graphs: dict[int, Graph] = {}

    def met(self, function: Any, graph: Graph, inputs: Any, variables: Any) -> None:
        """Takes note of a graph that is about to run."""
        self.graphs[id(graph)] = graph

    look = None  # it is content with the graph

    def ran(self) -> None:
        """The graph was known before."""

    def record(self, primitive: Any, inputs: Any, output: Any, attrs: Any) -> None:
        """Ops that run at once are in no graph."""

    def record_call(self, call: Any) -> None:
        """Nor are these."""

    def read(self, variable: Variable, value: Tensor) -> Tensor:
        """What is read does not matter."""
        return value

    def follows(self, identity: int) -> bool:
        """It needs no pullbacks."""
        return False

    def note(self, event: str, subject: Any, **details: Any) -> None:
        """Nothing else matters."""


class _Trace:
    """What `trace_on` began."""

    def __init__(self, graph: bool, profiler: bool) -> None:
        self.graph = graph
        self.profiler = profiler
        self.collector = GraphCollector()


_open: list[_Trace] = []  # at most one


@export("summary.trace_on")
def trace_on(graph: bool = True, profiler: bool = False, profiler_outdir: Any = None) -> None:
    """Begins to take note of the graphs of functions that this thread calls, and of the time that they take.

    >>> import tempfile
    >>> folder = tempfile.mkdtemp()
    >>> f = tf.function(lambda x: tf.reduce_sum(tf.sin(x)))
    >>> tf.summary.trace_on(graph=True)
    >>> y = f(tf.ones([3]))
    >>> with tf.summary.create_file_writer(folder).as_default():
    ...     tf.summary.trace_export("f", step=0)

    Args:
      graph: whether to collect graphs.
      profiler: whether to open a profile (see `tf.profiler.experimental.start`).
      profiler_outdir: the folder of its file, if there is one. `trace_export` may name it, too.
    """
    if context.tracer is not None:
        get_logger().warning("Cannot enable trace inside a tf.function.")
        return
    if _open:
        get_logger().warning("Trace already enabled")
        return
    if profiler:
        session.start("" if profiler_outdir is None else profiler_outdir)
    trace = _Trace(graph, profiler)
    _open.append(trace)
    if graph:
        push_recorder(trace.collector)


@export("summary.trace_export")
def trace_export(name: str, step: Any = None, profiler_outdir: Any = None) -> None:
    """Writes what was collected since `trace_on` to the default writer, for TensorBoard, and ends it.

    >>> import tempfile
    >>> tf.summary.trace_on()
    >>> y = tf.function(tf.sin)(tf.ones([3]))
    >>> with tf.summary.create_file_writer(tempfile.mkdtemp()).as_default():
    ...     tf.summary.trace_export("sin", step=0)

    Args:
      name: of the graph, in TensorBoard.
      step: the place in the series, an integer. By default that of `tf.summary.experimental.set_step`.
      profiler_outdir: the folder of the profile, if `trace_on` did not name one.
    """
    if context.tracer is not None:
        get_logger().warning("Cannot export trace inside a tf.function.")
        return
    if not _open:
        raise ValueError("Must enable trace before export through tf.summary.trace_on.")
    if state.writer is not None and step is None and state.step is None:
        raise ValueError(
            "No step set. Please specify one either through the `step` argument or through "
            "tf.summary.experimental.set_step()"
        )
    trace = _ended()
    if trace.profiler:
        if profiler_outdir is not None:
            session.move(profiler_outdir)
        session.stop(save=session.has_folder())
    if trace.graph and trace.collector.graphs:
        message = _run_metadata(list(trace.collector.graphs.values()))
        plugin = metadata_of("graph_run_metadata_graph", content=b"1")
        array = np.array(message, object)
        recorded(lambda _: summary_of(name, array, plugin), 0, step)


@export("summary.trace_off")
def trace_off() -> None:
    """Ends what `trace_on` began, and writes nothing.

    >>> tf.summary.trace_off()
    """
    if _open and _ended().profiler and session.is_running():
        session.stop(save=False)


def _ended() -> _Trace:
    trace = _open.pop()
    pop_recorder(trace.collector)
    return trace


def _run_metadata(graphs: list[Graph]) -> bytes:
    """A `RunMetadata` message: for each function its graph before the passes."""
    return b"".join(wire.data(4, wire.data(2, graph_def(graph))) for graph in graphs)
