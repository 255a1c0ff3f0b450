"""Keras's elementwise functions and makers of tensors, where Keras's own tests do not look.

Those compare values and dtypes. Here: derivatives, `tf.function` with unknown sizes, XLA, and what 64 bits become.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from keras import Variable
from keras.src import backend
from keras.src.backend.config import floatx, set_floatx
from tests.ops.finite_differences import check_gradients

import tapeflow as tf
from tapeflow._src.keras.backend import numpy as knp

A = np.array([[0.3, -1.2, 2.1], [0.7, 1.4, -0.4]])
B = np.array([0.9, -0.5, 1.6])
POSITIVE = np.array([0.4, 1.3, 2.6])

SMOOTH: dict[str, tuple[Any, ...]] = {
    "exp2": (A,),
    "log2": (POSITIVE,),
    "log10": (POSITIVE,),
    "cbrt": (A,),
    "sinc": (np.array([0.0, 0.3, -1.2]),),
    "i0": (A,),
    "deg2rad": (A,),
    "fabs": (A,),
    "square": (A,),
    "divide": (A, B),
    "divide_no_nan": (A, B),
    "power": (POSITIVE, B),
    "mod": (A, B),
    "fmod": (A, B),
    "maximum": (A, B),
    "fmax": (A, B),
    "fmin": (A, B),
    "hypot": (A, B),
    "logaddexp": (A, B),
    "logaddexp2": (A, B),
    "arctan2": (A, B),
}


@pytest.mark.parametrize("name", SMOOTH)
def test_derivatives(name: str) -> None:
    check_gradients(getattr(knp, name), *SMOOTH[name])


COMPOSED: dict[str, tuple[Callable[..., Any], tuple[Any, ...]]] = {
    "heaviside": (lambda x: knp.heaviside([0.0, 1.0, -1.0], knp.square(x)), (A,)),
    "ldexp": (lambda x: knp.ldexp(x, [1, -2, 0]), (A,)),
    "nan_to_num": (lambda x: knp.nan_to_num(knp.square(x)), (A,)),
    "where": (lambda x, y: knp.where(A > 0, knp.square(x), y), (A, B)),
    "select": (lambda x, y: knp.select([A > 1, A > 0], [x * x, y], 2.0), (A, B)),
    "clip": (lambda x, low: knp.square(knp.clip(x, low, 1.0)), (A, np.array(-0.6))),
    "linspace": (lambda a, b: knp.square(knp.linspace(a, b, 5, axis=-1)), (B, POSITIVE)),
    "linspace without its end": (lambda a, b: knp.linspace(a, b, 4, endpoint=False), (B, POSITIVE)),
    "logspace": (lambda a, b: knp.logspace(a, b, 4, base=2.0), (B, POSITIVE)),
    "geomspace": (lambda a, b: knp.geomspace(a, b, 4), (POSITIVE, POSITIVE[::-1].copy())),
    "vander": (lambda x: knp.vander(x, 4), (POSITIVE,)),
    "full": (lambda x: knp.square(knp.full((2, 3), x, "float64")), (np.array(1.5),)),
}


@pytest.mark.parametrize("name", COMPOSED)
def test_derivatives_of_what_has_more_arguments(name: str) -> None:
    function, inputs = COMPOSED[name]
    check_gradients(function, *inputs)


@pytest.mark.parametrize("name", ["logaddexp", "logaddexp2"])
def test_both_operands_share_the_gradient_where_they_are_equal(name: str) -> None:
    x, y = tf.Variable(1.5), tf.Variable(1.5)
    with tf.GradientTape() as tape:
        z = getattr(knp, name)(x, y)
    assert [g.numpy() for g in tape.gradient(z, [x, y])] == pytest.approx([0.5, 0.5])


def test_the_sum_of_exponentials_of_infinities() -> None:
    x = [np.inf, -np.inf, np.inf, 3.0, np.nan]
    y = [np.inf, -np.inf, -np.inf, -np.inf, 1.0]
    np.testing.assert_array_equal(knp.logaddexp(x, y), [np.inf, -np.inf, np.inf, 3.0, np.nan])


def test_hypot_does_not_overflow() -> None:
    x, y = [3e30, 0.0, np.inf, 3e-30], [4e30, 0.0, 1.0, 4e-30]
    np.testing.assert_allclose(knp.hypot(x, y), [5e30, 0.0, np.inf, 5e-30], rtol=1e-6)


# With sizes that are known only when the function runs, interpreted and compiled.

WITH_UNKNOWN_SIZES: dict[str, tuple[Callable[..., Any], Callable[..., Any]]] = {
    "isin": (lambda x: knp.isin(x, [0.5, 2.0]), lambda x: np.isin(x, [0.5, 2.0])),
    "isclose": (lambda x: knp.isclose(x, x + 1e-9), lambda x: np.isclose(x, x + 1e-9)),
    "signbit": (lambda x: knp.signbit(-x), lambda x: np.signbit(-x)),
    "trunc": (lambda x: knp.trunc(-x), lambda x: np.trunc(-x)),
    "isfinite": (
        lambda x: knp.isfinite(knp.arange(backend.shape(x)[0])),
        lambda x: np.ones(len(x), bool),
    ),
    "arange": (
        lambda x: knp.arange(1, 2 * backend.shape(x)[0] + 1, 2),
        lambda x: np.arange(1, 2 * len(x) + 1, 2),
    ),
    "arange of floats": (
        lambda x: knp.arange(backend.shape(x)[0], dtype="float16"),
        lambda x: np.arange(len(x), dtype="float16"),
    ),
    "eye": (lambda x: knp.eye(backend.shape(x)[0], 3, 1), lambda x: np.eye(len(x), 3, 1)),
    "tri": (lambda x: knp.tri(backend.shape(x)[0], k=-1), lambda x: np.tri(len(x), k=-1)),
    "vander": (knp.vander, np.vander),
    "full_like": (lambda x: knp.full_like(x, 3), lambda x: np.full_like(x, 3)),
    "meshgrid": (lambda x: knp.meshgrid(x, [1, 2])[0], lambda x: np.meshgrid(x, [1, 2])[0]),
    "view": (lambda x: knp.view(x, "uint16"), lambda x: x.view("uint16")),
    "hanning": (lambda x: knp.hanning(backend.shape(x)[0]), lambda x: np.hanning(len(x))),
    "kaiser": (lambda x: knp.kaiser(backend.shape(x)[0], 2.5), lambda x: np.kaiser(len(x), 2.5)),
    "gcd": (
        lambda x: knp.gcd(knp.arange(backend.shape(x)[0]) * 4, 6),
        lambda x: np.gcd(np.arange(len(x)) * 4, 6),
    ),
    "left_shift": (
        lambda x: knp.left_shift(knp.arange(backend.shape(x)[0]), 2),
        lambda x: np.arange(len(x)) * 4,
    ),
}


@pytest.mark.parametrize("jit", [False, True], ids=["numpy", "xla"])
@pytest.mark.parametrize("name", WITH_UNKNOWN_SIZES)
@pytest.mark.sample(4)
def test_unknown_sizes(name: str, jit: bool) -> None:
    if jit:
        pytest.importorskip("jax")
    ours, numpys = WITH_UNKNOWN_SIZES[name]
    function = tf.function(
        ours, input_signature=[tf.TensorSpec([None], tf.float32)], jit_compile=jit
    )
    for size in (4, 5):
        x = np.linspace(0.5, 2.0, size, dtype=np.float32)
        np.testing.assert_allclose(function(x), numpys(x), rtol=2e-6, atol=1e-6)


# Dtypes.


def test_64_bits_stay_where_an_operand_has_them() -> None:
    x = tf.constant([1.5], tf.float64)
    i = tf.constant([2], tf.int64)
    assert knp.add(x, tf.constant([1.5])).dtype is tf.float64
    assert knp.multiply(x, 2.0).dtype is tf.float64
    assert knp.add(i, tf.constant([1])).dtype is tf.int64
    assert knp.divide(i, i).dtype is tf.float32
    # Keras narrows this one, and no operand asks for 64 bits.
    assert knp.add(tf.constant([1], tf.uint32), tf.constant([1])).dtype is tf.int32


def test_numbers_take_the_dtype_of_tensors() -> None:
    half = tf.constant([1.5], tf.float16)
    for number in (2, 2.5, True, np.float64(2.5)):
        assert knp.multiply(half, number).dtype is tf.float16
        assert knp.multiply(number, half).dtype is tf.float16
    assert knp.add(tf.constant([1], tf.int8), 1).dtype is tf.int8
    assert knp.add(tf.constant([1], tf.int8), 1.5).dtype is tf.float32
    assert knp.add(half, 1j).dtype is tf.complex64


def test_operands_may_be_variables_arrays_and_lists() -> None:
    variable = Variable(np.array([1.0, 2.0], np.float32))
    for other in (tf.Variable([3.0, 4.0]), np.array([3, 4], np.int32), [3.0, 4.0]):
        np.testing.assert_array_equal(knp.add(variable, other), [4.0, 6.0])
        np.testing.assert_array_equal(knp.add(other, variable), [4.0, 6.0])


def test_integers_become_floats_of_the_size_keras_is_set_to() -> None:
    before = floatx()
    set_floatx("float64")
    try:
        assert knp.sin(tf.constant([1])).dtype is tf.float64
        assert knp.divide(1, 2).dtype is tf.float64
        assert knp.zeros((2,)).dtype is tf.float64
        assert knp.add(tf.constant([1.0]), 1.0).dtype is tf.float32
    finally:
        set_floatx(before)


def test_mistakes_are_named() -> None:
    with pytest.raises(TypeError, match="ldexp: x2 must have integers"):
        knp.ldexp([1.0], [1.5])
    with pytest.raises(ValueError, match="x1 and x2 must be given together"):
        knp.where([True], [1.0])
    with pytest.raises(ValueError, match="view: the rows of a tensor"):
        knp.view(tf.constant([1, 2, 3]), "int64")


def test_negative_numbers_as_small_unsigned_ones():
    x = np.array([-3.7, -0.5, 2.9], "float32")
    for dtype in ("uint8", "uint16"):
        assert backend.cast(x, dtype).numpy().tolist() == [0, 0, 2]
