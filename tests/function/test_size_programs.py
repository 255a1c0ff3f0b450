"""Random programs on sizes: a trace for unknown sizes gives for each of several sizes what eager mode gives.

The trace is made for `tf.TensorSpec([None, None])`, so that nothing is known of the sizes: whatever is guessed then
must be found out when the function is called, by whichever executor runs it, and after saving and loading.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tests.engines.only import run_all_on
from tests.function.size_programs import SHAPES, program
from tests.proofs.test_in_function import EXECUTORS

import tapeflow as tf

SPEC = tf.TensorSpec([None, None], tf.float64)
REFUSED = (tf.errors.OpError, ValueError, TypeError)
XLA = EXECUTORS[1].marks


def matrix(shape: tuple[int, int]) -> tf.Tensor:
    return tf.constant(np.random.default_rng(shape).uniform(0.5, 1.5, shape))


def outcome(function: Any, x: tf.Tensor) -> list[np.ndarray] | None:
    """The results, or None if the function refuses the argument."""
    try:
        return [np.asarray(y) for y in tf.nest.flatten(function(x))]
    except REFUSED:
        return None


def assert_as_eager(function: Any, seed: int, steps: int = 3, shapes: Any = SHAPES) -> None:
    """The function does what the program does, also where that refuses what it is given."""
    for shape in shapes:
        x = matrix(shape)
        expected = outcome(program(seed, steps), x)
        if expected is None:
            assert outcome(function, x) is None, f"seed {seed}, shape {shape}"
            continue
        for i, (y, value) in enumerate(zip(tf.nest.flatten(function(x)), expected, strict=True)):
            case = f"result {i} of seed {seed} for shape {shape}"
            assert (y.dtype.as_numpy_dtype, y.shape) == (value.dtype.type, value.shape), case
            np.testing.assert_allclose(y, value, 1e-5, 1e-5, err_msg=case)


def traced(seed: int, jit_compile: bool | None, steps: int = 3) -> Any:
    return tf.function(program(seed, steps), jit_compile=jit_compile, autograph=False)


@pytest.mark.parametrize("seed", range(40))
@pytest.mark.sample(2)
def test_on_numpy(seed: int):
    assert_as_eager(traced(seed, False).get_concrete_function(SPEC), seed)


@pytest.mark.parametrize("seed", [pytest.param(s, marks=XLA) for s in range(100, 104)])
@pytest.mark.sample(4)
def test_on_xla(seed: int):
    concrete = traced(seed, True, steps=2).get_concrete_function(SPEC)
    assert_as_eager(concrete, seed, steps=2, shapes=SHAPES[:3])


@pytest.mark.parametrize("seed", [pytest.param(s, marks=XLA) for s in range(200, 203)])
@pytest.mark.sample(3)
def test_on_the_hybrid(seed: int, monkeypatch: pytest.MonkeyPatch):
    run_all_on(monkeypatch, "hybrid")
    concrete = traced(seed, True, steps=2).get_concrete_function(SPEC)
    assert_as_eager(concrete, seed, steps=2, shapes=SHAPES[:3])


@pytest.mark.parametrize("seed", range(300, 308))
def test_called_as_a_function(seed: int):
    """The first call says what is typical, and later ones differ."""
    function = tf.function(
        program(seed), input_signature=[SPEC], jit_compile=False, autograph=False
    )
    assert_as_eager(function, seed)


@pytest.mark.parametrize("seed", range(400, 408))
def test_inside_another_function(seed: int):
    inner = traced(seed, False)
    outer = tf.function(lambda x: inner(x), jit_compile=False, autograph=False)
    assert_as_eager(outer.get_concrete_function(SPEC), seed)


@pytest.mark.parametrize("seed", range(600, 608))
def test_with_a_tape_around(seed: int):
    """The backward pass is traced when it is first asked for, and called for other sizes after that."""
    concrete = traced(seed, False).get_concrete_function(SPEC)

    def slope(function: Any, x: tf.Tensor) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.reduce_sum(tf.sin(function(x)[0]))
        return tf.convert_to_tensor(tape.gradient(y, x, unconnected_gradients="zero"))

    for shape in SHAPES:
        x = matrix(shape)
        expected = outcome(lambda x: slope(program(seed), x), x)
        found = outcome(lambda x: slope(concrete, x), x)
        assert (found is None) == (expected is None)
        if found is not None and expected is not None:
            np.testing.assert_allclose(found[0], expected[0], 1e-5, 1e-5, err_msg=f"shape {shape}")


@pytest.mark.parametrize("seed", range(500, 508))
def test_saved_and_loaded(seed: int, tmp_path: Any):
    module = tf.Module()
    module.run = tf.function(
        program(seed), input_signature=[SPEC], jit_compile=False, autograph=False
    )
    tf.saved_model.save(module, tmp_path)
    loaded = tf.saved_model.load(tmp_path)
    assert_as_eager(loaded.run, seed)
    assert_as_eager(loaded.run.get_concrete_function(), seed)
