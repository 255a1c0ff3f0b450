"""Casts that are not exact, casts that stop at a range, and signed zeros of complex numbers."""

import ml_dtypes
import numpy as np
from case_helpers import derivatives, everywhere

INF, NAN = float("inf"), float("nan")
BFLOAT16 = ml_dtypes.bfloat16
ABOVE, BELOW = complex(-1, 0.0), complex(-1, -0.0)


def _there_and_back(dtype, wide, numbers):
    def case(tf):
        given = np.array(numbers, dtype)
        return everywhere(tf, lambda x: tf.cast(tf.cast(x, wide), x.dtype), given)

    return case


def _saturated(numbers, dtype, to):
    return lambda tf: everywhere(tf, lambda x: tf.saturate_cast(x, to), np.array(numbers, dtype))


def _slope(numbers, dtype, to):
    def case(tf):
        x = tf.constant(np.array(numbers, dtype))
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.saturate_cast(x, to)
        return tape.gradient(y, x)

    return case


REALS = [0.0, -0.0, 1.5, -1.5, 127.0, 128.0, 300.0, -300.0, 65504.0, 65536.0, 1e20, INF, -INF]
PARTS = [complex(1, 2), complex(INF, 1), complex(2, -INF), complex(1e300, -1e300)]
WHOLE = [0, 1, -1, 127, 128, 255, 256, 2**31 - 1, -(2**31)]


def size_in_few_bits(tf):
    """A size of 300 is 44 in 8 bits, also where it is known while a function is traced."""
    return everywhere(
        tf,
        lambda x: tf.shape(tf.zeros(tf.cast(tf.cast(tf.shape(x), tf.uint8), tf.int32))),
        np.zeros((300, 2), np.float32),
    )


def complex_constants(tf):
    return [tf.math.log(tf.convert_to_tensor(c)) for c in (ABOVE, BELOW, ABOVE)]


def complex_arguments(tf):
    logarithm = tf.function(lambda c: tf.math.log(tf.convert_to_tensor(c)))
    return [logarithm(c) for c in (ABOVE, BELOW, ABOVE)]


def complex_constants_of_one_function(tf):
    return everywhere(
        tf, lambda z: [tf.math.log(z + ABOVE), tf.math.log(z + BELOW)], complex(-0.0, -0.0)
    )


def float_arguments(tf):
    inverse = tf.function(lambda x: 1.0 / tf.convert_to_tensor(x))
    return [inverse(x) for x in (0.0, -0.0, 0.0)]


CASES = {
    "int64_through_float64": _there_and_back(np.int64, "float64", [2**53 + 1, -(2**53) - 1, 5]),
    "uint64_through_float64": _there_and_back(np.uint64, "float64", [2**53 + 1, 2**62 + 1, 5]),
    "int64_through_complex128": _there_and_back(np.int64, "complex128", [2**53 + 1, 5]),
    "int32_through_float32": _there_and_back(np.int32, "float32", [2**24 + 1, 5]),
    "int32_through_float64": _there_and_back(np.int32, "float64", [2**31 - 1, -(2**31)]),
    "int32_through_int8": _there_and_back(np.int32, "int8", [300, -129, 5]),
    "int16_through_bfloat16": _there_and_back(np.int16, "bfloat16", [257, 32512, 5]),
    "float32_through_float64": _there_and_back(np.float32, "float64", [0.1, -0.0, INF, NAN]),
    "float32_through_bfloat16": _there_and_back(np.float32, "bfloat16", [0.1, -0.0, INF]),
    **{
        f"saturate_{np.dtype(of).name}_to_{to}": _saturated(REALS, of, to)
        for of in (np.float32, np.float16, BFLOAT16)
        for to in ("int8", "uint8", "int32", "uint32", "float16", "bfloat16", "float32", "float64")
    },
    **{
        f"saturate_int32_to_{to}": _saturated(WHOLE, np.int32, to)
        for to in ("int8", "uint16", "float16", "bfloat16", "float32", "complex64")
    },
    "saturate_float64_to_int64": _saturated([1e18, -1e30], np.float64, "int64"),
    "saturate_float64_beyond_int64": _saturated([1e30], np.float64, "int64"),
    "saturate_float32_to_complex64": _saturated([1.0, INF], np.float32, "complex64"),
    "saturate_complex128_to_complex64": _saturated(PARTS, np.complex128, "complex64"),
    "saturate_complex64_to_complex128": _saturated(PARTS[:3], np.complex64, "complex128"),
    "saturate_complex128_to_float32": _saturated(PARTS, np.complex128, "float32"),
    "saturate_complex64_to_uint8": _saturated([300 + 1j, -5.0, 7j], np.complex64, "uint8"),
    "saturate_nan_to_float16": _saturated([NAN], np.float32, "float16"),
    "saturate_bool": _saturated([True], np.bool_, "uint8"),
    "saturate_slope": _slope(REALS, np.float32, "float16"),
    "saturate_slope_of_one_dtype": _slope(REALS, np.float32, "float32"),
    "there_and_back_slope": lambda tf: everywhere(
        tf,
        derivatives(tf, lambda x: tf.cast(tf.cast(x, tf.float16), tf.float32) ** 3),
        np.float32([0.1, 2.0]),
    ),
}
