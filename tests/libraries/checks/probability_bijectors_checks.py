"""TensorFlow Probability's bijectors: there and back, changes of volume, gradients, in functions, with XLA."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import tensorflow as tf
import tensorflow_probability as tfp
from checks.probability_numbers import plain

tfb = tfp.bijectors


def f(*values: Any) -> np.ndarray:
    """An array of float32."""
    return np.array(values, np.float32)


LOC, SCALE, POSITIVE, UNIT = f(0.3, -1.2, 2), f(0.5, 1, 2.5), f(0.7, 1.5, 3.2), f(0.2, 0.5, 0.9)
TRIL = f([1, 0, 0], [0.5, 2, 0], [0.1, -0.3, 0.7])
SYMMETRIC, SIX = TRIL @ TRIL.T, np.arange(6, dtype=np.float32) / 6
UNIT_VECTOR = LOC / np.linalg.norm(LOC)


def coupled(x: Any, size: int, **_: Any) -> Any:
    """What a coupling layer adds, and the logarithm of what it multiplies by."""
    return tf.reduce_sum(x) * tf.ones(size), tf.ones(size) * 0.3


def autoregressive(x: Any) -> Any:
    """What an autoregressive flow adds to a number, from those before it."""
    return tf.cumsum(x, exclusive=True), tf.zeros_like(x) + 0.2


# How a bijector is made, what it is given, and how many dimensions an event has.
BIJECTORS = {
    "AbsoluteValue": (lambda: tfb.AbsoluteValue(), POSITIVE, 0),
    "Ascending": (lambda: tfb.Ascending(), LOC, 1),
    "Blockwise": (lambda: tfb.Blockwise([tfb.Exp(), tfb.Softplus()], [1, 2]), LOC, 1),
    "Chain": (lambda: tfb.Chain([tfb.Shift(LOC), tfb.Scale(SCALE), tfb.Exp()]), LOC, 0),
    "CholeskyOuterProduct": (lambda: tfb.CholeskyOuterProduct(), TRIL, 2),
    "CholeskyToInvCholesky": (lambda: tfb.CholeskyToInvCholesky(), TRIL, 2),
    "CorrelationCholesky": (lambda: tfb.CorrelationCholesky(), LOC, 1),
    "Cumsum": (lambda: tfb.Cumsum(), LOC, 1),
    "DiscreteCosineTransform": (lambda: tfb.DiscreteCosineTransform(), LOC, 1),
    "Exp": (lambda: tfb.Exp(), LOC, 0),
    "Expm1": (lambda: tfb.Expm1(), LOC, 0),
    "FillScaleTriL": (lambda: tfb.FillScaleTriL(), SIX, 1),
    "FillTriangular": (lambda: tfb.FillTriangular(), SIX, 1),
    "FrechetCDF": (lambda: tfb.FrechetCDF(0.0, SCALE), POSITIVE, 0),
    "GeneralizedExtremeValueCDF": (
        lambda: tfb.GeneralizedExtremeValueCDF(0.0, SCALE, 0.1),
        POSITIVE,
        0,
    ),
    "GeneralizedPareto": (lambda: tfb.GeneralizedPareto(0.0, SCALE, 0.1), POSITIVE, 0),
    "GompertzCDF": (lambda: tfb.GompertzCDF(SCALE, 1.0), POSITIVE, 0),
    "GumbelCDF": (lambda: tfb.GumbelCDF(0.0, SCALE), LOC, 0),
    "Householder": (lambda: tfb.Householder(UNIT_VECTOR), POSITIVE, 1),
    "Identity": (lambda: tfb.Identity(), LOC, 0),
    "Inline": (
        lambda: tfb.Inline(
            tf.exp,
            tf.math.log,
            inverse_log_det_jacobian_fn=lambda y: -tf.math.log(y),
            forward_min_event_ndims=0,
        ),
        LOC,
        0,
    ),
    "Invert": (lambda: tfb.Invert(tfb.Exp()), POSITIVE, 0),
    "IteratedSigmoidCentered": (lambda: tfb.IteratedSigmoidCentered(), LOC, 1),
    "JointMap": (lambda: tfb.JointMap([tfb.Exp(), tfb.Softplus()]), [LOC, LOC], [0, 0]),
    "KumaraswamyCDF": (lambda: tfb.KumaraswamyCDF(POSITIVE, SCALE), UNIT, 0),
    "LambertWTail": (lambda: tfb.LambertWTail(0.0, SCALE, 0.1), LOC, 0),
    "Log": (lambda: tfb.Log(), POSITIVE, 0),
    "Log1p": (lambda: tfb.Log1p(), POSITIVE, 0),
    "MaskedAutoregressiveFlow": (lambda: tfb.MaskedAutoregressiveFlow(autoregressive), LOC, 1),
    "MatrixInverseTriL": (lambda: tfb.MatrixInverseTriL(), TRIL, 2),
    "MoyalCDF": (lambda: tfb.MoyalCDF(0.0, SCALE), LOC, 0),
    "NormalCDF": (lambda: tfb.NormalCDF(), LOC, 0),
    "Pad": (lambda: tfb.Pad(), LOC, 1),
    "Permute": (lambda: tfb.Permute([2, 0, 1]), LOC, 1),
    "Power": (lambda: tfb.Power(3.0), POSITIVE, 0),
    "PowerTransform": (lambda: tfb.PowerTransform(0.5), UNIT, 0),
    "RationalQuadraticSpline": (
        lambda: tfb.RationalQuadraticSpline(
            f(0.5, 0.7, 0.8), f(0.6, 0.6, 0.8), f(0.9, 1.2), range_min=-1
        ),
        f(-0.5, 0.1, 0.6),
        0,
    ),
    "RayleighCDF": (lambda: tfb.RayleighCDF(SCALE), POSITIVE, 0),
    "RealNVP": (lambda: tfb.RealNVP(1, shift_and_log_scale_fn=coupled), LOC, 1),
    "Reciprocal": (lambda: tfb.Reciprocal(), POSITIVE, 0),
    "Reshape": (lambda: tfb.Reshape([3, 1], [3]), LOC, 1),
    "Scale": (lambda: tfb.Scale(SCALE), LOC, 0),
    "ScaleMatvecDiag": (lambda: tfb.ScaleMatvecDiag(SCALE), LOC, 1),
    "ScaleMatvecLU": (lambda: tfb.ScaleMatvecLU(TRIL, np.array([1, 0, 2], np.int32)), LOC, 1),
    "ScaleMatvecLinearOperator": (
        lambda: tfb.ScaleMatvecLinearOperator(tf.linalg.LinearOperatorLowerTriangular(TRIL)),
        LOC,
        1,
    ),
    "ScaleMatvecTriL": (lambda: tfb.ScaleMatvecTriL(TRIL), LOC, 1),
    "Shift": (lambda: tfb.Shift(LOC), LOC, 0),
    "ShiftedGompertzCDF": (lambda: tfb.ShiftedGompertzCDF(SCALE, 1.0), POSITIVE, 0),
    "Sigmoid": (lambda: tfb.Sigmoid(), LOC, 0),
    "Sigmoid_range": (lambda: tfb.Sigmoid(-1.0, 3.0), LOC, 0),
    "Sinh": (lambda: tfb.Sinh(), LOC, 0),
    "SinhArcsinh": (lambda: tfb.SinhArcsinh(0.1, SCALE), LOC, 0),
    "SoftClip": (lambda: tfb.SoftClip(-1.0, 2.0), UNIT, 0),
    "SoftmaxCentered": (lambda: tfb.SoftmaxCentered(), LOC, 1),
    "Softplus": (lambda: tfb.Softplus(), LOC, 0),
    "Softsign": (lambda: tfb.Softsign(), LOC, 0),
    "Square": (lambda: tfb.Square(), POSITIVE, 0),
    "Tanh": (lambda: tfb.Tanh(), UNIT, 0),
    "TransformDiagonal": (lambda: tfb.TransformDiagonal(tfb.Exp()), SYMMETRIC, 2),
    "Transpose": (lambda: tfb.Transpose(perm=[1, 0]), SYMMETRIC, 2),
    "UnitVector": (lambda: tfb.UnitVector(), LOC, 1),
    "WeibullCDF": (lambda: tfb.WeibullCDF(SCALE, 1.0), POSITIVE, 0),
}


def there_and_back(make: Any, x: Any, rank: Any) -> Any:
    """The value, and what gave it: by another bijector, as one remembers."""
    y = make().forward(x)
    return [y, make().inverse(tf.nest.map_structure(tf.identity, y))]


def volume(make: Any, x: Any, rank: Any) -> Any:
    """The logarithms of the change of volume, forwards and backwards."""
    y = tf.nest.map_structure(tf.identity, make().forward(x))
    forward = make().forward_log_det_jacobian(x, event_ndims=rank)
    try:
        return [forward, make().inverse_log_det_jacobian(y, event_ndims=rank)]
    except NotImplementedError:
        return [forward]


def gradient(make: Any, x: Any, rank: Any) -> Any:
    """The gradient of the sum of the value."""
    xs = tf.nest.map_structure(tf.constant, x)
    with tf.GradientTape() as tape:
        tape.watch(xs)
        total = sum(tf.reduce_sum(y) for y in tf.nest.flatten(make().forward(xs)))
    return tape.gradient(total, xs)


ASKED = {
    "there_and_back": there_and_back,
    "volume": volume,
    "gradient": gradient,
    "argument_of_function": lambda make, x, rank: tf.function(lambda b, x: b.forward(x))(make(), x),
    "in_compiled_function": lambda make, x, rank: tf.function(make().forward, jit_compile=True)(x),
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("asked", ASKED)
@pytest.mark.parametrize("name", BIJECTORS)
def test_bijector(name: str, asked: str, record_property) -> None:
    """What is asked of the bijector has TensorFlow's numbers."""
    make, x, rank = BIJECTORS[name]
    try:
        found = ASKED[asked](make, x, rank)
    except NotImplementedError:
        pytest.skip("TensorFlow Probability does not have it")
    record_property("found", plain(found))
