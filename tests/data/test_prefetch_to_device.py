"""Elements that are put on a device ahead of the program."""

from __future__ import annotations

import gc
import threading
import time
import weakref

import numpy as np
import pytest

import tapeflow as tf
from tapeflow._src.core.placement.devices import PhysicalDevice, devices
from tapeflow._src.core.system import jax_loading

pytestmark = pytest.mark.usefixtures("three_devices")

X = np.arange(12, dtype=np.float32).reshape(6, 2)
Y = np.arange(6)


def place(x):
    return x.device.rpartition("device:")[2]


def batches():
    return tf.data.Dataset.from_tensor_slices((X, Y)).batch(2)


def in_time(happened):
    """Whether something happens that takes a thread a moment."""
    end = time.monotonic() + 20.0
    while not happened() and time.monotonic() < end:
        time.sleep(0.001)
    return happened()


@pytest.mark.parametrize("size", [None, tf.data.AUTOTUNE, 0, 1, 2, 100])
def test_elements_are_on_the_device(size):
    data = batches().prefetch_to_device("/CPU:1", size)
    assert data.element_spec == batches().element_spec and len(data) == 3
    for _ in range(2):  # each pass is a new one
        found = list(data)
        assert [(place(x), place(y)) for x, y in found] == [("CPU:1", "CPU:1")] * 3
        np.testing.assert_array_equal(np.concatenate([x for x, _ in found]), X)
        np.testing.assert_array_equal(np.concatenate([y for _, y in found]), Y)


def test_by_the_names_of_tensorflow():
    prefetch = tf.data.experimental.prefetch_to_device
    copy = tf.data.experimental.copy_to_device
    for data, name in (
        (batches().apply(prefetch("/cpu:1")), "_PrefetchDataset"),
        (batches().apply(prefetch(device="CPU:1", buffer_size=1)), "_PrefetchDataset"),
        (batches().apply(copy("/cpu:1")), "_CopyToDeviceDataset"),
        (batches().apply(copy("/cpu:1", "/cpu:2")), "_CopyToDeviceDataset"),
        (batches().apply(copy(target_device="/cpu:1", source_device="/cpu:0")).prefetch(1), ""),
    ):
        assert repr(data).startswith(f"<{name}")
        assert {place(x) for x, _ in data} == {"CPU:1"}


def test_what_comes_after_it_runs_here():
    data = batches().prefetch_to_device("CPU:1")
    with tf.transfers() as copies:
        found = list(data.map(lambda x, y: (x + 1.0, y)))
        total = data.reduce(np.float32(0.0), lambda s, e: s + tf.reduce_sum(e[0]))
        arrays = list(data.as_numpy_iterator())
        assert [x.shape for x, _ in data.unbatch().batch(4)] == [(4, 2), (2, 2)]
    assert {place(x) for x, _ in found} == {"CPU:0"} and float(total) == X.sum()
    np.testing.assert_array_equal(arrays[0][0], X[:2])
    assert copies.count == 0


def test_what_leaves_elements_alone_leaves_them_there():
    data = batches().prefetch_to_device("CPU:1")
    for same in (data.take(2), data.skip(1), data.repeat(2), data.shuffle(3), data.prefetch(2)):
        assert {place(x) for x, _ in same} == {"CPU:1"}, same
    with tf.transfers() as copies:
        assert len(list(data.take(1))) == 1
    assert copies.count == 1  # of the one element that was taken: few labels go along with a call


def test_structures_and_strings():
    data = tf.data.Dataset.from_tensor_slices(
        {"text": ["a", "b"], "parts": ([True, False], np.float64([1.5, 2.5])), "n": np.int8([1, 2])}
    )
    data = data.prefetch_to_device("CPU:2")
    found = list(data)
    assert place(found[0]["text"]) == "CPU:0"  # XLA has no strings
    (flag, number), n = found[1]["parts"], found[1]["n"]
    assert [place(x) for x in (flag, number, n)] == ["CPU:2"] * 3
    assert (flag.dtype, number.dtype, n.dtype) == (tf.bool, tf.float64, tf.int8)
    assert (bool(flag), float(number), int(n), found[1]["text"].numpy()) == (False, 2.5, 2, b"b")
    windows = tf.data.Dataset.range(4).window(2).prefetch_to_device("CPU:1")
    assert [[int(x) for x in window] for window in windows] == [[0, 1], [2, 3]]


def test_shapes_that_are_not_known_before():
    def rows():
        for n in (1, 3, 0):
            yield np.full([n, 2], n, np.float32)

    spec = tf.TensorSpec(None, tf.float32)
    data = tf.data.Dataset.from_generator(rows, output_signature=spec).prefetch_to_device("CPU:1")
    assert [(x.shape.as_list(), place(x)) for x in data] == [([n, 2], "CPU:1") for n in (1, 3, 0)]


def test_a_generator_may_use_its_array_again():
    def rows():
        row = np.empty([300, 300], np.float32)
        for i in range(20):
            row[...] = i
            yield row
            row[...] = -1.0

    spec = tf.TensorSpec([300, 300], tf.float32)
    data = tf.data.Dataset.from_generator(rows, output_signature=spec).prefetch_to_device("CPU:1")
    for i, x in enumerate(data):
        np.testing.assert_array_equal(x, np.full([300, 300], i, np.float32))


def test_the_next_element_is_there_before_it_is_asked_for():
    made = []

    def rows():
        for i in range(5):
            made.append(i)
            yield np.full(3, i, np.float32)

    data = tf.data.Dataset.from_generator(rows, output_signature=tf.TensorSpec(3, tf.float32))
    it = iter(data.prefetch_to_device("CPU:1", 2))
    assert not made
    with tf.transfers() as copies:
        assert next(it).numpy().tolist() == [0.0] * 3
        # Two more are uploaded, and the thread waits until there is room.
        assert in_time(lambda: len([c for c in copies if c.to.endswith("CPU:1")]) >= 3)
        assert len(made) <= 4
        lines = {c.line.file for c in copies}
    assert lines == {__file__}  # the line of the program, and not one of a thread's
    assert [float(x[0]) for x in it] == [1.0, 2.0, 3.0, 4.0]


def test_errors_come_in_their_place_and_the_rest_after_them():
    def rows():
        yield 1.0
        raise ValueError("broken")

    spec = tf.TensorSpec((), tf.float32)
    it = iter(
        tf.data.Dataset.from_generator(rows, output_signature=spec).prefetch_to_device("CPU:1")
    )
    assert float(next(it)) == 1.0
    with pytest.raises(Exception, match="broken"):
        next(it)
    data = tf.data.Dataset.range(4).map(
        lambda x: tf.debugging.check_numerics(1.0 / tf.cast(x - 1, tf.float32), "at one")
    )
    it = iter(data.prefetch_to_device("CPU:1"))
    assert float(next(it)) == -1.0
    with pytest.raises(tf.errors.InvalidArgumentError, match="at one"):
        next(it)
    assert [float(x) for x in it] == [1.0, 0.5]


def test_who_has_enough_stops_the_thread():
    def rows():
        while True:
            yield np.zeros([2], np.float32)

    data = tf.data.Dataset.from_generator(rows, output_signature=tf.TensorSpec([2], tf.float32))
    it = iter(data.prefetch_to_device("CPU:1"))
    next(it)
    readers = it._rows._feed.workers
    assert in_time(lambda: readers)  # who has begun is noted a moment later
    gone = weakref.ref(it)
    del it
    gc.collect()
    assert gone() is None
    assert in_time(lambda: not any(reader.is_alive() for reader in readers))


def test_iterators_can_be_saved_and_go_back():
    data = tf.data.Dataset.range(10).shuffle(10, seed=3).prefetch_to_device("CPU:1")
    it = iter(data)
    [next(it) for _ in range(4)]
    state = it._checkpoint_state()
    rest = [int(x) for x in it]
    it._restore_state(state)
    again = list(it)
    assert [int(x) for x in again] == rest and {place(x) for x in again} == {"CPU:1"}


def test_optionals_and_ends():
    it = iter(tf.data.Dataset.range(1).prefetch_to_device("CPU:1"))
    assert place(it.get_next_as_optional().get_value()) == "CPU:1"
    assert not bool(it.get_next_as_optional().has_value())
    with pytest.raises(tf.errors.OutOfRangeError):
        it.get_next()
    with pytest.raises(StopIteration):
        next(it)


def test_inside_of_functions():
    data = batches().prefetch_to_device("CPU:1")

    @tf.function
    def over(data):
        total = 0.0
        for x, _ in data:
            total += tf.reduce_sum(x)
        return total

    it = iter(data)

    @tf.function
    def following():
        return next(it)[0]

    assert float(over(data)) == X.sum()
    np.testing.assert_array_equal(following(), X[:2])
    np.testing.assert_array_equal(next(it)[0], X[2:4])


def test_threads_share_an_iterator():
    it = iter(tf.data.Dataset.range(200).prefetch_to_device("CPU:1"))
    found = []

    def read():
        found.extend(int(x) for x in it)

    readers = [threading.Thread(target=read) for _ in range(3)]
    [t.start() for t in readers]
    [t.join() for t in readers]
    assert sorted(found) == list(range(200))


def test_names_and_sizes_that_mean_nothing():
    data = batches()
    with pytest.raises(ValueError, match="'foo'"):
        data.prefetch_to_device("foo")
    with pytest.raises(ValueError, match="prefetch_to_device: expected a device name"):
        data.prefetch_to_device(3)
    with pytest.raises(tf.errors.InvalidArgumentError, match="buffer_size must be >= 0"):
        data.prefetch_to_device("CPU:1", -5)
    for size in (1.5, "a"):
        with pytest.raises(TypeError, match="buffer_size"):
            data.prefetch_to_device("CPU:1", size)
    # A device that is not there is passed over, and so is none.
    for name in ("GPU:7", "CPU:7", None):
        assert {place(x) for x, _ in data.prefetch_to_device(name)} == {"CPU:0"}
        assert {place(x) for x, _ in data.apply(tf.data.experimental.copy_to_device(name))} == {
            "CPU:0"
        }
    tf.config.set_soft_device_placement(False)
    with pytest.raises(tf.errors.InvalidArgumentError, match="GPU:7"):
        data.prefetch_to_device("GPU:7")


# Without a word in the pipeline.


def test_in_a_scope_elements_come_to_its_device():
    data = batches().map(lambda x, y: (x * 2.0, y))
    with tf.device("CPU:1"):
        found = list(data)
        other = list(data.prefetch_to_device("CPU:2"))
        here = list(data.prefetch_to_device("CPU:0"))
    assert {place(x) for x, _ in found} == {"CPU:1"}
    np.testing.assert_array_equal(found[0][0], 2 * X[:2])
    assert {place(x) for x, _ in other} == {"CPU:2"} and {place(x) for x, _ in here} == {"CPU:0"}
    assert {place(x) for x, _ in data} == {"CPU:0"}
    with tf.device("CPU:0"):
        assert {place(x) for x, _ in data} == {"CPU:0"}


def test_a_pipeline_that_is_made_in_a_scope_keeps_its_data_here():
    with tf.device("CPU:1"), tf.transfers() as copies:
        data = tf.data.Dataset.from_tensor_slices(X).batch(3)
        assert copies.count == 0
        assert {place(x) for x in data} == {"CPU:1"}
    assert copies.count == 2 and copies.bytes == X.nbytes
    with tf.device("CPU:1"):
        remote = tf.constant(X)
    np.testing.assert_array_equal(
        np.concatenate(list(tf.data.Dataset.from_tensor_slices(remote).batch(4))), X
    )


def test_a_loop_in_a_scope_trains():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(64, 4)).astype(np.float32)
    y = x @ np.float32([1.0, -2.0, 3.0, 0.5])
    data = tf.data.Dataset.from_tensor_slices((x, y)).shuffle(64, seed=1).batch(16).repeat(20)
    with tf.device("CPU:1"):
        w = tf.Variable(tf.zeros([4]))

        @tf.function
        def step(x, y):
            with tf.GradientTape() as tape:
                loss = tf.reduce_mean((tf.linalg.matvec(x, w) - y) ** 2)
            w.assign_sub(0.1 * tape.gradient(loss, w))
            return loss

        with tf.transfers() as copies:
            for batch in data:
                step(*batch)
    np.testing.assert_allclose(w, [1.0, -2.0, 3.0, 0.5], atol=1e-2)
    assert copies.count == 2 * 4 * 20 and {c.to[-5:] for c in copies} == {"CPU:1"}


@pytest.fixture
def gpu(three_devices, monkeypatch):
    """A machine with a GPU: a second logical CPU device stands for it."""
    (cpu,) = tf.config.list_physical_devices("CPU")
    tf.config.set_logical_device_configuration(cpu, None)
    device = jax_loading.load().devices("cpu")[1]
    found = {PhysicalDevice("/physical_device:GPU:0", "GPU"): device}
    monkeypatch.setattr(devices, "_accelerators", found)
    monkeypatch.setattr(devices, "in_use", True)


@pytest.mark.usefixtures("gpu")
def test_where_there_is_a_gpu_large_elements_go_there():
    x = np.ones([512, 128], np.float32)
    large = tf.data.Dataset.from_tensor_slices((x, np.arange(512))).batch(128)
    with tf.transfers() as copies:
        assert [(place(x), place(y)) for x, y in large] == [("GPU:0", "CPU:0")] * 4
    assert copies.count == 4  # and none of the data as a whole
    small = tf.data.Dataset.range(5)
    assert {place(i) for i in small} == {"CPU:0"}
    tf.config.set_default_placement("cpu")
    try:
        assert {place(x) for x, _ in large} == {"CPU:0"}
        tf.config.set_default_placement("all")
        assert {(place(x), place(y)) for x, y in large} == {("GPU:0", "GPU:0")}
    finally:
        tf.config.set_default_placement("large")


@pytest.mark.usefixtures("gpu")
def test_where_there_is_a_gpu_pipelines_run_here():
    x = np.ones([4, 128, 256], np.float32)
    data = tf.data.Dataset.from_tensor_slices(x).map(lambda x: x * 2.0 + tf.ones([128, 256]))
    with tf.transfers() as copies:
        assert [float(x[0, 0]) for x in data.as_numpy_iterator()] == [3.0] * 4
        assert [place(x) for x in data.batch(2)] == ["GPU:0"] * 2
    assert copies.count == 2
