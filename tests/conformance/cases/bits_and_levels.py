"""`tf.bitwise` and `tf.quantization`: bits, and numbers rounded to a few levels."""

import numpy as np
from case_helpers import everywhere

INTS = [-17, -1, 0, 5, 12, 100]
PLACES = [0, 1, 3, 9, -2, 40]
X = np.array([-7.0, -6.1, -3.3, -0.01, 0.0, 0.02, 1.5, 2.51, 6.0, 7.0], np.float32)
TABLE = np.linspace(-4.0, 5.0, 12, dtype=np.float32).reshape(4, 3)
LOWS, HIGHS = [-1.0, 0.0, -5.0], [2.0, 0.0, 5.0]


def _bits(name, dtype, *arrays):
    return lambda tf: everywhere(
        tf,
        lambda *xs: getattr(tf.bitwise, name)(*[tf.cast(x, dtype) for x in xs]),
        *[np.array(a) for a in arrays],
    )


def _fake(name, *ends, x=X, **options):
    def gradients(tf, *xs):
        with tf.GradientTape() as tape:
            tape.watch(xs)
            y = getattr(tf.quantization, name)(*xs, **options)
        return [y, *[g for g in tape.gradient(y, xs) if g is not None]]

    return lambda tf: everywhere(
        tf, lambda *xs: gradients(tf, *xs), x, *(np.float32(e) for e in ends)
    )


def _call(name, *arguments, **options):
    return lambda tf: getattr(tf.quantization, name)(*arguments, **options)


def _quantized(kind, mode, x=X, low=-6.0, high=6.0, **options):
    def case(tf):
        found = tf.quantization.quantize(x, low, high, getattr(tf, kind), mode=mode, **options)
        axis = options.get("axis")
        back = tf.quantization.dequantize(
            found.output, found.output_min, found.output_max, mode=mode, axis=axis
        )
        return found.output.numpy(), found.output_min, found.output_max, back

    return case


CASES = {
    **{
        f"{name}_{dtype}": _bits(name, dtype, INTS, PLACES)
        for name in ("bitwise_and", "bitwise_or", "bitwise_xor", "left_shift", "right_shift")
        for dtype in ("int8", "int32", "int64", "uint8", "uint16")
        if name.startswith("bitwise") or not dtype.startswith("u")
    },
    "shifts_unsigned": _bits("left_shift", "uint8", [1, 3, 200], [1, 7, 200]),
    "shifts_down_unsigned": _bits("right_shift", "uint16", [1, 3000, 20000], [1, 7, 200]),
    "invert": _bits("invert", "int16", INTS),
    "bits_of_floats": lambda tf: tf.bitwise.bitwise_and(tf.constant([1.0]), tf.constant([1.0])),
    "bits_of_bools": lambda tf: tf.bitwise.invert(tf.constant([True])),
    "bits_of_two_dtypes": lambda tf: tf.bitwise.bitwise_or(
        tf.constant(1), tf.constant(1, tf.int64)
    ),
    "shift_by_a_float": lambda tf: tf.bitwise.left_shift([1], [1.5]),
    "bits_broadcast": lambda tf: tf.bitwise.bitwise_xor([[1], [2]], [4, 5]),
    "args": _fake("fake_quant_with_min_max_args"),
    "args_narrow": _fake(
        "fake_quant_with_min_max_args", min=-1.0, max=2.5, num_bits=3, narrow_range=True
    ),
    "args_of_ints": _call("fake_quant_with_min_max_args", [1, 2]),
    "args_in_disorder": _call("fake_quant_with_min_max_args", X, min=1.0, max=-1.0),
    "args_one_bit": _call("fake_quant_with_min_max_args", X, num_bits=1),
    "args_17_bits": _call("fake_quant_with_min_max_args", X, num_bits=17),
    "vars": _fake("fake_quant_with_min_max_vars", -1.0, 2.5, num_bits=3),
    "vars_positive": _fake("fake_quant_with_min_max_vars", 1.0, 2.5),
    "vars_nothing": _fake("fake_quant_with_min_max_vars", 0.0, 0.0),
    "vars_of_a_vector": _call("fake_quant_with_min_max_vars", X, [-1.0], 2.5),
    "channels": _fake("fake_quant_with_min_max_vars_per_channel", LOWS, HIGHS, x=TABLE),
    "channels_of_a_wrong_size": _call(
        "fake_quant_with_min_max_vars_per_channel", TABLE, [0.0], [1.0]
    ),
    "args_gradient": _call("fake_quant_with_min_max_args_gradient", X * 2, X, min=-1.0, max=2.5),
    "vars_gradient": _call("fake_quant_with_min_max_vars_gradient", X * 2, X, -1.0, 2.5),
    "channels_gradient": _call(
        "fake_quant_with_min_max_vars_per_channel_gradient", TABLE * 2, TABLE, LOWS, HIGHS
    ),
    **{
        f"quantize_{kind}_{mode}": _quantized(kind, mode)
        for kind in ("qint8", "quint8")
        for mode in ("MIN_COMBINED", "MIN_FIRST", "SCALED")
        if (kind, mode) != ("qint8", "MIN_FIRST")
    },
    "quantize_half_to_even": _quantized(
        "qint8", "SCALED", round_mode="HALF_TO_EVEN", narrow_range=True
    ),
    "quantize_narrow": _quantized("qint8", "SCALED", low=-1.0, high=1.0),
    "quantize_along_an_axis": _quantized(
        "qint8", "SCALED", TABLE, [-6.0, -1.0, -2.0], [6.0, 1.0, 2.0], axis=1
    ),
    "quantize_a_small_range": _quantized("quint8", "MIN_COMBINED", low=0.0, high=0.001),
    "quantize_nonsense": _call("quantize", X, 0.0, 1.0, "float32"),
    "quantize_no_mode": lambda tf: tf.quantization.quantize(X, 0.0, 1.0, tf.qint8, mode="MIN"),
    "there_and_back": _fake("quantize_and_dequantize_v2", -1.0, 2.0, range_given=True),
    "there_and_back_own_range": _fake("quantize_and_dequantize_v2", -1.0, 2.0),
    "there_and_back_unsigned": _fake("quantize_and_dequantize_v2", 0.0, 2.0, signed_input=False),
    "there_and_back_half_up": _fake(
        *("quantize_and_dequantize_v2", -1.0, 2.0),
        num_bits=3,
        narrow_range=True,
        range_given=True,
        round_mode="HALF_UP",
    ),
    "there_and_back_straight": _fake("quantize_and_dequantize", -1.0, 2.0, range_given=True),
    "there_and_back_nonsense": _call("quantize_and_dequantize_v2", X, 0.0, 1.0, round_mode="UP"),
}
