"""DeepXDE's examples, shortened by the script that its own tests use: they run, and the losses are TensorFlow's."""

from __future__ import annotations

import importlib
import os
import sys
from pathlib import Path

import deepxde as dde
import pytest
from deepxde.nn import initializers

EXAMPLES = Path(os.environ["LIBRARIES_SOURCES"]) / "examples"

sys.path.insert(0, str(EXAMPLES))
sample_to_test = importlib.import_module("sample_to_test")
FILES = sorted(EXAMPLES.glob("*/*.py"))


def for_tensorflow(file: Path) -> bool:
    """Whether an example says that it can run on TensorFlow."""
    first = file.read_text(encoding="utf-8").splitlines()[0].replace('"', "").replace(",", "")
    return "tensorflow" in first.split()


@pytest.mark.parametrize(
    "file", [pytest.param(file, id=file.stem) for file in FILES if for_tensorflow(file)]
)
def test_example(file: Path, monkeypatch, record_property) -> None:
    """The example trains for a step, and has TensorFlow's losses before and after it."""
    losses = []
    train = dde.Model.train

    def kept(model, *args, **kwargs):
        history, state = train(model, *args, **kwargs)
        losses.extend([float(x) for x in step] for step in history.loss_train)
        return history, state

    monkeypatch.setattr(dde.Model, "train", kept)
    monkeypatch.chdir(file.parent)
    dde.optimizers.set_LBFGS_options(maxiter=1)
    dde.config.set_random_seed(1)
    # These have drawn their seeds when they were made, which was at the import.
    monkeypatch.setattr(initializers, "INITIALIZER_DICT", initializers.initializer_dict_tf())
    lines = file.read_text(encoding="utf-8").splitlines(keepends=True)
    text = "".join(sample_to_test.transform(line, file.name) for line in lines)
    exec(compile(text, str(file), "exec"), {"__name__": "__main__"})
    record_property("losses", losses)
