"""What a profile holds: ops, lines, phases, bytes, threads, programs; and that nothing is left of it afterwards."""

import gzip
import json
import os
import threading

import numpy as np
import pytest

import tapeflow as tf
from tapeflow._src.core.context import context
from tapeflow._src.core.system.timeline import timeline
from tapeflow._src.profiler import chrome, tables
from tapeflow._src.profiler.counting import BETWEEN, by_line, by_op, timed
from tapeflow._src.profiler.memory import Memory, bytes_of, new_arrays
from tapeflow._src.profiler.profile import Profile


@pytest.fixture
def profile():
    profile = Profile()
    yield profile
    if profile.is_open:
        profile.close()


def kernels(profile):
    return [e for e in profile.events if e.kind in ("op", "line")]


def test_each_op_is_there_once_with_its_bytes_and_its_line(profile):
    x = tf.ones([100, 50])
    w = tf.ones([50, 20])
    profile.open()
    y = x @ w
    z = tf.sin(y)
    profile.close()
    assert [(e.name, e.bytes) for e in kernels(profile)] == [("matmul", 8000), ("sin", 8000)]
    assert [e.places[0].file for e in kernels(profile)] == [__file__, __file__]
    first, second = (e.places[0].line for e in kernels(profile))
    assert second == first + 1
    assert z.shape == [100, 20]


def test_the_backward_pass_is_told_apart(profile):
    x = tf.Variable(tf.ones([10, 10]))
    profile.open()
    with tf.GradientTape() as tape:
        y = tf.reduce_sum(tf.tanh(x) * x)
    tape.gradient(y, x)
    profile.close()
    phases = {}
    for event in kernels(profile):
        phases.setdefault(event.phase, []).append(event.name)
    assert phases["forward"] == ["tanh", "multiply", "sum"]
    assert "multiply" in phases["backward"]
    assert "tanh_gradient" in phases["backward"]  # one kernel for all of its steps
    assert "tanh" not in phases["backward"]


def test_memory_is_counted_by_array(profile):
    x = tf.ones([1000])
    profile.open()
    y = x + 1.0  # 4000 bytes
    z = tf.reshape(y, [10, 100])  # a view
    both = [y * 2.0, z * 2.0]
    assert profile.memory.now == 12000
    del both
    assert profile.memory.now == 4000
    del y
    assert profile.memory.now == 4000  # the view holds it
    del z
    assert profile.memory.now == 0
    profile.close()
    assert profile.memory.peak == 12000
    assert [c.bytes for c in profile.memory.changes] == [4000, 4000, 4000, -4000, -4000, -4000]


def test_memory_of_arrays_that_are_not_new_is_not_counted(profile):
    noted = []
    leave = noted.append
    x, other = np.ones(100), np.ones(100)

    def sizes(found, *given):
        return bytes_of(new_arrays(found, given, leave))

    assert sizes(x, x) == 0
    assert (
        sizes(x[::2], x) == sizes(x[:50], x[::2]) == 0
    )  # views of an argument, and of the same array
    assert sizes([x[:50], x[50:]], x) == 0
    assert sizes(np.float64(3.0), x) == 0
    made = new_arrays(other, (x,), leave)
    assert bytes_of(made) == 800
    assert sizes(other, x) == sizes(other[1:], x) == 0  # it has been counted
    both = new_arrays((x + 1.0, x[:1], x + 2.0), (x,), leave)
    assert bytes_of(both) == 1600
    assert noted == [*both]  # they went at once
    del other
    assert noted == [*both, made]


def test_an_array_that_went_while_another_thread_was_busy_has_not_gone_before_it_came():
    array = np.ones(100)
    noted = []
    made = new_arrays(array, (), noted.append)
    del array
    memory = Memory(lambda: [(5, 6, made), *noted, (1, 9, None)], lambda: 10)
    assert (memory.changes, memory.peak) == ([(6, 800), (7, -800)], 800)


def test_what_the_command_is_started_by_is_not_the_users():
    profile = Profile(not_the_users=__file__)
    profile.open()
    tf.sin(tf.ones([3]))
    profile.close()
    assert kernels(profile)
    assert all(place.file != __file__ for e in profile.events for place in e.places)


def test_own_times_add_up_to_the_whole(profile):
    x = tf.ones([50, 50])
    profile.open()
    with tf.profiler.experimental.Trace("all"):
        for _ in range(20):
            x = tf.tanh(x @ x)
    profile.close()
    rows = by_op(profile)
    whole = profile.end - profile.begin
    named = {row.name: row for row in rows}
    assert sum(row.own for row in rows if row.name != "all") == whole
    assert named["matmul"].calls == 20
    # What is around others: its total is theirs and its own.
    (around,) = [t for t in timed(profile) if t.event.name == "all"]
    inner = sum(t.event.end - t.event.begin for t in timed(profile) if t.event.name != "all")
    assert around.own + inner == around.event.end - around.event.begin
    assert named[BETWEEN].own == whole - named["matmul"].own - named["tanh"].own


def test_a_line_counts_what_it_leads_to(profile):
    def inner(x):
        return tf.sin(x)

    profile.open()
    inner(tf.ones([5]))
    profile.close()
    events = [e for e in kernels(profile) if e.name == "sin"]
    (event,) = events
    lines = {row.name: row for row in by_line(profile)}
    innermost, caller = map(str, event.places[:2])
    assert lines[innermost].own >= event.end - event.begin
    assert lines[caller].own < lines[caller].total
    assert lines[caller].total >= event.end - event.begin


def test_what_keras_calls_counts_for_layers(profile):
    pytest.importorskip("keras", reason="Keras is not installed")
    layer = tf.keras.layers.Dense(3, name="dense_one")
    x = tf.ones([2, 4])
    profile.open()
    layer(x)
    profile.close()
    names = [row.name for row in by_line(profile)]
    assert "dense_one" in names
    places = [place for event in profile.events for place in event.places]
    keras_lines = {str(place) for place in places if "/keras/src/" in place.file}
    assert keras_lines
    assert keras_lines.isdisjoint(names)


def test_lines_of_a_numpy_program(profile):
    w = tf.Variable(tf.ones([4, 3]))

    @tf.function(jit_compile=False)
    def step(x):
        with tf.GradientTape() as tape, tf.name_scope("part"):
            loss = tf.reduce_sum(tf.sin(x @ w))
        w.assign_sub(tape.gradient(loss, w))
        return loss

    x = tf.ones([2, 4])
    step(x)
    before = w.numpy()
    profile.open()
    loss = step(x)
    profile.close()
    found = [(e.name, e.phase, e.scope) for e in profile.events if e.kind == "line"]
    assert ("sin", "forward", "part") in found
    assert ("cos", "backward", "part") in found  # where its op was
    (program,) = [e for e in profile.events if e.kind == "program"]
    assert (program.name, program.details["program"]) == ("step", "numpy")
    assert all(program.begin <= e.begin <= e.end <= program.end for e in kernels(profile))
    # It has computed what it computes without one.
    w.assign(before)
    assert step(x).numpy() == loss.numpy()


def test_a_program_that_fails_still_names_the_line(profile):
    @tf.function(jit_compile=False)
    def f(x, i):
        return tf.gather(x, i)

    f(tf.ones([3]), tf.constant(1))
    profile.open()
    with pytest.raises(tf.errors.InvalidArgumentError, match="defined at"):
        f(tf.ones([3]), tf.constant(7))


def test_tracing_compiling_and_stages(profile):
    pytest.importorskip("jax")
    from tapeflow._src.engines.hybrid.program import HybridProgram

    f = tf.function(lambda x: tf.tanh(tf.tanh(x) @ x), jit_compile=True)
    profile.open()
    f(tf.ones([4, 4]))
    profile.close()
    kinds = [e.kind for e in profile.events]
    assert kinds.count("trace") == 1
    assert kinds.count("compile") == 2  # by us, and by XLA
    assert kinds.count("program") == 1

    large = tf.ones([512, 512])
    graph = f.get_concrete_function(large).graph
    program = HybridProgram(graph)
    again = Profile()
    again.open()
    program.run([large])
    again.close()
    stages = [e.details["runs"] for e in again.events if e.kind == "stage"]
    assert stages == ["xla", "host", "xla"]
    assert [line.split("(")[0].split() for line in program.details()] == [
        ["stage", "0:", "xla", "1", "op"],
        ["stage", "1:", "host", "1", "op"],
        ["stage", "2:", "xla", "1", "op"],
    ]


def test_threads_and_pipelines(profile):
    profile.open()
    dataset = tf.data.Dataset.range(6).map(lambda x: x * 2).prefetch(2)
    found = [int(x) for x in dataset]
    profile.close()
    assert found == [0, 2, 4, 6, 8, 10]
    names = {e.name for e in profile.events if e.kind == "data"}
    assert {"next element", "prefetch", "map <lambda>"} <= names
    assert "tapeflow-data" in profile.threads.values()


def test_a_thread_that_begins_meanwhile_is_seen_and_freed(profile):
    begun, go = threading.Event(), threading.Event()
    left = []

    def work():
        tf.sin(tf.ones([3]))
        begun.set()
        go.wait(60)
        tf.sin(tf.ones([3]))  # takes the runner away
        left.append(context.dispatch[0] is context.quiet and context.quiet.__name__ != "<lambda>")
        left.append("runner" in getattr(context.quiet, "__qualname__", ""))

    profile.open()
    thread = threading.Thread(target=work, name="mine")
    thread.start()
    assert begun.wait(60)
    profile.close()
    count = len(profile.events)
    go.set()
    thread.join()
    assert "mine" in profile.threads.values()
    assert left == [True, False]
    assert len(profile.events) == count


def test_nothing_is_left_of_it(profile):
    before = context.dispatch, context.quiet
    profile.open()
    assert context.dispatch[0] is not before[0][0]
    with tf.device("CPU:0"):
        tf.sin(1.0)
    profile.close()
    assert (context.dispatch, context.quiet) == before
    assert timeline.watcher is None
    # Also where a block that began before gives back what it found.
    with tf.autodiff.ForwardAccumulator(tf.constant(1.0), tf.constant(1.0)):
        again = Profile()
        again.open()
    again.close()
    tf.sin(1.0)
    assert context.quiet is before[1]


def test_the_trace_file(profile, tmp_path):
    profile.open()
    with tf.profiler.experimental.Trace("step", step_num=3), tf.name_scope("layer"):
        y = tf.sin(tf.ones([10]))
    profile.close()
    path = tmp_path / "a" / "x.json.gz"
    chrome.write(profile, str(path))
    assert os.listdir(path.parent) == ["x.json.gz"]
    with gzip.open(path) as file:
        found = json.load(file)["traceEvents"]
    step, sin = (next(e for e in found if e["name"] == name) for name in ("step", "sin"))
    assert step["args"]["step_num"] == 3
    assert sin["args"]["scope"] == "layer"
    assert sin["args"]["bytes"] == y.numpy().nbytes
    assert sin["args"]["line"].startswith("test_profile.py:")
    assert sin["cat"] == "op,forward"
    assert step["ts"] <= sin["ts"] <= sin["ts"] + sin["dur"] <= step["ts"] + step["dur"]
    assert {e["tid"] for e in found if e["ph"] == "X"} == {1}
    curve = [e["args"]["bytes"] for e in found if e["ph"] == "C"]
    assert max(curve) == profile.memory.peak


def test_tables(profile):
    x = tf.ones([64, 64])
    profile.open()
    tf.sin(x @ x)
    profile.close()
    text = tables.text(profile, "op", rows=2)
    assert text.count("\n") == 5
    assert "(1 more)" in text
    assert "16 KiB" in tables.text(profile)
    assert tables.seconds(1_234_567) == "1.23 ms"
    assert tables.size(3 * 2**20) == "3 MiB"


class TestByTensorFlowsNames:
    def test_start_and_stop(self, tmp_path):
        with pytest.raises(tf.errors.UnavailableError, match="No profiler is running"):
            tf.profiler.experimental.stop()
        tf.profiler.experimental.start(tmp_path)
        with pytest.raises(tf.errors.AlreadyExistsError, match="Another profiler is running"):
            tf.profiler.experimental.start(tmp_path)
        tf.sin(tf.ones([3]))
        tf.profiler.experimental.stop()
        (file,) = tmp_path.glob("plugins/profile/*/*.trace.json.gz")
        with gzip.open(file) as content:
            assert "sin" in {e["name"] for e in json.load(content)["traceEvents"]}

    def test_nothing_is_written_without_save(self, tmp_path):
        tf.profiler.experimental.start(tmp_path)
        tf.profiler.experimental.stop(save=False)
        assert not list(tmp_path.glob("plugins"))

    def test_a_block_that_fails_ends_it(self, tmp_path):
        options = tf.profiler.experimental.ProfilerOptions(device_tracer_level=0)
        with pytest.raises(ZeroDivisionError), tf.profiler.experimental.Profile(tmp_path, options):
            1 // 0
        assert len(list(tmp_path.glob("plugins/profile/*/*"))) == 1
        assert timeline.watcher is None

    def test_options_of_another_kind(self, tmp_path):
        with pytest.raises(TypeError, match="options"):
            tf.profiler.experimental.start(tmp_path, options=3)
        assert timeline.watcher is None

    def test_what_is_not_there(self):
        with pytest.raises(AttributeError, match="server"):
            tf.profiler.experimental.server


def test_tables_of_many_events_read_them_once(monkeypatch, profile):
    profile.open()
    for _ in range(50):
        tf.sin(tf.ones([2]))
    profile.close()
    events, reads = profile.events, []
    monkeypatch.setattr(Profile, "events", property(lambda self: reads.append(self) or events))
    by_op(profile)
    by_line(profile)
    assert len(reads) == 2


def test_gradients_in_a_program_count_for_the_layers_of_their_ops(profile):
    keras = pytest.importorskip("keras", reason="Keras is not installed") and tf.keras
    layers = [keras.layers.Dense(4, name="first"), keras.layers.Dense(2)]
    model = keras.Sequential(layers, name="model")
    model.compile("sgd", "mse", jit_compile=False)
    x, y = np.ones([8, 3], "float32"), np.ones([8, 2], "float32")
    model.fit(x, y, verbose=0)
    profile.open()
    model.fit(x, y, verbose=0)
    profile.close()
    rows = {(row.name, row.phase) for row in by_line(profile)}
    assert ("model/first", "backward") in rows
    assert not any("traceback_utils" in name for name, _ in rows)


def test_gradients_of_ops_that_were_fused_count_for_their_layers(profile):
    keras = pytest.importorskip("keras", reason="Keras is not installed") and tf.keras
    layers = [
        keras.layers.Conv2D(4, 3, name="first"),
        keras.layers.Flatten(),
        keras.layers.Dense(2),
    ]
    model = keras.Sequential(layers, name="model")
    model.compile("sgd", "mse", jit_compile=False)
    x, y = np.ones([8, 6, 6, 1], "float32"), np.ones([8, 2], "float32")
    model.fit(x, y, verbose=0)
    profile.open()
    model.fit(x, y, verbose=0)
    profile.close()
    lines = [e for e in profile.events if e.kind == "line"]
    assert "conv_with_bias" in {e.name for e in lines}
    sums = [e.scope for e in lines if e.phase == "backward" and "sum" in e.name]
    assert "model/first" in sums and all(sums), sums
    assert not any("traceback_utils" in row.name for row in by_line(profile))


def test_times_of_ops_in_two_threads_do_not_mix(profile):
    together = threading.Barrier(2)

    def work():
        together.wait(60)
        for _ in range(50):
            np.asarray(tf.ones([200]) + 1.0)
        together.wait(60)  # the number of a thread that has ended is given to another

    profile.open()
    threads = [threading.Thread(target=work) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    profile.close()
    assert all(t.own >= 0 for t in timed(profile))
    adds = [e for e in kernels(profile) if e.name == "add"]
    assert len(adds) == 100
    assert len({e.thread for e in adds}) == 2
