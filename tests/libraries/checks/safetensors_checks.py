"""safetensors.tensorflow: what is written from tensors is read as tensors, and as NumPy's arrays, and back."""

from __future__ import annotations

import numpy as np
import pytest
import safetensors.numpy
import safetensors.tensorflow
import tensorflow as tf
from safetensors import safe_open

DTYPES = [
    "float16",
    "float32",
    "float64",
    "bfloat16",
    "int8",
    "int16",
    "int32",
    "int64",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
    "bool",
    "complex64",
]


def tensors(dtype: str) -> dict[str, tf.Tensor]:
    """Tensors of some shapes."""
    numbers = tf.cast(tf.constant(np.arange(24).reshape(2, 3, 4) % 2), dtype)
    return {"many": numbers, "few": numbers[0, 0], "none": numbers[:0]}


def same(found, expected) -> None:
    """The same names, dtypes, shapes and values."""
    assert found.keys() == expected.keys()
    for name, tensor in expected.items():
        assert found[name].dtype == tensor.dtype
        assert found[name].shape == tensor.shape
        np.testing.assert_array_equal(found[name].numpy(), tensor.numpy())


@pytest.mark.parametrize("dtype", DTYPES)
def test_bytes(dtype: str) -> None:
    """In memory."""
    given = tensors(dtype)
    same(safetensors.tensorflow.load(safetensors.tensorflow.save(dict(given))), given)


@pytest.mark.parametrize("dtype", DTYPES)
def test_files(dtype: str, tmp_path) -> None:
    """In files, with words beside them."""
    given = tensors(dtype)
    file = str(tmp_path / "some.safetensors")
    safetensors.tensorflow.save_file(dict(given), file, metadata={"made": "here"})
    same(safetensors.tensorflow.load_file(file), given)
    with safe_open(file, framework="tf") as opened:
        assert opened.metadata() == {"made": "here"}
        same({name: opened.get_tensor(name) for name in opened.keys()}, given)  # noqa: SIM118
        np.testing.assert_array_equal(
            opened.get_slice("many")[:, 1:, 2].numpy(), given["many"][:, 1:, 2].numpy()
        )


@pytest.mark.parametrize("dtype", [d for d in DTYPES if d not in ("bfloat16", "complex64")])
def test_files_of_numpy(dtype: str) -> None:
    """What one writes the other reads."""
    given = tensors(dtype)
    arrays = {name: tensor.numpy() for name, tensor in given.items()}
    assert safetensors.numpy.save(arrays) == safetensors.tensorflow.save(dict(given))
    same(safetensors.tensorflow.load(safetensors.numpy.save(arrays)), given)


def test_weights_of_a_model(tmp_path) -> None:
    """Variables are written like tensors."""
    weights = {"kernel": tf.Variable([[1.0, 2.0]]), "bias": tf.Variable([0.5])}
    file = str(tmp_path / "weights.safetensors")
    safetensors.tensorflow.save_file({k: v.value() for k, v in weights.items()}, file)
    for name, value in safetensors.tensorflow.load_file(file).items():
        weights[name].assign(value * 2)
    np.testing.assert_array_equal(weights["kernel"].numpy(), [[2.0, 4.0]])
