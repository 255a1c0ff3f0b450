"""Variables in several threads: no update is lost, every value is seen whole."""

import subprocess
import sys
import threading

import numpy as np
import pytest
from tests.common import in_threads

import tapeflow as tf
from tapeflow._src.core.placement.device_tensor import DeviceTensor
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.core.variables import ownership, steps

THREADS = 16
LARGE = 50_000


class TestUpdates:
    @pytest.mark.parametrize("size", [1, LARGE])
    def test_none_is_lost(self, size):
        v = tf.Variable(np.zeros(size, np.float32))
        one = tf.ones([size])

        def add():
            for _ in range(100):
                v.assign_add(one)

        in_threads(THREADS, add)
        np.testing.assert_array_equal(v, np.full(size, 100.0 * THREADS))

    def test_rows_and_slices_count_too(self):
        v = tf.Variable(tf.zeros([4]))
        one = tf.IndexedSlices(tf.constant([1.0]), tf.constant([2]))

        def add():
            for _ in range(50):
                v.scatter_add(one)
                v.scatter_nd_add([[0]], [1.0])

        in_threads(THREADS, add)
        np.testing.assert_array_equal(v, [50.0 * THREADS, 0.0, 50.0 * THREADS, 0.0])

    @pytest.mark.parametrize("size", [1, LARGE])
    def test_an_assignment_is_not_overtaken(self, size):
        v = tf.Variable(np.zeros(size, np.float32))
        one = tf.ones([size])
        stop = threading.Event()

        def add():
            while not stop.is_set():
                v.assign_add(one)

        def assign():
            for k in range(100):
                v.assign(tf.fill([size], -1e6 * (k + 1)))
                assert np.all(v.numpy() < 0)  # an update that had begun before has ended before
            stop.set()

        in_threads(4, add, add, add, assign)

    def test_what_is_read_is_whole(self):
        v = tf.Variable(np.zeros(LARGE, np.float32))
        one = tf.ones([LARGE])
        stop = threading.Event()

        def add():
            for _ in range(300):
                v.assign_add(one)
            stop.set()

        def read():
            while not stop.is_set():
                for value in (v.value().numpy(), v.numpy(), np.array(v), (v * 1.0).numpy()):
                    assert value.min() == value.max()

        in_threads(3, add, read, read)

    def test_one_that_is_overtaken_begins_again(self):
        v = tf.Variable([1.0])

        class Overtaken(np.ndarray):
            """An array that, while it is added, has another value assigned to the variable."""

            def __array_ufunc__(self, ufunc, method, *inputs):
                if v.numpy() == 1.0:
                    v.assign([10.0])
                return getattr(ufunc, method)(*map(np.asarray, inputs))

        v.assign_add(Tensor(np.ones(1, np.float32).view(Overtaken)))
        np.testing.assert_array_equal(v, [11.0])


class TestSteps:
    def test_what_is_assigned_while_it_claims_counts(self):
        v, w, read = tf.Variable(1.0), tf.Variable(1.0), tf.Variable(1.0)

        class Late(list):
            """Variables that are assigned to after they were looked at, and before they are claimed."""

            def __getitem__(self, i):
                found = super().__getitem__(i)
                found.assign_add(1.0)
                read.assign_add(1.0)
                return found

        step = steps.Step()
        with step.lock:
            values = step.claim(Late([v, w, read]), [0, 1])
            step.give_up()
        assert [float(x) for x in values] == [2.0, 2.0, 3.0]
        assert [float(x) for x in step.before] == [2.0, 2.0]
        assert [float(v), float(w), float(read)] == [2.0, 2.0, 3.0]

    def test_an_unfinished_step_leaves_the_value(self):
        v = tf.Variable([1.0, 2.0])
        step = steps.Step()
        with pytest.raises(KeyboardInterrupt), step.lock:
            try:
                step.claim([v], [0])
                raise KeyboardInterrupt
            except BaseException:
                step.give_up()
                raise
        np.testing.assert_array_equal(v, [1.0, 2.0])

    def test_one_that_was_left_behind_settles_by_itself(self):
        v = tf.Variable([1.0, 2.0])
        step = steps.Step()
        with step.lock:
            step.claim([v], [0])
        assert type(v._value) is steps.Unsettled
        in_threads(1, lambda: np.testing.assert_array_equal(v, [1.0, 2.0]))
        v.assign_add([1.0, 1.0])
        np.testing.assert_array_equal(v, [2.0, 3.0])

    def test_results_that_are_there_are_not_lost(self):
        v, w = tf.Variable(1.0), tf.Variable(2.0)
        step = steps.Step()
        with step.lock:
            step.claim([v, w], [0, 1])
            step.made = [Tensor(np.float32(3.0)), None].__getitem__
        assert (float(v), float(w)) == (3.0, 2.0)

    def test_the_thread_itself_need_not_wait(self):
        v = tf.Variable([1.0])
        step = steps.Step()
        with step.lock:
            [before] = step.claim([v], [0])
            seen = v.value()
            before._array[0] = 5.0  # as a program that writes over the old value does
            np.testing.assert_array_equal(seen, [1.0])
            step.commit([before])
            step.give_up()
        np.testing.assert_array_equal(v, [5.0])

    def test_another_thread_waits(self):
        v = tf.Variable([1.0])
        step = steps.Step()
        seen = []
        with step.lock:
            step.claim([v], [0])
            reader = threading.Thread(target=lambda: seen.append(v.numpy()))
            reader.start()
            reader.join(0.05)
            assert not seen
            step.commit([Tensor(np.array([2.0], np.float32))])
            step.give_up()
        reader.join()
        np.testing.assert_array_equal(seen, [[2.0]])

    def test_dtype_and_shape_are_known_meanwhile(self):
        v = tf.Variable([1.0, 2.0])
        step = steps.Step()
        with step.lock:
            step.claim([v], [0])
            in_threads(1, lambda: (v.dtype, v.shape))
            step.give_up()


class TestOwnership:
    """Fails where Python counts references in another way than `ownership` has found when it was imported."""

    def private(self, value, *elsewhere):
        v = tf.Variable(0.0)
        v._value = value()
        kept = [look(v) for look in elsewhere]
        step = steps.Step()
        with step.lock:
            step.claim([v], [0])
            step.give_up()
        del kept
        return step.private[0]

    @staticmethod
    def on_device():
        class Buffer:
            shape, dtype, ndim = (), np.dtype("f"), 0

        return DeviceTensor(Buffer())

    def test_alone(self):
        assert self.private(lambda: Tensor(np.zeros(3)))
        assert self.private(self.on_device)

    @pytest.mark.parametrize(
        "look",
        [
            lambda v: v._value,
            lambda v: v._value._array,
            lambda v: v._value._array[1:],
            lambda v: Tensor(v._value._array),
            lambda v: v.value(),
            lambda v: memoryview(v._value._array),
        ],
    )
    def test_seen(self, look):
        assert not self.private(lambda: Tensor(np.zeros(3)), look)

    @pytest.mark.parametrize("look", [lambda v: v._value, lambda v: v._value._buffer])
    def test_seen_on_a_device(self, look):
        assert not self.private(self.on_device, look)

    def test_one_more_reference_is_one_more(self):
        values = [Tensor(np.zeros(1))]
        other = [*values]
        assert ownership.references(values, [0]) == [ownership.IF_ALONE]
        third = values[0]
        assert not any(ownership.are_private(values, [0]))
        del other, third

    def test_a_debugger_that_reads_names_meanwhile_is_not_counted(self):
        """Or whoever imports under one would see tensors change that they hold."""
        code = """
import sys

def look(frame, event, argument):
    # In functions: Python 3.12 does not bear that the names of modules are read while they run.
    if frame.f_code.co_filename.endswith("ownership.py") and frame.f_code.co_flags & 1:
        frame.f_locals
    return look

sys.settrace(look)
from tapeflow._src.core.variables import ownership
assert sys.gettrace() is look
print(ownership.IF_ALONE, ownership.IF_PASSING)
"""
        run = subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=True
        )
        assert run.stdout.split() == [str(ownership.IF_ALONE), str(ownership.IF_PASSING)]


def test_generators_give_each_number_once():
    generator = tf.random.Generator.from_seed(1)
    found = []

    def draw():
        found.extend([generator.uniform_full_int([], tf.uint64).numpy() for _ in range(50)])

    in_threads(THREADS, draw)
    assert len(set(found)) == 50 * THREADS
