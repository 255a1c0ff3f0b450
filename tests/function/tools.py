"""What tests of functions share."""

import contextlib
import logging

import tapeflow as tf


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
