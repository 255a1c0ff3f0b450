"""Activations, normalisation, dropout, embeddings, ranking."""

import numpy as np
import pytest
import scipy.special

import tapeflow as tf
from tapeflow._src.ops.nn import activations, dropout
from tapeflow._src.ops.random import numbers as random_ops

RNG = np.random.default_rng(11)


def gradient(f, x):
    x = tf.constant(x)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = f(x)
    return tape.gradient(y, x)


def check_both_orders(f, x, step=1e-6):
    """First and second derivatives against central differences, along random directions."""
    weights = RNG.normal(size=f(tf.constant(x)).shape)
    direction, along = RNG.normal(size=x.shape), RNG.normal(size=x.shape)

    def objective(value):
        return np.sum(weights * f(tf.constant(value)).numpy())

    def first(value):
        return gradient(lambda t: f(t) * weights, value).numpy()

    def slope(g):
        return (g(x + step * direction) - g(x - step * direction)) / (2 * step)

    t = tf.constant(x)
    with tf.GradientTape() as tape:
        tape.watch(t)
        with tf.GradientTape() as inner:
            inner.watch(t)
            y = f(t) * weights
        g = inner.gradient(y, t) * along
    second = tape.gradient(g, t)
    second = np.zeros_like(x) if second is None else second.numpy()
    np.testing.assert_allclose(np.sum(first(x) * direction), slope(objective), rtol=1e-5, atol=1e-8)
    np.testing.assert_allclose(
        np.sum(second * direction),
        slope(lambda value: np.sum(first(value) * along)),
        rtol=1e-5,
        atol=1e-7,
    )


def _sigmoid(x):
    return scipy.special.expit(x)


ACTIVATIONS = {
    "relu": (activations.relu, lambda x: np.maximum(x, 0)),
    "relu6": (activations.relu6, lambda x: np.clip(x, 0, 6)),
    "leaky_relu": (activations.leaky_relu, lambda x: np.where(x > 0, x, 0.2 * x)),
    "leaky_relu_negative_alpha": (
        lambda x: activations.leaky_relu(x, alpha=-0.5),
        lambda x: np.where(x > 0, x, -0.5 * x),
    ),
    "crelu": (activations.crelu, lambda x: np.maximum(np.concatenate([x, -x], -1), 0)),
    "elu": (activations.elu, lambda x: np.where(x > 0, x, np.expm1(x))),
    "selu": (
        activations.selu,
        lambda x: 1.0507009873554805 * np.where(x > 0, x, 1.6732632423543772 * np.expm1(x)),
    ),
    "gelu": (activations.gelu, lambda x: x * scipy.special.ndtr(x)),
    "gelu_approximate": (
        lambda x: activations.gelu(x, approximate=True),
        lambda x: 0.5 * x * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3))),
    ),
    "silu": (activations.silu, lambda x: x * _sigmoid(x)),
    "silu_beta": (lambda x: activations.silu(x, beta=2.0), lambda x: x * _sigmoid(2 * x)),
}


@pytest.mark.parametrize("name", ACTIVATIONS)
def test_activation_values_and_gradients(name):
    ours, theirs = ACTIVATIONS[name]
    x = np.array([[-7.3, -1.2, -0.4], [0.3, 2.1, 6.7]])
    np.testing.assert_allclose(ours(x).numpy(), theirs(x), rtol=1e-12, atol=1e-15)
    check_both_orders(ours, x)


@pytest.mark.parametrize("name", ACTIVATIONS)
@pytest.mark.parametrize("dtype", [tf.float16, tf.bfloat16, tf.float32, tf.float64])
def test_activations_keep_the_dtype_and_take_any_shape(name, dtype):
    ours, theirs = ACTIVATIONS[name]
    values = [[-1.5, 0.0, 2.0]]
    y = ours(tf.constant(values, dtype))
    assert y.dtype is dtype
    tolerance = {tf.float16: 2e-3, tf.bfloat16: 2e-2}.get(dtype, 1e-6)
    np.testing.assert_allclose(
        y.numpy().astype(np.float64), theirs(np.array(values)), rtol=tolerance, atol=tolerance
    )
    assert ours(tf.constant(np.zeros((0, 2)), dtype)).shape[0] == 0
    if name != "crelu":
        assert ours(tf.constant(-1.0, dtype)).shape == []


@pytest.mark.parametrize(
    ("f", "slopes"),
    [
        # What TensorFlow gives at the kinks 0, 6 and -0.
        (activations.relu, [0.0, 1.0, 0.0]),
        (activations.relu6, [0.0, 0.0, 0.0]),
        (activations.elu, [1.0, 1.0, 1.0]),
        (activations.selu, [1.050701, 1.050701, 1.050701]),
        (activations.leaky_relu, [0.2, 1.0, 0.2]),
        (activations.gelu, [0.5, 1.0, 0.5]),
        (activations.silu, [0.5, 1.0123265, 0.5]),
    ],
)
def test_slopes_at_kinks(f, slopes):
    g = gradient(f, np.array([0.0, 6.0, -0.0], np.float32))
    np.testing.assert_allclose(g.numpy(), slopes, rtol=1e-6)


@pytest.mark.parametrize(
    "f", [activations.elu, activations.selu, activations.gelu, activations.silu]
)
def test_activations_far_out(f):
    y = f(np.array([-1e4, 1e4], np.float32)).numpy()
    g = gradient(f, np.array([-1e4, 1e4], np.float32)).numpy()
    assert np.isfinite(y).all() and np.isfinite(g).all()
    assert abs(g[0]) < 1e-6


def test_integers():
    assert activations.relu([-1, 2]).numpy().tolist() == [0, 2]
    assert activations.relu6([-1, 9]).numpy().tolist() == [0, 6]
    assert activations.crelu([-1, 2]).numpy().tolist() == [0, 2, 1, 0]
    assert activations.leaky_relu([-1, 2]).dtype is tf.float32
    with pytest.raises(ValueError, match="floating"):
        activations.gelu([1, 2])
    for f in (activations.elu, activations.selu, activations.silu):
        with pytest.raises(tf.errors.InvalidArgumentError, match="int32"):
            f([1, 2])


def test_silu_has_a_gradient_in_beta():
    x = np.array([1.0, -1.0])
    check_both_orders(lambda beta: activations.silu(x, beta), np.array(1.5))


# Normalisation.


def test_l2_normalize():
    x = RNG.normal(size=(2, 3))
    y = activations.l2_normalize(x, axis=1).numpy()
    np.testing.assert_allclose(y, x / np.linalg.norm(x, axis=1, keepdims=True))
    np.testing.assert_allclose(activations.l2_normalize(x).numpy(), x / np.linalg.norm(x))
    np.testing.assert_allclose(
        activations.l2_normalize(x, axis=[0, 1]).numpy(), x / np.linalg.norm(x)
    )
    check_both_orders(lambda t: activations.l2_normalize(t, axis=0), x)
    z = np.array([1 + 2j, 2j])
    np.testing.assert_allclose(activations.l2_normalize(z).numpy(), z / 3)


def test_l2_normalize_at_zero_and_below_epsilon():
    # TensorFlow's values.
    assert activations.l2_normalize([0.0, 0.0]).numpy().tolist() == [0.0, 0.0]
    np.testing.assert_allclose(gradient(activations.l2_normalize, [0.0, 0.0]).numpy(), [1e6, 1e6])
    g = gradient(lambda t: activations.l2_normalize(t, epsilon=25.0), [3.0, 4.0])
    np.testing.assert_allclose(g.numpy(), [0.032, -0.024], atol=1e-6)


@pytest.mark.parametrize("axes", [0, [1], [0, 2], [0, 1, 2], -1])
@pytest.mark.parametrize("keepdims", [False, True])
def test_moments(axes, keepdims):
    x = RNG.normal(size=(2, 3, 4)) + 3
    mean, variance = activations.moments(x, axes, keepdims=keepdims)
    axis = tuple(np.atleast_1d(axes).tolist())
    np.testing.assert_allclose(mean.numpy(), x.mean(axis, keepdims=keepdims))
    np.testing.assert_allclose(variance.numpy(), x.var(axis, keepdims=keepdims))
    check_both_orders(lambda t: activations.moments(t, axes, keepdims=keepdims)[1], x)
    check_both_orders(lambda t: activations.moments(t, axes, keepdims=keepdims)[0], x)


def test_moments_of_half_precision_are_computed_in_float32():
    x = tf.constant(np.full(5000, 300.0), tf.float16)
    mean, variance = activations.moments(x, [0])
    assert (float(mean), float(variance)) == (300.0, 0.0)
    assert mean.dtype is variance.dtype is tf.float16


def test_batch_normalization():
    x = RNG.normal(size=(5, 3))
    mean, variance = x.mean(0), x.var(0)
    offset, scale = RNG.normal(size=3), RNG.normal(size=3)
    y = activations.batch_normalization(x, mean, variance, offset, scale, 1e-3).numpy()
    expected = (x - mean) / np.sqrt(variance + 1e-3) * scale + offset
    np.testing.assert_allclose(y, expected)
    plain = activations.batch_normalization(x, mean, variance, None, None, 1e-3).numpy()
    np.testing.assert_allclose(plain, (x - mean) / np.sqrt(variance + 1e-3))

    def layer(t):
        return activations.batch_normalization(t, *activations.moments(t, [0]), offset, scale, 1e-3)

    check_both_orders(layer, x)


def test_zero_fraction():
    assert float(activations.zero_fraction([0.0, 1.0, 0.0, 0.0])) == 0.75
    assert float(activations.zero_fraction([0, 1])) == 0.5


# Simple layers.


def test_bias_add():
    x, bias = RNG.normal(size=(2, 3, 4)), RNG.normal(size=4)
    np.testing.assert_allclose(activations.bias_add(x, bias).numpy(), x + bias)
    second = RNG.normal(size=3)
    np.testing.assert_allclose(activations.bias_add(x, second, "NCW").numpy(), x + second[:, None])
    check_both_orders(lambda b: activations.bias_add(x, b, "NCW"), second)


@pytest.mark.parametrize(
    ("value", "bias", "data_format", "error"),
    [
        ([1.0, 2.0], [1.0, 2.0], None, tf.errors.InvalidArgumentError),
        ([[1.0, 2.0]], [[1.0, 2.0]], None, tf.errors.InvalidArgumentError),
        ([[1.0, 2.0]], [1.0], None, tf.errors.InvalidArgumentError),
        ([[1.0, 2.0]], [1, 2], None, tf.errors.InvalidArgumentError),
        ([[1.0, 2.0]], [1.0, 2.0], "WCN", ValueError),
    ],
)
def test_bias_add_mistakes(value, bias, data_format, error):
    with pytest.raises(error, match="add"):
        activations.bias_add(value, bias, data_format)


def test_dropout_keeps_the_expectation():
    x = np.ones(20000, np.float32)
    y = dropout.dropout(x, 0.3, seed=4).numpy()
    np.testing.assert_allclose(np.unique(y), [0, 1 / 0.7], rtol=1e-6)
    assert abs((y > 0).mean() - 0.7) < 0.02


def test_dropout_gradient_is_the_same_mask():
    x = tf.constant(RNG.normal(size=100))
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = dropout.dropout(x, 0.5)
    g = tape.gradient(y, x).numpy()
    np.testing.assert_allclose(np.unique(g), [0.0, 2.0], rtol=1e-12)
    np.testing.assert_allclose(y.numpy(), g * x.numpy())


def test_dropout_keeps_a_mask_of_bytes():
    x = tf.constant(RNG.normal(size=100))
    with tf.GradientTape() as tape:
        tape.watch(x)
        dropout.dropout(x, 0.5)
    ((_, _, edges),) = tape._records
    kept = [k for edge in edges for k in edge[2] if isinstance(k, tf.Tensor)]
    assert sum(k._array.nbytes for k in kept) == 100


def test_dropout_drops_what_is_not_finite():
    y = dropout.dropout(np.full(100, np.inf), 0.5).numpy()
    assert not np.isnan(y).any()
    assert (y == 0).any()


def test_dropout_noise_shape():
    x = np.ones((50, 4))
    for noise_shape in ([50, 1], [None, 1], (50, 1)):
        y = dropout.dropout(x, 0.5, noise_shape=noise_shape).numpy()
        assert (y == y[:, :1]).all()
        assert 0 < (y[:, 0] == 0).sum() < 50
    with pytest.raises(tf.errors.InvalidArgumentError):
        dropout.dropout(x, 0.5, noise_shape=[3, 1])


def test_dropout_rates():
    x = tf.constant([1.0, 2.0])
    assert dropout.dropout(x, 0) is x
    assert dropout.dropout(x, 0.0).numpy().tolist() == [1.0, 2.0]
    many = dropout.dropout(np.ones(10000, np.float32), tf.constant(0.25)).numpy()
    assert abs((many > 0).mean() - 0.75) < 0.03
    np.testing.assert_allclose(many.max(), 4 / 3, rtol=1e-6)
    for rate in (1.0, 1, -0.1, 1.2, "a"):
        with pytest.raises(ValueError, match="rate"):
            dropout.dropout(x, rate)
    with pytest.raises(ValueError, match="floating"):
        dropout.dropout([1, 2], 0.5)
    with pytest.raises(ValueError, match="rate"):
        dropout.dropout(x, tf.constant(0.5, tf.float64))


def test_dropout_follows_the_seed():
    x = np.ones(100)
    random_ops.set_seed(3)
    a = dropout.dropout(x, 0.5).numpy()
    b = dropout.dropout(x, 0.5).numpy()
    random_ops.set_seed(3)
    c = dropout.dropout(x, 0.5).numpy()
    assert (a == c).all()
    assert (a != b).any()


# Embeddings.

TABLE = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])


def test_embedding_lookup():
    assert activations.embedding_lookup(TABLE, [[2, 0]]).numpy().tolist() == [
        [[5.0, 6.0], [1.0, 2.0]]
    ]
    assert activations.embedding_lookup([TABLE], 1).numpy().tolist() == [3.0, 4.0]
    parts = activations.embedding_lookup([TABLE, TABLE + 10], [0, 3])
    assert parts.numpy().tolist() == [[1.0, 2.0], [11.0, 12.0]]
    with pytest.raises(tf.errors.InvalidArgumentError, match="3"):
        activations.embedding_lookup(TABLE, [3])
    with pytest.raises(ValueError, match="params"):
        activations.embedding_lookup(None, [0])
    with pytest.raises(ValueError, match="params"):
        activations.embedding_lookup([], [0])


def test_embedding_gradient_is_rows():
    v = tf.Variable(TABLE)
    with tf.GradientTape() as tape:
        y = activations.embedding_lookup(v, [0, 0, 2])
    g = tape.gradient(y, v)
    assert isinstance(g, tf.IndexedSlices)
    assert g.indices.numpy().tolist() == [0, 0, 2]
    assert g.values.shape == [3, 2]


def test_embedding_max_norm():
    y = activations.embedding_lookup(TABLE, [0, 1], max_norm=3.0).numpy()
    np.testing.assert_allclose(y, [[1.0, 2.0], [1.8, 2.4]])
    # A batch of lookups, each row clipped by its own norm.
    batch = activations.embedding_lookup(TABLE, [[0], [2]], max_norm=1.0).numpy()
    np.testing.assert_allclose(np.linalg.norm(batch, axis=-1), 1.0)
    zero = gradient(
        lambda t: activations.embedding_lookup([t, t], [0], max_norm=1.0), np.zeros((1, 2))
    )
    assert zero.numpy().tolist() == [[1.0, 1.0]]
    check_both_orders(
        lambda t: activations.embedding_lookup([t, t], [0, 1, 4], max_norm=3.0), TABLE
    )


# Ranking.


def test_top_k():
    x = [[1.0, 3.0, 2.0, 3.0], [0.0, -1.0, 5.0, 4.0]]
    values, indices = activations.top_k(x, 2)
    assert values.numpy().tolist() == [[3.0, 3.0], [5.0, 4.0]]
    assert indices.numpy().tolist() == [[1, 3], [2, 3]]
    assert indices.dtype is tf.int32
    assert activations.top_k([5, 7], 1, index_type=tf.int64).indices.dtype is tf.int64
    assert activations.top_k([1.0, np.nan, 3.0], 2).indices.numpy().tolist() == [1, 2]
    assert activations.top_k(x, 0).values.shape == [2, 0]
    check_both_orders(lambda t: activations.top_k(t, 3).values, np.array([1.0, 3.0, 2.0, 0.5]))
    with pytest.raises(tf.errors.InvalidArgumentError, match="at least k columns"):
        activations.top_k(x, 5)
    with pytest.raises(tf.errors.InvalidArgumentError, match="scalar"):
        activations.top_k(1.0)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64", "int32", "uint8"])
@pytest.mark.parametrize("values", ["distinct", "many ties", "all equal", "some NaN", "infinities"])
def test_top_k_of_long_rows_is_that_of_sorted_ones(dtype, values):
    rng = np.random.default_rng(4)
    x = rng.permutation(6 * 5 * 64).reshape(6, 5, 64).astype(np.float64)
    if values == "many ties":
        x = x % 7 - 3
    elif values == "all equal":
        x[:] = np.where(rng.random(x.shape) < 0.5, -0.0, 0.0)
    elif values == "some NaN" and dtype.startswith("float"):
        x = x % 5
        x[rng.random(x.shape) < 0.05] = np.nan
        x[0], x[1, 0, 3] = np.nan, np.nan
    elif values == "infinities" and dtype[0] not in "iu":
        x[rng.random(x.shape) < 0.1] = np.inf
        x[0] = -np.inf
    x = tf.cast(x, dtype).numpy()
    for part in (x, x[:, ::2, ::-1], x.transpose(2, 0, 1)[:, :, :4], x[:0], x[0, 0]):
        for k in (0, 1, 2, 7, 8, 9):
            if k > part.shape[-1]:
                continue
            # NaN before all others; of equal ones, the first.
            wide = part.astype(np.float64)
            keys = (-np.where(np.isnan(wide), 0, wide), ~np.isnan(wide))
            order = np.lexsort(keys, axis=-1)[..., :k]
            found = activations.top_k(part, k)
            assert found.indices.dtype is tf.int32
            np.testing.assert_array_equal(found.indices, order)
            np.testing.assert_array_equal(found.values, np.take_along_axis(part, order, -1))


def test_top_k_of_many_rows():
    x = np.random.default_rng(5).integers(0, 400, (600, 1024)).astype(np.float32)
    found = activations.top_k(x, 20, index_type=tf.int64)
    np.testing.assert_array_equal(found.indices, np.argsort(-x, -1, kind="stable")[:, :20])


def test_in_top_k():
    rows = [[1.0, 2.0, 3.0]] * 3 + [[np.nan, 1.0, 2.0], [1.0, 1.0, 1.0]]
    found = activations.in_top_k([0, 1, 5, 1, 2], np.array(rows, np.float32), 2)
    assert found.numpy().tolist() == [False, True, False, False, True]
    with pytest.raises(tf.errors.InvalidArgumentError, match="in_top_k"):
        activations.in_top_k([0], np.zeros((2, 3), np.float32), 1)


@pytest.mark.parametrize("jit_compile", [None, False, True])
@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
@pytest.mark.parametrize("name", ["sigmoid", "silu", "gelu", "gelu_tanh"])
def test_half_precision_overflows_only_where_the_result_does(name, dtype, jit_compile):
    """exp(11.1) is infinite in float16, and so is twice 40000."""

    def compute(x):
        f = {
            "sigmoid": tf.sigmoid,
            "silu": tf.nn.silu,
            "gelu": lambda x: tf.nn.gelu(x, approximate=False),
            "gelu_tanh": lambda x: tf.nn.gelu(x, approximate=True),
        }[name]
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = f(x)
        return y, tape.gradient(y, x)

    x = tf.constant([-16.0, -12.0, -11.1, 4.0, 80.0, 200.0, 40000.0], dtype)
    x = x[:6] if name == "gelu_tanh" else x
    run = tf.function(compute, jit_compile=jit_compile) if jit_compile is not None else compute
    y, g = (t.numpy().astype(np.float64) for t in run(x))
    expected, slope = (t.numpy() for t in compute(tf.cast(x, tf.float64)))
    digits = {"rtol": 0.02, "atol": 1e-6} if "gelu" not in name else {"rtol": 0.02, "atol": 0.01}
    np.testing.assert_allclose(y, expected, **digits)
    np.testing.assert_allclose(g[3:], slope[3:], atol=0.02)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
@pytest.mark.parametrize("k", [1, 3, 6])
def test_the_largest_beside_nan(dtype, k):
    x = tf.constant([np.nan, 1, 2, np.nan, 5, 3], dtype)
    values, places = tf.math.top_k(x, k)
    np.testing.assert_array_equal(places, [0, 3, 4, 5, 2, 1][:k])
    np.testing.assert_array_equal(tf.cast(values, tf.float64), [np.nan, np.nan, 5, 3, 2, 1][:k])
