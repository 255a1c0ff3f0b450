"""What XLA cannot do is an error of `tf.errors`, and never the end of the process."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import tapeflow as tf

pytest.importorskip("jax")

from tapeflow._src.engines.xla.failures import translating_xla_errors

SOURCES = Path(__file__).resolve().parents[3] / "src"


@pytest.mark.parametrize(
    ("shape", "error"),
    [("[2**62, 4]", "InvalidArgumentError"), ("[2**61, 2]", "ResourceExhaustedError")],
)
@pytest.mark.parametrize("op", ["broadcast_to", "tile"])
@pytest.mark.exhaustive
def test_a_size_that_cannot_be_counted(op, shape, error):
    code = f"""
import tapeflow as tf
call = {{"broadcast_to": lambda x: tf.broadcast_to(x, {shape}), "tile": lambda x: tf.tile([[x]], {shape})}}["{op}"]
try:
    tf.function(lambda x: call(x) + 1.0, jit_compile=True, autograph=False)(tf.constant(1.0))
except tf.errors.OpError as error:
    print(type(error).__name__)
"""
    environment = os.environ | {"PYTHONPATH": str(SOURCES)}
    run = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=environment, check=False
    )
    assert run.returncode == 0, run.stderr
    assert run.stdout.strip() == error


def test_memory_that_is_not_there():
    @tf.function(jit_compile=True, autograph=False)
    def large(x):
        return tf.broadcast_to(x, [2**50]) + x

    with pytest.raises(tf.errors.ResourceExhaustedError):
        large(tf.constant(1.0)).numpy()


def test_an_index_beyond_a_size_that_was_not_known_before():
    @tf.function(jit_compile=True, autograph=False, input_signature=[tf.TensorSpec([None, 2])])
    def second(x):
        return x[1]

    assert second(tf.ones([3, 2])).shape == (2,)
    with pytest.raises(tf.errors.InvalidArgumentError, match="out of bounds"):
        second(tf.zeros([0, 2]))


@pytest.mark.parametrize("kind", ["MAX", "AVG"])
@pytest.mark.parametrize(("side", "stride"), [(50, 2), (2**31, 3), (2**31, 2**31)])
def test_windows_far_larger_than_the_array(kind, side, stride):
    x = tf.constant([[[1.0], [3.0], [2.0], [-1.0]]])

    def pooled(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.nn.pool(x, [side], kind, [stride], "SAME")
        return y, tape.gradient(y, x)

    compiled = tf.function(pooled, jit_compile=True, autograph=False)
    for found, expected in zip(compiled(x), pooled(x), strict=True):
        np.testing.assert_allclose(found.numpy(), expected.numpy())


def test_memory_that_a_lowering_lacks():
    with pytest.raises(tf.errors.ResourceExhaustedError, match="step: Unable to allocate"):
        with translating_xla_errors("step"):
            np.empty(2**60, np.uint8)
