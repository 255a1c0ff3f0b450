"""Stands in for the `conftest.py` of Keras's repository, which its wheel leaves out and its tests import from.

It is loaded with `-p conftest` from this folder, before Keras, for any backend.
"""

from __future__ import annotations

import contextlib
import importlib
import inspect
import os
import re
import textwrap

import pytest


def with_our_sparse_tensors(text: str) -> str:
    """Code of tests that make sparse tensors of TensorFlow's class or, `elif`, of JAX's: with ours for our backend.

    Ragged tensors, which are TensorFlow's or, `else`, not there, too.
    """
    text = re.sub(r"^( *)import tensorflow as tf", r"\1import tapeflow as tf", text, flags=re.M)
    to_others = r"(?=(?:(?:\1 +\S.*)?\n)*\1(?:elif|else)\b)"
    choice = rf'^( *)(if|elif) backend\.backend\(\) == "tensorflow":\n{to_others}'
    return re.sub(choice, r'\1\2 backend.backend() == "tapeflow":\n', text, flags=re.M)


if os.environ.get("KERAS_BACKEND") == "tapeflow":
    from tapeflow._src.keras import hook

    hook.install()
    # Its tests give TensorFlow's strings and datasets to layers, which use it if it was imported before them.
    with contextlib.suppress(ImportError):
        importlib.import_module("tensorflow")
    # Before pytest: it loads the packages of what it collects in its own way, past the hook.
    importlib.import_module("keras")
    _cases = importlib.import_module("keras.src.testing.test_case")
    for _owner, _name in (
        (_cases, "create_eager_tensors"),
        (_cases.TestCase, "assertSparse"),
        (_cases.TestCase, "assertRagged"),
    ):
        _given = getattr(_owner, _name)
        if _given.__code__.co_filename == _cases.__file__:  # not changed yet
            _source = textwrap.dedent(inspect.getsource(_given))
            exec(with_our_sparse_tensors(_source), vars(_cases))
            setattr(_owner, _name, vars(_cases)[_name])


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
