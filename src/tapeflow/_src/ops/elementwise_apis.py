"""Which public functions work on each element: what takes composite tensors goes through these lists."""

from __future__ import annotations

from tapeflow._src.ops.array import creation, shaping
from tapeflow._src.ops.debugging import assertions
from tapeflow._src.ops.elementwise import arithmetic, clip, functions, logic, saturation
from tapeflow._src.ops.image import colour
from tapeflow._src.ops.indexing import sequences
from tapeflow._src.ops.nn import activations, losses
from tapeflow._src.ops.special import functions as special

UNARY = (
    *(arithmetic.abs, arithmetic.angle, arithmetic.ceil, arithmetic.conj, arithmetic.floor),
    *(arithmetic.imag, arithmetic.negative, arithmetic.real, arithmetic.reciprocal),
    *(arithmetic.reciprocal_no_nan, arithmetic.rint, arithmetic.round, arithmetic.rsqrt),
    *(arithmetic.sign, arithmetic.sqrt, arithmetic.square),
    *(functions.acos, functions.acosh, functions.asin, functions.asinh, functions.atan),
    *(functions.atanh, functions.cos, functions.cosh, functions.digamma, functions.erf),
    *(functions.erfc, functions.erfinv, functions.exp, functions.expm1, functions.lgamma),
    *(functions.log, functions.log1p, functions.log_sigmoid, functions.ndtri),
    *(functions.sigmoid, functions.sin, functions.sinh, functions.softplus),
    *(functions.softsign, functions.tan, functions.tanh),
    *(logic.is_finite, logic.is_inf, logic.is_nan, logic.logical_not),
    *(special.bessel_i0, special.bessel_i0e, special.bessel_i1, special.bessel_i1e),
    *(special.bessel_j0, special.bessel_j1, special.bessel_k0, special.bessel_k0e),
    *(special.bessel_k1, special.bessel_k1e, special.bessel_y0, special.bessel_y1),
    *(special.dawsn, special.erfcinv, special.expint, special.fresnel_cos),
    *(special.fresnel_sin, special.spence),
    *(activations.elu, activations.gelu, activations.leaky_relu, activations.relu),
    *(activations.relu6, activations.selu, activations.silu),
    *(creation.ones_like, creation.zeros_like),
    *(shaping.cast, saturation.saturate_cast, clip.clip_by_value),
    *(colour.adjust_brightness, colour.adjust_gamma, colour.convert_image_dtype),
    *(assertions.check_numerics, sequences.nextafter),
)

BINARY = (
    *(arithmetic.add, arithmetic.complex, arithmetic.divide, arithmetic.divide_no_nan),
    *(arithmetic.floordiv, arithmetic.floormod, arithmetic.maximum, arithmetic.minimum),
    *(arithmetic.multiply, arithmetic.multiply_no_nan, arithmetic.pow, arithmetic.scalar_mul),
    *(arithmetic.squared_difference, arithmetic.subtract, arithmetic.truediv),
    *(arithmetic.xdivy, arithmetic.xlog1py, arithmetic.xlogy),
    *(functions.atan2, special.zeta),
    *(logic.equal, logic.greater, logic.greater_equal, logic.less, logic.less_equal),
    *(logic.logical_and, logic.logical_or, logic.logical_xor, logic.not_equal),
    *(sequences.realdiv, sequences.truncatediv, sequences.truncatemod),
    losses.sigmoid_cross_entropy_with_logits,
)

ASSERTIONS = (
    *(assertions.assert_equal, assertions.assert_none_equal, assertions.assert_less),
    *(assertions.assert_less_equal, assertions.assert_greater, assertions.assert_greater_equal),
    assertions.assert_near,
)
