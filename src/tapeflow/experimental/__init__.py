"""`tf.experimental`: the exchange of values with other libraries."""

# Written by scripts/exports.py, from the lines in _src that export these names.

import typing as _typing

from tapeflow._src.core.dtypes import (
    float4_e2m1fn as float4_e2m1fn,
    float8_e4m3b11fnuz as float8_e4m3b11fnuz,
    float8_e4m3fn as float8_e4m3fn,
    float8_e4m3fnuz as float8_e4m3fnuz,
    float8_e5m2 as float8_e5m2,
    float8_e5m2fnuz as float8_e5m2fnuz,
    int2 as int2,
    int4 as int4,
    uint2 as uint2,
    uint4 as uint4,
)
from tapeflow._src.core.missing import Missing as _Missing
from tapeflow.experimental import dlpack as dlpack

# For editors and type checkers: these are imported when they are first asked for.
if _typing.TYPE_CHECKING:
    from tapeflow.experimental import numpy as numpy

__getattr__ = _Missing("tf.experimental", later=("numpy",))
