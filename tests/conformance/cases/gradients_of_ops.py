"""Values and gradients of the ops at ordinary points: shapes, broadcasting, what is connected."""

import numpy as np
from case_helpers import value_and_gradients as grads

M = [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]
SQUARE = [[2.0, 1.0], [0.5, 3.0]]
V = [1.0, -2.0, 3.0]
W = np.arange(1.0, 13.0, dtype=np.float32)  # weights that tell positions apart


def _weighted(tf, f):
    """Gives every element of the result its own weight, so that a misplaced gradient shows."""

    def g(*xs):
        y = f(*xs)
        return y * tf.reshape(W[: int(np.prod(y.shape))], y.shape)

    return g


def _of(f, *inputs):
    return lambda tf: grads(tf, _weighted(tf, lambda *xs: f(tf, *xs)), *inputs)


CASES = {
    "add_broadcast_row": _of(lambda tf, x, y: x + y, M, V),
    "add_broadcast_column": _of(lambda tf, x, y: x + y, M, [[1.0], [2.0]]),
    "subtract_scalar": _of(lambda tf, x, y: x - y, M, 2.0),
    "multiply_outer": _of(lambda tf, x, y: x * y, [[1.0], [2.0]], V),
    "divide_broadcast": _of(lambda tf, x, y: x / y, M, V),
    "reflected_division": _of(lambda tf, x: 1.0 / x, V),
    "reflected_subtraction": _of(lambda tf, x: 1.0 - x, V),
    "negative": _of(lambda tf, x: -x, V),
    "squared_difference": _of(lambda tf, x, y: tf.math.squared_difference(x, y), M, V),
    "add_n": _of(lambda tf, x, y: tf.add_n([x, y, x]), V, V),
    "sin_cos_tan": _of(lambda tf, x: tf.sin(x) + tf.cos(x) * tf.tan(x), V),
    "sinh_cosh": _of(lambda tf, x: tf.sinh(x) + tf.cosh(x), V),
    "asinh_atan": _of(lambda tf, x: tf.asinh(x) + tf.atan(x), V),
    "erf": _of(lambda tf, x: tf.math.erf(x), V),
    "erfc": _of(lambda tf, x: tf.math.erfc(x), V),
    "lgamma": _of(lambda tf, x: tf.math.lgamma(x), [0.5, 2.0, 5.0]),
    "digamma": _of(lambda tf, x: tf.math.digamma(x), [0.5, 2.0, 5.0]),
    "sigmoid": _of(lambda tf, x: tf.sigmoid(x), V),
    "matmul": _of(lambda tf, x, y: x @ y, M, np.transpose(M).astype(np.float32)),
    "matmul_transpose_a": _of(lambda tf, x, y: tf.matmul(x, y, transpose_a=True), M, SQUARE),
    "matmul_transpose_b": _of(lambda tf, x, y: tf.matmul(x, y, transpose_b=True), M, M),
    "matmul_both_transposed": _of(
        lambda tf, x, y: tf.matmul(x, y, transpose_a=True, transpose_b=True),
        SQUARE,
        [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]],
    ),
    "matmul_batch_broadcast": _of(lambda tf, x, y: tf.matmul(x, y), [M, M], [[1.0], [2.0], [3.0]]),
    "matvec": _of(lambda tf, x, y: tf.linalg.matvec(x, y), M, V),
    "tensordot_1": _of(lambda tf, x, y: tf.tensordot(x, y, 1), M, V),
    "tensordot_0": _of(lambda tf, x, y: tf.tensordot(x, y, 0), V, [1.0, 2.0]),
    "tensordot_axes": _of(lambda tf, x, y: tf.tensordot(x, y, [[0], [0]]), M, SQUARE),
    "einsum_matmul": _of(lambda tf, x, y: tf.einsum("ij,jk->ik", x, y), SQUARE, M),
    "einsum_trace": _of(lambda tf, x: tf.einsum("ii->", x), SQUARE),
    "einsum_diagonal": _of(lambda tf, x: tf.einsum("ii->i", x), SQUARE),
    "einsum_sum": _of(lambda tf, x: tf.einsum("ij->j", x), M),
    "einsum_outer": _of(lambda tf, x, y: tf.einsum("i,j->ji", x, y), V, [1.0, 2.0]),
    "einsum_batch": _of(lambda tf, x, y: tf.einsum("bi,bi->b", x, y), M, M),
    "reduce_sum": _of(lambda tf, x: tf.reduce_sum(x), M),
    "reduce_sum_axis": _of(lambda tf, x: tf.reduce_sum(x, axis=0), M),
    "reduce_sum_keepdims": _of(lambda tf, x: tf.reduce_sum(x, axis=-1, keepdims=True), M),
    "reduce_mean_axes": _of(lambda tf, x: tf.reduce_mean(x, axis=[0, 1]), M),
    "reduce_mean_axis": _of(lambda tf, x: tf.reduce_mean(x, axis=1), M),
    "reduce_max": _of(lambda tf, x: tf.reduce_max(x, axis=0), M),
    "reduce_logsumexp": _of(lambda tf, x: tf.reduce_logsumexp(x, axis=1), M),
    "cumsum": _of(lambda tf, x: tf.cumsum(x), V),
    "cumsum_exclusive_reverse": _of(
        lambda tf, x: tf.cumsum(x, axis=1, exclusive=True, reverse=True), M
    ),
    "cumprod": _of(lambda tf, x: tf.math.cumprod(x), V),
    "reshape": _of(lambda tf, x: tf.reshape(x, [3, -1]), M),
    "transpose": _of(lambda tf, x: tf.transpose(x), M),
    "transpose_perm": _of(lambda tf, x: tf.transpose(x, [1, 2, 0]), [M, M]),
    "expand_and_squeeze": _of(lambda tf, x: tf.squeeze(tf.expand_dims(x, 1)), M),
    "broadcast_to": _of(lambda tf, x: tf.broadcast_to(x, [2, 3]), V),
    "tile": _of(lambda tf, x: tf.tile(x, [2]), V),
    "tile_two_axes": _of(lambda tf, x: tf.tile(x, [2, 1]), M),
    "repeat": _of(lambda tf, x: tf.repeat(x, [1, 2, 0]), V),
    "concat": _of(lambda tf, x, y: tf.concat([x, y], axis=1), M, SQUARE),
    "stack": _of(lambda tf, x, y: tf.stack([x, y], axis=1), V, V),
    "unstack_one": _of(lambda tf, x: tf.unstack(x)[1], M),
    "split_one": _of(lambda tf, x: tf.split(x, [1, 2], axis=1)[1], M),
    "pad": _of(lambda tf, x: tf.pad(x, [[1, 0], [0, 1]]), M),
    "pad_reflect": _of(lambda tf, x: tf.pad(x, [[2, 1]], "REFLECT"), V),
    "pad_symmetric": _of(lambda tf, x: tf.pad(x, [[2, 1]], "SYMMETRIC"), V),
    "reverse": _of(lambda tf, x: tf.reverse(x, [1]), M),
    "roll": _of(lambda tf, x: tf.roll(x, 1, 0), V),
    "slice": _of(lambda tf, x: x[1:, ::2], M),
    "slice_negative_step": _of(lambda tf, x: x[::-1, -1], M),
    "slice_new_axis": _of(lambda tf, x: x[:, None, 1], M),
    "tf_slice": _of(lambda tf, x: tf.slice(x, [0, 1], [2, -1]), M),
    "gather_nd": _of(lambda tf, x: tf.gather_nd(x, [[0, 1], [1, 2], [0, 1]]), M),
    "gather_axis_one": _of(lambda tf, x: tf.gather(x, [2, 0, 2], axis=1), M),
    "gather_batch": _of(lambda tf, x: tf.gather(x, [[0, 0], [2, 1]], batch_dims=1), M),
    "boolean_mask": _of(lambda tf, x: tf.boolean_mask(x, [True, False, True]), V),
    "scatter_nd": _of(lambda tf, x: tf.scatter_nd([[2], [0], [2]], x, [4]), V),
    "tensor_scatter_nd_update": _of(
        lambda tf, x, y: tf.tensor_scatter_nd_update(x, [[1]], y), V, [9.0]
    ),
    "tensor_scatter_nd_add": _of(lambda tf, x, y: tf.tensor_scatter_nd_add(x, [[1]], y), V, [9.0]),
    "sort": _of(lambda tf, x: tf.sort(x), [3.0, 1.0, 2.0]),
    "top_k": _of(lambda tf, x: tf.math.top_k(x, 2).values, [3.0, 1.0, 2.0]),
    "identity": _of(lambda tf, x: tf.identity(x), V),
    "zeros_like_is_unconnected": _of(lambda tf, x: tf.zeros_like(x), V),
    "argmax_is_unconnected": _of(lambda tf, x: tf.cast(tf.argmax(x), tf.float32), V),
    "comparison_is_unconnected": _of(lambda tf, x: tf.cast(x > 0.0, tf.float32), V),
    "shape_is_unconnected": _of(lambda tf, x: tf.cast(tf.shape(x), tf.float32), M),
    "one_hot_values": _of(
        lambda tf, x, y: tf.one_hot([0, 2], 3, on_value=x, off_value=y), 2.0, 0.5
    ),
    "fill": _of(lambda tf, x: tf.fill([2, 2], x), 3.0),
    "linspace": _of(lambda tf, x, y: tf.linspace(x, y, 4), 0.0, 3.0),
    "linalg_diag": _of(lambda tf, x: tf.linalg.diag(x), V),
    "linalg_diag_part": _of(lambda tf, x: tf.linalg.diag_part(x), SQUARE),
    "linalg_trace": _of(lambda tf, x: tf.linalg.trace(x), SQUARE),
    "linalg_inv": _of(lambda tf, x: tf.linalg.inv(x), SQUARE),
    "linalg_det": _of(lambda tf, x: tf.linalg.det(x), SQUARE),
    "softmax": _of(lambda tf, x: tf.nn.softmax(x), M),
    "softmax_axis": _of(lambda tf, x: tf.nn.softmax(x, axis=0), M),
    "log_softmax": _of(lambda tf, x: tf.nn.log_softmax(x), M),
    "l2_normalize": _of(lambda tf, x: tf.nn.l2_normalize(x, axis=1), M),
    "l2_loss": _of(lambda tf, x: tf.nn.l2_loss(x), V),
    "bias_add": _of(lambda tf, x, b: tf.nn.bias_add(x, b), M, V),
    "moments": _of(lambda tf, x: sum(tf.nn.moments(x, axes=[0])), M),
    "batch_normalization": _of(
        lambda tf, x, m, v: tf.nn.batch_normalization(x, m, v, m, v, 1e-3), M, V, [1.0, 2.0, 3.0]
    ),
    "dropout_rate_zero": _of(lambda tf, x: tf.nn.dropout(x, rate=0.0), V),
    "clip_by_global_norm": _of(
        lambda tf, x, y: tf.concat(tf.clip_by_global_norm([x, y], 1.0)[0], 0), V, [2.0]
    ),
    "real_of_complex": _of(
        lambda tf, x: tf.math.real(tf.complex(x, x) * tf.complex(x, 2.0 * x)), V
    ),
    "cast_half_and_back": _of(lambda tf, x: tf.cast(tf.cast(x, tf.float16), tf.float32), V),
    "python_loop": _of(lambda tf, x: sum(row * 2.0 for row in x), M),
    "unpacking": _of(lambda tf, x: (lambda a, b: a * b)(*x), M),
}
