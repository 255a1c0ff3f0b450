"""Bits of integers, and floats rounded to a few levels."""

from tests.differential.calls import expression, op
from tests.differential.draw import bools, fits, floats, ints, one_of

for name in ("bitwise_and", "bitwise_or", "bitwise_xor"):
    op(f"bitwise.{name}", x=ints(), y=fits("x"))
for name in ("left_shift", "right_shift"):
    op(f"bitwise.{name}", x=ints(), y=fits("x", low=0, high=6))
op("bitwise.invert", x=ints())

X = floats(-4.0, 4.0, dtypes=("float32",), edges=0.0)
TABLE = floats(-4.0, 4.0, shape=(3, 2), dtypes=("float32",), edges=0.0)
BITS = {"num_bits": one_of(3, 8), "narrow_range": bools(), "_second": False, "_bad": False}
ENDS = {"min": one_of(-1.0, -3.5), "max": one_of(0.5, 3.0)}
PAIRS = {"min": [-1.0, -3.5], "max": [0.5, 3.0]}
PREFIX = "quantization.fake_quant_with_min_max"
for kind, x, ends in (
    ("args", X, ENDS),
    ("vars", X, ENDS),
    ("vars_per_channel", TABLE, PAIRS),
):
    op(f"{PREFIX}_{kind}", inputs=x, **ends, **BITS)
    given = TABLE if x is TABLE else floats(-4.0, 4.0, shape=(3,), dtypes=("float32",), edges=0.0)
    op(f"{PREFIX}_{kind}_gradient", gradients=given, inputs=given, _gradients=False, **ends, **BITS)
for name in ("quantize_and_dequantize", "quantize_and_dequantize_v2"):
    op(
        f"quantization.{name}",
        input=floats(-4.0, 4.0, dtypes=("float32", "float64"), edges=0.0),
        input_min=-2.0,
        input_max=one_of(1.0, 3.0),
        range_given=bools(),
        round_mode=one_of("HALF_TO_EVEN", "HALF_UP"),
        **BITS,
    )
QUANTIZED = "tf.quantization.quantize(x, -3.0, 2.0, tf.quint8)"
for text in (
    f"tf.cast({QUANTIZED}.output, tf.int32)",
    f"tf.quantization.dequantize(*{QUANTIZED})",
    f"tf.cast(tf.quantization.quantized_concat(0, [{QUANTIZED}.output] * 2, [-3.0] * 2, [2.0] * 2).output, tf.int32)",
):
    expression(
        text, x=floats(-4.0, 4.0, shape=(3,), dtypes=("float32",), edges=0.0), _gradients=False
    )
