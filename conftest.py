"""What all tests share: what doctests see, which part of the tests is run, and signals as a terminal has them."""

import signal

import pytest

import tapeflow as tf

# Keras imports these, in its own order; what they do is tested in tests/keras_backend.
collect_ignore_glob = ["src/tapeflow/keras_backend/*"]


@pytest.fixture(autouse=True)
def _tf(doctest_namespace):
    doctest_namespace["tf"] = tf


def pytest_configure():
    # A shell that starts the tests in the background has them ignore Ctrl-C, and the programs they start, too.
    if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
