"""Doctests see tapeflow as `tf`."""

import pytest

import tapeflow as tf


@pytest.fixture(autouse=True)
def _tf(doctest_namespace):
    doctest_namespace["tf"] = tf
