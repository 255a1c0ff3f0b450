"""`tf.math`: elementwise math, comparison and reductions."""

# Written by scripts/exports.py, from the lines in _src that export these names.

import typing as _typing

from tapeflow._src.core.missing import Missing as _Missing
from tapeflow._src.ops.elementwise.arithmetic import (
    abs as abs,
    add as add,
    add_n as add_n,
    angle as angle,
    ceil as ceil,
    conj as conj,
    divide as divide,
    divide_no_nan as divide_no_nan,
    floor as floor,
    floordiv as floordiv,
    floormod as floormod,
    imag as imag,
    maximum as maximum,
    minimum as minimum,
    mod as mod,
    multiply as multiply,
    multiply_no_nan as multiply_no_nan,
    negative as negative,
    pow as pow,
    real as real,
    reciprocal as reciprocal,
    reciprocal_no_nan as reciprocal_no_nan,
    rint as rint,
    round as round,
    rsqrt as rsqrt,
    scalar_mul as scalar_mul,
    sign as sign,
    sqrt as sqrt,
    square as square,
    squared_difference as squared_difference,
    subtract as subtract,
    truediv as truediv,
    xdivy as xdivy,
    xlog1py as xlog1py,
    xlogy as xlogy,
)
from tapeflow._src.ops.elementwise.functions import (
    acos as acos,
    acosh as acosh,
    asin as asin,
    asinh as asinh,
    atan as atan,
    atan2 as atan2,
    atanh as atanh,
    cos as cos,
    cosh as cosh,
    digamma as digamma,
    erf as erf,
    erfc as erfc,
    erfinv as erfinv,
    exp as exp,
    expm1 as expm1,
    lgamma as lgamma,
    log as log,
    log1p as log1p,
    log_sigmoid as log_sigmoid,
    ndtri as ndtri,
    sigmoid as sigmoid,
    sin as sin,
    sinh as sinh,
    softplus as softplus,
    softsign as softsign,
    tan as tan,
    tanh as tanh,
)
from tapeflow._src.ops.elementwise.logic import (
    equal as equal,
    greater as greater,
    greater_equal as greater_equal,
    is_finite as is_finite,
    is_inf as is_inf,
    is_nan as is_nan,
    less as less,
    less_equal as less_equal,
    logical_and as logical_and,
    logical_not as logical_not,
    logical_or as logical_or,
    logical_xor as logical_xor,
    not_equal as not_equal,
)
from tapeflow._src.ops.indexing.counting import (
    bincount as bincount,
    confusion_matrix as confusion_matrix,
)
from tapeflow._src.ops.indexing.segments import (
    segment_max as segment_max,
    segment_mean as segment_mean,
    segment_min as segment_min,
    segment_prod as segment_prod,
    segment_sum as segment_sum,
    unsorted_segment_max as unsorted_segment_max,
    unsorted_segment_mean as unsorted_segment_mean,
    unsorted_segment_min as unsorted_segment_min,
    unsorted_segment_prod as unsorted_segment_prod,
    unsorted_segment_sqrt_n as unsorted_segment_sqrt_n,
    unsorted_segment_sum as unsorted_segment_sum,
)
from tapeflow._src.ops.indexing.sequences import (
    accumulate_n as accumulate_n,
    cumulative_logsumexp as cumulative_logsumexp,
    invert_permutation as invert_permutation,
    is_non_decreasing as is_non_decreasing,
    is_strictly_increasing as is_strictly_increasing,
    nextafter as nextafter,
    polyval as polyval,
)
from tapeflow._src.ops.nn.activations import (
    in_top_k as in_top_k,
    l2_normalize as l2_normalize,
    top_k as top_k,
    zero_fraction as zero_fraction,
)
from tapeflow._src.ops.nn.losses import log_softmax as log_softmax, softmax as softmax
from tapeflow._src.ops.reduction.reducing import (
    argmax as argmax,
    argmin as argmin,
    count_nonzero as count_nonzero,
    cumprod as cumprod,
    cumsum as cumsum,
    reduce_all as reduce_all,
    reduce_any as reduce_any,
    reduce_euclidean_norm as reduce_euclidean_norm,
    reduce_logsumexp as reduce_logsumexp,
    reduce_max as reduce_max,
    reduce_mean as reduce_mean,
    reduce_min as reduce_min,
    reduce_prod as reduce_prod,
    reduce_std as reduce_std,
    reduce_sum as reduce_sum,
    reduce_variance as reduce_variance,
)
from tapeflow._src.ops.special.functions import (
    bessel_i0 as bessel_i0,
    bessel_i0e as bessel_i0e,
    bessel_i1 as bessel_i1,
    bessel_i1e as bessel_i1e,
    betainc as betainc,
    erfcinv as erfcinv,
    igamma as igamma,
    igammac as igammac,
    lbeta as lbeta,
    polygamma as polygamma,
    zeta as zeta,
)
from tapeflow.math import special as special

# For editors and type checkers: these are imported when they are first asked for.
if _typing.TYPE_CHECKING:
    from tapeflow._src.ops.nn.approximate import (
        approx_max_k as approx_max_k,
        approx_min_k as approx_min_k,
    )
    from tapeflow._src.ops.random.sobol import sobol_sample as sobol_sample

__getattr__ = _Missing(
    "tf.math",
    names={"ops.nn.approximate": "approx_max_k approx_min_k", "ops.random.sobol": "sobol_sample"},
)


def __dir__() -> list[str]:
    return __getattr__.offered(globals())
