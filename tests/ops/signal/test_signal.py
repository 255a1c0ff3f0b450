"""Fourier transforms and what is made of them: values, gradients of two orders, mistakes."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.fft
import scipy.signal
from tests.ops.finite_differences import check_gradients

import tapeflow as tf

RNG = np.random.default_rng(5)


@pytest.fixture(autouse=True)
def _same_numbers_in_any_order():
    global RNG
    RNG = np.random.default_rng(5)


def real(*shape: int) -> np.ndarray:
    return RNG.normal(size=shape)


def cplx(*shape: int) -> np.ndarray:
    return real(*shape) + 1j * real(*shape)


@pytest.mark.parametrize(
    ("op", "expected", "shape"),
    [
        ("fft", np.fft.fft, (2, 5)),
        ("ifft", np.fft.ifft, (2, 5)),
        ("fft2d", np.fft.fft2, (2, 3, 4)),
        ("ifft2d", np.fft.ifft2, (2, 3, 4)),
        ("fft3d", lambda x: np.fft.fftn(x, axes=(-3, -2, -1)), (2, 2, 3, 2)),
        ("ifft3d", lambda x: np.fft.ifftn(x, axes=(-3, -2, -1)), (2, 2, 3, 2)),
    ],
)
def test_complex_transforms(op, expected, shape):
    x, f = cplx(*shape), getattr(tf.signal, op)
    np.testing.assert_allclose(f(tf.constant(x)).numpy(), expected(x))
    assert f(x.astype(np.complex64)).dtype == tf.complex64
    check_gradients(f, x)


LENGTHS = {
    1: [None, [4], [5], [7], [3]],
    2: [None, [4, 4], [2, 5], [3, 7]],
    3: [None, [2, 2, 4], [3, 1, 5]],
}
NAMES = {1: "", 2: "2d", 3: "3d"}
CASES = [(n, lengths) for n in LENGTHS for lengths in LENGTHS[n]]


@pytest.mark.parametrize(("dimensions", "lengths"), CASES)
@pytest.mark.parametrize("size", [4, 5])
def test_real_transforms(dimensions, lengths, size):
    x, axes = real(2, *(2, 3)[: dimensions - 1], size), tuple(range(-dimensions, 0))
    forward = getattr(tf.signal, f"rfft{NAMES[dimensions]}")
    y = forward(tf.constant(x), lengths)
    np.testing.assert_allclose(y.numpy(), np.fft.rfftn(x, lengths, axes), atol=1e-12)
    assert forward(x.astype(np.float32), lengths).dtype == tf.complex64
    check_gradients(lambda x: forward(x, lengths), x)


@pytest.mark.parametrize(("dimensions", "lengths"), CASES)
def test_real_inverses(dimensions, lengths):
    x, axes = cplx(2, *(2, 3)[: dimensions - 1], 3), tuple(range(-dimensions, 0))
    backward = getattr(tf.signal, f"irfft{NAMES[dimensions]}")
    y = backward(tf.constant(x), lengths)
    np.testing.assert_allclose(y.numpy(), np.fft.irfftn(x, lengths, axes), atol=1e-12)
    assert backward(x.astype(np.complex64), lengths).dtype == tf.float32
    check_gradients(lambda x: backward(x, lengths), x)


@pytest.mark.parametrize("norm", [None, "backward", "forward", "ortho"])
@pytest.mark.parametrize(
    ("axes", "lengths"), [(None, None), ([0], None), ([1, 0], None), ([-1], [5]), (None, [2, 6])]
)
def test_transforms_along_any_axes(axes, lengths, norm):
    arguments = {"fft_length": lengths, "axes": axes, "norm": norm}
    where = axes if axes is not None else [-2, -1]
    for op in ("fftn", "ifftn", "irfftn", "rfftn"):
        x = real(3, 4) if op == "rfftn" else cplx(3, 4)
        f = getattr(tf.signal, f"{op}d")
        expected = getattr(np.fft, op)(x, lengths, where, norm=norm)
        np.testing.assert_allclose(f(tf.constant(x), **arguments).numpy(), expected, atol=1e-12)
        check_gradients(lambda x, f=f: f(x, **arguments), x)


def test_empty_signals():
    assert tf.signal.rfft(tf.zeros([0, 4])).shape == [0, 3]
    assert tf.signal.rfft(tf.zeros([0])).shape == [0]
    assert tf.signal.fft(tf.zeros([2, 0], tf.complex64)).shape == [2, 0]


@pytest.mark.parametrize("name", ["fft", "ifft", "fft2d", "ifft2d", "fft3d", "ifft3d"])
def test_real_values_become_complex64_and_complex_ones_stay_as_they_are(name):
    x = RNG.normal(size=(2, 2, 2))
    for value in (x, x.tolist(), x.astype(np.complex64)):
        found = getattr(tf.signal, name)(value)
        assert found.dtype is tf.complex64
        np.testing.assert_array_equal(found, getattr(tf.signal, name)(tf.constant(x, tf.complex64)))
    for value in (x.astype(complex), x.astype(complex).tolist(), tf.constant(x, tf.complex128)):
        assert getattr(tf.signal, name)(value).dtype is tf.complex128


def test_transforms_name_mistakes():
    with pytest.raises(tf.errors.InvalidArgumentError, match="fft: input has dtype float32"):
        tf.signal.fft(tf.constant([1.0, 2.0]))
    with pytest.raises(ValueError, match="rfft: requires"):
        tf.signal.rfft(tf.constant([1, 2]))
    with pytest.raises(ValueError, match=r"rank at least 2.*\[4\]"):
        tf.signal.rfft2d(tf.zeros([4]))
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"shape \[1\]"):
        tf.signal.rfft(tf.zeros([4]), [3, 3])
    with pytest.raises(ValueError, match="normalization"):
        tf.signal.fftnd(tf.zeros([4], tf.complex64), norm="other")
    with pytest.raises(tf.errors.InvalidArgumentError, match="each once"):
        tf.signal.fftnd(tf.zeros([4], tf.complex64), axes=[0, 0])


def test_shifts():
    x = real(3, 4)
    for axes in (None, 0, [1], (0, 1)):
        np.testing.assert_array_equal(tf.signal.fftshift(x, axes).numpy(), np.fft.fftshift(x, axes))
        np.testing.assert_array_equal(
            tf.signal.ifftshift(x, axes).numpy(), np.fft.ifftshift(x, axes)
        )
    check_gradients(tf.signal.fftshift, x)


@pytest.mark.parametrize("size", [2, 5, 6])
@pytest.mark.parametrize("norm", [None, "ortho"])
@pytest.mark.parametrize("kind", [1, 2, 3, 4])
def test_cosine_transforms(kind, norm, size):
    x = real(2, size)
    if kind == 1 and norm:
        with pytest.raises(ValueError, match="type 1"):
            tf.signal.dct(x, type=1, norm=norm)
        return
    expected = scipy.fft.dct(x, kind, norm=norm)
    np.testing.assert_allclose(tf.signal.dct(x, type=kind, norm=norm).numpy(), expected)
    back = tf.signal.idct(expected, type=kind, norm=norm).numpy()
    if norm is None:
        back /= 2 * (size - 1) if kind == 1 else 2 * size
    np.testing.assert_allclose(back, x)
    check_gradients(lambda x: tf.signal.dct(x, type=kind, norm=norm), x)
    check_gradients(lambda x: tf.signal.dct(x, type=kind, n=size + 2, norm=norm), x)
    shorter = tf.signal.dct(x, type=kind, n=2).numpy()
    np.testing.assert_allclose(shorter, scipy.fft.dct(x[:, :2], kind), atol=1e-12)


def test_cosine_transforms_name_mistakes():
    x = tf.zeros([2, 3])
    for error, arguments in [
        (ValueError, {"type": 5}),
        (ValueError, {"norm": "other"}),
        (NotImplementedError, {"axis": 0}),
    ]:
        with pytest.raises(error, match="dct"):
            tf.signal.dct(x, **arguments)
    with pytest.raises(ValueError, match="more than one"):
        tf.signal.dct(tf.zeros([1]), type=1)
    for op in (tf.signal.dct, tf.signal.idct, tf.signal.mfccs_from_log_mel_spectrograms):
        with pytest.raises(TypeError, match="float32 or float64, got int32"):
            op(tf.constant([1, 2]))


def test_a_step_of_frames_is_an_integer():
    with pytest.raises(ValueError, match=r"frame_step.*float32"):
        tf.signal.overlap_and_add(tf.zeros([2, 3]), 1.5)


@pytest.mark.parametrize("pad_end", [False, True])
@pytest.mark.parametrize(("length", "step"), [(3, 2), (2, 3), (4, 1), (9, 2)])
def test_frame(length, step, pad_end):
    x = real(2, 7, 2)

    def f(x):
        return tf.signal.frame(x, length, step, pad_end=pad_end, pad_value=0.5, axis=1)

    starts = range(0, 7, step) if pad_end else range(0, 7 - length + 1, step)
    whole = np.pad(x, ((0, 0), (0, 20), (0, 0)), constant_values=0.5)
    expected = [whole[:, s : s + length] for s in starts]
    expected = np.stack(expected, 1) if expected else np.zeros((2, 0, length, 2))
    np.testing.assert_array_equal(f(x).numpy(), expected)
    if expected.size:
        check_gradients(f, x)


@pytest.mark.parametrize("step", [1, 2, 3, 5])
def test_overlap_and_add(step):
    x = real(2, 4, 3)
    expected = np.zeros((2, 3 * step + 3))
    for i in range(4):
        expected[:, i * step : i * step + 3] += x[:, i]
    np.testing.assert_allclose(tf.signal.overlap_and_add(x, step).numpy(), expected)
    check_gradients(lambda x: tf.signal.overlap_and_add(x, step), x)
    with pytest.raises(ValueError, match="rank at least 2"):
        tf.signal.overlap_and_add(real(3), 1)


@pytest.mark.parametrize(("length", "step", "fft_length"), [(4, 2, None), (6, 3, 8), (5, 2, 4)])
def test_stft_and_back(length, step, fft_length):
    x = real(2, 17)

    def forward(x):
        return tf.signal.stft(x, length, step, fft_length)

    window = tf.signal.hann_window(length, dtype=tf.float64).numpy()
    frames = tf.signal.frame(x, length, step).numpy() * window
    size = fft_length or 2 ** int(np.ceil(np.log2(length)))
    np.testing.assert_allclose(forward(x).numpy(), np.fft.rfft(frames, size), atol=1e-12)
    check_gradients(forward, x)
    check_gradients(lambda x: tf.signal.inverse_stft(forward(x), length, step, fft_length), x)
    if size >= length:
        inverse = tf.signal.inverse_stft_window_fn(step)
        y = tf.signal.inverse_stft(forward(x), length, step, fft_length, window_fn=inverse).numpy()
        inside = slice(length, y.shape[-1] - length)
        np.testing.assert_allclose(y[:, inside], x[:, inside])


@pytest.mark.parametrize("norm", [None, "ortho"])
@pytest.mark.parametrize("window", [None, tf.signal.vorbis_window])
def test_mdct_and_back(norm, window):
    x = real(2, 16)

    def forward(x):
        return tf.signal.mdct(x, 8, window_fn=window, norm=norm)

    def back(y):
        return tf.signal.inverse_mdct(y, window_fn=window, norm=norm)

    np.testing.assert_allclose(back(forward(x)).numpy()[:, 4:12], x[:, 4:12])
    check_gradients(lambda x: back(forward(x)), x)
    with pytest.raises(ValueError, match="multiple of 4"):
        tf.signal.mdct(x, 6)


def test_windows():
    for n in (2, 4, 6):
        for ours, theirs in [
            (tf.signal.hann_window, "hann"),
            (tf.signal.hamming_window, "hamming"),
        ]:
            for periodic in (True, False):
                expected = scipy.signal.get_window(theirs, n, fftbins=periodic)
                found = ours(n, periodic=periodic, dtype=tf.float64)
                np.testing.assert_allclose(found.numpy(), expected, atol=1e-15)
        kaiser = tf.signal.kaiser_window(n, beta=3.0, dtype=tf.float64)
        np.testing.assert_allclose(kaiser.numpy(), scipy.signal.windows.kaiser(n, 3.0))
        derived = tf.signal.kaiser_bessel_derived_window(n, beta=3.0, dtype=tf.float64).numpy()
        expected = scipy.signal.windows.kaiser_bessel_derived(n, beta=3.0)
        np.testing.assert_allclose(derived, expected)
        half = n // 2
        squares = tf.signal.vorbis_window(n, dtype=tf.float64).numpy() ** 2
        np.testing.assert_allclose(squares[:half] + squares[half:], 1.0)
    for op in ("hann", "hamming", "kaiser", "vorbis"):
        f = getattr(tf.signal, f"{op}_window")
        np.testing.assert_allclose(f(1), [1.0], rtol=1e-6)
        assert f(0).shape == [0]
        assert f(4, dtype=tf.float16).dtype == tf.float16
        with pytest.raises(ValueError, match="floating point"):
            f(4, dtype=tf.int32)
        with pytest.raises(tf.errors.InvalidArgumentError, match="negative"):
            f(-1)


def test_mel_weights_cover_the_band():
    weights = tf.signal.linear_to_mel_weight_matrix(10, 65, 8000, 100.0, 3500.0).numpy()
    assert weights.shape == (65, 10)
    assert weights.min() == 0.0 and weights.max() <= 1.0
    hertz = np.linspace(0, 4000, 65)
    assert not weights[(hertz < 100) | (hertz > 3500)].any()
    sums = weights.sum(1)
    inside = (hertz > 350) & (hertz < 2900)
    np.testing.assert_allclose(sums[inside], 1.0, rtol=1e-5)  # neighbours share each frequency
    with pytest.raises(ValueError, match="upper_edge_hertz"):
        tf.signal.linear_to_mel_weight_matrix(upper_edge_hertz=5000.0)
    check_gradients(tf.signal.mfccs_from_log_mel_spectrograms, real(2, 5))


def test_kaiser_windows_have_gradients_by_their_shape() -> None:
    check_gradients(lambda beta: tf.signal.kaiser_window(7, beta, tf.float64), 3.0)
    check_gradients(lambda beta: tf.signal.kaiser_bessel_derived_window(8, beta, tf.float64), 3.0)


def test_kaiser_windows_are_numpys() -> None:
    for n in (0, 1, 2, 7):
        for beta in (0.0, 3.0, 300.0):
            found = tf.signal.kaiser_window(n, beta, tf.float64)
            np.testing.assert_allclose(found, np.kaiser(n, beta), rtol=1e-9, atol=1e-300)


@pytest.mark.parametrize(
    "window",
    [
        tf.signal.hann_window,
        tf.signal.hamming_window,
        tf.signal.kaiser_window,
        tf.signal.kaiser_bessel_derived_window,
        tf.signal.vorbis_window,
    ],
)
def test_the_length_of_a_window_may_be_without_a_value_yet(window) -> None:
    traced = tf.function(lambda n: window(n), autograph=False)
    for n in (1, 2, 7, 8):
        expected = window(n)
        np.testing.assert_allclose(traced(tf.constant(n)), expected, rtol=1e-6, atol=1e-7)
