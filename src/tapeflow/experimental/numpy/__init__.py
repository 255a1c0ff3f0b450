"""`tf.experimental.numpy`: NumPy's names and its rules for dtypes, on tensors."""

# Written by scripts/exports.py, from the lines in _src that export these names.
# ruff: noqa: E501

import typing as _typing

from tapeflow._src.core.missing import Missing as _Missing
from tapeflow.experimental.numpy import random as random

# For editors and type checkers: these are imported when they are first asked for.
# isort: off
# fmt: off
if _typing.TYPE_CHECKING:
    from tapeflow._src.numpy.algebra import (
        matmul as matmul, dot as dot, vdot as vdot, inner as inner, outer as outer,
        tensordot as tensordot, einsum as einsum, kron as kron, cross as cross, trace as trace,
        polyval as polyval, angle as angle, real as real, imag as imag, isclose as isclose,
        allclose as allclose, array_equal as array_equal, iscomplexobj as iscomplexobj,
        isrealobj as isrealobj, isscalar as isscalar
    )
    from tapeflow._src.numpy.behavior import (
        experimental_enable_numpy_behavior as experimental_enable_numpy_behavior
    )
    from tapeflow._src.numpy.binary_ops import (
        divmod as divmod, add as add, subtract as subtract, multiply as multiply,
        true_divide as true_divide, divide as divide, floor_divide as floor_divide, mod as mod,
        remainder as remainder, power as power, float_power as float_power, maximum as maximum,
        minimum as minimum, arctan2 as arctan2, hypot as hypot, logaddexp as logaddexp,
        logaddexp2 as logaddexp2, heaviside as heaviside, nextafter as nextafter, gcd as gcd,
        lcm as lcm, equal as equal, not_equal as not_equal, less as less, less_equal as less_equal,
        greater as greater, greater_equal as greater_equal, logical_and as logical_and,
        logical_or as logical_or, logical_xor as logical_xor, bitwise_and as bitwise_and,
        bitwise_or as bitwise_or, bitwise_xor as bitwise_xor
    )
    from tapeflow._src.numpy.choosing import (
        sort as sort, argsort as argsort, diff as diff, around as around, round as round,
        clip as clip, nonzero as nonzero, where as where, select as select, compress as compress,
        take as take, take_along_axis as take_along_axis
    )
    from tapeflow._src.numpy.creation import (
        array as array, asarray as asarray, asanyarray as asanyarray,
        ascontiguousarray as ascontiguousarray, copy as copy, zeros as zeros, ones as ones,
        empty as empty, zeros_like as zeros_like, ones_like as ones_like, empty_like as empty_like,
        full as full, full_like as full_like, arange as arange, linspace as linspace,
        logspace as logspace, geomspace as geomspace, eye as eye, identity as identity, tri as tri,
        diag_indices as diag_indices, vander as vander, meshgrid as meshgrid, ix_ as ix_
    )
    from tapeflow._src.numpy.dtypes import (
        bool_ as bool_, object_ as object_, string_ as string_, unicode_ as unicode_,
        float16 as float16, float32 as float32, float64 as float64, float_ as float_, int8 as int8,
        int16 as int16, int32 as int32, int64 as int64, int_ as int_, uint8 as uint8,
        uint16 as uint16, uint32 as uint32, uint64 as uint64, complex64 as complex64,
        complex128 as complex128, complex_ as complex_, inexact as inexact, pi as pi, e as e,
        inf as inf, newaxis as newaxis, ndarray as ndarray, result_type as result_type,
        promote_types as promote_types, finfo as finfo, iinfo as iinfo, issubdtype as issubdtype
    )
    from tapeflow._src.numpy.joining import (
        concatenate as concatenate, append as append, stack as stack, vstack as vstack,
        hstack as hstack, dstack as dstack, split as split, hsplit as hsplit, vsplit as vsplit,
        dsplit as dsplit, repeat as repeat, tile as tile, pad as pad
    )
    from tapeflow._src.numpy.reductions import (
        sum as sum, prod as prod, mean as mean, var as var, std as std, max as max, min as min,
        amax as amax, amin as amin, ptp as ptp, all as all, any as any,
        count_nonzero as count_nonzero, average as average, nansum as nansum, nanprod as nanprod,
        nanmean as nanmean, cumsum as cumsum, cumprod as cumprod, argmax as argmax, argmin as argmin
    )
    from tapeflow._src.numpy.shapes import (
        shape as shape, ndim as ndim, size as size, reshape as reshape, ravel as ravel,
        flatten as flatten, expand_dims as expand_dims, squeeze as squeeze, transpose as transpose,
        swapaxes as swapaxes, moveaxis as moveaxis, broadcast_to as broadcast_to,
        broadcast_arrays as broadcast_arrays, atleast_1d as atleast_1d, atleast_2d as atleast_2d,
        atleast_3d as atleast_3d, flip as flip, flipud as flipud, fliplr as fliplr, rot90 as rot90,
        roll as roll, diag as diag, diagflat as diagflat, diagonal as diagonal, tril as tril,
        triu as triu
    )
    from tapeflow._src.numpy.transcendental import (
        exp as exp, exp2 as exp2, expm1 as expm1, log as log, log2 as log2, log10 as log10,
        log1p as log1p, sin as sin, cos as cos, tan as tan, arcsin as arcsin, arccos as arccos,
        arctan as arctan, sinh as sinh, cosh as cosh, tanh as tanh, arcsinh as arcsinh,
        arccosh as arccosh, arctanh as arctanh, deg2rad as deg2rad, rad2deg as rad2deg, sinc as sinc
    )
    from tapeflow._src.numpy.unary import (
        abs as abs, absolute as absolute, fabs as fabs, negative as negative, positive as positive,
        square as square, sqrt as sqrt, cbrt as cbrt, reciprocal as reciprocal, sign as sign,
        floor as floor, ceil as ceil, fix as fix, conj as conj, conjugate as conjugate,
        isnan as isnan, isinf as isinf, isfinite as isfinite, isposinf as isposinf,
        isneginf as isneginf, iscomplex as iscomplex, isreal as isreal, signbit as signbit,
        logical_not as logical_not, bitwise_not as bitwise_not
    )
# fmt: on
# isort: on

__getattr__ = _Missing(
    "tf.experimental.numpy",
    names={
        "numpy.algebra": "matmul dot vdot inner outer tensordot einsum kron cross trace polyval angle real imag isclose allclose array_equal iscomplexobj isrealobj isscalar",
        "numpy.behavior": "experimental_enable_numpy_behavior",
        "numpy.binary_ops": "divmod add subtract multiply true_divide divide floor_divide mod remainder power float_power maximum minimum arctan2 hypot logaddexp logaddexp2 heaviside nextafter gcd lcm equal not_equal less less_equal greater greater_equal logical_and logical_or logical_xor bitwise_and bitwise_or bitwise_xor",
        "numpy.choosing": "sort argsort diff around round clip nonzero where select compress take take_along_axis",
        "numpy.creation": "array asarray asanyarray ascontiguousarray copy zeros ones empty zeros_like ones_like empty_like full full_like arange linspace logspace geomspace eye identity tri diag_indices vander meshgrid ix_",
        "numpy.dtypes": "bool_ object_ string_ unicode_ float16 float32 float64 float_ int8 int16 int32 int64 int_ uint8 uint16 uint32 uint64 complex64 complex128 complex_ inexact pi e inf newaxis ndarray result_type promote_types finfo iinfo issubdtype",
        "numpy.joining": "concatenate append stack vstack hstack dstack split hsplit vsplit dsplit repeat tile pad",
        "numpy.reductions": "sum prod mean var std max min amax amin ptp all any count_nonzero average nansum nanprod nanmean cumsum cumprod argmax argmin",
        "numpy.shapes": "shape ndim size reshape ravel flatten expand_dims squeeze transpose swapaxes moveaxis broadcast_to broadcast_arrays atleast_1d atleast_2d atleast_3d flip flipud fliplr rot90 roll diag diagflat diagonal tril triu",
        "numpy.transcendental": "exp exp2 expm1 log log2 log10 log1p sin cos tan arcsin arccos arctan sinh cosh tanh arcsinh arccosh arctanh deg2rad rad2deg sinc",
        "numpy.unary": "abs absolute fabs negative positive square sqrt cbrt reciprocal sign floor ceil fix conj conjugate isnan isinf isfinite isposinf isneginf iscomplex isreal signbit logical_not bitwise_not",
    },
)


def __dir__() -> list[str]:
    return __getattr__.offered(globals())
