"""Keras must be loaded, with tapeflow as its backend, before a test module imports a part of the backend."""

import pytest

import tapeflow.keras_hook  # noqa: F401 (lets Keras find tapeflow)

pytest.importorskip("keras", reason="the Keras backend needs Keras")
