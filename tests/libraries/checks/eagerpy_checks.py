"""eagerpy's methods on TensorFlow's tensors give what they give on NumPy's arrays."""

from __future__ import annotations

import eagerpy as ep
import numpy as np
import pytest
import tensorflow as tf

A = np.array([[0.5, -1.25, 2.0], [3.0, 0.25, -0.75]], np.float32)
B = np.array([[1.5, 1.25, -2.0], [3.0, -0.5, 0.75]], np.float32)

ONE = {
    name: (lambda t, name=name: getattr(t, name)())
    for name in [
        "abs",
        "sign",
        "square",
        "tanh",
        "exp",
        "isnan",
        "isinf",
        "flatten",
        "sum",
        "mean",
        "min",
        "max",
        "prod",
        "zeros_like",
        "ones_like",
        "softmax",
        "log_softmax",
    ]
} | {
    "neg": lambda t: -t,
    "sqrt": lambda t: t.abs().sqrt(),
    "log": lambda t: t.abs().log(),
    "log2": lambda t: t.abs().log2(),
    "log10": lambda t: t.abs().log10(),
    "log1p": lambda t: t.abs().log1p(),
    "clip": lambda t: t.clip(-0.5, 1.0),
    "transpose": lambda t: t.transpose(),
    "transpose_axes": lambda t: t.transpose((1, 0)),
    "T": lambda t: t.T,
    "reshape": lambda t: t.reshape((3, 2)),
    "reshape_minus_one": lambda t: t.reshape(-1),
    "expand_dims": lambda t: t.expand_dims(1),
    "squeeze": lambda t: t.expand_dims(0).squeeze(0),
    "tile": lambda t: t.tile((2, 3)),
    "flip": lambda t: t.flip(axis=1),
    "pad": lambda t: (
        t.expand_dims(0).expand_dims(0).pad(((0, 0), (0, 0), (1, 2), (0, 1)), value=2.0)
    ),
    "pad_reflect": lambda t: t.reshape((1, 1, 2, 3)).pad(
        ((0, 0), (0, 0), (1, 1), (2, 1)), mode="reflect"
    ),
    "argsort": lambda t: t.argsort(axis=1),
    "sort": lambda t: t.sort(axis=1),
    "topk": lambda t: t.topk(2)[0],
    "topk_indices": lambda t: t.topk(2)[1],
    "sum_axis": lambda t: t.sum(axis=0),
    "sum_axes": lambda t: t.sum(axis=(0, 1)),
    "sum_keepdims": lambda t: t.sum(axis=1, keepdims=True),
    "mean_axis": lambda t: t.mean(axis=0),
    "max_axis": lambda t: t.max(axis=1),
    "cumsum": lambda t: t.cumsum(axis=1),
    "astype": lambda t: t.astype(ep.ones(t, 1).dtype),
    "item": lambda t: t.sum().item(),
    "bool": lambda t: bool((t > -5).all()),
    "len": len,
    "shape": lambda t: t.shape,
    "ndim": lambda t: t.ndim,
    "full_like": lambda t: t.full_like(2.5),
    "ones": lambda t: t.ones((2, 2)),
    "zeros": lambda t: t.zeros(3),
    "full": lambda t: t.full((2, 2), 1.5),
    "arange": lambda t: t.arange(5),
    "arange_step": lambda t: ep.arange(t, 1, 8, 2),
    "onehot": lambda t: ep.onehot_like(t, t.argmax(axis=1)),
    "onehot_value": lambda t: ep.onehot_like(t, t.argmax(axis=1), value=3.0),
    "from_numpy": lambda t: ep.from_numpy(t, np.array([1.0, 2.0], np.float32)),
    "index": lambda t: t[1],
    "index_pair": lambda t: t[1, 2],
    "slice": lambda t: t[:, ::2],
    "newaxis": lambda t: t[:, None],
    "ellipsis": lambda t: t[..., 1],
    "mask": lambda t: t[t > 0],
    "index_tensor": lambda t: t[ep.arange(t, 2)],
    "index_update": lambda t: t.index_update(ep.index[:, 1], 7.0),
    "index_update_row": lambda t: t.index_update(ep.index[1], t[0]),
    "take_along_axis": lambda t: t.take_along_axis(t.argsort(axis=1), axis=1),
    "crossentropy": lambda t: ep.crossentropy(t, t.argmax(axis=1)),
    "slogdet": lambda t: ep.slogdet(ep.matmul(t, t.T))[1],
    "norms_l1": lambda t: ep.norms.l1(t, axis=1),
    "norms_l2": lambda t: ep.norms.l2(t, axis=1),
    "norms_linf": lambda t: ep.norms.linf(t),
    "norms_l0": lambda t: ep.norms.l0(t, axis=0),
    "kl_div_like": lambda t: (t.softmax() * (t.softmax().log() - t.log_softmax())).sum(),
    "all": lambda t: (t > -5).all(axis=0),
    "any": lambda t: (t > 2.5).any(axis=1),
    "not": lambda t: (t > 0).logical_not(),
    "iter": lambda t: ep.stack(list(t)),
    "meshgrid": lambda t: ep.meshgrid(t[0], t[1])[0],
    "unravel": lambda t: t.flatten(start=0, end=1),
    "matmul": lambda t: ep.matmul(t, t.T),
}

TWO = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "div": lambda a, b: a / b,
    "floordiv": lambda a, b: a // b,
    "mod": lambda a, b: a.abs() % b.abs(),
    "pow": lambda a, b: a.abs() ** b,
    "less": lambda a, b: a < b,
    "less_equal": lambda a, b: a <= b,
    "greater": lambda a, b: a > b,
    "greater_equal": lambda a, b: a >= b,
    "equal": lambda a, b: a == b,
    "not_equal": lambda a, b: a != b,
    "minimum": lambda a, b: a.minimum(b),
    "maximum": lambda a, b: a.maximum(b),
    "logical_and": lambda a, b: (a > 0).logical_and(b > 0),
    "logical_or": lambda a, b: (a > 0).logical_or(b > 0),
    "where": lambda a, b: (a > 0).where(a, b),
    "where_scalar": lambda a, b: ep.where(a > b, 1.0, b),
    "concatenate": lambda a, b: ep.concatenate([a, b], axis=1),
    "stack": lambda a, b: ep.stack([a, b], axis=1),
    "matmul": lambda a, b: a.matmul(b.T),
    "scalar_right": lambda a, b: a + 2,
    "scalar_left": lambda a, b: 2 - a,
    "scalar_power": lambda a, b: a**2,
    "numpy_and_float": lambda a, b: a * 0.5 + b,
    "minimum_scalar": lambda a, b: a.minimum(0.0),
    "tensordot": lambda a, b: (a * b).sum(axis=-1),
}


def plain(value):
    """What can be compared."""
    return value.numpy() if isinstance(value, ep.Tensor) else value


@pytest.mark.parametrize("name", ONE)
def test_of_one(name: str) -> None:
    """As NumPy's."""
    given = plain(ONE[name](ep.astensor(tf.constant(A))))
    np.testing.assert_allclose(given, plain(ONE[name](ep.astensor(A))), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("name", TWO)
def test_of_two(name: str) -> None:
    """As NumPy's."""
    given = plain(TWO[name](ep.astensor(tf.constant(A)), ep.astensor(tf.constant(B))))
    expected = plain(TWO[name](ep.astensor(A), ep.astensor(B)))
    np.testing.assert_allclose(given, expected, rtol=1e-5, atol=1e-6)


def test_gradients(record_property) -> None:
    """Values and gradients, with more that is returned."""
    x = ep.astensor(tf.constant(A))
    value, gradient = ep.value_and_grad(lambda x: (x.exp() * x).sum(), x)
    np.testing.assert_allclose(gradient.numpy(), np.exp(A) * (A + 1), rtol=1e-5)
    record_property("value", float(value.item()))
    value, more, gradient = ep.value_aux_and_grad(lambda x: (x.square().sum(), x + 1), x)
    np.testing.assert_allclose(gradient.numpy(), 2 * A)
    np.testing.assert_allclose(more.numpy(), A + 1)


def test_random_numbers() -> None:
    """Shapes and bounds of random tensors."""
    x = ep.astensor(tf.constant(A))
    assert x.uniform((3, 4)).shape == (3, 4)
    assert bool((x.uniform((100,), 0.5, 1.5) >= 0.5).all())
    assert ep.normal(x, (2, 5), 1.0, 2.0).shape == (2, 5)


def test_wrapping() -> None:
    """Functions of raw tensors with eager ones, and back."""
    raw = tf.constant(A)
    wrapped = ep.astensor(raw)
    assert wrapped.raw is raw
    assert isinstance(ep.astensors(raw, raw)[1], ep.TensorFlowTensor)
    assert "TensorFlowTensor" in repr(wrapped)
