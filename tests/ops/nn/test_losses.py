"""Softmax and the cross entropies: values, gradients of both orders, stability, mistakes."""

import numpy as np
import pytest
import scipy.special

import tapeflow as tf
from tapeflow._src.ops.nn import losses

RNG = np.random.default_rng(5)
X = RNG.normal(size=(2, 3, 4))
P = scipy.special.softmax(RNG.normal(size=(2, 3, 4)), axis=-1)
LABELS = np.array([[0, 3, 1], [2, 2, 0]])
WEIGHTS = RNG.normal(size=(2, 3))


def gradient(f, x):
    x = tf.constant(x)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = f(x)
    return tape.gradient(y, x)


def slope(f, x, direction, step=1e-6):
    """The derivative of a function of arrays along `direction`, by central differences."""
    return (f(x + step * direction) - f(x - step * direction)) / (2 * step)


def check_both_orders(f, x, weights):
    """Compares the gradient of sum(weights * f) and the gradient of that with differences."""
    direction, along = RNG.normal(size=x.shape), RNG.normal(size=x.shape)

    def objective(value):
        return np.sum(weights * f(tf.constant(value)).numpy())

    def first(value):
        return gradient(lambda t: f(t) * weights, value).numpy()

    np.testing.assert_allclose(
        np.sum(first(x) * direction), slope(objective, x, direction), rtol=1e-6, atol=1e-8
    )
    second = gradient(lambda t: gradient_inside(f, t, weights) * along, x)
    expected = slope(lambda value: np.sum(first(value) * along), x, direction)
    second = 0.0 if second is None else second.numpy()  # None: linear in x
    np.testing.assert_allclose(np.sum(second * direction), expected, rtol=1e-6, atol=1e-8)


def gradient_inside(f, t, weights):
    with tf.GradientTape() as tape:
        tape.watch(t)
        y = f(t) * weights
    return tape.gradient(y, t)


@pytest.mark.parametrize("axis", [0, 1, 2, -1])
@pytest.mark.parametrize("op", ["softmax", "log_softmax"])
def test_softmax_values_and_gradients(op, axis):
    ours = getattr(losses, op)
    theirs = getattr(scipy.special, op)
    np.testing.assert_allclose(ours(X, axis).numpy(), theirs(X, axis=axis), rtol=1e-12)
    check_both_orders(lambda t: ours(t, axis), X, RNG.normal(size=X.shape))


def test_softmax_of_the_last_axis_is_the_default():
    assert (losses.softmax(X).numpy() == losses.softmax(X, axis=2).numpy()).all()


def test_sparse_cross_entropy_gradients():
    check_both_orders(
        lambda t: losses.sparse_softmax_cross_entropy_with_logits(LABELS, t), X, WEIGHTS
    )


def test_cross_entropy_gradients_in_the_logits():
    check_both_orders(lambda t: losses.softmax_cross_entropy_with_logits(P, t), X, WEIGHTS)


def test_cross_entropy_gradients_in_the_labels():
    check_both_orders(lambda t: losses.softmax_cross_entropy_with_logits(t, X), P, WEIGHTS)


@pytest.mark.parametrize("axis", [0, 1])
def test_cross_entropy_along_other_axes(axis):
    labels = scipy.special.softmax(X[::-1], axis=axis)
    loss = losses.softmax_cross_entropy_with_logits(labels, X, axis=axis)
    expected = -np.sum(labels * scipy.special.log_softmax(X, axis=axis), axis=axis)
    np.testing.assert_allclose(loss.numpy(), expected)
    weights = RNG.normal(size=loss.shape)
    check_both_orders(
        lambda t: losses.softmax_cross_entropy_with_logits(labels, t, axis=axis), X, weights
    )


def test_third_order_through_the_sparse_cross_entropy():
    x, labels = X[0, :1], LABELS[0, :1]
    a, b = RNG.normal(size=x.shape), RNG.normal(size=x.shape)

    def second(value):
        t = tf.constant(value)
        with tf.GradientTape() as tape:
            tape.watch(t)
            first = gradient_inside(
                lambda s: losses.sparse_softmax_cross_entropy_with_logits(labels, s), t, 1.0
            )
            inner = first * a
        return tape.gradient(inner, t)

    t = tf.constant(x)
    with tf.GradientTape() as tape:
        tape.watch(t)
        with tf.GradientTape() as middle:
            middle.watch(t)
            first = gradient_inside(
                lambda s: losses.sparse_softmax_cross_entropy_with_logits(labels, s), t, 1.0
            )
            inner = first * a
        y = middle.gradient(inner, t) * b
    third = tape.gradient(y, t).numpy()
    direction = RNG.normal(size=x.shape)
    expected = slope(lambda value: np.sum(second(value).numpy() * b), x, direction)
    np.testing.assert_allclose(np.sum(third * direction), expected, rtol=1e-6, atol=1e-9)


def test_sparse_and_dense_agree():
    dense = losses.softmax_cross_entropy_with_logits(np.eye(4)[LABELS], X)
    sparse = losses.sparse_softmax_cross_entropy_with_logits(LABELS, X)
    np.testing.assert_allclose(sparse.numpy(), dense.numpy(), rtol=1e-12)


def test_labels_that_do_not_add_up_to_one_follow_tensorflow():
    # The value counts every label; the gradient is softmax - labels all the same.
    labels, logits = [[0.5, 1.0, 0.0]], [[1.0, 2.0, -1.0]]
    loss = losses.softmax_cross_entropy_with_logits(labels, logits)
    np.testing.assert_allclose(loss.numpy(), [1.0235182], rtol=1e-6)
    g = gradient(lambda t: losses.softmax_cross_entropy_with_logits(labels, t), logits)
    np.testing.assert_allclose(g.numpy(), [[-0.24050352, -0.29461545, 0.03511903]], rtol=1e-5)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_large_logits_do_not_overflow(dtype):
    x = np.array([[1e4, 0.0], [-1e4, 0.0]], dtype)
    assert losses.softmax(x).numpy().tolist() == [[1.0, 0.0], [0.0, 1.0]]
    assert losses.log_softmax(x).numpy().tolist() == [[0.0, -1e4], [-1e4, 0.0]]
    loss = losses.sparse_softmax_cross_entropy_with_logits([1, 1], x)
    assert loss.numpy().tolist() == [1e4, 0.0]
    g = gradient(lambda t: losses.sparse_softmax_cross_entropy_with_logits([1, 1], t), x)
    assert g.numpy().tolist() == [[1.0, -1.0], [0.0, 0.0]]


@pytest.mark.parametrize("dtype", [tf.float16, tf.bfloat16])
def test_half_precision_is_computed_in_float32(dtype):
    x = np.linspace(-0.5, 0.5, 3000, dtype=np.float32)
    half = tf.cast(tf.constant(x), dtype) if hasattr(tf, "cast") else tf.constant(x, dtype)
    rounded = half.numpy().astype(np.float32)
    for ours, theirs in [
        (losses.softmax, scipy.special.softmax),
        (losses.log_softmax, scipy.special.log_softmax),
    ]:
        y = ours(half)
        assert y.dtype is dtype
        np.testing.assert_allclose(
            y.numpy().astype(np.float64), theirs(rounded), rtol=1e-2, atol=1e-7
        )
    loss = losses.sparse_softmax_cross_entropy_with_logits([7], half[None])
    assert loss.dtype is dtype
    np.testing.assert_allclose(float(loss[0]), -scipy.special.log_softmax(rounded)[7], rtol=1e-2)
    g = gradient(lambda t: losses.sparse_softmax_cross_entropy_with_logits(7, t), half)
    assert g.dtype is dtype


def test_empty_batches_and_scalar_labels():
    empty = losses.sparse_softmax_cross_entropy_with_logits(np.zeros(0, np.int32), np.zeros((0, 3)))
    assert empty.shape == [0]
    assert losses.softmax(np.zeros((2, 0))).shape == [2, 0]
    assert losses.log_softmax(np.zeros((0, 3)), axis=0).shape == [0, 3]
    loss = losses.softmax_cross_entropy_with_logits(np.zeros((2, 0)), np.zeros((2, 0)))
    assert loss.numpy().tolist() == [0.0, 0.0]
    scalar = losses.sparse_softmax_cross_entropy_with_logits(1, [1.0, 2.0])
    assert scalar.shape == []
    np.testing.assert_allclose(float(scalar), 0.31326166, rtol=1e-6)


def test_logits_in_another_memory_order():
    x = np.asfortranarray(X[0])
    t = tf.constant(X[0].T.copy())
    with tf.GradientTape() as tape:
        tape.watch(t)
        logits = tf.convert_to_tensor(t)
        loss = losses.sparse_softmax_cross_entropy_with_logits(LABELS[0], _transposed(logits))
    expected = scipy.special.softmax(x, axis=1) - np.eye(4)[LABELS[0]]
    np.testing.assert_allclose(tape.gradient(loss, t).numpy(), expected.T, atol=1e-12)


def _transposed(t):
    from tapeflow._src.primitives.array.moving import transpose

    return transpose(t, perm=(1, 0))


@pytest.mark.parametrize("labels", [[3, 0], [-1, 0]])
def test_labels_out_of_range(labels):
    with pytest.raises(
        tf.errors.InvalidArgumentError, match=r"outside the valid range of \[0, 3\)"
    ):
        losses.sparse_softmax_cross_entropy_with_logits(labels, [[1.0, 2.0, 3.0]] * 2)


@pytest.mark.parametrize(
    ("labels", "logits", "error", "words"),
    [
        ([1.0, 0.0], [[1.0, 2.0]] * 2, tf.errors.InvalidArgumentError, "int32 or int64"),
        (np.array([1], np.int8), [[1.0, 2.0]], tf.errors.InvalidArgumentError, "int8"),
        ([1], [[1.0, 2.0]] * 2, ValueError, "except for the last dimension"),
        ([[1, 0]], [[1.0, 2.0]] * 2, ValueError, "rank"),
        (1, 1.0, ValueError, "scalar"),
        ([1], [[1, 2]], tf.errors.InvalidArgumentError, "int32"),
        (None, [[1.0]], ValueError, "must be provided"),
        ([0], np.zeros((1, 0)), tf.errors.InvalidArgumentError, "at least one class"),
    ],
)
def test_mistakes_of_sparse_cross_entropy_are_named(labels, logits, error, words):
    with pytest.raises(error, match=words):
        losses.sparse_softmax_cross_entropy_with_logits(labels, logits)


def test_mistakes_of_softmax_are_named():
    with pytest.raises(tf.errors.InvalidArgumentError, match="scalar"):
        losses.softmax(1.0)
    with pytest.raises(tf.errors.InvalidArgumentError, match="int32"):
        losses.softmax([1, 2])
    with pytest.raises(tf.errors.InvalidArgumentError, match="axis"):
        losses.softmax([[1.0]], axis=2)
    with pytest.raises(tf.errors.InvalidArgumentError, match="broadcast"):
        losses.softmax_cross_entropy_with_logits([[1.0, 2.0]], [[1.0, 2.0, 3.0]])
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"labels of shape \[2, 3\]"):
        losses.softmax_cross_entropy_with_logits(np.ones((2, 3)), np.ones(3))


def test_sigmoid_cross_entropy():
    labels, x = np.array([0.0, 1.0, 0.3, 0.9]), np.array([0.0, 2.0, -3.0, 0.0])
    loss = losses.sigmoid_cross_entropy_with_logits(labels, x).numpy()
    p = scipy.special.expit(x)
    np.testing.assert_allclose(loss, -labels * np.log(p) - (1 - labels) * np.log1p(-p))
    weights = RNG.normal(size=4)
    check_both_orders(lambda t: losses.sigmoid_cross_entropy_with_logits(labels, t), x, weights)
    check_both_orders(lambda t: losses.sigmoid_cross_entropy_with_logits(t, x), labels, weights)


def test_sigmoid_cross_entropy_keeps_tiny_losses():
    loss = losses.sigmoid_cross_entropy_with_logits([1.0, 0.0], [20.0, -20.0])
    np.testing.assert_allclose(loss.numpy(), [np.exp(-20.0)] * 2, rtol=1e-6)


def test_sigmoid_cross_entropy_mistakes():
    with pytest.raises(ValueError, match="same shape"):
        losses.sigmoid_cross_entropy_with_logits([0.0, 1.0], [1.0])
    with pytest.raises(tf.errors.InvalidArgumentError, match="same dtype"):
        losses.sigmoid_cross_entropy_with_logits([0, 1], [1.0, 2.0])


def test_weighted_cross_entropy():
    labels, x = np.array([0.0, 1.0, 0.3]), np.array([0.0, 1.0, -3.0])
    p = scipy.special.expit(x)
    expected = -3.0 * labels * np.log(p) - (1 - labels) * np.log1p(-p)
    loss = losses.weighted_cross_entropy_with_logits(labels, x, 3.0)
    np.testing.assert_allclose(loss.numpy(), expected)
    weights = RNG.normal(size=3)
    check_both_orders(
        lambda t: losses.weighted_cross_entropy_with_logits(labels, t, 3.0), x, weights
    )
    check_both_orders(
        lambda t: losses.weighted_cross_entropy_with_logits(t, x, 3.0), labels, weights
    )


def test_log_poisson_loss():
    targets, x = np.array([0.0, 1.0, 4.0]), np.array([0.5, -0.1, 1.0])
    np.testing.assert_allclose(losses.log_poisson_loss(targets, x).numpy(), np.exp(x) - x * targets)
    full = losses.log_poisson_loss(targets, x, compute_full_loss=True).numpy()
    stirling = 4 * np.log(4) - 4 + 0.5 * np.log(2 * np.pi * 4)
    np.testing.assert_allclose(full - (np.exp(x) - x * targets), [0, 0, stirling], atol=1e-12)
    check_both_orders(lambda t: losses.log_poisson_loss(targets, t), x, RNG.normal(size=3))


def test_l2_loss():
    x = RNG.normal(size=(2, 3))
    np.testing.assert_allclose(losses.l2_loss(x).numpy(), np.sum(x * x) / 2)
    check_both_orders(losses.l2_loss, x, np.array(1.7))
    assert float(losses.l2_loss(np.zeros((0,)))) == 0.0
    assert float(losses.l2_loss(np.float32(3.0))) == 4.5


def test_the_tape_keeps_the_logits_and_no_softmax():
    x = tf.constant(X.reshape(-1, 4))
    with tf.GradientTape() as tape:
        tape.watch(x)
        losses.sparse_softmax_cross_entropy_with_logits(LABELS.reshape(-1), x)
    ((_, _, edges),) = tape._records
    kept = [t for edge in edges for t in edge[2]]
    assert any(t is x for t in kept)
    assert sum(t._array.nbytes for t in kept) == x._array.nbytes + LABELS.nbytes


@pytest.mark.parametrize("dtype", [np.int32, np.int64])
@pytest.mark.parametrize("bad", [-1, 3, 2**31 - 1])
def test_labels_out_of_range_are_named(dtype, bad):
    labels = np.array([0, bad, 1], dtype)
    with pytest.raises(tf.errors.InvalidArgumentError, match=rf"{bad} which is outside"):
        tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=np.zeros((3, 3)))


def test_a_huge_label_does_not_wrap_around():
    labels = np.array([2**32 + 1], np.int64)
    with pytest.raises(tf.errors.InvalidArgumentError, match="outside"):
        tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=np.zeros((1, 3)))


@pytest.mark.parametrize(
    ("labels", "logits", "shape"),
    [
        ((1, 3), (3,), ()),
        ((3,), (2, 3), (2,)),
        ((1, 3), (2, 3), (2,)),
        ((4, 3), (2, 2, 3), (2, 2)),
        ((2, 1, 3), (2, 3), (2,)),
        ((2, 3), (2, 1, 3), (2, 1)),
        ((2, 1), (2, 3), (2,)),
        ((2, 3), (2, 1), (2,)),
    ],
)
def test_labels_that_fit_the_rows_of_the_logits(labels, logits, shape):
    found = tf.nn.softmax_cross_entropy_with_logits(tf.ones(labels), tf.zeros(logits))
    assert found.shape == shape


@pytest.mark.parametrize(
    ("labels", "logits"), [((2, 3), (3,)), ((2, 3), (1, 3)), ((), (3,)), ((4,), (3,))]
)
def test_labels_for_other_rows_than_the_logits_have(labels, logits):
    with pytest.raises(tf.errors.InvalidArgumentError):
        tf.nn.softmax_cross_entropy_with_logits(tf.ones(labels), tf.zeros(logits))
