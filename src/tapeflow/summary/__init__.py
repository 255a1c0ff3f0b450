"""`tf.summary`: what a training run is like, written to event files that TensorBoard shows."""

# Written by scripts/exports.py, from the lines in _src that export these names.

import typing as _typing

from tapeflow._src.core.missing import Missing as _Missing
from tapeflow.summary import experimental as experimental

# For editors and type checkers: these are imported when they are first asked for.
# isort: off
# fmt: off
if _typing.TYPE_CHECKING:
    from tapeflow._src.summary.graphs import graph as graph
    from tapeflow._src.summary.kinds import (
        scalar as scalar, histogram as histogram, image as image, text as text, audio as audio
    )
    from tapeflow._src.summary.state import (
        should_record_summaries as should_record_summaries, record_if as record_if
    )
    from tapeflow._src.summary.traces import (
        trace_on as trace_on, trace_export as trace_export, trace_off as trace_off
    )
    from tapeflow._src.summary.writer import (
        SummaryWriter as SummaryWriter, create_file_writer as create_file_writer,
        create_noop_writer as create_noop_writer, flush as flush
    )
    from tapeflow._src.summary.writing import write as write
# fmt: on
# isort: on

__getattr__ = _Missing(
    "tf.summary",
    names={
        "summary.graphs": "graph",
        "summary.kinds": "scalar histogram image text audio",
        "summary.state": "should_record_summaries record_if",
        "summary.traces": "trace_on trace_export trace_off",
        "summary.writer": "SummaryWriter create_file_writer create_noop_writer flush",
        "summary.writing": "write",
    },
)


def __dir__() -> list[str]:
    return __getattr__.offered(globals())
