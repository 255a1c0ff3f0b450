"""Operators, indexing, and the methods of tensors and variables."""

from tests.differential.calls import expression
from tests.differential.draw import (
    COMPLEX,
    FLOATS,
    INTS,
    arrays,
    booleans,
    fits,
    floats,
    ints,
    one_of,
    same,
    shapes,
)

TENSORS = ("tensor", "tensor", "variable")
ANY = FLOATS + INTS[:7] + COMPLEX
NUMBERS = FLOATS + INTS[:7]

for sign in ("+", "-", "*", "/", "==", "!="):
    expression(f"x {sign} y", x=arrays(ANY, forms=TENSORS), y=fits("x"))
    expression(f"2 {sign} x", x=arrays(ANY, forms=TENSORS))
for sign in ("<", "<=", ">", ">="):
    expression(f"x {sign} y", x=arrays(NUMBERS, forms=TENSORS), y=fits("x"))
for sign in ("//", "%"):
    expression(f"x {sign} y", x=arrays(NUMBERS, forms=TENSORS), y=fits("x", low=1))
expression("x ** y", x=floats(0.2, 3.0, forms=TENSORS), y=fits("x", low=1))
for power in (0, 1, 2, 3, 0.5, -1):
    expression(f"x ** {power}", x=floats(0.2, 3.0, forms=TENSORS))
expression("2.0 ** x", x=floats(forms=TENSORS))
expression("-x", x=arrays(ANY, forms=TENSORS))
expression("abs(x)", x=arrays(NUMBERS, forms=TENSORS))
expression("x @ y", x=floats(shape=(2, 3), forms=TENSORS), y=same("x"), _valid=lambda x, y: True)
expression("x @ tf.transpose(y)", x=floats(shape=(2, 3), forms=TENSORS), y=same("x"))
for sign in ("&", "|", "^"):
    expression(f"x {sign} y", x=booleans(forms=TENSORS), y=fits("x"))
expression("~x", x=booleans(forms=TENSORS))
expression("(x + 1.5, 1 + x, x + True)", x=floats(forms=TENSORS))
expression(
    "x + 1.5",
    x=ints(forms=TENSORS),
)
expression(
    "x + y", x=floats(forms=TENSORS), y=ints(forms=TENSORS), _label="x + y of different dtypes"
)

MATRIX = arrays(FLOATS + INTS[:7], shape=one_of((3, 4), (4, 3), (3, 3, 2)), forms=TENSORS)
for index in (
    "0",
    "-1",
    "1:",
    ":-1",
    "::2",
    "::-1",
    "1, 2",
    "..., 0",
    "0, ...",
    ":, 1",
    "None",
    "..., None",
    "1:3, None, 0",
    "2:0:-1",
    "5:",
    "tf.constant(1)",
    "tf.constant(1):",
    ":, -2:",
    "-9:9",
    "np.int64(1)",
    "1, ..., 1",
    "7",
    "0.5",
    "[0, 1]",
    "0, 0, 0, 0",
    "'a'",
):
    expression(f"x[{index}]", x=MATRIX)

expression("(x.shape, x.dtype, len(x.shape))", x=arrays(ANY, forms=TENSORS))
expression("x.shape.as_list()", x=arrays(ANY, forms=TENSORS))
expression("(x.shape.rank, x.shape.num_elements(), x.shape[:1])", x=arrays(ANY, forms=TENSORS))
expression("[row for row in x]", x=floats(shape=shapes(1, 2), forms=("tensor",)))
expression(
    "(bool(x), float(x), int(x))",
    x=floats(shape=one_of((), (), (1,), (2,)), forms=("tensor",), edges=0.0),
)
expression("x.numpy()", x=arrays(ANY, forms=TENSORS))
expression("tf.Variable(x)", x=arrays(ANY))
expression(
    "tf.IndexedSlices(x, tf.constant([0, 2]), tf.constant([3, 2])) * 1.0", x=floats(shape=(2, 2))
)

VARIABLE = arrays(("float32", "float64", "int32"), forms=("variable",), edges=0.0)
for method in ("assign", "assign_add", "assign_sub"):
    expression(f"(v.{method}(x).numpy(), v + 0)", v=VARIABLE, x=same("v"), _gradients=False)
    expression(f"v.{method}([1.0, 2.0])", v=VARIABLE, _gradients=False)
expression("(v.read_value(), v.value(), v.shape, v.dtype, v.trainable)", v=VARIABLE)
expression(
    "(v[0].assign(x), v + 0)",
    v=floats(shape=(3, 2), forms=("variable",), dtypes=("float32",)),
    x=floats(shape=(2,), dtypes=("float32",)),
    _gradients=False,
)
for method in (
    "scatter_add",
    "scatter_sub",
    "scatter_update",
    "scatter_max",
    "scatter_min",
    "scatter_mul",
    "scatter_div",
):
    expression(
        f"(v.{method}(tf.IndexedSlices(x, tf.constant([0, 2]))).numpy(), v + 0)",
        v=floats(shape=(3, 2), forms=("variable",), dtypes=("float32",)),
        x=floats(0.5, 2.0, shape=(2, 2), dtypes=("float32",), forms=("tensor",)),
        _gradients=False,
    )
expression("v.gather_nd([[0], [2]])", v=floats(shape=(3, 2), forms=("variable",)))
expression("v.sparse_read([0, 2, 0])", v=floats(shape=(3, 2), forms=("variable",)))
