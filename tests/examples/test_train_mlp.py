"""The example learns, and leaves its plots."""

import importlib.util
import io
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console

pytest.importorskip("matplotlib")

PATH = Path(__file__).parents[2] / "examples" / "train_mlp.py"


@pytest.fixture(scope="module")
def example():
    spec = importlib.util.spec_from_file_location("train_mlp", PATH)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_loss_falls_and_new_points_are_told_apart(example):
    _, notes = example.train(300, Console(file=io.StringIO()))
    assert len(notes["loss"]) == 300
    assert np.mean(notes["loss"][-20:]) < 0.5 * notes["loss"][0]
    assert notes["test accuracy"][-1] > 0.85


def test_it_is_quiet_without_a_terminal(example):
    output = io.StringIO()
    example.train(3, Console(file=output))
    assert output.getvalue().strip() == ""


def test_it_shows_its_progress_in_a_terminal(example):
    output = io.StringIO()
    example.train(20, Console(file=output, force_terminal=True, width=120))
    assert "20/20" in output.getvalue()
    assert "accuracy" in output.getvalue()


def test_it_leaves_plots_and_says_where(example, tmp_path, capsys):
    folder = tmp_path / "plots"
    example.main(["--steps", "5", "--output", str(folder)])
    said = capsys.readouterr().out.replace("\n", "")  # a long path is wrapped
    for name in ("training.png", "sigmoid.png"):
        assert (folder / name).read_bytes().startswith(b"\x89PNG")
        assert name in said


def test_the_same_seed_gives_the_same_training(example):
    runs = [example.train(5, Console(file=io.StringIO()))[1]["loss"] for _ in range(2)]
    assert runs[0] == runs[1]
