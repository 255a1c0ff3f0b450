"""What tests of functions share."""

import contextlib
import logging

import tapeflow as tf
from tapeflow._src.engines import choice


def traces(f):
    """How many times a function was traced."""
    return f.experimental_get_tracing_count()


@contextlib.contextmanager
def warnings_logged():
    """A list of the warnings that are logged within."""
    messages = []

    class Handler(logging.Handler):
        def emit(self, record):
            messages.append(record.getMessage())

    handler = Handler()
    tf.get_logger().addHandler(handler)
    try:
        yield messages
    finally:
        tf.get_logger().removeHandler(handler)


PROGRAMS = ["numpy", "xla", "hybrid"]


def run_all_on(monkeypatch, name):
    """Makes one kind of program run all graphs from the first call on."""
    makers = {"numpy": choice.NumpyProgram, "xla": choice._xla, "hybrid": choice._hybrid}

    def begin(self):
        graph = self.graph
        only = choice.Candidate(name, lambda: makers[name](graph))
        self._candidates, self._current = [only], only
        self._decided = False

    monkeypatch.setattr(choice.Executor, "_begin", begin)
