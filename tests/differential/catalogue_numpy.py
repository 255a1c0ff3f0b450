"""`tf.experimental.numpy`: NumPy's names by its rules, on tensors, lists and numbers."""

from tests.differential.calls import expression, op
from tests.differential.draw import (
    arrays,
    axes_of,
    axis_of,
    bools,
    fits,
    floats,
    indices,
    ints,
    matrices,
    one_of,
    shapes,
)
from tests.differential.values import Code

NP = "experimental.numpy"
# TensorFlow's gradients of these are those of the ops that they are made of, which have their own rows.
FORMS = ("tensor", "tensor", "numpy")
REAL = ("float32", "float64")
NUMBERS = (*REAL, "int32", "int64")
ANY = arrays((*NUMBERS, "int32", "bool"), forms=FORMS, edges=0.05)
X = arrays(NUMBERS, forms=FORMS, edges=0.05)
F = floats(dtypes=REAL, forms=FORMS, edges=0.05)
UNIT = floats(-0.9, 0.9, dtypes=REAL, forms=FORMS, edges=0.0)
POSITIVE = floats(0.1, 3.0, dtypes=REAL, forms=FORMS, edges=0.0)
N = ints(dtypes=("int32", "int64"), forms=FORMS)
B = arrays(("bool",), forms=FORMS)
ROWS = arrays(NUMBERS, shape=shapes(1, 3), forms=FORMS, edges=0.0)
AXIS = arrays(("float64",), shape=shapes(1, 1, 2), forms=FORMS, edges=0.0)
VECTOR = arrays(NUMBERS, shape=shapes(1, 1, 2), forms=FORMS, edges=0.0)
MATRIX = matrices(2, 3, dtypes=NUMBERS, forms=FORMS, edges=0.0)
NO = {"_bad": False, "_second": False}


def each(names: str, /, **draws: object) -> None:
    """The same arguments, by position, for several names."""
    given = {**NO, **draws}
    for name in names.split():
        op(f"{NP}.{name}", _positional=99, **given)


each("sin cos tan sinh cosh tanh arctan arcsinh exp exp2 expm1 cbrt fabs sinc", x=X)
each("deg2rad rad2deg isfinite isinf isnan isposinf isneginf signbit", x=X)
each("sqrt log log2 log10 log1p reciprocal", x=POSITIVE)
each("arcsin arccos arctanh", x=UNIT)
each("arccosh", x=floats(1.1, 4.0, dtypes=REAL, forms=FORMS, edges=0.0))
each("abs absolute negative positive square ceil floor fix sign", x=X)
each("conj conjugate real imag angle", x=arrays((*NUMBERS, "complex64"), forms=FORMS, edges=0.0))
each("isreal iscomplex isrealobj iscomplexobj", x=arrays((*NUMBERS, "complex128"), forms=FORMS))
each("logical_not", x=ANY)
each("bitwise_not", x=N)
each("add subtract multiply maximum minimum heaviside hypot", x=X, y=fits("x"))
each("true_divide divide arctan2 logaddexp logaddexp2 float_power nextafter", x=F, y=fits("x"))
each("floor_divide mod remainder", x=X, y=fits("x", low=1, high=3, edges=0.0))
each("divmod", x=X, y=fits("x", low=1, high=3, edges=0.0), _gradients=False)
each("power", x=POSITIVE, y=fits("x", edges=0.0))
each("gcd lcm bitwise_and bitwise_or bitwise_xor", x=N, y=fits("x"))
each("equal not_equal less less_equal greater greater_equal", x=X, y=fits("x"))
each("isclose allclose array_equal", x=F, y=fits("x"))
each("logical_and logical_or logical_xor", x=ANY, y=fits("x"))

# Operands of two dtypes: NumPy's rules for what comes out.
for name in ("add", "multiply", "maximum", "true_divide", "less", "logaddexp", "where_"):
    text = f"tf.{NP}.{name}(x, y)" if name != "where_" else f"tf.{NP}.where(x > 0, x, y)"
    expression(
        text,
        x=arrays((*NUMBERS, "float16", "uint8"), shape=(3,), forms=("tensor",), edges=0.0),
        y=one_of(2, 2.5, True, arrays((*NUMBERS, "int8"), shape=(3,), forms=FORMS, edges=0.0)),
        **NO,
    )
for name in ("concatenate", "stack", "vstack", "hstack", "dstack"):
    expression(
        f"tf.{NP}.{name}([x, y])",
        x=arrays((*NUMBERS, "float16"), shape=(2, 3), forms=FORMS, edges=0.0),
        y=arrays((*NUMBERS, "uint8"), shape=(2, 3), forms=FORMS, edges=0.0),
        **NO,
    )
expression(
    f"tf.{NP}.result_type(x, y)", x=arrays((*NUMBERS, "bool"), shape=()), y=one_of(1, 1.5, True)
)
expression(
    f"tf.{NP}.promote_types(x, y)",
    x=one_of("float32", "int32", "int64", "uint8", "bool", "float16"),
    y=one_of("float32", "int32", "int64", "uint8", "bool", "complex64"),
)

FLAGS = {"keepdims": bools()}
for name in ("sum", "prod", "mean", "nansum", "nanprod", "nanmean"):
    op(f"{NP}.{name}", a=X, axis=axes_of("a"), **FLAGS, **NO, _positional=1)
for name in ("all", "any"):
    op(f"{NP}.{name}", a=ANY, axis=axes_of("a"), **FLAGS, **NO, _positional=1)
FULL_MATRIX = arrays(NUMBERS, shape=shapes(2, 2, 2), forms=FORMS, edges=0.0)
FULL = arrays(NUMBERS, shape=shapes(0, 3, 2), forms=FORMS, edges=0.0)
for name in ("max", "min", "amax", "amin", "ptp"):
    more = {} if name == "ptp" else FLAGS
    op(f"{NP}.{name}", a=FULL, axis=axes_of("a"), **more, **NO, _positional=1)
for name in ("std", "var"):
    op(f"{NP}.{name}", a=FULL, axis=axes_of("a"), **FLAGS, **NO, _positional=1)
op(
    f"{NP}.var",
    _label=f"{NP}.var of ddof",
    a=FULL,
    axis=None,
    dtype="float64",
    ddof=one_of(0, 1),
    **NO,
)
op(f"{NP}.average", a=FULL, axis=one_of(None, 0), **NO, _valid=lambda a, axis: a.values.ndim > 0)
op(f"{NP}.count_nonzero", a=ANY, axis=axes_of("a"), **NO)
SORTED = arrays(NUMBERS, shape=shapes(1, 3, 2), forms=FORMS, edges=0.0)
for name in ("argmax", "argmin", "cumsum", "cumprod"):
    op(f"{NP}.{name}", a=SORTED, axis=one_of(None, 0, -1), **NO)
op(f"{NP}.sort", a=SORTED, axis=-1, **NO)
op(f"{NP}.argsort", a=SORTED, axis=-1, kind=one_of("quicksort", "stable"), **NO)
op(f"{NP}.diff", a=SORTED, n=one_of(0, 1, 2), axis=-1, **NO)

# Shapes and places.
each("ravel flatten transpose squeeze ndim shape size copy nonzero", x=ANY)
each("asarray array asanyarray ascontiguousarray", x=ANY)
each("atleast_1d atleast_2d atleast_3d", x=ANY)
each("fliplr flipud rot90", x=MATRIX)
each("zeros_like ones_like empty_like", x=ANY, _values=False)
op(f"{NP}.zeros_like", _label=f"{NP}.zeros_like as", a=ANY, dtype=one_of(None, "int32"), **NO)
op(f"{NP}.full_like", a=X, fill_value=one_of(2, 1.5), dtype=one_of(None, "int64", "float32"), **NO)
op(f"{NP}.flip", m=ROWS, axis=one_of(None, 0, -1), **NO)
op(f"{NP}.roll", a=ROWS, shift=one_of(0, 1, -2), axis=one_of(None, 0, -1), **NO)
op(f"{NP}.expand_dims", a=ROWS, axis=axis_of("a", 1), **NO)
op(f"{NP}.swapaxes", a=MATRIX, axis1=0, axis2=one_of(-1, 1), **NO)
op(f"{NP}.moveaxis", a=MATRIX, source=0, destination=one_of(-1, 1), **NO)
op(f"{NP}.reshape", a=ROWS, newshape=one_of(-1, [1, -1], (-1, 1)), order=one_of("C", "F"), **NO)
op(f"{NP}.repeat", a=ROWS, repeats=one_of(0, 1, 2), axis=one_of(None, 0, -1), **NO)
op(f"{NP}.tile", a=ROWS, reps=one_of(2, [2, 1], (1, 2, 1)), **NO)
op(f"{NP}.broadcast_to", array=ROWS, shape=one_of([2, 3, 3, 3], [2, 1, 1, 1]), **NO)
op(f"{NP}.append", arr=ROWS, values=fits("arr"), axis=None, **NO)
op(f"{NP}.around", a=F, decimals=one_of(0, 1, -1), **NO)
op(f"{NP}.round", a=F, decimals=one_of(0, 2), **NO)
op(f"{NP}.clip", a=X, a_min=one_of(-1, -1.5), a_max=one_of(None, 1, 2), **NO)
op(
    f"{NP}.pad",
    array=FULL_MATRIX,
    pad_width=[[0, 1], [1, 0]],
    mode=one_of("constant", "reflect", "symmetric"),
    **NO,
)
op(f"{NP}.where", condition=B, x=X, y=fits("x"), **NO)
op(f"{NP}.take", a=SORTED, indices=indices(lambda a: 2, (2,)), axis=one_of(None, 0, -1), **NO)
op(f"{NP}.compress", condition=[True, False], a=SORTED, axis=one_of(0, -1, None), **NO)
op(f"{NP}.take_along_axis", arr=VECTOR, indices=indices(lambda arr: 2, (2,)), axis=0, **NO)
expression(f"tf.{NP}.select([x > 1, x > 0], [x, -x], 7)", x=ROWS, **NO)
SIX = arrays(NUMBERS, shape=(2, 4, 2), forms=FORMS, edges=0.0)
op(f"{NP}.split", ary=SIX, indices_or_sections=one_of(2, [1, 3]), axis=1, **NO)
op(f"{NP}.hsplit", ary=SIX, indices_or_sections=one_of(2, [1, 3]), **NO)
op(f"{NP}.vsplit", ary=SIX, indices_or_sections=one_of(2, [1]), **NO)
op(f"{NP}.dsplit", ary=SIX, indices_or_sections=one_of(2, [1]), **NO)
each("broadcast_arrays", x=X, y=fits("x"))
op(f"{NP}.meshgrid", a=AXIS, b=AXIS, indexing=one_of("xy", "ij"), _positional=2, **NO)
op(
    f"{NP}.ix_",
    a=N,
    b=N,
    _positional=2,
    **NO,
    _valid=lambda a, b: a.values.ndim == b.values.ndim == 1,
)

# What is made of nothing.
op(f"{NP}.arange", start=one_of(0, 2, 1.5), stop=one_of(5, 7.5), step=one_of(1, 2, 0.5), **NO)
op(f"{NP}.linspace", start=one_of(0, -1.0), stop=4, num=one_of(0, 1, 5), endpoint=bools(), **NO)
op(f"{NP}.logspace", start=one_of(0, 1.0), stop=2, num=one_of(1, 4), endpoint=bools(), **NO)
op(f"{NP}.geomspace", start=one_of(1, 2.0), stop=8, num=one_of(1, 4), endpoint=bools(), **NO)
op(f"{NP}.eye", N=one_of(0, 2, 3), M=one_of(None, 2), k=one_of(0, 1, -1), **NO)
op(f"{NP}.identity", n=one_of(0, 1, 3), **NO)
op(f"{NP}.tri", N=one_of(1, 3), M=one_of(None, 2), k=one_of(0, 1, -1), **NO)
op(f"{NP}.full", shape=one_of([], [2], 3), fill_value=one_of(1, 2.5, True), **NO)
for name in ("zeros", "ones"):
    op(
        f"{NP}.{name}",
        shape=one_of([], [2], 3),
        dtype=one_of("float32", "int32", Code("float")),
        **NO,
    )
op(f"{NP}.empty", shape=one_of([], [2], 3), _values=False, **NO)
op(f"{NP}.diag_indices", n=one_of(1, 3), ndim=one_of(2, 3), **NO)
op(f"{NP}.vander", x=VECTOR, N=one_of(None, 2), increasing=bools(), **NO)

# Products.
op(f"{NP}.diag", v=arrays(NUMBERS, shape=one_of((3,), (2, 3)), forms=FORMS), k=one_of(0, 1), **NO)
op(f"{NP}.diagonal", a=MATRIX, offset=one_of(0, 1, -1), **NO)
op(f"{NP}.diagflat", v=ROWS, k=one_of(0, 1, -1), **NO)
op(f"{NP}.trace", a=MATRIX, offset=one_of(0, 1), **NO)
for name in ("tril", "triu"):
    op(f"{NP}.{name}", m=MATRIX, k=one_of(0, 1, -1), **NO)
SQUARE = arrays(NUMBERS, shape=(3, 3), forms=FORMS, edges=0.0)
for name in ("dot", "inner", "outer", "vdot", "kron", "cross", "matmul"):
    other = arrays(NUMBERS, shape=(3, 3), forms=FORMS, edges=0.0)
    op(f"{NP}.{name}", a=SQUARE, b=other, _positional=2, **NO)
op(f"{NP}.tensordot", a=SQUARE, b=SQUARE, axes=one_of(0, 1, 2), **NO)
op(
    f"{NP}.einsum",
    s=one_of("ij,jk", "ij,ij->i", "ii,jk->k"),
    a=SQUARE,
    b=SQUARE,
    _positional=3,
    **NO,
)
op(f"{NP}.polyval", p=VECTOR, x=VECTOR, **NO)
op(f"{NP}.isscalar", num=one_of(1, 2.5, [1], "a"), **NO)
expression(f"tf.{NP}.issubdtype(x, tf.{NP}.inexact)", x=one_of("float32", "int32", "complex64"))
for name, arguments in (
    ("rand", "2, 3"),
    ("randn", "4"),
    ("random", "[2]"),
    ("uniform", "-1.0, 2.0, [3]"),
    ("standard_normal", "[2, 2]"),
    ("randint", "5, 9, [4]"),
    ("poisson", "2.0, [3]"),
):
    expression(f"tf.{NP}.random.{name}({arguments})", n=1, _values=False, **NO)
