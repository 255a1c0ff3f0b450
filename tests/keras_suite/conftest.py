"""Stands in for the `conftest.py` of Keras's repository, which its wheel leaves out and its tests import from.

It is loaded with `-p conftest` from this folder, before Keras, for any backend.
"""

from __future__ import annotations

import importlib
import os

import pytest

if os.environ.get("KERAS_BACKEND") == "tapeflow":
    from tapeflow._src.keras import hook

    hook.install()
    # Before pytest: it loads the packages of what it collects in its own way, past the hook.
    importlib.import_module("keras")


def pytest_configure(config: pytest.Config) -> None:
    """Tells pytest the markers of Keras's tests."""
    config.addinivalue_line("markers", "requires_trainable_backend: the backend can train")
    config.addinivalue_line("markers", "multi_device: needs several devices")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Skips, for every backend alike, what asks for several devices."""
    for item in items:
        if item.get_closest_marker("multi_device"):
            item.add_marker(pytest.mark.skip(reason="needs several devices"))


def skip_if_backend(backend: str, reason: str) -> pytest.MarkDecorator:
    """Skips a test on one backend."""
    import keras

    return pytest.mark.skipif(keras.backend.backend() == backend, reason=f"{backend}: {reason}")
