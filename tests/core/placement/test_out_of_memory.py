"""When memory runs out: an error that says who holds it, and a process that goes on."""

from __future__ import annotations

import copy
import gc

import jax
import numpy as np
import pytest

import tapeflow as tf
from tapeflow._src.core.placement.devices import PhysicalDevice, devices
from tapeflow._src.core.system import memory
from tapeflow._src.core.variables import holders
from tapeflow._src.engines.xla import call, eager
from tapeflow._src.primitives import dispatch
from tapeflow._src.primitives.all_rows import TABLE

HUGE = [2**24, 2**24]  # 1 PiB of float32, for which no processor has addresses
ERROR = jax.errors.JaxRuntimeError("RESOURCE_EXHAUSTED: Out of memory allocating 123456789 bytes.")


def failing(*args, **kwargs):
    raise ERROR


def out_of_memory():
    return pytest.raises(tf.errors.ResourceExhaustedError)


def says_who(error, *words):
    text = str(error.value)
    for word in ("hold", "The largest are:", "What to try", *words):
        assert word in text, text


@pytest.fixture
def held():
    """Something large enough to be named."""
    with tf.device("CPU:1"):
        x = tf.ones([1111, 3000])
        v = tf.Variable(tf.zeros([1200, 3000]), name="the_weights")
    host = tf.Variable(tf.zeros([1300, 3000]), name="at_home")
    return x, v, host


def test_eager_ops_on_a_device(held):
    with tf.device("CPU:1"):
        with out_of_memory() as error:
            (tf.ones([]) * tf.zeros(HUGE)).numpy()
        assert float(tf.reduce_sum(tf.ones([3]))) == 3.0  # the process goes on
    says_who(
        error,
        "variable 'the_weights:0' of shape (1200, 3000) and dtype float32, on CPU:1",
        "13.7 MiB",
    )
    assert "tensor of shape (1111, 3000)" in str(error.value) and "at_home" not in str(error.value)


def test_eager_ops_here(held):
    with out_of_memory() as error:
        tf.zeros(HUGE)
    says_who(error, "variable 'at_home:0' of shape (1300, 3000)", "[16777216, 16777216]", "free")
    assert "the_weights" not in str(error.value)


def test_a_kernel_of_numpys_that_finds_no_memory(held):
    x = tf.ones([2**24])
    with out_of_memory() as error:
        x[:, None] * x  # 2**48 numbers
    says_who(error, "multiply", "at_home:0")
    assert float(x[0]) == 1.0


@pytest.mark.parametrize("jit_compile", [None, True, False])
@pytest.mark.sample(3)
def test_functions_and_their_variables(held, jit_compile):
    _, v, _ = held

    @tf.function(jit_compile=jit_compile)
    def step(x):
        v.assign_add(tf.ones_like(v))
        return tf.reduce_sum(tf.cumsum(tf.reshape(x, [-1, 1]) * tf.reshape(x, [1, -1])))

    with tf.device("CPU:1"):
        x = tf.ones([2**24])
        with out_of_memory() as error:
            for _ in range(3):
                float(step(x))
    says_who(error)
    np.testing.assert_array_equal(v[0, :2], [0.0, 0.0])
    with tf.device("CPU:1"):
        assert float(step(tf.ones([2]))) == 6.0
    np.testing.assert_array_equal(v[0, :2], [1.0, 1.0])


def test_copies_to_a_device(held, monkeypatch):
    x = tf.ones([3])
    monkeypatch.setattr(eager.jax, "device_put", failing)
    with tf.device("CPU:1"):
        for make in (
            lambda: tf.constant([1.0]),
            lambda: tf.Variable([1.0]),
            lambda: tf.identity(x),
        ):
            with out_of_memory() as error:
                make()
            says_who(
                error, "copy to a device", "Out of memory allocating 123456789 bytes", "the_weights"
            )
    data = tf.data.Dataset.from_tensor_slices(np.ones([2, 3])).prefetch_to_device("CPU:1")
    with out_of_memory() as error:
        list(data)
    monkeypatch.undo()
    assert [i.numpy().tolist() for i in data] == [[1.0] * 3] * 2


def test_a_result_that_fails_when_it_is_looked_at(held):
    with tf.device("CPU:1"):
        x = tf.ones([2])

    class Failed:
        shape, dtype, device = (2,), np.dtype(np.float32), x._buffer.device

        def __array__(self, dtype=None, copy=None):
            raise ERROR

    x._array._buffer, x._array._host = Failed(), None
    with out_of_memory() as error:
        x.numpy()
    says_who(error, "the_weights")


def test_constants_of_numpy_arrays(held, monkeypatch):
    def no_memory(*args):
        raise MemoryError("Unable to allocate 8.0 EiB for an array")

    monkeypatch.setattr(memory.np, "empty", no_memory)
    array = np.ones([300, 300])
    for make in (tf.constant, tf.convert_to_tensor, tf.Variable):
        with out_of_memory() as error:
            make(array)
        says_who(error, "Unable to allocate 8.0 EiB")


def test_an_error_like_cupys():
    class OutOfMemoryError(MemoryError):
        """CuPy's is derived like this."""

    def kernel(x):
        raise OutOfMemoryError("Out of memory allocating 512 bytes (allocated so far: 0 bytes).")

    row = copy.copy(TABLE["sin"])
    row.kernel = kernel
    with out_of_memory() as error:
        dispatch.run(row, (tf.ones([2]),), {})
    says_who(error, "sin: Out of memory allocating 512 bytes")


def test_other_errors_of_xla_say_nothing_of_memory(monkeypatch):
    def broken(*args, **kwargs):
        raise jax.errors.JaxRuntimeError("INVALID_ARGUMENT: no such thing")

    monkeypatch.setattr(eager.jax, "device_put", broken)
    with tf.device("CPU:1"), pytest.raises(tf.errors.InvalidArgumentError) as error:
        tf.constant([1.0])
    assert "What to try" not in str(error.value)


def test_each_piece_of_memory_counts_once():
    with tf.device("CPU:1"):
        v = tf.Variable(tf.zeros([1000, 1000]), name="counted")
        again = [v.read_value() for _ in range(5)]
    gc.collect()
    named = [h for h in holders.holders(True) if h.bytes == 4_000_000]
    assert [h.what for h in named].count(
        "variable 'counted:0' of shape (1000, 1000) and dtype float32"
    ) == 1
    assert len(named) == 1
    del again
    x = tf.ones([3000, 777])
    rows = [x[i] for i in range(100)]
    assert sum(h.bytes == 3000 * 777 * 4 for h in holders.holders(False)) == 1
    del rows


def test_a_device_that_counts_its_memory_is_quoted(monkeypatch, held):
    class Gpu:
        def memory_stats(self):
            return {"bytes_in_use": 3 * 2**30, "bytes_limit": 4 * 2**30, "peak_bytes_in_use": 2**31}

    gpu = PhysicalDevice("/physical_device:GPU:0", "GPU")
    monkeypatch.setattr(devices, "_accelerators", {gpu: Gpu()})
    assert "in use on GPU:0 are 3.0 GiB of 4.0 GiB" in str(memory.failed_on_device(ERROR))


def test_memory_is_not_given_to_a_call_that_may_not_fit(monkeypatch):
    """On a GPU, a variable whose memory was given to a program that then fails would be lost."""
    used = [0]

    class Counting:
        def memory_stats(self):
            return {"bytes_in_use": used[0], "bytes_limit": 2**30}

    monkeypatch.setattr(call, "_counting_device", lambda arrays: Counting())
    with tf.device("CPU:1"):
        v = tf.Variable(tf.zeros([64, 64]))

        @tf.function(jit_compile=True)
        def step():
            v.assign(tf.linalg.matmul(v + 1.0, tf.eye(64)))

        def where():
            return v._value._buffer.unsafe_buffer_pointer()

        step()
        before = where()
        step()
        assert where() == before  # there is room, and memory is used again
        used[0] = 2**30
        step()
        assert where() != before
    np.testing.assert_array_equal(v[0, :2], [3.0, 3.0])


@pytest.mark.parametrize(
    ("size", "text"), [(0, "0 bytes"), (1023, "1023 bytes"), (1536, "1.5 KiB"), (2**41, "2.0 TiB")]
)
def test_sizes_for_people(size, text):
    assert holders.readable(size) == text
