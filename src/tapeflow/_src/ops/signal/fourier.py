"""The fast Fourier transform and its relatives."""

from __future__ import annotations

from typing import Any

import numpy as np

from tapeflow._src.core import dtypes
from tapeflow._src.core.convert import convert_to_tensor
from tapeflow._src.core.errors import shown
from tapeflow._src.core.export import export
from tapeflow._src.core.sizes.dims import is_dynamic, same_size
from tapeflow._src.core.sizes.extremes import larger, smaller
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.ops.arguments import axis_of, ints
from tapeflow._src.primitives.array import moving, repeating
from tapeflow._src.primitives.indexing import picking
from tapeflow._src.primitives.rules import invalid
from tapeflow._src.primitives.signal import fourier

Axes = tuple[int, ...]

# Complex transforms of the last dimensions.


@export("signal.fft")
def fft(input: Any, name: str | None = None) -> Tensor:
    """The discrete Fourier transform of the last dimension.

    >>> tf.signal.fft(tf.constant([1, 2, 3, 4], tf.complex64)).numpy()
    array([10.+0.j, -2.+2.j, -2.+0.j, -2.-2.j], dtype=complex64)
    """
    return _transform("fft", input, 1, inverse=False)


@export("signal.ifft")
def ifft(input: Any, name: str | None = None) -> Tensor:
    """The inverse of `tf.signal.fft`.

    >>> tf.signal.ifft(tf.constant([10, -2 + 2j, -2, -2 - 2j], tf.complex64)).numpy()
    array([1.+0.j, 2.+0.j, 3.+0.j, 4.+0.j], dtype=complex64)
    """
    return _transform("ifft", input, 1, inverse=True)


@export("signal.fft2d")
def fft2d(input: Any, name: str | None = None) -> Tensor:
    """The discrete Fourier transform of the last two dimensions.

    >>> tf.signal.fft2d(tf.constant([[1, 2], [3, 4]], tf.complex64)).numpy()
    array([[10.+0.j, -2.+0.j],
           [-4.+0.j,  0.+0.j]], dtype=complex64)
    """
    return _transform("fft2d", input, 2, inverse=False)


@export("signal.ifft2d")
def ifft2d(input: Any, name: str | None = None) -> Tensor:
    """The inverse of `tf.signal.fft2d`.

    >>> tf.signal.ifft2d(tf.constant([[10, -2], [-4, 0]], tf.complex64)).numpy()
    array([[1.+0.j, 2.+0.j],
           [3.+0.j, 4.+0.j]], dtype=complex64)
    """
    return _transform("ifft2d", input, 2, inverse=True)


@export("signal.fft3d")
def fft3d(input: Any, name: str | None = None) -> Tensor:
    """The discrete Fourier transform of the last three dimensions.

    >>> tf.signal.fft3d(tf.ones([2, 2, 2], tf.complex64))[0, 0, 0].numpy()
    np.complex64(8+0j)
    """
    return _transform("fft3d", input, 3, inverse=False)


@export("signal.ifft3d")
def ifft3d(input: Any, name: str | None = None) -> Tensor:
    """The inverse of `tf.signal.fft3d`.

    >>> tf.signal.ifft3d(tf.ones([2, 2, 2], tf.complex64))[0, 0, 0].numpy()
    np.complex64(1+0j)
    """
    return _transform("ifft3d", input, 3, inverse=True)


def _transform(op: str, input: Any, dimensions: int, *, inverse: bool) -> Tensor:
    x = convert_to_tensor(input)
    if not x.dtype.is_complex:
        x = convert_to_tensor(input, dtype_hint=dtypes.complex64)
    axes = _last(op, x, dimensions)
    return fourier.fft(x, axes=axes, inverse=inverse, norm="backward")


def _last(op: str, x: Tensor, dimensions: int) -> Axes:
    rank = x._array.ndim
    if rank < dimensions:
        raise ValueError(
            f"{op}: the input must have rank at least {dimensions}, got shape {list(x._array.shape)}"
        )
    return tuple(range(rank - dimensions, rank))


# Real transforms of the last dimensions.


@export("signal.rfft")
def rfft(input_tensor: Any, fft_length: Any = None, name: str | None = None) -> Tensor:
    """The Fourier transform of real numbers, along the last dimension: the half that is not redundant.

    >>> tf.signal.rfft([1.0, 2.0, 3.0, 4.0]).numpy()
    array([10.+0.j, -2.+2.j, -2.+0.j], dtype=complex64)

    Args:
      input_tensor: a tensor of float32 or float64.
      fft_length: a list with the length to cut the signal to, or to lengthen it to with zeros.
      name: accepted for compatibility.
    """
    return _real_transform("rfft", input_tensor, fft_length, 1)


@export("signal.irfft")
def irfft(input_tensor: Any, fft_length: Any = None, name: str | None = None) -> Tensor:
    """The inverse of `tf.signal.rfft`.

    >>> tf.signal.irfft(tf.constant([10, -2 + 2j, -2], tf.complex64)).numpy()
    array([1., 2., 3., 4.], dtype=float32)

    Args:
      input_tensor: one half of a spectrum, complex64 or complex128.
      fft_length: a list with the length of the result. By default it is even: an odd length must be
        told.
      name: accepted for compatibility.
    """
    return _real_inverse("irfft", input_tensor, fft_length, 1)


@export("signal.rfft2d")
def rfft2d(input_tensor: Any, fft_length: Any = None, name: str | None = None) -> Tensor:
    """The Fourier transform of real numbers, along the last two dimensions.

    >>> tf.signal.rfft2d([[1.0, 2.0], [3.0, 4.0]]).numpy()
    array([[10.+0.j, -2.+0.j],
           [-4.+0.j,  0.+0.j]], dtype=complex64)

    Args:
      input_tensor: a tensor of float32 or float64.
      fft_length: the two lengths to cut the signal to, or to lengthen it to with zeros.
      name: accepted for compatibility.
    """
    return _real_transform("rfft2d", input_tensor, fft_length, 2)


@export("signal.irfft2d")
def irfft2d(input_tensor: Any, fft_length: Any = None, name: str | None = None) -> Tensor:
    """The inverse of `tf.signal.rfft2d`.

    >>> tf.signal.irfft2d(tf.constant([[10, -2], [-4, 0]], tf.complex64)).numpy()
    array([[1., 2.],
           [3., 4.]], dtype=float32)

    Args:
      input_tensor: one half of a spectrum, complex64 or complex128.
      fft_length: the two lengths of the result.
      name: accepted for compatibility.
    """
    return _real_inverse("irfft2d", input_tensor, fft_length, 2)


@export("signal.rfft3d")
def rfft3d(input_tensor: Any, fft_length: Any = None, name: str | None = None) -> Tensor:
    """The Fourier transform of real numbers, along the last three dimensions.

    >>> tf.signal.rfft3d(tf.ones([2, 2, 4])).shape
    TensorShape([2, 2, 3])

    Args:
      input_tensor: a tensor of float32 or float64.
      fft_length: the three lengths to cut the signal to, or to lengthen it to with zeros.
      name: accepted for compatibility.
    """
    return _real_transform("rfft3d", input_tensor, fft_length, 3)


@export("signal.irfft3d")
def irfft3d(input_tensor: Any, fft_length: Any = None, name: str | None = None) -> Tensor:
    """The inverse of `tf.signal.rfft3d`.

    >>> tf.signal.irfft3d(tf.signal.rfft3d(tf.ones([2, 2, 4]))).shape
    TensorShape([2, 2, 4])

    Args:
      input_tensor: one half of a spectrum, complex64 or complex128.
      fft_length: the three lengths of the result.
      name: accepted for compatibility.
    """
    return _real_inverse("irfft3d", input_tensor, fft_length, 3)


def _real_transform(op: str, input: Any, fft_length: Any, dimensions: int) -> Tensor:
    x = convert_to_tensor(input, dtype_hint=dtypes.float32)
    if not x.dtype.is_floating:
        raise ValueError(f"{op}: requires tf.float32 or tf.float64 inputs, got {x.dtype.name}.")
    axes = _last(op, x, dimensions)
    x = _cut_or_padded(x, axes, _lengths(op, fft_length, axes))
    return fourier.rfft(x, axes=axes, norm="backward")


def _real_inverse(op: str, input: Any, fft_length: Any, dimensions: int) -> Tensor:
    x = convert_to_tensor(input, dtype_hint=dtypes.complex64)
    axes = _last(op, x, dimensions)
    return _to_real(op, x, axes, _lengths(op, fft_length, axes), "backward")


def _to_real(op: str, x: Tensor, axes: Axes, lengths: Axes | None, norm: str) -> Tensor:
    if lengths is None:
        length = larger(2 * (x._array.shape[axes[-1]] - 1), 0)
    else:
        length = lengths[-1]
        x = _cut_or_padded(x, axes, (*lengths[:-1], length // 2 + 1))
    return fourier.irfft(x, axes=axes, length=length, norm=norm)


def _lengths(op: str, fft_length: Any, axes: Axes) -> Axes | None:
    if fft_length is None:
        return None
    lengths = ints(op, "fft_length", fft_length)
    if len(lengths) != len(axes):
        raise invalid(
            f"{op}: fft_length must have shape [{len(axes)}], a length for each axis, got "
            f"{list(lengths)}"
        )
    if any(n < 0 for n in lengths):
        raise invalid(f"{op}: fft_length must not be negative, got {list(lengths)}")
    return lengths


def _cut_or_padded(x: Tensor, axes: Axes, lengths: Axes | None) -> Tensor:
    """The first elements along each axis, followed by zeros if there are too few."""
    if lengths is None:
        return x
    wanted = dict(zip(axes, lengths, strict=True))
    shape = x._array.shape
    if not all(same_size(n, shape[a]) for a, n in wanted.items()):
        index = tuple(slice(0, smaller(wanted.get(i, d), d)) for i, d in enumerate(shape))
        x = picking.getitem(x, index=index)
    paddings = tuple((0, larger(wanted.get(i, d) - d, 0)) for i, d in enumerate(shape))
    if any(is_dynamic(after) or after for _, after in paddings):
        x = moving.pad(x, Tensor(np.zeros((), x._array.dtype)), paddings=paddings)
    return x


# Along any axes.


@export("signal.fftnd")
def fftnd(
    input_tensor: Any,
    fft_length: Any = None,
    axes: Any = None,
    norm: str | None = None,
    name: str | None = None,
) -> Tensor:
    """The discrete Fourier transform along chosen axes.

    >>> tf.signal.fftnd(tf.ones([2, 3], tf.complex64), axes=[0]).numpy().real
    array([[2., 2., 2.],
           [0., 0., 0.]], dtype=float32)

    Args:
      input_tensor: a tensor of complex64 or complex128.
      fft_length: for each axis, the length to cut the signal to or to lengthen it to with zeros.
      axes: which axes; by default the last ones, one for each length, or all of them.
      norm: which way carries the factor 1/n: `"backward"` (as None), `"forward"`, or `"ortho"` for
        its root both ways.
      name: accepted for compatibility.
    """
    return _transform_nd("fftnd", input_tensor, fft_length, axes, norm, inverse=False)


@export("signal.ifftnd")
def ifftnd(
    input_tensor: Any,
    fft_length: Any = None,
    axes: Any = None,
    norm: str | None = None,
    name: str | None = None,
) -> Tensor:
    """The inverse of `tf.signal.fftnd`, with the same arguments.

    >>> tf.signal.ifftnd(tf.ones([2, 3], tf.complex64), axes=[0]).numpy().real
    array([[1., 1., 1.],
           [0., 0., 0.]], dtype=float32)
    """
    return _transform_nd("ifftnd", input_tensor, fft_length, axes, norm, inverse=True)


@export("signal.rfftnd")
def rfftnd(
    input_tensor: Any,
    fft_length: Any = None,
    axes: Any = None,
    norm: str | None = None,
    name: str | None = None,
) -> Tensor:
    """The Fourier transform of real numbers along chosen axes; the last one is halved.

    >>> tf.signal.rfftnd(tf.ones([2, 4])).shape
    TensorShape([2, 3])

    Args:
      input_tensor: a tensor of float32 or float64.
      fft_length: for each axis, the length to cut the signal to or to lengthen it to with zeros.
      axes: which axes; by default the last ones, one for each length, or all of them.
      norm: as for `tf.signal.fftnd`.
      name: accepted for compatibility.
    """
    x = convert_to_tensor(input_tensor, dtype_hint=dtypes.float32)
    if not x.dtype.is_floating:
        raise ValueError(f"rfftnd: requires tf.float32 or tf.float64 inputs, got {x.dtype.name}.")
    which, lengths = _axes_and_lengths("rfftnd", x, axes, fft_length)
    x = _cut_or_padded(x, which, lengths)
    return fourier.rfft(x, axes=which, norm=_norm("rfftnd", norm))


@export("signal.irfftnd")
def irfftnd(
    input_tensor: Any,
    fft_length: Any = None,
    axes: Any = None,
    norm: str | None = None,
    name: str | None = None,
) -> Tensor:
    """The inverse of `tf.signal.rfftnd`.

    >>> tf.signal.irfftnd(tf.signal.rfftnd(tf.ones([2, 3])), fft_length=[2, 3]).shape
    TensorShape([2, 3])

    Args:
      input_tensor: one half of a spectrum, complex64 or complex128.
      fft_length: the length of the result along each axis.
      axes: which axes; by default the last ones, one for each length, or all of them.
      norm: as for `tf.signal.fftnd`.
      name: accepted for compatibility.
    """
    x = convert_to_tensor(input_tensor, dtype_hint=dtypes.complex64)
    which, lengths = _axes_and_lengths("irfftnd", x, axes, fft_length)
    return _to_real("irfftnd", x, which, lengths, _norm("irfftnd", norm))


def _transform_nd(
    op: str, input: Any, fft_length: Any, axes: Any, norm: str | None, *, inverse: bool
) -> Tensor:
    x = convert_to_tensor(input, dtype_hint=dtypes.complex64)
    which, lengths = _axes_and_lengths(op, x, axes, fft_length)
    x = _cut_or_padded(x, which, lengths)
    return fourier.fft(x, axes=which, inverse=inverse, norm=_norm(op, norm))


def _norm(op: str, norm: str | None) -> str:
    if norm not in (None, "backward", "forward", "ortho"):
        raise ValueError(
            f"{op}: Unknown normalization {shown(norm)}. It may be None, 'backward', 'forward' or 'ortho'."
        )
    return norm or "backward"


def _axes_and_lengths(op: str, x: Tensor, axes: Any, fft_length: Any) -> tuple[Axes, Axes | None]:
    rank = x._array.ndim
    if axes is None:
        count = rank if fft_length is None else len(ints(op, "fft_length", fft_length))
        which = _last(op, x, count)
    else:
        which = tuple(axis_of(op, a, rank) for a in ints(op, "axes", axes, scalar=True))
    if not which or len(set(which)) != len(which):
        raise invalid(f"{op}: axes must name some axes of the input, each once, got {axes}")
    return which, _lengths(op, fft_length, which)


# The order of frequencies.


@export("signal.fftshift")
def fftshift(x: Any, axes: Any = None, name: str | None = None) -> Tensor:
    """Moves the frequency zero from the front to the middle.

    >>> tf.signal.fftshift([0, 1, 2, -2, -1]).numpy()
    array([-2, -1,  0,  1,  2], dtype=int32)

    Args:
      x: a tensor of any dtype.
      axes: along which axes; all, if not given.
      name: accepted for compatibility.
    """
    return _rolled("fftshift", x, axes, 1)


@export("signal.ifftshift")
def ifftshift(x: Any, axes: Any = None, name: str | None = None) -> Tensor:
    """The inverse of `tf.signal.fftshift`.

    >>> tf.signal.ifftshift([-2, -1, 0, 1, 2]).numpy()
    array([ 0,  1,  2, -2, -1], dtype=int32)

    Args:
      x: a tensor of any dtype.
      axes: along which axes; all, if not given.
      name: accepted for compatibility.
    """
    return _rolled("ifftshift", x, axes, -1)


def _rolled(op: str, x: Any, axes: Any, way: int) -> Tensor:
    x = convert_to_tensor(x)
    shape = x._array.shape
    if axes is None:
        which: Axes = tuple(range(len(shape)))
    else:
        which = tuple(axis_of(op, a, len(shape)) for a in ints(op, "axes", axes, scalar=True))
    shift = tuple(way * (shape[a] // 2) for a in which)
    return repeating.roll(x, shift=shift, axis=which)
