"""Reshaping, joining, splitting, padding, repeating: results and refusals."""

import numpy as np

M = [[1, 2, 3], [4, 5, 6]]


def identity_is_a_new_tensor(tf):
    t = tf.constant(1.0)
    return tf.identity(t) is t, tf.identity(t)


def reshape_of_a_variable(tf):
    return tf.reshape(tf.Variable([[1.0, 2.0]]), [-1])


def reshape_to_a_tensor_shape(tf):
    t = tf.constant(M)
    return tf.reshape(t, tf.TensorShape([3, 2])), tf.reshape(t, tf.shape(t)[::-1])


def reshape_with_a_mixed_list(tf):
    t = tf.constant(M)
    return tf.reshape(t, [t.shape[1], tf.constant(2)])


def split_in_two(tf):
    a, b = tf.split([[1, 2, 3, 4]], 2, axis=1)
    return a, b


CASES = {
    "reshape": lambda tf: tf.reshape(M, [3, 2]),
    "reshape_minus_one": lambda tf: tf.reshape(M, [-1, 2]),
    "reshape_flat": lambda tf: tf.reshape(M, [-1]),
    "reshape_int": lambda tf: tf.reshape(M, 6),
    "reshape_scalar": lambda tf: tf.reshape([7], []),
    "reshape_wrong": lambda tf: tf.reshape(M, [4, 2]),
    "reshape_minus_one_wrong": lambda tf: tf.reshape(M, [-1, 4]),
    "reshape_two_minus_ones": lambda tf: tf.reshape(M, [-1, -1]),
    "reshape_minus_two": lambda tf: tf.reshape(M, [-2, 3]),
    "reshape_empty": lambda tf: tf.reshape(tf.zeros([0, 3]), [3, 0]),
    "reshape_empty_minus_one": lambda tf: tf.reshape(tf.zeros([0, 3]), [-1, 3]),
    "reshape_float_shape": lambda tf: tf.reshape(M, [3.0, 2.0]),
    "shape": lambda tf: tf.shape(M),
    "shape_int64": lambda tf: tf.shape(M, out_type=tf.int64),
    "shape_of_scalar": lambda tf: tf.shape(3.0),
    "rank": lambda tf: tf.rank(M),
    "size": lambda tf: tf.size(M),
    "transpose": lambda tf: tf.transpose(M),
    "transpose_perm": lambda tf: tf.transpose(tf.reshape(tf.range(6), [1, 2, 3]), [2, 0, 1]),
    "transpose_scalar": lambda tf: tf.transpose(3.0),
    "transpose_wrong_length": lambda tf: tf.transpose(M, [0]),
    "transpose_repeated": lambda tf: tf.transpose(M, [0, 0]),
    "transpose_out_of_range": lambda tf: tf.transpose(M, [0, 2]),
    "transpose_negative": lambda tf: tf.transpose(M, [-1, 0]),
    "transpose_conjugate": lambda tf: tf.transpose([[1 + 2j]], conjugate=True),
    "matrix_transpose": lambda tf: tf.linalg.matrix_transpose([M]),
    "expand_dims": lambda tf: tf.expand_dims(M, 1),
    "expand_dims_last": lambda tf: tf.expand_dims([1, 2], -1),
    "expand_dims_out_of_range": lambda tf: tf.expand_dims([1, 2], 3),
    "expand_dims_without_axis": lambda tf: tf.expand_dims([1, 2]),
    "squeeze": lambda tf: tf.squeeze([[[1, 2]]]),
    "squeeze_axis": lambda tf: tf.squeeze([[[1, 2]]], axis=0),
    "squeeze_axes": lambda tf: tf.squeeze([[[1], [2]]], axis=[0, 2]),
    "squeeze_negative": lambda tf: tf.squeeze([[1], [2]], axis=-1),
    "squeeze_not_one": lambda tf: tf.squeeze([[1, 2]], axis=1),
    "squeeze_out_of_range": lambda tf: tf.squeeze([[1, 2]], axis=2),
    "squeeze_all_ones": lambda tf: tf.squeeze([[5]]),
    "broadcast_to": lambda tf: tf.broadcast_to([1, 2], [2, 2]),
    "broadcast_to_wrong": lambda tf: tf.broadcast_to([1, 2], [3, 3]),
    "broadcast_static_shape": lambda tf: tf.broadcast_static_shape(
        tf.TensorShape([2, 1]), tf.TensorShape([3])
    ),
    "concat": lambda tf: tf.concat([M, M], 0),
    "concat_axis": lambda tf: tf.concat([M, M], -1),
    "concat_one": lambda tf: tf.concat([M], 0),
    "concat_tensor": lambda tf: tf.concat(tf.constant(M), 0),
    "concat_of_nothing": lambda tf: tf.concat([], 0),
    "concat_wrong_shapes": lambda tf: tf.concat([M, [[1, 2]]], 0),
    "concat_wrong_ranks": lambda tf: tf.concat([M, [1, 2, 3]], 0),
    "concat_bad_axis": lambda tf: tf.concat([M, M], 2),
    "concat_scalars": lambda tf: tf.concat([1, 2], 0),
    "concat_dtypes": lambda tf: tf.concat([tf.constant([1]), tf.constant([1.0])], 0),
    "concat_int_and_float_lists": lambda tf: tf.concat([[1.0], [2]], 0),
    "concat_empty": lambda tf: tf.concat([tf.zeros([0, 2]), tf.ones([1, 2])], 0),
    "stack": lambda tf: tf.stack([[1, 2], [3, 4]]),
    "stack_axis": lambda tf: tf.stack([[1, 2], [3, 4]], axis=1),
    "stack_negative_axis": lambda tf: tf.stack([[1, 2], [3, 4]], axis=-1),
    "stack_scalars": lambda tf: tf.stack([1.0, 2.0]),
    "stack_wrong_shapes": lambda tf: tf.stack([[1, 2], [3]]),
    "stack_tensors_of_wrong_shapes": lambda tf: tf.stack([tf.zeros([2]), tf.zeros([3])]),
    "stack_bad_axis": lambda tf: tf.stack([[1, 2]], axis=3),
    "stack_of_nothing": lambda tf: tf.stack([]),
    "stack_dtypes": lambda tf: tf.stack([tf.constant(1), tf.constant(1.0)]),
    "unstack": lambda tf: tf.unstack(M),
    "unstack_axis": lambda tf: tf.unstack(M, axis=1),
    "unstack_wrong_num": lambda tf: tf.unstack(M, num=3),
    "unstack_scalar": lambda tf: tf.unstack(3),
    "split": lambda tf: tf.split([1, 2, 3, 4], 2),
    "split_axis": lambda tf: tf.split(M, 3, axis=1),
    "split_sizes": lambda tf: tf.split([1, 2, 3, 4], [1, 3]),
    "split_sizes_minus_one": lambda tf: tf.split([1, 2, 3, 4], [1, -1]),
    "split_uneven": lambda tf: tf.split([1, 2, 3], 2),
    "split_sizes_wrong": lambda tf: tf.split([1, 2, 3], [1, 1]),
    "split_bad_axis": lambda tf: tf.split([1, 2, 3], 3, axis=1),
    "tile": lambda tf: tf.tile([1, 2], [2]),
    "tile_matrix": lambda tf: tf.tile(M, [1, 2]),
    "tile_zero": lambda tf: tf.tile([1, 2], [0]),
    "tile_wrong_length": lambda tf: tf.tile([1, 2], [1, 2]),
    "tile_negative": lambda tf: tf.tile([1, 2], [-1]),
    "repeat": lambda tf: tf.repeat([1, 2], 2),
    "repeat_each": lambda tf: tf.repeat([1, 2], [1, 3]),
    "repeat_axis": lambda tf: tf.repeat(M, 2, axis=0),
    "pad": lambda tf: tf.pad([1, 2], [[1, 2]]),
    "pad_value": lambda tf: tf.pad([1, 2], [[1, 2]], constant_values=9),
    "pad_matrix": lambda tf: tf.pad(M, [[0, 1], [1, 0]]),
    "pad_reflect": lambda tf: tf.pad([1, 2, 3], [[2, 1]], "REFLECT"),
    "pad_reflect_lowercase": lambda tf: tf.pad([1, 2, 3], [[2, 1]], "reflect"),
    "pad_reflect_too_far": lambda tf: tf.pad([1, 2, 3], [[3, 0]], "REFLECT"),
    "pad_symmetric": lambda tf: tf.pad([1, 2, 3], [[3, 1]], "SYMMETRIC"),
    "pad_negative": lambda tf: tf.pad([1, 2, 3], [[-1, 0]]),
    "pad_wrong_rank": lambda tf: tf.pad([1, 2, 3], [[1, 1], [1, 1]]),
    "pad_bad_mode": lambda tf: tf.pad([1, 2, 3], [[1, 1]], "EDGE"),
    "reverse": lambda tf: tf.reverse(M, [1]),
    "reverse_bad_axis": lambda tf: tf.reverse(M, [2]),
    "roll": lambda tf: tf.roll([1, 2, 3], 1, 0),
    "meshgrid": lambda tf: tf.meshgrid([1, 2], [3, 4, 5]),
    "meshgrid_ij": lambda tf: tf.meshgrid([1, 2], [3, 4, 5], indexing="ij"),
    "scatter_nd": lambda tf: tf.scatter_nd([[1], [3], [1]], [1, 2, 3], [4]),
    "scatter_nd_out_of_range": lambda tf: tf.scatter_nd([[4]], [1], [4]),
    "tensor_scatter_nd_update": lambda tf: tf.tensor_scatter_nd_update([1, 2, 3], [[0]], [9]),
    "tensor_scatter_nd_add": lambda tf: tf.tensor_scatter_nd_add([1, 2, 3], [[0], [0]], [9, 9]),
    "sequence_mask": lambda tf: tf.sequence_mask([1, 3], 3),
    "sequence_mask_of_sums": lambda tf: tf.sequence_mask(tf.constant([1.0, 3.0])),
    "sequence_mask_of_fractions": lambda tf: [
        tf.sequence_mask([1.5, 0.2]),
        tf.sequence_mask([1.5, 0.2], 2),
        tf.sequence_mask([1.5, 0.2], 2.5),
        tf.sequence_mask([1, 2], 2.5),
    ],
    "sequence_mask_of_sums_in_a_function": lambda tf: tf.function(
        lambda x: tf.sequence_mask(tf.reduce_sum(x, 1)),
        input_signature=[tf.TensorSpec([None, None])],
    )(tf.constant([[1.0, 1.0, 0.0], [1.0, 0.0, 0.0]])),
    "linalg_diag": lambda tf: tf.linalg.diag([1, 2]),
    "linalg_diag_part": lambda tf: tf.linalg.diag_part([[1, 2], [3, 4]]),
    "linalg_trace": lambda tf: tf.linalg.trace([[1, 2], [3, 4]]),
    "linalg_band_part": lambda tf: tf.linalg.band_part(tf.ones([3, 3]), -1, 0),
    "ensure_shape": lambda tf: tf.ensure_shape(M, [None, 3]),
    "ensure_shape_wrong": lambda tf: tf.ensure_shape(M, [None, 4]),
    "matmul": lambda tf: tf.matmul([[1.0, 2.0]], [[3.0], [4.0]]),
    "matmul_transpose_a": lambda tf: tf.matmul([[1.0], [2.0]], [[3.0], [4.0]], transpose_a=True),
    "matmul_transpose_b": lambda tf: tf.matmul([[1.0, 2.0]], [[3.0, 4.0]], transpose_b=True),
    "matmul_adjoint": lambda tf: tf.matmul([[1j]], [[1 + 1j]], adjoint_a=True),
    "matmul_transpose_and_adjoint": lambda tf: tf.matmul(
        [[1.0]], [[1.0]], transpose_a=True, adjoint_a=True
    ),
    "matmul_batch": lambda tf: tf.matmul(tf.ones([2, 1, 2]), tf.ones([2, 2, 1])),
    "matmul_batch_broadcast": lambda tf: tf.matmul(tf.ones([2, 1, 2]), tf.ones([2, 3])),
    "matmul_wrong_inner": lambda tf: tf.matmul(tf.ones([2, 3]), tf.ones([2, 3])),
    "matmul_wrong_batch": lambda tf: tf.matmul(tf.ones([2, 1, 2]), tf.ones([3, 2, 1])),
    "matmul_matrix_vector": lambda tf: tf.matmul(tf.ones([2, 3]), tf.ones([3])),
    "matmul_int": lambda tf: tf.matmul(M, M, transpose_b=True),
    "matmul_bool": lambda tf: tf.matmul([[True]], [[True]]),
    "matmul_empty": lambda tf: tf.matmul(tf.zeros([2, 0]), tf.zeros([0, 2])),
    "matmul_half": lambda tf: tf.matmul(tf.ones([1, 2], tf.float16), tf.ones([2, 1], tf.float16)),
    "matvec": lambda tf: tf.linalg.matvec([[1.0, 2.0]], [3.0, 4.0]),
    "tensordot": lambda tf: tf.tensordot([[1.0, 2.0]], [[3.0], [4.0]], 1),
    "tensordot_2": lambda tf: tf.tensordot(tf.constant(M), tf.constant(M), 2),
    "tensordot_axes": lambda tf: tf.tensordot(tf.constant(M), tf.constant(M), [[1], [1]]),
    "tensordot_wrong": lambda tf: tf.tensordot(tf.constant(M), tf.constant(M), 1),
    "einsum": lambda tf: tf.einsum("ij,kj->ik", tf.constant(M), tf.constant(M)),
    "einsum_implicit": lambda tf: tf.einsum("ij,jk", tf.ones([2, 3]), tf.ones([3, 2])),
    "einsum_ellipsis": lambda tf: tf.einsum(
        "...ij,...jk->...ik", tf.ones([2, 1, 2]), tf.ones([2, 2, 1])
    ),
    "einsum_three": lambda tf: tf.einsum(
        "i,ij,j->", tf.ones([2]), tf.ones([2, 3]), tf.constant([1.0, 2.0, 3.0])
    ),
    "einsum_transpose": lambda tf: tf.einsum("ij->ji", tf.constant(M)),
    "einsum_wrong_rank": lambda tf: tf.einsum("ijk->i", tf.constant(M)),
    "einsum_wrong_shapes": lambda tf: tf.einsum("ij,jk->ik", tf.ones([2, 3]), tf.ones([2, 3])),
    "einsum_bad_equation": lambda tf: tf.einsum("ij->ik", tf.constant(M)),
    "einsum_wrong_count": lambda tf: tf.einsum("ij,jk->ik", tf.constant(M)),
    "searchsorted": lambda tf: tf.searchsorted([1, 3, 5], [2, 3]),
    "numpy_input": lambda tf: tf.concat([np.ones((1, 2)), np.zeros((1, 2))], 0),
    "group": lambda tf: tf.group(tf.constant(1.0), tf.constant(2.0)),
    "no_op": lambda tf: tf.no_op(),
    "cond": lambda tf: tf.cond(tf.constant(True), lambda: 1.0, lambda: 2.0),
    "size_of_empty": lambda tf: tf.size(tf.zeros([0, 3])),
}
