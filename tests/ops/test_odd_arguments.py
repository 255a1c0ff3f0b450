"""Arguments of the wrong kind: the error is of a documented type and names the argument."""

from __future__ import annotations

import numpy as np
import pytest

import tapeflow as tf

X = tf.constant([[1.0, 2.0], [3.0, 4.0]])
DATA = tf.data.Dataset.range(3)
CASES = {
    "pad mode": (lambda: tf.pad(X, [[0, 0], [0, 0]], mode=3), ValueError, "mode"),
    "einsum equation": (lambda: tf.einsum(3, X), TypeError, "equation"),
    "bias_add format": (lambda: tf.nn.bias_add(X, [1.0, 2.0], 1j), ValueError, "data_format"),
    "print sep": (lambda: tf.print(1, sep=3), TypeError, "sep"),
    "concatenate": (lambda: DATA.concatenate(3), TypeError, "dataset must be a tf.data.Dataset"),
    "choose": (
        lambda: tf.data.Dataset.choose_from_datasets([DATA], 3),
        TypeError,
        "choice_dataset",
    ),
    "sample": (lambda: tf.data.Dataset.sample_from_datasets([3]), TypeError, "datasets"),
    "with_options": (lambda: DATA.with_options(3), TypeError, "options"),
    "prefetch": (lambda: DATA.prefetch(float("inf")), TypeError, "buffer_size"),
    "cache": (lambda: DATA.cache(["a"]), tf.errors.InvalidArgumentError, "filename"),
    "cardinality": (lambda: tf.data.experimental.cardinality(3), TypeError, "dataset"),
    "structure": (lambda: tf.data.experimental.get_structure(3), TypeError, "dataset_or_iterator"),
    "from_config": (lambda: tf.zeros_initializer.from_config([]), TypeError, "config"),
    "from_spec": (lambda: tf.TensorSpec.from_spec(3), TypeError, "spec"),
    "generator": (lambda: tf.random.Generator(copy_from=3), TypeError, "copy_from"),
    "seed": (lambda: tf.random.uniform([2], seed=float("inf")), TypeError, "seed"),
    "module name": (lambda: tf.Module(name=3), ValueError, "module name"),
    "scatter": (lambda: tf.Variable(X).batch_scatter_update(3), TypeError, "sparse_delta"),
    "rank": (lambda: tf.TensorShape(None).with_rank(2**63), ValueError, "rank"),
    "rank of an array": (
        lambda: tf.TensorShape([2]).with_rank_at_least(np.zeros(3)),
        TypeError,
        "rank",
    ),
    "shape": (lambda: tf.constant(1, shape=float("inf")), TypeError, "dimension"),
    "shape of integers": (lambda: tf.constant([1, 2], shape=[10**30]), TypeError, "cannot fill"),
    "scalar rows": (lambda: tf.foldl(lambda a, x: a, 1.0), ValueError, "rows"),
    "image dtype": (lambda: tf.image.convert_image_dtype(1j, tf.uint8), TypeError, "image"),
    "max_delta": (
        lambda: tf.image.random_hue(tf.zeros([2, 2, 3]), np.timedelta64(1, "s")),
        ValueError,
        "M8|m8|timedelta",
    ),
    "sample_rate": (
        lambda: tf.signal.linear_to_mel_weight_matrix(sample_rate=10**400),
        ValueError,
        "sample_rate",
    ),
    "alpha": (lambda: tf.nn.leaky_relu(X, 10**400), ValueError, "alpha"),
    "axes": (lambda: tf.tensordot(X, X, float("inf")), TypeError, "axes"),
    "axis": (lambda: tf.tensordot(X, X, [[5], [0]]), IndexError, "axis 5"),
    "bitcast": (lambda: tf.bitcast(X, tf.string), TypeError, "bitcast"),
    "integer": (lambda: tf.one_hot([1], 2**64), ValueError, "depth does not fit in int64"),
    "unsigned": (
        lambda: tf.signal.overlap_and_add(X, np.uint64(2**64 - 1)),
        ValueError,
        "frame_step does not fit in int64",
    ),
    "index": (lambda: X[2**70], tf.errors.InvalidArgumentError, "slice"),
    "summary tag": (lambda: tf.summary.write([b"a"], 1, step=0), TypeError, "tag"),
    "unbatch": (
        lambda: list(
            tf.data.Dataset.from_generator(lambda: [1.0], output_types=tf.float32).unbatch()
        ),
        tf.errors.InvalidArgumentError,
        "scalar",
    ),
    "eigh_tridiagonal": (
        lambda: tf.linalg.eigh_tridiagonal(1.0, [1.0]),
        tf.errors.InvalidArgumentError,
        "alpha",
    ),
    "unconnected": (
        lambda: (
            tf.GradientTape().gradient(X, X, unconnected_gradients="some")
            if tf.UnconnectedGradients("some")
            else None
        ),
        ValueError,
        "unconnected_gradients",
    ),
    "features": (
        lambda: tf.autograph.to_code(lambda x: x, experimental_optional_features=[3]),
        TypeError,
        "feature",
    ),
    "specs in a call": (
        lambda: tf.function(lambda a: a, input_signature=[tf.TensorSpec([None])])(
            tf.TensorSpec([None])
        ),
        TypeError,
        "TensorSpec",
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_the_error_names_the_argument(name):
    call, error, words = CASES[name]
    with pytest.raises(error, match=words):
        call()


def test_no_tensors_are_stacked_in_front_only():
    assert tf.stack(np.zeros((0, 3))).shape == (0, 3)
    assert tf.stack(tf.zeros([2, 3])).shape == (2, 3)
    with pytest.raises(ValueError, match="at least one tensor"):
        tf.stack(tf.zeros([0, 3]), axis=1)


def test_empty_strings_are_no_numbers():
    with pytest.raises(TypeError, match="string"):
        tf.reduce_prod(tf.zeros([0, 2], tf.string), axis=0)


def test_an_image_without_channels():
    assert tf.image.per_image_standardization(tf.zeros([2, 4, 4, 0])).shape == (2, 4, 4, 0)


def test_a_counter_goes_on_at_the_other_end():
    data = tf.data.Dataset.counter(2**63 - 1).take(2)
    assert [int(x) for x in data] == [2**63 - 1, -(2**63)]
