"""`tf.math.special`: Bessel functions and integrals."""

# Written by scripts/exports.py, from the lines in _src that export these names.
# ruff: noqa: E501

import typing as _typing

from tapeflow._src.core.missing import Missing as _Missing

# For editors and type checkers: these are imported when they are first asked for.
# isort: off
# fmt: off
if _typing.TYPE_CHECKING:
    from tapeflow._src.ops.special.functions import (
        bessel_i0 as bessel_i0, bessel_i0e as bessel_i0e, bessel_i1 as bessel_i1,
        bessel_i1e as bessel_i1e, bessel_j0 as bessel_j0, bessel_j1 as bessel_j1,
        bessel_k0 as bessel_k0, bessel_k0e as bessel_k0e, bessel_k1 as bessel_k1,
        bessel_k1e as bessel_k1e, bessel_y0 as bessel_y0, bessel_y1 as bessel_y1, dawsn as dawsn,
        expint as expint, fresnel_cos as fresnel_cos, fresnel_sin as fresnel_sin, spence as spence
    )
# fmt: on
# isort: on

__getattr__ = _Missing(
    "tf.math.special",
    names={
        "ops.special.functions": "bessel_i0 bessel_i0e bessel_i1 bessel_i1e bessel_j0 bessel_j1 bessel_k0 bessel_k0e bessel_k1 bessel_k1e bessel_y0 bessel_y1 dawsn expint fresnel_cos fresnel_sin spence"
    },
)


def __dir__() -> list[str]:
    return __getattr__.offered(globals())
