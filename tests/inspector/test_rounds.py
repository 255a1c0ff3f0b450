"""`tapeflow inspect script.py`: one step of a program that runs as it is."""

import json
import re
import subprocess
import sys
import textwrap

import pytest

import tapeflow as tf
from tapeflow._src.autodiff.tape import debugging
from tapeflow._src.core.context import context
from tapeflow._src.inspector.rounds import Rounds

SCRIPT = """
    import tensorflow as tf

    w = tf.Variable(tf.ones([30, 30]), name="w")

    @tf.function
    def f(x):
        return tf.reduce_sum(tf.tanh(x @ w))

    for step in range(4):
        with tf.GradientTape() as tape:
            loss = f(tf.ones([8, 30]))
        w.assign_sub(0.1 * tape.gradient(loss, w))
    print("done")
"""


def test_a_script(tmp_path):
    script = tmp_path / "train.py"
    script.write_text(textwrap.dedent(SCRIPT))
    done = subprocess.run(
        [sys.executable, "-m", "tapeflow", "inspect", "--page", "step.html", script],
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("done\n")
    text = (tmp_path / "step.html").read_text(encoding="utf-8")
    found = re.search(r'id="data">(.*?)</script>', text, re.S)
    assert found
    data = json.loads(found[1])
    assert data["title"] == "train.py, step 3"
    names = [s["name"] for s in data["steps"]]
    assert {"matmul", "tanh", "sum", "assign"} <= set(names)
    assert names.count("assign") == 1


def test_a_script_without_steps(tmp_path):
    done = subprocess.run(
        [sys.executable, "-m", "tapeflow", "inspect", "-c", "print(1)"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0
    assert "no tape was opened" in done.stderr
    assert not list(tmp_path.iterdir())


def test_rounds_of_tapes_and_of_functions():
    before = context.dispatch
    x = tf.Variable(1.0, name="x")
    f = tf.function(lambda y: y * 2.0)
    with Rounds(2) as rounds:
        for _ in range(3):
            with tf.GradientTape() as tape:
                y = tf.sin(x) * x
            tape.gradient(y, x)
    found = rounds.collected("loop")
    assert found is not None
    assert [s.name for s in found.steps][:2] == ["sin", "multiply"]
    assert [g.name for g in found.gradients] == ["x"]
    with Rounds(2) as rounds:
        f(tf.constant(1.0))
    found = rounds.collected("call")
    assert found is not None
    assert [s.name for s in found.steps] == ["multiply"]
    assert context.dispatch == before


def test_the_update_of_an_optimizer_belongs_to_its_step():
    keras = pytest.importorskip("keras", reason="Keras is not installed") and tf.keras
    w = tf.Variable([1.0, 2.0], name="w")
    optimizer = keras.optimizers.SGD(1.0)

    def loop(steps):
        for x in range(steps):
            with tf.GradientTape() as tape:
                y = tf.reduce_sum(w * float(x))
            optimizer.apply_gradients([(tape.gradient(y, w), w)])

    for wanted, steps, number in ((2, 3, 2), (3, 2, 1)):
        with Rounds(wanted) as rounds:
            loop(steps)
        found = rounds.collected("loop")
        assert found is not None
        assert found.title == f"loop, step {number}"
        names = [step.name for step in found.steps]
        assert names[:2] == ["multiply", "sum"]
        assert names.count("sum") == 1  # the next step is none of it
        assert "assign" in names
        assert found.steps[-1].phase == "update"


def test_why_there_is_no_gradient():
    w, v = tf.Variable(1.0, name="w"), tf.Variable(2.0, name="v")
    before = debugging.everywhere, sys.getprofile()
    for wanted, steps in ((1, 3), (3, 5), (3, 1)):
        with Rounds(wanted) as rounds:
            for _ in range(steps):
                with tf.GradientTape() as tape:
                    y = w * tf.stop_gradient(v)
                tape.gradient(y, [w, v])
        found = rounds.collected("loop")
        assert found is not None
        missing = {g.name: g.missing for g in found.gradients}
        assert missing["w"] is None
        assert missing["v"] is not None
        assert missing["v"].path[0].cut
    with Rounds(3) as rounds:
        with tf.GradientTape() as tape:
            y = tf.stop_gradient(w)
        tape.gradient(y, w)  # no op runs
    found = rounds.collected("once")
    assert found is not None
    assert [(g.name, g.missing is None) for g in found.gradients] == [("w", False)]
    assert (debugging.everywhere, sys.getprofile()) == before


def test_a_step_that_is_one_function():
    w = tf.Variable(tf.ones([30, 30]), name="w")

    @tf.function
    def step(x):
        with tf.GradientTape() as tape, tf.name_scope("layer"):
            loss = tf.reduce_sum(tf.nn.relu(x @ w))
        w.assign_sub(0.1 * tape.gradient(loss, w))

    with Rounds(2) as rounds:
        for _ in range(3):
            step(tf.ones([8, 30]))
    found = rounds.collected("steps")
    assert found is not None
    by_name = {s.name: s for s in found.steps}
    relu, gradient = by_name["relu"], by_name["relu_gradient"]
    assert gradient.phase == "backward"
    assert gradient.of == relu.number
    assert gradient.scope == relu.scope == "layer"
    assert relu.kept == 8 * 30 * 4
    assert relu.place is not None
    assert relu.place.file == __file__
