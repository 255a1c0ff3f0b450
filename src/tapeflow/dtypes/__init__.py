"""`tf.dtypes`: the types of elements, and converting between them."""

# Written by scripts/exports.py, from the lines in _src that export these names.
# ruff: noqa: F401

import typing as _typing

from tapeflow._src.core.dtypes import (
    QUANTIZED_DTYPES as QUANTIZED_DTYPES,
    DType as DType,
    as_dtype as as_dtype,
    bfloat16 as bfloat16,
    bool_ as bool,
    complex64 as complex64,
    complex128 as complex128,
    double as double,
    float8_e4m3fn as float8_e4m3fn,
    float8_e5m2 as float8_e5m2,
    float16 as float16,
    float32 as float32,
    float64 as float64,
    half as half,
    int8 as int8,
    int16 as int16,
    int32 as int32,
    int64 as int64,
    qint8 as qint8,
    qint16 as qint16,
    qint32 as qint32,
    quint8 as quint8,
    quint16 as quint16,
    resource as resource,
    string as string,
    uint8 as uint8,
    uint16 as uint16,
    uint32 as uint32,
    uint64 as uint64,
    variant as variant,
)
from tapeflow._src.core.missing import Missing as _Missing
from tapeflow._src.ops.array.shaping import cast as cast
from tapeflow.dtypes import experimental as experimental

# For editors and type checkers: these are imported when they are first asked for.
# isort: off
# fmt: off
if _typing.TYPE_CHECKING:
    from tapeflow._src.ops.elementwise.arithmetic import complex as complex
    from tapeflow._src.ops.elementwise.saturation import saturate_cast as saturate_cast
    from tapeflow._src.strings.numbers import as_string as as_string
# fmt: on
# isort: on

__getattr__ = _Missing(
    "tf.dtypes",
    names={
        "ops.elementwise.arithmetic": "complex",
        "ops.elementwise.saturation": "saturate_cast",
        "strings.numbers": "as_string",
    },
)


def __dir__() -> list[str]:
    return __getattr__.offered(globals())
