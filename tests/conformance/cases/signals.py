"""`tf.signal`: transforms, frames and windows, with gradients of two orders."""

import numpy as np
from case_helpers import second_gradients, value_and_gradients as grads

X = np.array([1.0, -2.0, 3.0, 0.5, 2.5, -1.5])
M = np.array([[1.0, 2.0, 3.0, -1.0], [3.0, 5.0, 1.0, 0.5]])
Z = M + 1j * np.array([[0.5, -1.0, 2.0, 0.3], [0.1, 0.2, -0.7, 1.0]])
CUBE = np.sin(np.arange(24.0)).reshape(2, 3, 4)
W = np.linspace(0.5, 2.0, 64)


def _weighted(tf, y):
    if y.dtype.is_complex:
        y = tf.math.real(y) + 2.0 * tf.math.imag(y)
    weights = tf.cast(tf.reshape(W[: int(np.prod(y.shape))], y.shape), y.dtype)
    return tf.reduce_sum(y * y * weights)  # squared, so that there is a second derivative


TRANSFORMS = {
    "fft": (lambda tf, x: tf.signal.fft(x), Z),
    "ifft": (lambda tf, x: tf.signal.ifft(x), Z),
    "fft2d": (lambda tf, x: tf.signal.fft2d(x), Z),
    "ifft2d": (lambda tf, x: tf.signal.ifft2d(x), Z),
    "fft3d": (lambda tf, x: tf.signal.fft3d(x), CUBE + 1j * CUBE[::-1]),
    "ifft3d": (lambda tf, x: tf.signal.ifft3d(x), CUBE + 1j * CUBE[::-1]),
    "rfft": (lambda tf, x: tf.signal.rfft(x), M),
    "rfft_longer": (lambda tf, x: tf.signal.rfft(x, [7]), M),
    "rfft_shorter": (lambda tf, x: tf.signal.rfft(x, [3]), M),
    "rfft2d": (lambda tf, x: tf.signal.rfft2d(x), M),
    "rfft2d_lengths": (lambda tf, x: tf.signal.rfft2d(x, [3, 3]), M),
    "rfft3d": (lambda tf, x: tf.signal.rfft3d(x), CUBE),
    "irfft": (lambda tf, x: tf.signal.irfft(x), Z),
    "irfft_odd": (lambda tf, x: tf.signal.irfft(x, [7]), Z),
    "irfft_longer": (lambda tf, x: tf.signal.irfft(x, [9]), Z),
    "irfft_shorter": (lambda tf, x: tf.signal.irfft(x, [3]), Z),
    "irfft2d": (lambda tf, x: tf.signal.irfft2d(x), Z),
    "irfft2d_lengths": (lambda tf, x: tf.signal.irfft2d(x, [3, 5]), Z),
    "irfft3d": (lambda tf, x: tf.signal.irfft3d(x), CUBE[..., :3] + 1j * CUBE[::-1, :, 1:]),
    **{
        f"{op}_{kind}_{norm}": (
            lambda tf, x, op=op, kind=kind, norm=norm: getattr(tf.signal, op)(
                x, type=kind, norm=norm
            ),
            M,
        )
        for op in ("dct", "idct")
        for kind in (1, 2, 3, 4)
        for norm in (None, "ortho")
        if (kind, norm) != (1, "ortho")
    },
    "dct_longer": (lambda tf, x: tf.signal.dct(x, n=6), M),
    "dct_shorter": (lambda tf, x: tf.signal.dct(x, n=3), M),
    "frame": (lambda tf, x: tf.signal.frame(x, 3, 2), X),
    "frame_padded": (lambda tf, x: tf.signal.frame(x, 3, 2, pad_end=True, pad_value=9.0), X),
    "frame_axis": (lambda tf, x: tf.signal.frame(x, 2, 1, axis=1), CUBE),
    "overlap_and_add": (lambda tf, x: tf.signal.overlap_and_add(x, 2), M),
    "overlap_and_add_gaps": (lambda tf, x: tf.signal.overlap_and_add(x, 5), M),
    "stft": (lambda tf, x: tf.signal.stft(x, 4, 2), X),
    "stft_padded": (lambda tf, x: tf.signal.stft(x, 3, 2, fft_length=8, pad_end=True), X),
    "stft_without_window": (lambda tf, x: tf.signal.stft(x, 3, 1, window_fn=None), X),
    "inverse_stft": (
        lambda tf, x: tf.signal.inverse_stft(tf.signal.stft(x, 4, 2), 4, 2),
        X,
    ),
    "inverse_stft_window_fn": (
        lambda tf, x: tf.signal.inverse_stft(
            tf.signal.stft(x, 4, 1), 4, 1, window_fn=tf.signal.inverse_stft_window_fn(1)
        ),
        X,
    ),
    "mdct": (lambda tf, x: tf.signal.mdct(x, 4), X),
    "mdct_ortho": (lambda tf, x: tf.signal.mdct(x, 4, norm="ortho", pad_end=True), X),
    "mdct_without_window": (lambda tf, x: tf.signal.mdct(x, 4, window_fn=None), X),
    "inverse_mdct": (lambda tf, x: tf.signal.inverse_mdct(x), M),
    "inverse_mdct_ortho": (lambda tf, x: tf.signal.inverse_mdct(x, norm="ortho"), M),
    "mfccs": (lambda tf, x: tf.signal.mfccs_from_log_mel_spectrograms(x), M),
    "fftshift": (lambda tf, x: tf.signal.fftshift(x), M),
    "ifftshift": (lambda tf, x: tf.signal.ifftshift(x, axes=1), M),
}
# TensorFlow has no gradient of these, or fails in it.
NO_GRADIENT = {
    "rfft3d",
    "irfft3d",
    "rfft_shorter",
    "rfft2d_lengths",
    "irfft_shorter",
    "irfft2d_lengths",
}


def _value(f):
    return lambda tf: f(tf)


CASES = {
    **{
        f"{name}_value": (lambda tf, f=f, x=x: f(tf, tf.constant(x)))
        for name, (f, x) in TRANSFORMS.items()
    },
    **{
        f"{name}_gradient": (lambda tf, f=f, x=x: grads(tf, lambda t: _weighted(tf, f(tf, t)), x))
        for name, (f, x) in TRANSFORMS.items()
        if name not in NO_GRADIENT
    },
    **{
        f"{name}_second_gradient": (
            lambda tf, f=f, x=x: second_gradients(tf, lambda t: _weighted(tf, f(tf, t)), x)
        )
        for name, (f, x) in TRANSFORMS.items()
        if name not in NO_GRADIENT
    },
    "rfft_of_float32": _value(lambda tf: tf.signal.rfft([1.0, 2.0, 3.0])),
    "irfft_of_complex64": _value(
        lambda tf: tf.signal.irfft(tf.constant([1 + 0j, 2j, 3 + 0j], tf.complex64))
    ),
    "rfft_empty": _value(lambda tf: tf.signal.rfft(tf.zeros([0, 4]))),
    "rfft_no_samples": _value(lambda tf: tf.signal.rfft(tf.zeros([0]))),
    "frame_of_integers": _value(lambda tf: tf.signal.frame([1, 2, 3, 4], 2, 1)),
    "frame_too_short": _value(lambda tf: tf.signal.frame([1.0, 2.0], 3, 1)),
    "frame_too_short_padded": _value(lambda tf: tf.signal.frame([1.0, 2.0], 3, 1, pad_end=True)),
    "overlap_and_add_integers": _value(lambda tf: tf.signal.overlap_and_add([[1, 2], [3, 4]], 1)),
    **{
        f"{op}_window_{n}": _value(lambda tf, op=op, n=n: getattr(tf.signal, f"{op}_window")(n))
        for op in ("hann", "hamming", "kaiser", "kaiser_bessel_derived", "vorbis")
        for n in (1, 2, 5, 6)
    },
    **{
        f"{op}_window_symmetric_{n}": _value(
            lambda tf, op=op, n=n: getattr(tf.signal, f"{op}_window")(
                n, periodic=False, dtype=tf.float64
            )
        )
        for op in ("hann", "hamming")
        for n in (1, 5, 6)
    },
    "kaiser_window_beta": _value(lambda tf: tf.signal.kaiser_window(7, beta=3.0)),
    "inverse_window": _value(lambda tf: tf.signal.inverse_stft_window_fn(2)(5, tf.float32)),
    "mel_weights": _value(
        lambda tf: tf.signal.linear_to_mel_weight_matrix(3, 9, 8000, 100.0, 3000.0)
    ),
    "fftshift_of_integers": _value(lambda tf: tf.signal.fftshift([[1, 2, 3], [4, 5, 6]])),
    "rfft_of_python_integers": _value(lambda tf: tf.signal.rfft([1, 2])),
    "rfft_of_numpy_is_single": _value(lambda tf: tf.signal.rfft(X)),
    "irfft_of_numpy_is_single": _value(lambda tf: tf.signal.irfft(Z)),
    "dct_of_numpy_is_double": _value(lambda tf: tf.signal.dct(X)),
    "stft_of_numpy_is_double": _value(lambda tf: tf.signal.stft(X, 4, 2)),
    # Mistakes.
    "fft_of_real": _value(lambda tf: tf.signal.fft(tf.constant([1.0, 2.0]))),
    "rfft_of_integers": _value(lambda tf: tf.signal.rfft(tf.constant([1, 2]))),
    "rfft_of_scalar": _value(lambda tf: tf.signal.rfft(1.0)),
    "rfft2d_of_vector": _value(lambda tf: tf.signal.rfft2d([1.0, 2.0])),
    "rfft_two_lengths": _value(lambda tf: tf.signal.rfft([1.0, 2.0], [2, 2])),
    "dct_type_5": _value(lambda tf: tf.signal.dct([1.0, 2.0], type=5)),
    "dct_unknown_norm": _value(lambda tf: tf.signal.dct([1.0, 2.0], norm="other")),
    "dct_axis_0": _value(lambda tf: tf.signal.dct([[1.0, 2.0]], axis=0)),
    "dct_1_ortho": _value(lambda tf: tf.signal.dct([1.0, 2.0], type=1, norm="ortho")),
    "dct_1_of_one": _value(lambda tf: tf.signal.dct(tf.constant([1.0]), type=1)),
    "overlap_and_add_vector": _value(lambda tf: tf.signal.overlap_and_add([1.0, 2.0], 1)),
    "mdct_odd_length": _value(lambda tf: tf.signal.mdct(tf.range(8.0), 6)),
    "hann_window_of_integers": _value(lambda tf: tf.signal.hann_window(4, dtype=tf.int32)),
}
