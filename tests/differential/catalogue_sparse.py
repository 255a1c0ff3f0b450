"""Sparse tensors and sets: made of tensors, and compared as tensors, so that gradients flow through both."""

from tests.differential.calls import expression
from tests.differential.draw import floats, ints, one_of

X = floats(shape=(3, 4), dtypes=("float32", "float64"), edges=0.0, forms=("tensor",))
SAME = floats(shape=(3, 4), dtypes=("float32",), edges=0.0, forms=("tensor",))
LABELS = ints(0, 4, shape=(2, 3), dtypes=("int32", "int64"), forms=("tensor",))
S = "tf.sparse.from_dense(tf.cast(tf.round(x), x.dtype) * x)"
NO = {"_gradients": False, "_bad": False, "_second": False}

for text in (
    f"tf.sparse.to_dense({S})",
    f"tf.sparse.to_dense({S}, 7)",
    f"tf.sparse.to_dense(tf.sparse.transpose({S}))",
    f"tf.sparse.to_dense(tf.sparse.reshape({S}, [2, -1]))",
    f"tf.sparse.to_dense(tf.sparse.expand_dims({S}, 1))",
    f"tf.sparse.to_dense(tf.sparse.concat(0, [{S}, {S}]))",
    f"tf.sparse.to_dense(tf.sparse.slice({S}, [0, 1], [2, 2]))",
    f"[tf.sparse.to_dense(y) for y in tf.sparse.split({S}, 2, 1)]",
    f"tf.sparse.to_dense(tf.sparse.reorder({S}))",
    f"tf.sparse.to_dense(tf.sparse.softmax({S}))",
    f"tf.sparse.to_dense(tf.sparse.map_values(tf.square, {S}))",
    f"tf.sparse.to_dense(tf.sparse.reset_shape({S}, [4, 5]))",
    f"tf.sparse.to_dense(tf.sparse.fill_empty_rows({S}, -1)[0])",
    f"tf.sparse.to_dense(tf.sparse.retain({S}, {S}.values > 0))",
    f"tf.sparse.to_dense(tf.sparse.add({S}, {S}))",
    f"tf.sparse.add({S}, x)",
    f"tf.sparse.reduce_sum({S}, axis)",
    f"tf.sparse.sparse_dense_matmul({S}, tf.transpose(x))",
    f"tf.sparse.sparse_dense_matmul({S}, x, adjoint_a=True)",
):
    expression(text, x=X, axis=one_of(None, 0, -1), **NO)
for text in (
    f"tf.sparse.reduce_max({S}, axis)",
    f"tf.sparse.to_dense(tf.sparse.maximum({S}, {S}))",
    f"tf.sparse.to_dense(tf.sparse.minimum({S}, {S}))",
    "tf.sparse.to_dense(tf.sparse.eye(3, 4))",
    "tf.sparse.sampled_addmm([[0, 0], [1, 2]], [1.0, 2.0], [3, 3], x, tf.transpose(x))",
    "tf.sparse.segment_sum(x, [0, 2], [0, 1])",
    "tf.sparse.segment_mean(x, [0, 2, 1], [0, 0, 1])",
    "tf.sparse.segment_sqrt_n(x, [0, 2, 1], [0, 0, 1])",
):
    expression(text, x=SAME, axis=one_of(None, 0, -1), **NO)
for text in (
    "tf.sets.size(tf.sparse.from_dense(x))",
    "tf.sparse.to_dense(tf.sets.union(x, y))",
    "tf.sparse.to_dense(tf.sets.intersection(x, y))",
    "tf.sparse.to_dense(tf.sets.difference(x, y))",
    "tf.sparse.to_dense(tf.sets.difference(tf.sparse.from_dense(x), y, aminusb=False))",
    "tf.edit_distance(tf.sparse.from_dense(x), tf.sparse.from_dense(y))",
    "tf.edit_distance(tf.sparse.from_dense(x), tf.sparse.from_dense(y), normalize=False)",
    "tf.sparse.to_dense(tf.sparse.bincount(x))",
    "tf.sparse.to_indicator(tf.sparse.from_dense(tf.cast(x, tf.int64)), 6)",
    "tf.sparse.mask(tf.IndexedSlices(x, [0, 1]), [0]).values",
    "tf.sparse.cross([x, y]).values",
    "tf.sparse.cross_hashed([x, y], 100).values",
):
    expression(
        text, x=LABELS, y=ints(0, 4, shape=(2, 3), dtypes=("int32",), forms=("tensor",)), **NO
    )
SCORES = floats(shape=(4, 2, 3), dtypes=("float32",), edges=0.0, forms=("tensor",))
for text in (
    "tf.nn.ctc_greedy_decoder(x, [4, 2])[0][0].values",
    "tf.nn.ctc_greedy_decoder(x, [3, 4], merge_repeated=False)[1]",
    "tf.nn.ctc_beam_search_decoder(x, [4, 2], beam_width=4)[0][0].values",
    "tf.nn.ctc_beam_search_decoder(x, [4, 3], beam_width=3, top_paths=2)[1]",
    "tf.make_ndarray(tf.make_tensor_proto(x.numpy()))",
    "list(tf.ragged_fill_empty_rows([0, 2, 2, 3], x[:, 0, 0], 5, -1.0))",
    "list(tf.ragged_fill_empty_rows_grad([0, 2], x[:, 0, 0]))",
    "tf.math.sobol_sample(n, 3, n)",
    "tf.conv(x[None], tf.ones([2, 1, 3, 2]), [1, 1, 1, 1], 'SAME')",
    "tf.conv(x[None], tf.ones([2, 1, 3, 2]), [1, 1, 2, 1], 'VALID')",
):
    expression(text, x=SCORES, n=one_of(1, 5, 40), **NO)
