"""Converted programs give the values and the gradients that TensorFlow gives, however they are run."""

import importlib.util
import json
import pathlib

import numpy as np
import pytest

import tapeflow as tf
import tapeflow.autograph
from tapeflow._src.function.autograph import convert

HERE = pathlib.Path(__file__).parent


def _load(name):
    spec = importlib.util.spec_from_file_location(f"autograph_{name}", HERE / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


PROGRAMS = _load("programs").PROGRAMS
RECORDED = json.loads((HERE / "recorded.json").read_text())
CASES = [(name, i) for name, (_, arguments) in PROGRAMS.items() for i in range(len(arguments))]


def check(name, number, run):
    function, arguments = PROGRAMS[name]
    expected = RECORDED[name]["results"][number]
    inputs = [tf.constant(x) for x in arguments[number]]
    with tf.GradientTape() as tape:
        tape.watch(inputs)
        leaves = [tf.convert_to_tensor(x) for x in tf.nest.flatten(run(function)(*inputs))]
        floats = [tf.reduce_sum(x) for x in leaves if x.dtype.is_floating]
        total = tf.add_n(floats or [tf.constant(0.0)])
    gradients = tape.gradient(total, inputs, unconnected_gradients="zero")
    np.testing.assert_allclose(_flat(leaves), _flat(expected["values"]), rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(_flat(gradients), expected["gradients"], rtol=1e-4, atol=1e-5)


def _flat(leaves):
    return np.concatenate([np.ravel(np.asarray(x, np.float64)) for x in leaves])


def test_all_programs_are_recorded():
    assert set(RECORDED) == set(PROGRAMS) and len(PROGRAMS) > 60


@pytest.mark.parametrize(("name", "number"), CASES)
def test_as_it_is(name, number):
    check(name, number, lambda function: function)


@pytest.mark.parametrize(("name", "number"), CASES)
@pytest.mark.sample(2)
def test_converted_on_values(name, number):
    check(name, number, convert)


@pytest.mark.parametrize(("name", "number"), CASES)
def test_converted_on_symbols(name, number, everything_symbolic):
    check(name, number, convert)


@pytest.mark.parametrize(("name", "number"), CASES)
def test_in_tf_function(name, number):
    check(name, number, tf.function)
