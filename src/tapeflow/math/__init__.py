"""`tf.math`: elementwise math, comparison and reductions."""

# Written by scripts/exports.py, from the lines in _src that export these names.
# ruff: noqa: E501

import typing as _typing

from tapeflow._src.core.missing import Missing as _Missing
from tapeflow.math import special as special

# For editors and type checkers: these are imported when they are first asked for.
# isort: off
# fmt: off
if _typing.TYPE_CHECKING:
    from tapeflow._src.ops.elementwise.arithmetic import (
        add as add, subtract as subtract, multiply as multiply, divide as divide,
        truediv as truediv, floordiv as floordiv, floormod as floormod,
        divide_no_nan as divide_no_nan, multiply_no_nan as multiply_no_nan,
        reciprocal_no_nan as reciprocal_no_nan, pow as pow, maximum as maximum, minimum as minimum,
        squared_difference as squared_difference, xlogy as xlogy, xlog1py as xlog1py,
        xdivy as xdivy, negative as negative, abs as abs, sign as sign, square as square,
        sqrt as sqrt, rsqrt as rsqrt, reciprocal as reciprocal, floor as floor, ceil as ceil,
        round as round, rint as rint, add_n as add_n, scalar_mul as scalar_mul, real as real,
        imag as imag, conj as conj, angle as angle, mod as mod
    )
    from tapeflow._src.ops.elementwise.functions import (
        exp as exp, expm1 as expm1, log as log, log1p as log1p, sin as sin, cos as cos, tan as tan,
        asin as asin, acos as acos, atan as atan, sinh as sinh, cosh as cosh, tanh as tanh,
        asinh as asinh, acosh as acosh, atanh as atanh, atan2 as atan2, sigmoid as sigmoid,
        log_sigmoid as log_sigmoid, softplus as softplus, softsign as softsign, erf as erf,
        erfc as erfc, erfinv as erfinv, lgamma as lgamma, digamma as digamma, ndtri as ndtri
    )
    from tapeflow._src.ops.elementwise.logic import (
        equal as equal, not_equal as not_equal, less as less, less_equal as less_equal,
        greater as greater, greater_equal as greater_equal, logical_and as logical_and,
        logical_or as logical_or, logical_xor as logical_xor, logical_not as logical_not,
        is_nan as is_nan, is_inf as is_inf, is_finite as is_finite
    )
    from tapeflow._src.ops.indexing.counting import (
        bincount as bincount, confusion_matrix as confusion_matrix
    )
    from tapeflow._src.ops.indexing.segments import (
        segment_sum as segment_sum, segment_mean as segment_mean, segment_max as segment_max,
        segment_min as segment_min, segment_prod as segment_prod,
        unsorted_segment_sum as unsorted_segment_sum,
        unsorted_segment_mean as unsorted_segment_mean,
        unsorted_segment_sqrt_n as unsorted_segment_sqrt_n,
        unsorted_segment_max as unsorted_segment_max, unsorted_segment_min as unsorted_segment_min,
        unsorted_segment_prod as unsorted_segment_prod
    )
    from tapeflow._src.ops.indexing.sequences import (
        cumulative_logsumexp as cumulative_logsumexp, invert_permutation as invert_permutation,
        is_non_decreasing as is_non_decreasing, is_strictly_increasing as is_strictly_increasing,
        accumulate_n as accumulate_n, polyval as polyval, nextafter as nextafter
    )
    from tapeflow._src.ops.nn.activations import (
        l2_normalize as l2_normalize, zero_fraction as zero_fraction, top_k as top_k,
        in_top_k as in_top_k
    )
    from tapeflow._src.ops.nn.approximate import (
        approx_max_k as approx_max_k, approx_min_k as approx_min_k
    )
    from tapeflow._src.ops.nn.losses import softmax as softmax, log_softmax as log_softmax
    from tapeflow._src.ops.random.sobol import sobol_sample as sobol_sample
    from tapeflow._src.ops.reduction.reducing import (
        reduce_sum as reduce_sum, reduce_mean as reduce_mean, reduce_max as reduce_max,
        reduce_min as reduce_min, reduce_prod as reduce_prod, reduce_any as reduce_any,
        reduce_all as reduce_all, reduce_logsumexp as reduce_logsumexp,
        reduce_euclidean_norm as reduce_euclidean_norm, reduce_variance as reduce_variance,
        reduce_std as reduce_std, count_nonzero as count_nonzero, argmax as argmax,
        argmin as argmin, cumsum as cumsum, cumprod as cumprod
    )
    from tapeflow._src.ops.special.functions import (
        polygamma as polygamma, zeta as zeta, igamma as igamma, igammac as igammac,
        betainc as betainc, lbeta as lbeta, erfcinv as erfcinv, bessel_i0 as bessel_i0,
        bessel_i0e as bessel_i0e, bessel_i1 as bessel_i1, bessel_i1e as bessel_i1e
    )
# fmt: on
# isort: on

__getattr__ = _Missing(
    "tf.math",
    names={
        "ops.elementwise.arithmetic": "add subtract multiply divide truediv floordiv floormod divide_no_nan multiply_no_nan reciprocal_no_nan pow maximum minimum squared_difference xlogy xlog1py xdivy negative abs sign square sqrt rsqrt reciprocal floor ceil round rint add_n scalar_mul real imag conj angle mod",
        "ops.elementwise.functions": "exp expm1 log log1p sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh atan2 sigmoid log_sigmoid softplus softsign erf erfc erfinv lgamma digamma ndtri",
        "ops.elementwise.logic": "equal not_equal less less_equal greater greater_equal logical_and logical_or logical_xor logical_not is_nan is_inf is_finite",
        "ops.indexing.counting": "bincount confusion_matrix",
        "ops.indexing.segments": "segment_sum segment_mean segment_max segment_min segment_prod unsorted_segment_sum unsorted_segment_mean unsorted_segment_sqrt_n unsorted_segment_max unsorted_segment_min unsorted_segment_prod",
        "ops.indexing.sequences": "cumulative_logsumexp invert_permutation is_non_decreasing is_strictly_increasing accumulate_n polyval nextafter",
        "ops.nn.activations": "l2_normalize zero_fraction top_k in_top_k",
        "ops.nn.approximate": "approx_max_k approx_min_k",
        "ops.nn.losses": "softmax log_softmax",
        "ops.random.sobol": "sobol_sample",
        "ops.reduction.reducing": "reduce_sum reduce_mean reduce_max reduce_min reduce_prod reduce_any reduce_all reduce_logsumexp reduce_euclidean_norm reduce_variance reduce_std count_nonzero argmax argmin cumsum cumprod",
        "ops.special.functions": "polygamma zeta igamma igammac betainc lbeta erfcinv bessel_i0 bessel_i0e bessel_i1 bessel_i1e",
    },
)


def __dir__() -> list[str]:
    return __getattr__.offered(globals())
