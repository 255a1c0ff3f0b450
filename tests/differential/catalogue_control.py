"""Control flow, functions of functions, assertions, and random numbers of other distributions."""

from tests.differential.calls import expression, op
from tests.differential.draw import (
    WIDE,
    arrays,
    bools,
    code,
    dtypes,
    fits,
    floats,
    lists,
    one_of,
    shapes,
    sometimes,
)

FORMS = ("tensor", "tensor", "variable")
X = floats(dtypes=WIDE, forms=FORMS, edges=0.0)
ROWS = floats(shape=shapes(1, 2), dtypes=WIDE, forms=FORMS, edges=0.0)

expression("tf.cond(tf.reduce_sum(x) > 0.0, lambda: x * 2.0, lambda: -x)", x=X)
expression(
    "tf.case([(tf.reduce_sum(x) > 0.0, lambda: x * 2.0)], default=lambda: tf.square(x))", x=X
)
expression(
    "tf.switch_case(tf.constant(n), [lambda: x, lambda: x * x, lambda: -x])",
    n=one_of(0, 1, 2, 3, -1),
    x=X,
)
expression(
    "tf.while_loop(lambda i, y: i < n, lambda i, y: (i + 1, y * x), [tf.constant(0), tf.ones_like(x)])",
    n=one_of(0, 1, 3),
    x=X,
    _loose=4.0,
)
expression(
    "tf.while_loop(lambda y: True, lambda y: [y * x], [x], maximum_iterations=n)",
    n=one_of(0, 1, 2),
    x=X,
    _loose=4.0,
)
expression(
    "tf.map_fn(lambda r: tf.reduce_sum(r * r), x)", x=ROWS, _valid=lambda x: 0 not in x.shape
)
expression(
    "tf.map_fn(lambda r: (r, tf.cast(r > 0.0, tf.int32)), x, fn_output_signature=(x.dtype, tf.int32))",
    x=ROWS,
    _valid=lambda x: 0 not in x.shape,
)
expression(
    "tf.vectorized_map(lambda r: tf.reduce_sum(tf.sin(r) * r), x)",
    x=ROWS,
    _valid=lambda x: 0 not in x.shape,
)
for name in ("foldl", "foldr"):
    expression(f"tf.{name}(lambda a, r: a * 0.5 + r, x)", x=ROWS, _valid=lambda x: x.shape[0] > 0)
    expression(
        f"tf.{name}(lambda a, r: a * tf.reduce_mean(r), x, initializer=tf.ones([], x.dtype))",
        x=ROWS,
        _valid=lambda x: 0 not in x.shape,
    )
expression(
    "tf.scan(lambda a, r: a * r + 1.0, x, reverse=b)",
    x=ROWS,
    b=bools(),
    _valid=lambda x, b: x.shape[0] > 0,
)
expression("tf.py_function(lambda a: a * 2.0, [x], x.dtype)", x=X)
expression("tf.numpy_function(lambda a: a * 2, [x], x.dtype)", x=X, _gradients=False)
expression("tf.custom_gradient(lambda a: (a * 2.0, lambda g: g * 3.0))(x)", x=X)
expression("tf.grad_pass_through(tf.round)(x)", x=X)
expression("tf.recompute_grad(lambda a: tf.sin(a) * a)(x)", x=X, _second=False)
expression("(lambda a: (a.write(0, x).write(1, x * 2.0).stack()))(tf.TensorArray(x.dtype, 2))", x=X)

# Assertions: whether they pass or raise

PAIR = {"x": arrays(("float32", "int32", "float64")), "y": fits("x")}
for name in (
    "assert_equal",
    "assert_none_equal",
    "assert_less",
    "assert_less_equal",
    "assert_greater",
    "assert_greater_equal",
    "assert_near",
):
    op(f"debugging.{name}", **PAIR, _gradients=False)
for name in (
    "assert_positive",
    "assert_negative",
    "assert_non_positive",
    "assert_non_negative",
    "assert_integer",
):
    op(f"debugging.{name}", x=arrays(("float32", "int32")), _gradients=False)
op("debugging.assert_all_finite", x=floats(edges=0.5), message="bad")
op("debugging.check_numerics", tensor=floats(edges=0.5), message="bad")
op("Assert", condition=bools(), data=one_of([1], ["a", 2.0]))
op("debugging.assert_rank", x=floats(), rank=one_of(0, 1, 2), _gradients=False)
op("debugging.assert_rank_at_least", x=floats(), rank=one_of(0, 1, 2), _gradients=False)
op("debugging.assert_rank_in", x=floats(), ranks=one_of((0, 1), [2], (1, 3)), _gradients=False)
op("debugging.assert_scalar", tensor=floats(shape=shapes(0, 1)), _gradients=False)
op(
    "debugging.assert_same_float_dtype",
    tensors=lists(arrays(("float32", "float64", "int32"), forms=("tensor",))),
    dtype=sometimes(dtypes("float32")),
    _gradients=False,
)
op(
    "debugging.assert_type",
    tensor=arrays(("float32", "int32"), forms=("tensor",)),
    tf_type=dtypes("float32", "int32"),
    _gradients=False,
)
op("debugging.assert_proper_iterable", values=one_of([1], (1,), 3, "a") | floats())
expression(
    "tf.debugging.assert_shapes([(x, ('n', 'm')), (y, ('m',))])",
    x=floats(shape=(2, 3)),
    y=floats(shape=one_of((3,), (2,), (3, 1))),
    _gradients=False,
)
op("debugging.is_numeric_tensor", tensor=arrays(("float32", "int32", "bool")), _gradients=False)

# Random numbers

SHAPES = one_of([], [3], [2, 3], [0])
KINDS = {"dtype": dtypes(*WIDE), "_values": False, "_bad": False}
op(
    "random.gamma",
    shape=SHAPES,
    alpha=floats(0.5, 3.0, dtypes=("float32",), shape=shapes(0, 1), edges=0.0),
    _values=False,
    _bad=False,
    _second=False,
)
op(
    "random.stateless_gamma",
    shape=[3],
    seed=[1, 2],
    alpha=floats(0.5, 3.0, dtypes=("float32",), shape=one_of((), (3,)), edges=0.0),
    _values=False,
    _bad=False,
    _second=False,
)
op("random.poisson", shape=SHAPES, lam=one_of(1.5, [1.0, 2.0]), **KINDS)
op(
    "random.stateless_poisson",
    shape=one_of([2], [3, 2]),
    seed=[1, 2],
    lam=one_of(1.5, [1.0, 2.0]),
    **KINDS,
)
op(
    "random.stateless_binomial",
    shape=one_of([2], [3, 2]),
    seed=[1, 2],
    counts=one_of(5.0, [3.0, 4.0]),
    probs=one_of(0.5, [0.2, 0.8]),
    _bad=False,
)
op(
    "random.stateless_parameterized_truncated_normal",
    shape=SHAPES,
    seed=[1, 2],
    _values=False,
    _bad=False,
)
op(
    "random.experimental.stateless_fold_in",
    seed=code("tf.constant([1, 2])"),
    data=one_of(1, 5),
    _bad=False,
)
op(
    "random.experimental.stateless_split",
    seed=code("tf.constant([1, 2])"),
    num=one_of(2, 3),
    _bad=False,
)
op(
    "random.experimental.index_shuffle",
    index=one_of(0, 3, 7),
    seed=code("tf.constant([1, 2])"),
    max_index=one_of(7, 100),
    _gradients=False,
    _bad=False,
)
op(
    "random.experimental.stateless_shuffle",
    value=floats(shape=shapes(1, 2)),
    seed=[1, 2],
    _gradients=False,
    _bad=False,
)
op(
    "random.experimental.create_rng_state",
    seed=one_of(1, 7),
    alg=one_of("philox", "threefry"),
    _values=False,
    _bad=False,
)
