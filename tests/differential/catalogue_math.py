"""Elementwise math, comparison and logic."""

from tests.differential.calls import op
from tests.differential.draw import (
    COMPLEX,
    FLOATS,
    INTS,
    WIDE,
    arrays,
    booleans,
    complexes,
    dtypes,
    fits,
    floats,
    ints,
    lists,
    same,
    shapes,
)

ANY = FLOATS + INTS[:7] + COMPLEX
NUMBERS = FLOATS + INTS[:7]

for name in ("sin", "cos", "sinh", "cosh", "exp", "sigmoid", "tanh", "math.expm1"):
    op(name, x=floats() | complexes() | floats())
for name in ("tan", "atan", "asinh"):
    op(name, x=floats() | floats() | complexes(), _loose=4.0)
for name in ("asin", "acos", "atanh"):
    op(name, x=floats(-1.0, 1.0) | floats(), _loose=4.0)
op("acosh", x=floats(1.0, 4.0) | floats())
for name in ("math.erf", "math.erfc"):
    op(name, x=floats(), _loose=4.0)
for name in ("math.lgamma", "math.digamma"):
    op(name, x=floats(0.1, 5.0) | floats(dtypes=WIDE), _loose=20.0)
op("math.erfinv", x=floats(-0.95, 0.95, dtypes=WIDE), _loose=20.0)
op("math.ndtri", x=floats(0.05, 0.95, dtypes=WIDE), _loose=20.0)
op("math.log", x=floats(0.1, 4.0) | floats() | complexes())
op("math.log1p", x=floats(-0.9, 4.0) | floats() | complexes())
op("math.log_sigmoid", x=floats())
for name in ("math.softplus", "math.softsign"):
    op(name, features=floats())
for name in ("sqrt", "math.rsqrt"):
    op(name, x=floats(0.1, 4.0) | floats() | complexes())
for name in ("square", "negative"):
    op(name, x=arrays(ANY))
op("math.reciprocal", x=floats() | complexes())
op("math.reciprocal_no_nan", x=floats() | complexes())
for name in ("abs", "sign"):
    op(name, x=arrays(NUMBERS) | complexes())
for name in ("round", "floor", "math.ceil", "math.rint"):
    op(name, x=floats())
op("round", x=ints(), _label="round of integers")
for name in ("math.is_nan", "math.is_inf", "math.is_finite"):
    op(name, x=floats(edges=0.5))
for name in ("math.real", "math.imag", "math.angle"):
    op(name, input=complexes() | complexes() | floats())
op("math.conj", x=complexes() | arrays(NUMBERS))
op("complex", real=floats(dtypes=WIDE), imag=fits("real"))

for name in ("add", "subtract", "multiply", "divide", "truediv"):
    op(name, x=arrays(ANY), y=fits("x"))
op("math.floordiv", x=arrays(NUMBERS), y=fits("x", low=1))
op("math.floormod", x=arrays(NUMBERS), y=fits("x", low=1))
op("math.mod", x=floats(), y=fits("x"))
op("pow", x=floats(0.2, 3.0) | ints(1, 4) | floats(), y=fits("x", low=1))
op("pow", x=complexes(), y=fits("x"), _label="pow of complex numbers", _loose=10.0)
op("math.squared_difference", x=arrays(ANY), y=fits("x"))
for name in ("maximum", "minimum"):
    op(name, x=arrays(NUMBERS), y=fits("x"))
op("atan2", y=floats(), x=fits("y"))
for name in ("math.divide_no_nan", "math.xdivy", "math.multiply_no_nan"):
    op(name, x=floats(edges=0.3), y=fits("x", edges=0.3))
op("math.xlogy", x=floats(edges=0.2), y=fits("x", low=0.1, edges=0.2))
op("math.xlog1py", x=floats(edges=0.2), y=fits("x", low=-0.8, edges=0.2))
op("add_n", inputs=lists(floats(shape=(2, 3), dtypes=("float32",)), 1, 4))
op(
    "scalar_mul",
    scalar=floats(shape=(), dtypes=("float32",), forms=("tensor", "variable")),
    x=floats(dtypes=("float32",)),
)

for name in ("equal", "not_equal"):
    op(name, x=arrays(ANY) | booleans(), y=fits("x"))
for name in ("less", "less_equal", "greater", "greater_equal"):
    op(name, x=arrays(NUMBERS), y=fits("x"))
for name in ("logical_and", "logical_or", "math.logical_xor"):
    op(name, x=booleans(), y=fits("x"))
op("logical_not", x=booleans())

MORE = ("float32", "float64", "int32", "int64", "bool", "complex64", "float16", "bfloat16")
op("cast", x=arrays(NUMBERS, edges=0.0) | booleans() | complexes(), dtype=dtypes(*MORE))
op(
    "saturate_cast",
    value=arrays(NUMBERS, low=-500, high=500, edges=0.0),
    dtype=dtypes("int8", "uint8", "int16", "float32", "float16"),
)

op("clip_by_value", t=floats(), clip_value_min=fits("t", low=-2, high=-1), clip_value_max=1.5)
op(
    "clip_by_value",
    t=ints(),
    clip_value_min=-2,
    clip_value_max=3,
    _label="clip_by_value of integers",
    _valid=lambda t, **_: not t.dtype.startswith("u"),
)
op(
    "clip_by_norm",
    t=floats(shape=shapes(1, 3)),
    clip_norm=1.5 | same("t", low=1.0) | floats(1.0, 2.0, shape=()),
    _valid=lambda t, clip_norm: clip_norm == 1.5 or clip_norm.dtype == t.dtype,
)
op("clip_by_global_norm", t_list=lists(floats(dtypes=("float32",))), clip_norm=2.0)
op("linalg.global_norm", t_list=lists(floats(dtypes=("float32",))))
