"""Special functions: values where they are used, at their edges, and their gradients."""

import numpy as np
from case_helpers import value_and_gradients

NAN, INF = float("nan"), float("inf")
POSITIVE = [0.01, 0.3, 1.0, 1.9, 2.1, 5.0, 9.5, 24.0, 26.0, 40.0]
ANYWHERE = [-30.0, -7.0, -2.5, -1.0, -0.3, 0.2, 1.5, 4.0, 12.0, 28.0]

FUNCTIONS = {
    **dict.fromkeys(
        ["bessel_i0", "bessel_i0e", "bessel_i1", "bessel_i1e", "bessel_j0", "bessel_j1"], ANYWHERE
    ),
    **dict.fromkeys(["dawsn", "fresnel_cos", "fresnel_sin"], ANYWHERE),
    **dict.fromkeys(
        ["bessel_k0", "bessel_k0e", "bessel_k1", "bessel_k1e", "bessel_y0", "bessel_y1"], POSITIVE
    ),
    **dict.fromkeys(["expint", "spence"], POSITIVE),
}


def _special(name, x, dtype):
    return lambda tf: value_and_gradients(
        tf, getattr(tf.math.special, name), x, dtype=getattr(tf, dtype)
    )


def _value(name, *inputs, dtype="float64"):
    return lambda tf: getattr(tf.math, name)(*[tf.constant(x, getattr(tf, dtype)) for x in inputs])


def _both(name, *inputs):
    return lambda tf: value_and_gradients(tf, getattr(tf.math, name), *inputs, dtype=tf.float64)


GAMMA = ([0.5, 1.0, 2.0, 5.0, 30.0, 100.0], [0.1, 2.0, 1.0, 9.0, 25.0, 120.0])

CASES = {
    **{f"{name}": _special(name, x, "float64") for name, x in FUNCTIONS.items()},
    **{f"{name}_float32": _special(name, x, "float32") for name, x in FUNCTIONS.items()},
    **{
        f"{name}_at_zero": (lambda tf, name=name: getattr(tf.math.special, name)(np.zeros(1)))
        for name in FUNCTIONS
    },
    "i0e_far": _value("bessel_i0e", [INF, -INF, 700.0, NAN]),
    "i1_gradient_at_zero": _special("bessel_i1", [0.0], "float64"),
    "i1e_gradient_at_zero": _special("bessel_i1e", [0.0], "float64"),
    "j1_gradient_at_zero": _special("bessel_j1", [0.0], "float64"),
    "k0_negative": lambda tf: tf.math.special.bessel_k0([-1.0]),
    "y1_negative": lambda tf: tf.math.special.bessel_y1([-1.0]),
    "expint_negative": lambda tf: tf.math.special.expint([-1.0]),
    "spence_negative": lambda tf: tf.math.special.spence([-1.0]),
    "spence_gradient_at_one": _special("spence", [1.0, 0.0], "float64"),
    "bessel_of_ints": lambda tf: tf.math.special.bessel_j0(1),
    "bessel_half": lambda tf: tf.math.special.bessel_j0(tf.constant([2.0], tf.float16)),
    "erfcinv": _both("erfcinv", [1e-5, 0.3, 1.0, 1.5, 1.999]),
    "erfcinv_edges": _value("erfcinv", [0.0, 2.0, -0.1, 3.0]),
    "zeta": _both("zeta", [2.0, 1.5, 3.0, 7.0, 20.0], [1.0, 0.3, 5.0, 30.0, 2.5]),
    "zeta_edges": _value(
        "zeta", [1.0, 0.5, 2.0, 2.0, 2.5, 3.0, 2.0], [1.0, 1.0, 0.0, -1.0, -0.5, -0.5, INF]
    ),
    "polygamma": _both("polygamma", [0.0, 1.0, 2.0, 3.0, 8.0], [1.0, 2.0, 3.5, 0.4, 20.0]),
    "polygamma_edges": _value(
        "polygamma", [1.5, -1.0, 1.0, 1.0, 2.0, 0.0], [1.0, 1.0, 0.0, -0.5, -1.0, -0.5]
    ),
    "igamma": _both("igamma", *GAMMA),
    "igammac": _both("igammac", *GAMMA),
    "igamma_edges": _value(
        "igamma", [2.0, 0.0, 1.0, -1.0, 2.0, INF, 1.0], [0.0, 1.0, -1.0, 1.0, INF, 2.0, NAN]
    ),
    "igammac_edges": _value("igammac", [2.0, 0.0, 1.0, 2.0], [0.0, 1.0, -1.0, INF]),
    "igamma_broadcast": lambda tf: value_and_gradients(
        tf, tf.math.igamma, [[1.0], [2.0]], [1.0, 2.0, 0.5]
    ),
    "igamma_ints": lambda tf: tf.math.igamma(1, 2),
    "igamma_dtypes": lambda tf: tf.math.igamma(tf.constant(1.0), tf.constant(1.0, tf.float64)),
    "betainc": _both(
        "betainc",
        [0.5, 1.0, 2.0, 30.0, 100.0],
        [0.5, 3.0, 1.0, 50.0, 2.0],
        [0.1, 0.5, 0.9, 0.4, 0.97],
    ),
    "betainc_edges": _value(
        "betainc",
        [0.0, -1.0, 2.0, 2.0, 2.0, 2.0],
        [1.0, 1.0, 0.0, 2.0, 2.0, 2.0],
        [0.5, 0.5, 0.5, 0.0, 1.0, 1.5],
    ),
    "betainc_scalar": lambda tf: tf.math.betainc([1.0, 2.0], 3.0, [0.5, 0.2]),
    "betainc_shapes": lambda tf: tf.math.betainc([[1.0], [2.0]], [1.0, 2.0], 0.5),
    "lbeta": lambda tf: value_and_gradients(tf, tf.math.lbeta, [[1.0, 2.0, 3.0], [0.5, 0.5, 4.0]]),
    "lbeta_of_nothing": lambda tf: tf.math.lbeta(tf.zeros([2, 0])),
    "second_order_i0": lambda tf: _second(tf, tf.math.bessel_i0),
    "second_order_j1": lambda tf: _second(tf, tf.math.special.bessel_j1),
    "second_order_dawsn": lambda tf: _second(tf, tf.math.special.dawsn),
}


def _second(tf, f):
    x = tf.constant(np.array([0.5, 1.5, 3.0]))
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as inner:
            inner.watch(x)
            y = f(x)
        g = inner.gradient(y, x)
    return outer.gradient(g, x)
