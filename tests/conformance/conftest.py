"""Lets the tests import what `record.py` imports too, outside of pytest."""

import sys
from pathlib import Path

import pytest

import tapeflow as tf
from tapeflow._src.core.log import forget_warnings

sys.path.insert(0, str(Path(__file__).parent))

collect_ignore_glob = ["cases/*", "record.py"]


@pytest.fixture(autouse=True)
def _fresh_warnings():
    """Warnings are logged a few times only; every case begins to count afresh."""
    forget_warnings()


@pytest.fixture(autouse=True)
def _no_seed():
    """A seed that another test has set changes nothing here, and one that is set here nothing elsewhere."""
    tf.random.set_seed(None)
    yield
    tf.random.set_seed(None)
