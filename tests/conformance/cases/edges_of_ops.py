"""Ops at their edges, in eager mode and in functions: batch dimensions, empty segments, sizes that are tensors."""

import io
import struct
import zlib

import ml_dtypes
import numpy as np
from case_helpers import derivatives, everywhere

_rng = np.random.default_rng(4)
ROWS = _rng.normal(size=(2, 3, 2)).astype(np.float32)
MATRIX = _rng.normal(size=(2, 3)).astype(np.float32)
IDS = np.array([0, 4, 0, -1, 3, -1, 4, 6, 6, 3])
DATA = np.arange(1.0, 21.0).reshape(10, 2)
NEAR_ZERO = np.array([0.0, 1e-30, -1e-30, 1e-8, -1e-5, 1e-3, 0.1, -0.5, 2.0])
DEEP = _rng.integers(0, 65536, (3, 4, 4)).astype(np.uint16)


def _everywhere(f, *inputs):
    return lambda tf: everywhere(tf, lambda *xs: f(tf, *xs), *inputs)


def _differentiated(f, *inputs):
    return lambda tf: everywhere(tf, derivatives(tf, lambda *xs: f(tf, *xs)), *inputs)


def _first(f, *inputs):
    """The value and its first gradients."""

    def case(tf):
        def both(*xs):
            values = derivatives(tf, lambda *xs: f(tf, *xs))(*xs)
            return values[: 1 + len(xs)]

        return everywhere(tf, both, *inputs)

    return case


# Gathering.


def _gather(indices, **arguments):
    def f(tf, x):
        y = tf.gather(x, indices, **arguments)
        return y if y.dtype.is_integer else tf.identity(y)

    return _first(f, ROWS)


def _gathered(indices, axis):
    """Without gradients, which TensorFlow does not have where `batch_dims` is None."""
    return _everywhere(lambda tf, x: tf.gather(x, indices, axis=axis, batch_dims=None), ROWS)


# Segments.


def _segments(name, ids=IDS, data=DATA):
    return _first(
        lambda tf, x: getattr(tf.math, f"unsorted_segment_{name}")(x, ids, 8),
        data.reshape(*ids.shape, 2),
    )


def _segment_jacobian(name, dtype):
    def case(tf):
        def f(x):
            return getattr(tf.math, f"unsorted_segment_{name}")(x, IDS[:4], 6)

        return tf.test.compute_gradient(f, [DATA[:4].astype(dtype)], delta=1.0)

    return case


# Clipping.


def _clipped(*arrays, use_norm=2.0):
    def f(tf, *xs):
        clipped, norm = tf.clip_by_global_norm(list(xs), 0.5, use_norm=tf.constant(use_norm))
        return [*clipped, norm]

    return _everywhere(f, *arrays)


def _of(dtype):
    return MATRIX[0].astype(dtype)


# Ranges.


def _range(*numbers, dtype):
    return lambda tf: tf.range(*numbers, dtype=dtype)


def _range_of_tensors(*numbers, dtype):
    return _everywhere(lambda tf, *xs: tf.range(*xs), *(np.array(x, dtype) for x in numbers))


RANGES = [(0.0, 0.3, 0.1), (0.0, 1.0, 0.1), (0.0, 1.1, 0.1), (0.1, 1.1, 0.1), (-1.0, 1.0, 0.1)]
RANGES += [(1.0, 0.0, -0.1), (0.0, 1.0, 1 / 7), (0.3, 1.2, 0.3)]


def _within(dtype, low, high):
    """Never the values: only that they stay below the upper bound."""

    def case(tf):
        def drawn():
            return [
                tf.random.uniform([4000], low, high, dtype=dtype, seed=1),
                tf.random.stateless_uniform([4000], [1, 2], low, high, dtype=dtype),
                tf.random.stateless_uniform(
                    [4000], [1, 2], tf.constant(low, dtype), tf.constant(high, dtype), dtype=dtype
                ),
            ]

        draws = [x for each in everywhere(tf, drawn) for x in each]
        return [bool(tf.reduce_all((x >= low) & (x < high))) for x in draws]

    return case


# PNG files with 16 bits.


def _chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def _png(pixels, transparent=b"", interlaced=False):
    """The contents of a file, without filters, written by hand."""
    file = io.BytesIO()
    rows = pixels.astype(pixels.dtype.newbyteorder(">"))
    height, width, channels = rows.shape
    steps = ((0, 0, 8, 8), (0, 4, 8, 8), (4, 0, 8, 4), (0, 2, 4, 4), (2, 0, 4, 2), (0, 1, 2, 2))
    passes = [rows[y::dy, x::dx] for y, x, dy, dx in (*steps, (1, 0, 2, 1))]
    parts = passes if interlaced else [rows]
    data = b"".join(b"\0" + row.tobytes() for part in parts if part.size for row in part)
    colours = {1: 0, 2: 4, 3: 2, 4: 6}[channels]
    depth = 8 * rows.dtype.itemsize
    header = struct.pack(">IIBBBBB", width, height, depth, colours, 0, 0, interlaced)
    file.write(b"\x89PNG\r\n\x1a\n" + _chunk(b"IHDR", header))
    if transparent:
        file.write(_chunk(b"tRNS", transparent))
    file.write(_chunk(b"IDAT", zlib.compress(data)) + _chunk(b"IEND", b""))
    return file.getvalue()


def _decoded(own, channels, dtype, **options):
    contents = _png(np.ascontiguousarray(DEEP[:, :, :own]), **options)
    return lambda tf: tf.io.decode_png(contents, channels=channels, dtype=dtype)


def _transparent(own):
    return struct.pack(f">{own}H", *DEEP[1, 2, :own].tolist())


def _round_trip(tf):
    return [
        tf.io.decode_png(tf.io.encode_png(DEEP[:, :, :n]), dtype=tf.uint16) for n in (1, 2, 3, 4)
    ]


CASES = {
    **{
        f"gather_batch_{batch}_axis_{axis}": _gather(
            np.array([[0, 1], [1, 0]]), axis=axis, batch_dims=batch
        )
        for axis, batch in (
            *((None, 1), (None, -1), (None, -2), (None, 0), (None, 2), (None, None)),
            *((1, 1), (2, 1), (2, -1), (-1, -1), (-2, -2), (0, None)),
            *((0, 1), (0, -1), (0, 7), (1, 2), (1, -3), (3, 0), (-3, -1)),
        )
    },
    "gather_vector_batch_-1": _gather(np.array([0, 1]), batch_dims=-1),
    "gather_batch_none": _gathered(np.array([[0, 1], [1, 0]]), 1),
    "gather_batch_none_last": _gathered(np.array([[0, 1], [1, 0]]), -1),
    "gather_scalar_batch_none": _gathered(np.array(1), 1),
    "gather_batch_as_tensor": lambda tf: tf.gather(ROWS, [[0], [1]], batch_dims=np.int64(1)),
    "gather_nd_batch_none": lambda tf: tf.gather_nd(ROWS, [[0]], batch_dims=None),
    "gather_nd_batch_beyond": lambda tf: tf.gather_nd(ROWS, [[0]], batch_dims=2),
    "gather_nd_batch_negative": lambda tf: tf.gather_nd(ROWS, [[0]], batch_dims=-1),
    # segments
    **{f"segment_{n}": _segments(n) for n in ("sum", "mean", "max", "min", "prod", "sqrt_n")},
    **{
        f"segment_{n}_of_pairs": _segments(n, IDS.reshape(5, 2))
        for n in ("sum", "mean", "max", "min", "prod", "sqrt_n")
    },
    **{
        f"segment_{n}_jacobian_{dtype}": _segment_jacobian(n, dtype)
        for n in ("sum", "mean", "max", "min", "sqrt_n")
        for dtype in ("float64", "float16")
    },
    "segment_sum_complex": _segments("sum", data=DATA * (1 - 2j)),
    "segment_prod_complex": _first(
        lambda tf, x: tf.math.unsorted_segment_prod(x, [0, 0, 1], 2), np.array([1 + 1j, 2.0, 3j])
    ),
    # Bessel functions
    **{
        f"{name}_near_zero": _first(lambda tf, x, name=name: getattr(tf.math, name)(x), NEAR_ZERO)
        for name in ("bessel_i0", "bessel_i0e", "bessel_i1e")
    },
    "bessel_i0_second": _differentiated(lambda tf, x: tf.math.bessel_i0(x), NEAR_ZERO[3:]),
    "bessel_i0e_second": _differentiated(lambda tf, x: tf.math.bessel_i0e(x), NEAR_ZERO[5:]),
    "bessel_i1_second": _differentiated(lambda tf, x: tf.math.bessel_i1(x), NEAR_ZERO[6:]),
    "bessel_i1e_second": _differentiated(lambda tf, x: tf.math.bessel_i1e(x), NEAR_ZERO[6:]),
    "bessel_i0e_jacobian": lambda tf: tf.test.compute_gradient(tf.math.bessel_i0e, [NEAR_ZERO[6:]]),
    # clipping
    "clip_32_and_64": _clipped(_of(np.float32), _of(np.float64)),
    "clip_16_and_32": _clipped(_of(np.float16), _of(np.float32)),
    "clip_bfloat16": _clipped(_of(ml_dtypes.bfloat16), _of(np.float32)),
    "clip_complex": _clipped(_of(np.float32), _of(np.complex128)),
    "clip_infinite": _clipped(_of(np.float16), _of(np.float32), use_norm=float("inf")),
    "clip_two_dtypes_alone": lambda tf: tf.clip_by_global_norm(
        [_of(np.float32), _of(np.float64)], 0.5
    ),
    "clip_by_norm_double": _everywhere(lambda tf, x: tf.clip_by_norm(x, 0.1), _of(np.float64)),
    # ranges
    **{
        f"range_{dtype}_{'_'.join(f'{x:.3g}' for x in numbers)}": _range(*numbers, dtype=dtype)
        for dtype in ("float16", "bfloat16", "float32", "float64")
        for numbers in RANGES
    },
    **{
        f"range_of_tensors_{'_'.join(f'{x:.3g}' for x in numbers)}": _range_of_tensors(
            *numbers, dtype=np.float32
        )
        for numbers in RANGES
    },
    "range_from_numpy": lambda tf: tf.range(np.float64(0), np.float64(0.3), np.float64(0.1)),
    # uniform numbers
    **{
        f"uniform_{dtype}_{low}_{high}": _within(dtype, low, high)
        for dtype in ("float16", "bfloat16", "float32", "float64")
        for low, high in ((0, 1), (1, 2), (-2, 8), (-3, -2))
    },
    # repeats and masks that are tensors
    "repeat_rows": _first(
        lambda tf, x: tf.repeat(x, tf.cast(tf.abs(tf.round(x[:, 0])), tf.int32) + 1, axis=0), MATRIX
    ),
    "repeat_by_vector": _everywhere(
        lambda tf, x, n: tf.repeat(x, n, axis=1), MATRIX, np.array([2, 0, 1])
    ),
    "repeat_by_scalar": _everywhere(lambda tf, x, n: tf.repeat(x, n, axis=0), MATRIX, np.array(2)),
    "repeat_flat": _everywhere(
        lambda tf, x, n: tf.repeat(x, n), MATRIX, np.array([1, 0, 2, 0, 0, 1])
    ),
    "repeat_list_of_tensors": _everywhere(
        lambda tf, x, n: tf.repeat(x, [n, n + 1], axis=0), MATRIX, np.array(1)
    ),
    "repeat_negative": _everywhere(
        lambda tf, x, n: tf.repeat(x, n, axis=0), MATRIX, np.array([-1, 2])
    ),
    "repeat_negative_scalar": lambda tf: tf.repeat(MATRIX, -1, axis=0),
    "repeat_scalar_along_axis": lambda tf: tf.repeat(3.0, 2, axis=0),
    "repeat_wrong_length": lambda tf: tf.repeat(MATRIX, [1, 2, 3], axis=0),
    "mask_rows": _first(lambda tf, x: tf.boolean_mask(x, x[:, 0] > 0), MATRIX),
    "mask_elements": _first(lambda tf, x: tf.boolean_mask(x, x > 0), MATRIX),
    "mask_along_axis": _everywhere(
        lambda tf, x, m: tf.boolean_mask(x, m, axis=1), MATRIX, np.array([True, False, True])
    ),
    "mask_nothing": _everywhere(
        lambda tf, x, m: tf.boolean_mask(x, m), MATRIX, np.array([False, False])
    ),
    # PNG
    **{
        f"png_{own}_as_{channels}_{dtype}": _decoded(own, channels, dtype)
        for own in (1, 2, 3, 4)
        for channels in (0, 1, 3, 4)
        for dtype in ("uint8", "uint16")
    },
    "png_interlaced": _decoded(3, 0, "uint16", interlaced=True),
    "png_interlaced_with_alpha": _decoded(4, 0, "uint16", interlaced=True),
    "png_transparent_colour": _decoded(3, 4, "uint16", transparent=_transparent(3)),
    "png_transparent_grey": _decoded(1, 4, "uint16", transparent=_transparent(1)),
    "png_transparent_dropped": _decoded(3, 0, "uint16", transparent=_transparent(3)),
    "png_round_trip": _round_trip,
    "png_as_floats": lambda tf: tf.io.decode_image(
        _png(np.ascontiguousarray(DEEP[:, :, :3])), dtype=tf.float32
    ),
}
