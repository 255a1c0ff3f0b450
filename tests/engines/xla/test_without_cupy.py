"""A computer with a GPU whose CuPy cannot be loaded."""

import sys

import jax

from tapeflow._src.engines import cuda
from tapeflow._src.engines.xla import eager


def test_a_cupy_that_does_not_load_is_done_without(monkeypatch, caplog):
    monkeypatch.setattr(jax, "default_backend", lambda: "gpu")
    monkeypatch.setattr(eager, "has_cupy", lambda: True)
    monkeypatch.delattr(cuda, "eager", raising=False)
    monkeypatch.setitem(sys.modules, "tapeflow._src.engines.cuda.eager", None)  # cannot be imported
    assert eager._cupy() is None
    assert "CuPy is installed and cannot be loaded" in caplog.text
    assert "XLA computes eager ops" in caplog.text
