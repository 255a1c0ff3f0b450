"""Doctests see tapeflow as `tf`."""

import pytest

import tapeflow as tf


@pytest.fixture(autouse=True)
def _tf(doctest_namespace):
    doctest_namespace["tf"] = tf


# Keras imports these, in its own order; what they do is tested in tests/keras_backend.
collect_ignore_glob = ["src/tapeflow/keras_backend/*"]
