"""Stand-ins for the tracer, which let one part of AutoGraph be tested at a time."""

import contextlib

import pytest

import tapeflow as tf
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.function.autograph import symbolic
from tapeflow._src.ops.control import control_flow


@pytest.fixture
def everything_symbolic(monkeypatch):
    """Every tensor counts as symbolic, and has a value all the same.

    `tf.cond` calls both branches, as a tracer does, and `tf.while_loop` runs at once.
    """

    def cond(pred, true_fn, false_fn):
        taken, other = (true_fn, false_fn) if pred else (false_fn, true_fn)
        # It may have no sense with these values.
        with contextlib.suppress(tf.errors.OpError, IndexError):
            other()
        return taken()

    # Messages name the user's line, so this must not look like the user's code.
    cond.__code__ = cond.__code__.replace(co_filename=control_flow.__file__)
    monkeypatch.setattr(symbolic, "is_symbolic", lambda x: isinstance(x, Tensor))
    monkeypatch.setattr(control_flow, "cond", cond)
