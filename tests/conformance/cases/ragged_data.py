# ruff: noqa: E501 - lines of expressions
"""Ragged tensors as elements of datasets."""

from case_helpers import expressions

NAMES = {
    "rt": "tf.ragged.constant([[1, 2], [3], [], [4, 5, 6]])",
    "deep": "tf.ragged.constant([[[1, 2], [3]], [], [[], [4, 5, 6]]])",
    "D": "tf.data.Dataset",
    "ds": "D.from_tensor_slices(rt)",
    "numbers": "D.range(4)",
}

CASES = expressions(
    NAMES,
    """
ds.element_spec, list(ds)
ds.batch(2).element_spec, list(ds.batch(2)), ds.batch(2,drop_remainder=True).element_spec
list(ds.batch(3,drop_remainder=True))
list(ds.map(lambda x: tf.reduce_sum(x))), ds.map(lambda x: x*2).element_spec
list(ds.batch(2).map(lambda x: tf.reduce_sum(x,1)))
list(ds.batch(2).map(lambda x: x+1)), ds.batch(2).map(lambda x: x+1).element_spec
list(ds.batch(2).unbatch())
D.from_tensors(rt).element_spec, list(D.from_tensors(rt))
list(D.from_tensor_slices((rt,[1,2,3,4])).batch(2))
list(D.from_tensor_slices(deep)), D.from_tensor_slices(deep).element_spec, list(D.from_tensor_slices(deep).batch(2))
list(D.from_tensor_slices({"a":rt}).batch(4))
list(numbers.map(lambda n: tf.range(n)).ragged_batch(3)), numbers.map(lambda n: tf.range(n)).ragged_batch(3).element_spec
list(numbers.map(lambda n: tf.range(n)).apply(tf.data.experimental.dense_to_ragged_batch(2)))
numbers.map(lambda n: tf.zeros([n,2])).ragged_batch(2).element_spec
numbers.map(lambda n: (n, tf.zeros([2,n]))).ragged_batch(2).element_spec
list(D.range(3).map(lambda n: tf.ones([2,n])).ragged_batch(2))
list(ds.repeat(2).batch(8)), list(ds.take(2).concatenate(ds.skip(3)).batch(3))
list(ds.filter(lambda x: tf.size(x)>1).batch(2)), list(ds.cache().prefetch(1).batch(4)), list(D.zip((ds,ds)).batch(4))
ds.padded_batch(2)
list(ds.window(2).flat_map(lambda w: w.batch(2)))
ds.reduce(0, lambda s,x: s+tf.reduce_sum(x)), ds.cardinality()
list(D.from_tensor_slices(rt).ragged_batch(2))
[repr(x) for x in ds.batch(2).as_numpy_iterator()]
D.from_tensor_slices((rt, [1, 2]))
D.from_tensor_slices(rt).batch(0)
""",
)
