"""Keras's functions for neural networks and signals: gradients, functions with unknown sizes, and XLA."""

from __future__ import annotations

from types import SimpleNamespace

import keras
import numpy as np
import pytest
from tests.ops.finite_differences import check_gradients

import tapeflow as tf
from tapeflow._src.keras.backend import math as kmath, nn

assert keras.backend.backend() == "tapeflow"
RNG = np.random.default_rng(0)


def real(*shape):
    return RNG.normal(size=shape)


def positive(*shape):
    return RNG.uniform(0.1, 1.0, size=shape)


LABELS = np.array([1, 0, 3])
MASK = np.array([[1, 1, 0, 1], [1, 1, 1, 1], [0, 1, 1, 1]], bool)[:, None, None, :]
SIGNAL = {"sequence_length": 4, "sequence_stride": 2, "fft_length": 6}

ACTIVATIONS = [
    "celu",
    "elu",
    "gelu",
    "glu",
    "hard_shrink",
    "hard_sigmoid",
    "hard_silu",
    "hard_tanh",
    "leaky_relu",
    "log_sigmoid",
    "log_softmax",
    "relu",
    "relu6",
    "selu",
    "sigmoid",
    "silu",
    "soft_shrink",
    "softmax",
    "softplus",
    "softsign",
    "sparse_plus",
    "sparse_sigmoid",
    "sparsemax",
    "squareplus",
    "tanh",
    "tanh_shrink",
]

CASES = {
    **{name: (getattr(nn, name), real(3, 6)) for name in ACTIVATIONS},
    "elu, alpha": (lambda x: nn.elu(x, alpha=0.3), real(3, 4)),
    "celu, alpha": (lambda x: nn.celu(x, alpha=0.3), real(3, 4)),
    "threshold": (lambda x: nn.threshold(x, 0.1, -2.0), real(3, 4)),
    "softmax of all": (lambda x: nn.softmax(x, axis=None), real(3, 4)),
    "conv 1D": (lambda x, w: nn.conv(x, w, 2, "same"), real(3, 7, 2), real(3, 2, 4)),
    "conv 2D": (
        lambda x, w: nn.conv(x, w, padding="same", dilation_rate=2),
        real(3, 5, 6, 2),
        real(3, 2, 2, 4),
    ),
    "conv 3D": (lambda x, w: nn.conv(x, w), real(3, 3, 4, 3, 2), real(2, 2, 2, 2, 3)),
    "conv, channels first": (
        lambda x, w: nn.conv(x, w, data_format="channels_first"),
        real(3, 2, 5, 6),
        real(3, 2, 2, 4),
    ),
    "conv, groups": (lambda x, w: nn.conv(x, w), real(3, 5, 5, 4), real(3, 3, 2, 6)),
    "conv, strides and dilation": (
        lambda x, w: nn.conv(x, w, strides=2, dilation_rate=2),
        real(3, 7, 7, 2),
        real(2, 2, 2, 3),
    ),
    "depthwise 1D": (lambda x, w: nn.depthwise_conv(x, w, 2), real(3, 7, 2), real(3, 2, 3)),
    "depthwise 2D": (
        lambda x, w: nn.depthwise_conv(x, w, padding="same", data_format="channels_first"),
        real(3, 2, 5, 5),
        real(3, 3, 2, 3),
    ),
    "separable 2D": (
        lambda x, w, p: nn.separable_conv(x, w, p, strides=2),
        real(3, 5, 5, 2),
        real(3, 3, 2, 2),
        real(1, 1, 4, 3),
    ),
    "conv_transpose 1D": (
        lambda x, w: nn.conv_transpose(x, w, 3, output_padding=1),
        real(3, 4, 2),
        real(2, 3, 2),
    ),
    "conv_transpose 2D": (
        lambda x, w: nn.conv_transpose(x, w, 2, "same", data_format="channels_first"),
        real(3, 2, 3, 4),
        real(3, 3, 4, 2),
    ),
    "conv_transpose, more than a stride of padding": (
        lambda x, w: nn.conv_transpose(x, w, 2, output_padding=4),
        real(3, 3, 4, 2),
        real(3, 3, 4, 2),
    ),
    "conv_transpose 3D": (
        lambda x, w: nn.conv_transpose(x, w, dilation_rate=2),
        real(3, 2, 2, 2, 2),
        real(2, 2, 2, 3, 2),
    ),
    "max_pool": (lambda x: nn.max_pool(x, 2, 1, "same"), real(3, 5, 5, 2)),
    "average_pool": (
        lambda x: nn.average_pool(x, (2, 3), None, "same", "channels_first"),
        real(3, 2, 5, 5),
    ),
    "adaptive_max_pool": (lambda x: nn.adaptive_max_pool(x, (3, 2)), real(3, 5, 7, 2)),
    "adaptive_average_pool": (lambda x: nn.adaptive_average_pool(x, (3, 2)), real(3, 5, 7, 2)),
    "adaptive_average_pool, parts of one size": (
        lambda x: nn.adaptive_average_pool(x, 2, "channels_first"),
        real(3, 2, 4, 6, 2),
    ),
    "categorical_crossentropy": (
        lambda p: nn.categorical_crossentropy(np.eye(4)[LABELS], p),
        positive(3, 4),
    ),
    "categorical_crossentropy, logits": (
        lambda x: nn.categorical_crossentropy(np.eye(4)[LABELS], x, from_logits=True),
        real(3, 4),
    ),
    "categorical_crossentropy, axis": (
        lambda p: nn.categorical_crossentropy(np.eye(4)[LABELS][..., None], p, axis=1),
        positive(3, 4, 1),
    ),
    "sparse_categorical_crossentropy": (
        lambda p: nn.sparse_categorical_crossentropy(LABELS[:, None], p),
        positive(3, 4),
    ),
    "sparse_categorical_crossentropy, logits": (
        lambda x: nn.sparse_categorical_crossentropy(LABELS, x, from_logits=True),
        real(3, 4),
    ),
    "binary_crossentropy": (
        lambda t, p: nn.binary_crossentropy(t, p),
        positive(3, 4),
        positive(3, 4) * 0.9,
    ),
    "binary_crossentropy, logits": (
        lambda t, x: nn.binary_crossentropy(t, x, from_logits=True),
        positive(3, 4),
        real(3, 4),
    ),
    "moments": (lambda x: nn.moments(x, [0, 2], keepdims=True), real(3, 4, 2)),
    "batch_normalization": (
        lambda x, m, v, b, g: nn.batch_normalization(x, m, v, 1, b, g),
        real(3, 4, 2),
        *(positive(4) for _ in range(4)),
    ),
    "attention": (nn.dot_product_attention, *(real(3, 4, 2, 5) for _ in range(3))),
    "attention, causal": (
        lambda q, k, v: nn.dot_product_attention(q, k, v, is_causal=True, scale=0.3),
        *(real(3, 4, 2, 5) for _ in range(3)),
    ),
    "attention, shared keys": (
        nn.dot_product_attention,
        real(3, 4, 6, 5),
        real(3, 3, 2, 5),
        real(3, 3, 2, 5),
    ),
    "attention, mask": (
        lambda q, k, v: nn.dot_product_attention(q, k, v, mask=MASK, is_causal=True),
        *(real(3, 4, 2, 5) for _ in range(3)),
    ),
    "attention, bias": (
        lambda q, k, v, b: nn.dot_product_attention(q, k, v, bias=b, mask=MASK),
        *(real(3, 4, 2, 5) for _ in range(3)),
        real(3, 1, 4, 4),
    ),
    "ctc_loss": (
        lambda x: nn.ctc_loss(np.array([[1, 2], [2, 2], [1, 0]]), x, [2, 2, 1], [5, 4, 5]),
        real(3, 5, 4),
    ),
    "psnr": (lambda a, b: nn.psnr(a, b, 2.0), real(3, 4), real(3, 4)),
    "unfold": (lambda x: nn.unfold(x, (2, 3), 2, 1, 2), real(3, 2, 6, 7)),
    "fold": (lambda x: nn.fold(x, (5, 6), 3, 1, 1, 2), real(3, 18, 9)),
    "depth_to_space": (lambda x: nn.depth_to_space(x, 2), real(3, 2, 2, 8)),
    "space_to_depth": (lambda x: nn.space_to_depth(x, 2, "channels_first"), real(3, 2, 4, 4)),
    "segment_sum": (lambda x: kmath.segment_sum(x, [2, 0, 2], 4), real(3, 2)),
    "segment_prod": (lambda x: kmath.segment_prod(x, [2, 0, 2], 4), real(3, 2)),
    "top_k": (lambda x: kmath.top_k(x, 2)[0], real(3, 5)),
    "logsumexp": (lambda x: kmath.logsumexp(x, axis=(0, 2)), real(3, 4, 2)),
    "cdist": (kmath.cdist, real(3, 4), real(3, 4)),
    "extract_sequences": (lambda x: kmath.extract_sequences(x, 3, 2), real(3, 8)),
    "fft": (lambda a, b: kmath.fft((a, b)), real(3, 4), real(3, 4)),
    "ifft2": (lambda a, b: kmath.ifft2(kmath.fft2((a, b))), real(3, 4), real(3, 4)),
    "rfft": (lambda x: kmath.irfft(kmath.rfft(x, 5), 5), real(3, 4)),
    "stft": (lambda x: kmath.stft(x, **SIGNAL), real(3, 10)),
    "istft": (lambda a, b: kmath.istft((a, b), **SIGNAL), real(3, 5, 4), real(3, 5, 4)),
    "rsqrt": (kmath.rsqrt, positive(3, 4)),
    "erf": (kmath.erf, real(3, 4)),
    "erfc": (kmath.erfc, real(3, 4)),
    "erfinv": (kmath.erfinv, positive(3, 4) * 0.9),
    "logdet": (kmath.logdet, real(3, 4, 4)),
}


@pytest.mark.parametrize("name", CASES)
def test_derivatives_of_first_and_second_order(name):
    function, *inputs = CASES[name]
    check_gradients(function, *inputs)


def compiled(function, inputs, **options):
    """In a function that does not know the size of the batch."""
    specs = [tf.TensorSpec([None, *x.shape[1:]], x.dtype) for x in inputs]
    results = tf.function(function, input_signature=specs, **options)(*inputs)
    return [np.asarray(y) for y in tf.nest.flatten(results)]


@pytest.mark.parametrize("jit_compile", [False, True], ids=["numpy", "xla"])
@pytest.mark.parametrize("name", CASES)
@pytest.mark.sample(4)
def test_in_a_function_of_unknown_sizes(name, jit_compile):
    if jit_compile:
        pytest.importorskip("jax")
    function, *inputs = CASES[name]
    inputs = [x.astype(np.float32) for x in inputs]
    expected = [np.asarray(y) for y in tf.nest.flatten(function(*inputs))]
    for got, want in zip(
        compiled(function, inputs, jit_compile=jit_compile), expected, strict=True
    ):
        np.testing.assert_allclose(got, want, rtol=2e-4, atol=2e-5)
        assert got.dtype == want.dtype


# What Keras's own tests do not ask.


@pytest.mark.parametrize("jit_compile", [False, True], ids=["numpy", "xla"])
def test_ctc_decode_in_a_function(jit_compile):
    if jit_compile:
        pytest.importorskip("jax")
    logits = real(3, 6, 4).astype(np.float32)
    lengths = np.array([6, 3, 5], np.int32)
    for options in (
        {"strategy": "greedy"},
        {"strategy": "beam_search", "beam_width": 5, "top_paths": 3},
    ):
        labels, scores = nn.ctc_decode(logits, lengths, **options)
        got = compiled(
            lambda x, n, o=options: nn.ctc_decode(x, n, **o),
            (logits, lengths),
            jit_compile=jit_compile,
        )
        np.testing.assert_array_equal(got[0], labels)
        np.testing.assert_allclose(got[1], scores, rtol=1e-5)


def test_beam_search_finds_the_most_probable_labels():
    logits = real(1, 4, 3)
    chances = np.asarray(tf.nn.softmax(logits))[0]
    # All paths, and what each of them spells.
    spelled = {}
    for path in np.ndindex(3, 3, 3, 3):
        labels = [c for i, c in enumerate(path) if c and (not i or path[i - 1] != c)]
        chance = np.prod([chances[t, c] for t, c in enumerate(path)])
        spelled[tuple(labels)] = spelled.get(tuple(labels), 0.0) + chance
    best = sorted(spelled.items(), key=lambda item: -item[1])[:4]
    paths, scores = nn.ctc_decode(logits, [4], "beam_search", beam_width=50, top_paths=4)
    assert [tuple(p[p >= 0].tolist()) for p in np.asarray(paths)[:, 0]] == [p for p, _ in best]
    np.testing.assert_allclose(np.exp(scores)[0], [chance for _, chance in best], rtol=1e-6)


def test_a_query_that_may_look_nowhere_has_no_nan():
    x = real(1, 2, 1, 4)
    mask = np.zeros((1, 1, 2, 2), bool)
    assert np.isfinite(nn.dot_product_attention(x, x, x, mask=mask)).all()


def test_queries_look_at_their_own_segment():
    x = real(1, 2, 6, 4)
    ids = np.array([[0, 0, 0, 1, 1, 1]])
    both = nn.wrap_flash_attention(x, x, x, SimpleNamespace(q=ids, kv=ids))
    alone = [
        nn.wrap_flash_attention(*[x[:, :, part]] * 3, None) for part in (slice(3), slice(3, 6))
    ]
    np.testing.assert_allclose(both, np.concatenate(alone, 2))


@pytest.mark.parametrize("size,places", [(7, 3), (5, 5), (3, 7), (10, 4)])
def test_adaptive_windows_are_those_of_the_definition(size, places):
    x = real(2, size, 3)
    bounds = [(i * size // places, -(-(i + 1) * size // places)) for i in range(places)]
    means = np.stack([x[:, a:b].mean(1) for a, b in bounds], 1)
    maxima = np.stack([x[:, a:b].max(1) for a, b in bounds], 1)
    np.testing.assert_allclose(nn.adaptive_average_pool(x, places), means)
    np.testing.assert_allclose(nn.adaptive_max_pool(x, places), maxima)


@pytest.mark.parametrize("label", [-1, 4])
@pytest.mark.parametrize("from_logits", [False, True])
def test_a_label_that_is_no_class_is_an_error(label, from_logits):
    with pytest.raises(tf.errors.InvalidArgumentError):
        nn.sparse_categorical_crossentropy(np.array([0, label]), positive(2, 4), from_logits)


def test_half_precision_has_no_infinite_variance():
    x = np.array([-60000.0, 60000.0], np.float16)
    _, variance = nn.moments(x, [0])
    assert variance.dtype == tf.float16 and np.isfinite(variance)


def test_integers_become_floats():
    for name in ("sigmoid", "softmax", "elu", "gelu", "tanh", "softplus"):
        assert getattr(nn, name)(np.array([1, 2, 3])).dtype == tf.float32
    assert nn.relu(np.array([-1, 2])).dtype == tf.int64


def test_a_convolution_without_a_place_for_its_kernel_says_so():
    with pytest.raises(ValueError, match="empty output"):
        nn.conv(np.zeros((1, 2, 2, 1)), np.zeros((3, 3, 1, 1)))


def test_losses_of_probabilities_are_those_of_the_logits_they_were_made_of():
    # TensorFlow's numbers: of probabilities alone, 40 is 15.94.
    logits, labels = tf.constant([[40.0], [4.0], [-30.0]]), tf.constant([[0.0], [1.0], [1.0]])
    exact = [40.0, 0.0181499, 30.0]
    for activation in (keras.activations.sigmoid, keras.ops.sigmoid):
        found = keras.losses.binary_crossentropy(labels, activation(logits))
        np.testing.assert_allclose(found, exact, rtol=1e-5)
    alone = keras.losses.binary_crossentropy(labels, tf.identity(keras.ops.sigmoid(logits)))
    np.testing.assert_allclose(alone, [15.942385, 0.0181499, 16.118095], rtol=1e-3)
    logits = tf.constant([[40.0, 0.0], [0.0, 0.0]])
    for activation in (keras.activations.softmax, keras.ops.softmax):
        found = keras.losses.sparse_categorical_crossentropy(np.array([1, 0]), activation(logits))
        np.testing.assert_allclose(found, [40.0, 0.6931472], rtol=1e-5)
        found = keras.losses.categorical_crossentropy(np.eye(2)[[1, 0]], activation(logits))
        np.testing.assert_allclose(found, [40.0, 0.6931472], rtol=1e-5)
    with pytest.warns(UserWarning, match="produced by a Sigmoid activation"):
        keras.losses.binary_crossentropy(labels, keras.ops.sigmoid(labels), from_logits=True)


def _normalized(x, axes, epsilon=1e-3):
    return (x - x.mean(axes, keepdims=True)) / np.sqrt(x.var(axes, keepdims=True) + epsilon)


@pytest.mark.parametrize(
    ("layer", "reference"),
    [
        ("BatchNormalization", lambda x: _normalized(x, (0, 1))),
        ("LayerNormalization", lambda x: _normalized(x, 2)),
        ("GroupNormalization", lambda x: _normalized(x, 1)),
        ("RMSNormalization", lambda x: x / np.sqrt((x**2).mean(-1, keepdims=True) + 1e-6)),
    ],
)
def test_layers_of_float64_have_its_digits(layer, reference):
    """Keras computes these in the dtype that its rules say, which are JAX's, without 64 bits."""
    x = np.random.default_rng(0).normal(size=(4, 6, 5))
    given = {"groups": 5} if layer == "GroupNormalization" else {}
    found = getattr(keras.layers, layer)(dtype="float64", **given)(tf.constant(x), training=True)
    np.testing.assert_allclose(found, reference(x), rtol=1e-12, atol=1e-12)


def test_losses_of_float64_have_its_digits():
    logits = np.random.default_rng(0).normal(size=(8, 5))
    labels = np.arange(8) % 5
    chances = np.exp(logits) / np.exp(logits).sum(-1, keepdims=True)
    expected = -np.log(chances[np.arange(8), labels])
    ops = keras.ops
    for given, from_logits in ((logits, True), (chances, False)):
        for found in (
            ops.sparse_categorical_crossentropy(labels, tf.constant(given), from_logits),
            ops.categorical_crossentropy(np.eye(5)[labels], tf.constant(given), from_logits),
        ):
            assert found.dtype is tf.float64
            np.testing.assert_allclose(found, expected, rtol=1e-12)
