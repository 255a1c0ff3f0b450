# ruff: noqa: E501 - lines of expressions
"""Sparse tensors as elements of datasets."""

from case_helpers import expressions

NAMES = {
    "sp": "tf.SparseTensor([[0,0],[0,2],[2,1],[3,0]], [1,2,3,4], [4,3])",
    "rt": "tf.ragged.constant([[1, 2], [], [3], [4, 5, 6]])",
    "D": "tf.data.Dataset",
    "ds": "D.from_tensor_slices(sp)",
    "ranges": "D.from_tensor_slices([3,0,2]).map(tf.range)",
    "parts": "lambda x: [x.indices, x.values, x.dense_shape]",
    "show": "lambda data: [data.element_spec, [parts(x) for x in data]]",
}

CASES = expressions(
    NAMES,
    """
show(ds), show(ds.batch(3)), show(ds.batch(3,drop_remainder=True)), show(ds.batch(3).unbatch())
show(ranges.sparse_batch(2,row_shape=[4])), show(ranges.sparse_batch(5,row_shape=[3]))
show(ranges.apply(tf.data.experimental.dense_to_sparse_batch(2,[6])))
show(D.from_tensor_slices([[[1.,2.]],[[3.,0.]]]).sparse_batch(5,row_shape=[2,3]))
show(ranges.sparse_batch(2,row_shape=[1]))
show(ranges.sparse_batch(2,row_shape=[2,2]))
show(ds.group_by_window(lambda s: tf.cast(tf.size(s.values),tf.int64), lambda k,w: w.batch(4), window_size=4))
[parts(x)+[k] for x,k in D.from_tensor_slices((sp,tf.range(4))).group_by_window(lambda s,i: tf.cast(i%2,tf.int64), lambda k,w: w.batch(4).map(lambda a,b: (a,k)), window_size=4)]
show(ds.filter(lambda s: tf.size(s.values)>0)), show(ds.take(2).concatenate(ds.skip(3))), show(ds.batch(2).rebatch(3))
show(D.range(2).flat_map(lambda i: ds)), show(ds.window(2).flat_map(lambda w: w.batch(2)))
show(D.from_tensors(sp).repeat(3).scan(sp, lambda s,x: (tf.sparse.add(s,x), s)))
parts(D.from_tensors(sp).repeat(3).reduce(sp, lambda s,x: tf.sparse.add(s,x)))
list(D.from_tensors(sp).as_numpy_iterator()), list(ds.batch(2).as_numpy_iterator())
list(ds.map(tf.sparse.to_dense)), show(D.range(3).map(lambda i: tf.SparseTensor([[i]],[i],[5])).batch(2))
list(D.from_tensor_slices(rt).group_by_window(lambda r: tf.cast(tf.size(r)%2,tf.int64), lambda k,w: w.ragged_batch(2), window_size=2))
""",
)
