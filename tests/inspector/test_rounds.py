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
from tapeflow._src.inspector.advice import advice
from tapeflow._src.inspector.page import Page
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


def inspected(folder, script):
    """What a script printed, and what its page shows."""
    (folder / "train.py").write_text(textwrap.dedent(script))
    done = subprocess.run(
        [sys.executable, "-m", "tapeflow", "inspect", "--page", "step.html", "train.py"],
        cwd=folder,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    found = re.search(r'id="data">(.*?)</script>', (folder / "step.html").read_text("utf-8"), re.S)
    assert found
    return done.stdout, json.loads(found[1])


def test_a_script(tmp_path):
    printed, data = inspected(tmp_path, SCRIPT)
    assert printed.startswith("done\n")
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
    before = debugging.everywhere, context.witness
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
    assert (debugging.everywhere, context.witness) == before


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
    assert (found.steps[0].name, found.steps[0].inputs[1]) == ("matmul", "w:0")
    # What stands in an eager step, of which each op is seen.
    with Rounds(2) as rounds:
        for _ in range(3):
            w.assign(tf.ones([30, 30]))
            step.python_function(tf.ones([8, 30]))
    w.assign(tf.ones([30, 30]))
    with Rounds(1) as traced:
        step(tf.ones([8, 30]))
    eagerly, traced = rounds.collected("steps"), traced.collected("steps")
    assert eagerly is not None
    assert traced is not None
    assert [g.name for g in traced.gradients] == ["w"]
    assert traced.gradients == eagerly.gradients

    def known(found):
        return {s.name: s.gradient for s in found.steps if s.phase == "forward" and s.gradient}

    assert known(traced) == known(eagerly)
    assert {"matmul", "relu", "sum"} == set(known(traced))


def test_why_there_is_no_gradient_in_a_function():
    w, v = tf.Variable(1.0, name="w"), tf.Variable(2.0, name="v")

    @tf.function
    def step():
        with tf.GradientTape() as tape:
            y = w * tf.stop_gradient(v)
        return [g for g in tape.gradient(y, [w, v]) if g is not None]

    with Rounds(3) as rounds:
        for _ in range(4):
            step()
    found = rounds.collected("steps")
    assert found is not None
    w_found, v_found = found.gradients
    assert (w_found.name, w_found.missing) == ("w", None)
    assert w_found.numbers is not None
    assert w_found.numbers.norm == 2.0
    assert v_found.name == "v"
    assert v_found.missing is not None
    assert [hop.op for hop in v_found.missing.path if hop.cut] == ["stop_gradient"]


def test_a_function_that_fails_while_it_is_traced():
    w = tf.Variable([1.5, 2.5], name="w")

    @tf.function
    def step():
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(tf.floor(w))
        w.assign_sub(0.1 * tape.gradient(loss, w))

    with Rounds(3) as rounds, pytest.raises(TypeError):
        step()
    found = rounds.collected("train.py")
    assert found is not None
    assert found.title == "train.py, before its first step"
    (lost,) = found.gradients
    assert lost.name == "w"
    assert lost.missing is not None
    assert [hop.op for hop in lost.missing.path if hop.cut] == ["floor"]
    (said,) = advice(found, rounds.functions(), rounds.traces)
    assert "w is None" in said.text
    assert "before its first step" in Page(found, [], [said]).html


def test_a_gradient_that_is_an_argument_and_one_of_a_function_in_a_function():
    w = tf.Variable([3.0, 4.0], name="w")

    @tf.function
    def inner(x):
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(w * x)
        return tape.gradient(loss, w)

    outer = tf.function(lambda x: inner(x) * 2.0)
    for f in (inner, outer):
        with Rounds(1) as rounds:
            f(tf.constant([6.0, 8.0]))
        found = rounds.collected("call")
        assert found is not None
        assert [(g.name, g.numbers and g.numbers.norm) for g in found.gradients] == [("w", 10.0)]


def test_what_became_of_functions_and_what_there_is_to_gain():
    @tf.function
    def f(x, n):
        for _ in range(50):
            x = tf.sin(x) + n
        return x

    with Rounds(2) as rounds:
        for n in range(7):
            f(tf.ones([3]), n)
    (facts,) = rounds.functions()
    assert facts.name == "f"
    assert facts.place.startswith("test_rounds.py:")
    assert (facts.traces, facts.tracing > 0) == (7, True)
    assert "op by op" in facts.report
    assert len(facts.fates) == 100
    found = rounds.collected("loop")
    assert found is not None
    said = advice(found, rounds.functions(), rounds.traces, elapsed=rounds.elapsed)
    (unrolled,) = [each for each in said if "tf.range" in each.text]
    assert "sin 50 times" in unrolled.text or "add 50 times" in unrolled.text
    assert unrolled.gain.startswith("at most 98% of the ")
    (retraced,) = [each for each in said if "traced 7 times" in each.text]
    assert "argument 'n' changes (5, then 6)" in retraced.text
    assert retraced.where == facts.place
    assert retraced.gain.startswith("all traces but one took ")
    assert retraced.gain.endswith(" of the program")


def test_functions_that_one_line_makes_count_as_one():
    with Rounds(1) as rounds:
        for _ in range(6):
            tf.function(lambda x: x * 2.0)(tf.ones([2]))
    (traces,) = rounds.traces
    assert traces.count == 6
    assert "another tf.function" in traces.why
    assert traces.time > traces.again > 0


def test_copies_from_a_device(tmp_path):
    pytest.importorskip("jax")
    _, data = inspected(
        tmp_path,
        """
            import tensorflow as tf

            cpu = tf.config.list_physical_devices("CPU")[0]
            tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 2)
            with tf.device("CPU:1"):
                w = tf.Variable(tf.ones([8, 8]))
                for step in range(30):
                    with tf.GradientTape() as tape:
                        loss = tf.reduce_sum(w * w)
                    w.assign_sub(0.1 * tape.gradient(loss, w))
                    float(loss)
            """,
    )
    (copied,) = [a for a in data["advice"] if "copied" in a["text"]]
    assert copied["where"] == "train.py:12"
    assert "of waiting" in copied["gain"]
    # What looks at the values on the page does not count.
    assert "a number back from a device 28 times" in copied["text"]
