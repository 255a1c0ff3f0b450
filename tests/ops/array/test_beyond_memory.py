"""Sizes that no memory holds are refused before it is taken, whoever makes the array."""

from __future__ import annotations

import numpy as np
import pytest

import tapeflow as tf

ONE = tf.constant([1.0])
LARGE = {
    "zeros": lambda n: tf.zeros([n]),
    "ones": lambda n: tf.ones([n]),
    "fill": lambda n: tf.fill([n], 1.0),
    "constant": lambda n: tf.constant(1.0, shape=[n]),
    "range": lambda n: tf.range(n),
    "range of floats": lambda n: tf.range(0.0, 1.0, 1.0 / n),
    "eye": lambda n: tf.eye(n, 3),
    "linspace": lambda n: tf.linspace(0.0, 1.0, n),
    "broadcast_to": lambda n: tf.broadcast_to(ONE, [n]),
    "tile": lambda n: tf.tile(ONE, [n]),
    "repeat": lambda n: tf.repeat(ONE, n),
    "pad": lambda n: tf.pad(ONE, [[0, n]]),
    "one_hot": lambda n: tf.one_hot([1], n),
    "sequence_mask": lambda n: tf.sequence_mask(n),
    "sequence_mask with maxlen": lambda n: tf.sequence_mask([3], n),
    "scatter_nd": lambda n: tf.scatter_nd(tf.constant([[0]], tf.int64), ONE, [n]),
    "unsorted_segment_sum": lambda n: tf.math.unsorted_segment_sum(ONE, [0], n),
    "unsorted_segment_max": lambda n: tf.math.unsorted_segment_max(ONE, [0], n),
    "bincount": lambda n: tf.math.bincount([1], minlength=n),
    "uniform": lambda n: tf.random.uniform([n]),
    "normal": lambda n: tf.random.stateless_normal([n], [1, 2]),
    "poisson": lambda n: tf.random.poisson([n], 1.0),
    "hann_window": lambda n: tf.signal.hann_window(n),
    "dynamic_partition": lambda n: tf.dynamic_partition(ONE, [0], n),
    "log_uniform_candidate_sampler": lambda n: tf.random.log_uniform_candidate_sampler(
        [[0]], 1, 1, True, n
    ),
}


@pytest.mark.parametrize("name", LARGE)
@pytest.mark.sample(4)
def test_more_than_any_memory(name):
    with pytest.raises(tf.errors.ResourceExhaustedError, match="no memory"):
        LARGE[name](2**48)  # more than there are addresses


@pytest.mark.parametrize(
    "make",
    [
        lambda shape: tf.zeros(shape),
        lambda shape: tf.fill(shape, 1.0),
        lambda shape: tf.broadcast_to(ONE, shape),
        lambda shape: tf.random.uniform(shape),
    ],
)
def test_more_than_can_be_counted(make):
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"2\*\*63 - 1 elements"):
        make([2**62, 4])


def test_a_kernel_that_runs_out_of_memory(monkeypatch):
    from tapeflow._src.primitives import dispatch, table

    def failing(*arrays, **attrs):
        raise MemoryError("Unable to allocate 1.0 TiB")

    row = table.TABLE["concat"]
    monkeypatch.setattr(row, "kernel", failing)
    x = tf.constant([1.0])
    error = dispatch.explained_by_rule(
        row, (x, x), {"axis": 0}, MemoryError("Unable to allocate 1.0 TiB")
    )
    assert isinstance(error, tf.errors.ResourceExhaustedError)
    said, _, holders = str(error).partition("\n")
    assert said == "concat: Unable to allocate 1.0 TiB (inputs: float32[1], float32[1])"
    assert "Tensors and variables hold" in holders

    @tf.function(jit_compile=False, autograph=False)
    def joined(a):
        return tf.concat([a, a], 0)

    with pytest.raises(tf.errors.ResourceExhaustedError, match="concat: Unable"):
        joined(x)


def test_in_a_function_of_unknown_sizes():
    @tf.function(autograph=False, input_signature=[tf.TensorSpec([], tf.int64)])
    def made(n):
        return tf.zeros([n, 4])

    assert made(tf.constant(3, tf.int64)).shape == (3, 4)
    with pytest.raises(tf.errors.ResourceExhaustedError):
        made(tf.constant(2**50, tf.int64))


def test_many_partitions_are_stretches_of_one_tensor():
    x = tf.constant([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    with tf.GradientTape() as tape:
        tape.watch(x)
        parts = tf.dynamic_partition(x, [2, 0, 2], 4)
        total = tf.reduce_sum(parts[2] * 2.0)
    assert [p.shape.as_list() for p in parts] == [[1, 2], [0, 2], [2, 2], [0, 2]]
    np.testing.assert_array_equal(parts[2], [[1.0, 2.0], [5.0, 6.0]])
    np.testing.assert_array_equal(tape.gradient(total, x), [[2, 2], [0, 0], [2, 2]])
    assert tf.dynamic_partition(x, 1, 2)[1].shape == (1, 3, 2)
    assert tf.dynamic_partition(tf.zeros([0, 2]), tf.zeros([0], tf.int32), 2)[1].shape == (0, 2)
