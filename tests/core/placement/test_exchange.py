"""Values that go to other libraries and come from them: DLPack, and CUDA's array interface."""

from __future__ import annotations

import ctypes
import gc
import weakref

import ml_dtypes
import numpy as np
import pytest

import tapeflow as tf
from tapeflow._src.core.placement.remote import RemoteTensor

to_dlpack, from_dlpack = tf.experimental.dlpack.to_dlpack, tf.experimental.dlpack.from_dlpack

DTYPES = [
    *["bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"],
    *["float16", "bfloat16", "float32", "float64", "complex64", "complex128"],
]


def values(dtype):
    return tf.cast(tf.constant([[1, 0, 3], [2, 1, 0]]), dtype)


class Offering:
    """An array of a library that offers one capsule, whatever it is asked for."""

    def __init__(self, capsule, device=(1, 0)):
        self._capsule, self._device = capsule, device

    def __dlpack__(self, **_):
        return self._capsule

    def __dlpack_device__(self):
        return self._device


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("device", ["CPU:0", "CPU:1"])
def test_a_capsule_comes_back_as_it_went(dtype, device):
    with tf.device(device):
        x = values(dtype)
    y = from_dlpack(to_dlpack(x))
    assert y.dtype == x.dtype
    np.testing.assert_array_equal(y.numpy(), x.numpy())


@pytest.mark.parametrize("dtype", [d for d in DTYPES if d != "bfloat16"])
@pytest.mark.parametrize("device", ["CPU:0", "CPU:1"])
def test_numpy_takes_tensors(dtype, device):
    with tf.device(device):
        x = values(dtype)
    array = np.from_dlpack(x)
    assert array.dtype == x.numpy().dtype
    np.testing.assert_array_equal(array, x.numpy())


@pytest.mark.parametrize("dtype", [*DTYPES])
def test_jax_takes_tensors_and_gives_them(dtype):
    jax = pytest.importorskip("jax")
    with jax.enable_x64(True):
        x = values(dtype)
        array = jax.dlpack.from_dlpack(x)
        assert array.dtype == x.numpy().dtype
        np.testing.assert_array_equal(np.asarray(array), x.numpy())
        y = from_dlpack(array.__dlpack__())
    assert y.dtype == x.dtype
    np.testing.assert_array_equal(y, x)


@pytest.mark.parametrize("shape", [(), (0,), (0, 3), (3, 0), (1,), (2, 1, 3)])
def test_shapes(shape):
    x = tf.ones(shape)
    assert from_dlpack(to_dlpack(x)).shape == shape
    assert np.from_dlpack(x).shape == shape


@pytest.mark.parametrize(
    "view",
    [
        np.arange(12.0).reshape(3, 4)[:, ::2],
        np.arange(12.0).reshape(3, 4).T,
        np.arange(12.0)[::-1],
        np.arange(24.0).reshape(2, 3, 4)[::-1, 1:, ::-2],
        np.broadcast_to(np.arange(3.0), (2, 3)).copy()[:, 1:],
    ],
)
def test_strides_of_every_kind_come_in(view):
    np.testing.assert_array_equal(from_dlpack(view.__dlpack__()), view)


def test_a_transposed_tensor_goes_out():
    x = tf.transpose(tf.reshape(tf.range(6.0), [2, 3]))
    np.testing.assert_array_equal(np.from_dlpack(x), x.numpy())


def test_who_takes_a_value_cannot_change_the_tensor():
    for device in ("CPU:0", "CPU:1"):
        with tf.device(device):
            x = tf.ones([64])
        for array in (
            np.from_dlpack(x),
            np.from_dlpack(Offering(to_dlpack(x))),
            np.from_dlpack(Offering(x.__dlpack__(max_version=(1, 0)))),
        ):
            if array.flags.writeable:
                array[0] = 7.0
            # NumPy marks what it takes as read-only. Others do not look.
            ctypes.memset(array.ctypes.data, 0, array.nbytes)
            np.testing.assert_array_equal(x, np.ones(64))


def test_the_memory_itself_is_shared_on_demand_only_and_is_read_only():
    x = tf.constant(np.arange(100.0))
    shared = np.from_dlpack(x, copy=False)
    assert not shared.flags.writeable and np.shares_memory(shared, np.asarray(x))
    assert not np.shares_memory(np.from_dlpack(x), np.asarray(x))
    with pytest.raises(BufferError, match=r"max_version=\(1, 0\)"):
        x.__dlpack__(copy=False)


def test_what_changes_later_does_not_change_the_tensor():
    array = np.ones(64, np.float32)
    x = from_dlpack(array.__dlpack__())
    array[0] = 7.0
    np.testing.assert_array_equal(x, np.ones(64))


def test_a_capsule_can_be_taken_once():
    capsule = to_dlpack(tf.constant([1.0, 2.0]))
    from_dlpack(capsule)
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"used_dltensor.*at most once"):
        from_dlpack(capsule)


def test_capsules_of_version_one_come_in():
    array = np.arange(6.0).reshape(2, 3)
    array.flags.writeable = False
    capsule = array.__dlpack__(max_version=(1, 0))
    np.testing.assert_array_equal(from_dlpack(capsule), array)
    with pytest.raises(tf.errors.InvalidArgumentError, match="at most once"):
        from_dlpack(capsule)


def test_what_was_taken_is_let_go():
    class Array(np.ndarray):
        """Can be watched."""

    array = np.ones(10).view(Array)
    gone = weakref.ref(array)
    capsule = array.__dlpack__()
    del array
    from_dlpack(capsule)
    gc.collect()
    assert gone() is None


def test_what_is_not_a_capsule_is_refused_as_in_tensorflow():
    for wrong in (np.ones(3), tf.ones([3]), 3, None, [1.0]):
        with pytest.raises(TypeError, match="takes a capsule"):
            from_dlpack(wrong)
    for wrong in (np.ones(3), [1.0], tf.Variable([1.0])):
        with pytest.raises(tf.errors.InvalidArgumentError, match="must be a TF tensor"):
            to_dlpack(wrong)
    assert not hasattr(tf.Variable([1.0]), "__dlpack__")


@pytest.mark.parametrize("value", [np.array([b"a"], object), np.zeros(1, ml_dtypes.float8_e5m2)])
def test_dtypes_that_dlpack_does_not_have(value):
    x = tf.constant(value)
    with pytest.raises(tf.errors.InvalidArgumentError, match=f"{x.dtype.name} is not supported"):
        to_dlpack(x)
    with pytest.raises(BufferError):
        x.__dlpack__()


def test_types_that_tensors_do_not_have_stay_with_their_owner():
    jnp = pytest.importorskip("jax.numpy")
    capsule = jnp.ones(3, jnp.float8_e4m3b11fnuz).__dlpack__()
    for _ in range(2):  # it was not taken
        with pytest.raises(tf.errors.InvalidArgumentError, match="no dtype for DLPack's type code"):
            from_dlpack(capsule)


def test_inside_of_a_function_there_is_no_value():
    @tf.function
    def f(x):
        to_dlpack(x)
        return x

    with pytest.raises(tf.errors.InvalidArgumentError, match="must be a TF tensor"):
        f(tf.constant([1.0]))


def test_where_a_tensor_is():
    assert tf.ones([2]).__dlpack_device__() == (1, 0)
    with tf.device("CPU:1"):
        assert tf.ones([2]).__dlpack_device__() == (1, 0)  # memory of the host's
    with pytest.raises(BufferError, match=r"wanted on \(2, 0\)"):
        tf.ones([2]).__dlpack__(dl_device=(2, 0))


def test_cudas_interface_is_there_only_on_cuda():
    assert not hasattr(tf.ones([2]), "__cuda_array_interface__")
    with tf.device("CPU:1"):
        assert not hasattr(tf.ones([2]), "__cuda_array_interface__")


class CudaBuffer:
    """Stands for jax's array on a GPU."""

    class device:
        platform = "gpu"

    def __init__(self):
        self.shape, self.dtype = (2,), np.dtype(np.float32)
        self.waited, self.copies, self.streams = 0, 0, []

    def block_until_ready(self):
        self.waited += 1
        return self

    def copy(self):
        self.copies += 1
        return self

    def __dlpack_device__(self):
        return 2, 0

    def __dlpack__(self, stream=None):
        self.streams.append(stream)
        return "capsule"

    @property
    def __cuda_array_interface__(self):
        return {"shape": (2,), "typestr": "<f4", "data": (4096, False), "version": 2}


def test_a_tensor_on_cuda_offers_its_memory_to_readers():
    buffer = CudaBuffer()
    x = RemoteTensor(buffer)
    assert x.__cuda_array_interface__["data"] == (4096, True) and buffer.waited == 1
    assert x.__dlpack_device__() == (2, 0)
    assert x.__dlpack__(stream=1, max_version=(1, 0)) == "capsule" and buffer.copies == 1
    assert x.__dlpack__(stream=2, copy=False) == "capsule" and buffer.copies == 1
    assert buffer.streams == [1, 2]


def test_a_tape_can_tell_that_a_value_went_away():
    x = tf.constant([1.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.constant(np.from_dlpack(x * 2.0))
    assert tape.gradient(y, x) is None


def test_torch():
    torch = pytest.importorskip(
        "torch", reason="exchanges values with PyTorch where it is installed"
    )
    x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
    y = torch.from_dlpack(x)
    y += 1.0
    np.testing.assert_array_equal(x, [[1.0, 2.0], [3.0, 4.0]])
    np.testing.assert_array_equal(from_dlpack(y.__dlpack__()), x + 1.0)
    z = torch.utils.dlpack.from_dlpack(to_dlpack(tf.cast(x, tf.bfloat16)))
    assert z.dtype == torch.bfloat16
    back = from_dlpack(torch.utils.dlpack.to_dlpack(z))
    assert back.dtype == tf.bfloat16 and back.numpy().dtype == ml_dtypes.bfloat16
