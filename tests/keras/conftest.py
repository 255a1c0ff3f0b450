"""Keras must be loaded, with tapeflow as its backend, before a test module imports a part of the backend."""

import importlib.util

import tapeflow._src.keras.hook  # noqa: F401 (lets Keras find tapeflow)

if importlib.util.find_spec("keras") is None:
    collect_ignore_glob = ["test_*.py"]
else:
    import keras  # noqa: F401
