"""`tf.summary`: what a training run is like, written to event files that TensorBoard shows."""

from tapeflow.core.missing import Missing as _Missing
from tapeflow.summary import experimental as experimental
from tapeflow.summary.graphs import (
    graph as graph,
)
from tapeflow.summary.kinds import (
    audio as audio,
    histogram as histogram,
    image as image,
    scalar as scalar,
    text as text,
)
from tapeflow.summary.state import (
    record_if as record_if,
    should_record_summaries as should_record_summaries,
)
from tapeflow.summary.writer import (
    SummaryWriter as SummaryWriter,
    create_file_writer as create_file_writer,
    create_noop_writer as create_noop_writer,
    flush as flush,
)
from tapeflow.summary.writing import (
    write as write,
)

__getattr__ = _Missing("tf.summary")
