"""`tf.summary`: what a training run is like, written to event files that TensorBoard shows."""

# Written by scripts/exports.py, from the lines in _src that export these names.

from tapeflow._src.core.missing import Missing as _Missing
from tapeflow._src.summary.graphs import graph as graph
from tapeflow._src.summary.kinds import (
    audio as audio,
    histogram as histogram,
    image as image,
    scalar as scalar,
    text as text,
)
from tapeflow._src.summary.state import (
    record_if as record_if,
    should_record_summaries as should_record_summaries,
)
from tapeflow._src.summary.traces import (
    trace_export as trace_export,
    trace_off as trace_off,
    trace_on as trace_on,
)
from tapeflow._src.summary.writer import (
    SummaryWriter as SummaryWriter,
    create_file_writer as create_file_writer,
    create_noop_writer as create_noop_writer,
    flush as flush,
)
from tapeflow._src.summary.writing import write as write
from tapeflow.summary import experimental as experimental

__getattr__ = _Missing("tf.summary")
