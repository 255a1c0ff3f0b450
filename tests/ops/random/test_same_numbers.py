"""The same seed gives TensorFlow's numbers: those that it gave when `recorded/record.py` was run."""

import functools

import numpy as np
import pytest
from tests.ops.random.recorded.calls import CLOSE, IN_FUNCTIONS, SAME, function_seeds
from tests.ops.random.recorded.outcomes import TAIL, arrays_of, kept_of, recorded
from tests.ops.random.recorded.training import CURVES

import tapeflow as tf

EXPECTED = recorded()


@pytest.fixture(autouse=True)
def _no_seed_left_behind():
    yield
    tf.random.set_seed(None)


@pytest.mark.parametrize("name", SAME)
def test_to_the_last_bit(name):
    assert kept_of(SAME[name](tf)) == EXPECTED[name]


@pytest.mark.parametrize("name", CLOSE)
def test_up_to_the_last_places(name):
    for array, (shape, _, tail) in zip(arrays_of(CLOSE[name](tf)), EXPECTED[name], strict=True):
        assert list(array.shape) == shape
        np.testing.assert_array_max_ulp(
            array.reshape(-1)[-TAIL:], np.array(tail, array.dtype), maxulp=4
        )


@pytest.mark.parametrize("jit_compile", [False, True])
@pytest.mark.sample(2)
def test_ops_of_functions_count_themselves_on_every_engine(jit_compile):
    if jit_compile:
        pytest.importorskip("jax")
    got = arrays_of(function_seeds(tf, jit_compile))
    for array, (shape, _, tail) in zip(got, EXPECTED["functions"], strict=True):
        assert list(array.shape) == shape
        np.testing.assert_array_max_ulp(array.reshape(-1)[-TAIL:], np.float32(tail), maxulp=1)


@pytest.mark.sample(4)
@pytest.mark.parametrize("name", IN_FUNCTIONS)
def test_compiled_numbers_are_those_of_the_eager_call(name):
    pytest.importorskip("jax")
    eager = arrays_of(IN_FUNCTIONS[name](tf))[0]
    compiled = tf.function(functools.partial(IN_FUNCTIONS[name], tf), jit_compile=True)
    got = arrays_of(compiled())[0]
    if "float64" in name or "gamma" in name:
        np.testing.assert_allclose(got, eager, rtol=1e-3 if "float16" in name else 1e-6)
    else:
        np.testing.assert_array_equal(got, eager)


@pytest.mark.parametrize("name", CURVES)
@pytest.mark.exhaustive
def test_a_model_follows_the_loss_of_tensorflow(name):
    np.testing.assert_allclose(CURVES[name](tf), EXPECTED[name], atol=1e-4)
