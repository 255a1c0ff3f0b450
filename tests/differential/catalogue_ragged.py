"""Ragged tensors: made of tensors, and compared as tensors, so that gradients flow through both."""

from tests.differential.calls import expression
from tests.differential.draw import floats, ints, one_of

X = floats(shape=(6,), dtypes=("float32", "float64"), edges=0.0, forms=("tensor",))
N = ints(0, 9, shape=(6,), dtypes=("int32", "int64"), forms=("tensor",))
LENGTHS = ints(0, 3, shape=(4,), dtypes=("int32", "int64"), forms=("tensor",))
R = "tf.RaggedTensor.from_row_splits(x, [0, 2, 2, 5, 6])"
DEEP = f"tf.RaggedTensor.from_row_splits({R}, [0, 1, 1, 4])"
NO = {"_gradients": False, "_bad": False, "_second": False}

for text in (
    f"{R}.to_tensor()",
    f"{R}.to_tensor(7, shape=[5, 2])",
    f"{DEEP}.to_tensor()",
    f"({R} * 2 + {R}).flat_values",
    f"({R} * [[2], [3], [4], [5]]).flat_values",
    f"tf.exp({R}).flat_values",
    f"tf.maximum({R}, 0).flat_values",
    f"tf.where({R} > 0, {R}, -{R}).flat_values",
    f"tf.reduce_sum({R}, axis=1)",
    f"tf.reduce_sum({R}, axis=0)",
    f"tf.reduce_mean({R}, axis=axis)",
    f"tf.reduce_max({R}, axis=1)",
    f"tf.reduce_prod({R}, axis=1)",
    f"tf.reduce_sum({DEEP}, axis=1).to_tensor()",
    f"tf.reduce_sum({DEEP}, axis=[1, 2])",
    f"tf.concat([{R}, {R}], axis=0).to_tensor()",
    f"tf.concat([{R}, {R}], axis=1).to_tensor()",
    f"tf.stack([{R}, {R}]).to_tensor()",
    f"tf.expand_dims({R}, 1).to_tensor()",
    f"tf.squeeze(tf.expand_dims({R}, 0), 0).to_tensor()",
    f"tf.gather({R}, [2, 0, 2]).to_tensor()",
    f"tf.gather_nd({R}, [[0, 1], [2, 2]])",
    f"tf.reverse({R}, [1]).to_tensor()",
    f"tf.tile({R}, [1, 2]).to_tensor()",
    f"tf.boolean_mask({R}, {R} > 0).to_tensor()",
    f"{R}[1:, ::-1].to_tensor()",
    f"{R}[2, 1:]",
    f"{R}[:, :1].to_tensor()",
    f"{DEEP}[2, 1]",
    f"{DEEP}.merge_dims(0, 1).to_tensor()",
    f"{R}.with_values(x * 3).to_tensor()",
    f"tf.ragged.map_flat_values(tf.square, {R}).to_tensor()",
    f"tf.map_fn(tf.reduce_sum, {R}, fn_output_signature=x.dtype)",
    f"tf.sparse.to_dense({R}.to_sparse())",
    "tf.RaggedTensor.from_tensor(tf.reshape(x, [2, 3]), lengths=[1, 3]).to_tensor()",
    "tf.RaggedTensor.from_value_rowids(x, [0, 0, 1, 3, 3, 3]).to_tensor()",
    "tf.RaggedTensor.from_uniform_row_length(x, 3).to_tensor()",
    "tf.math.segment_sum(tf.reshape(x, [3, 2]), tf.ragged.row_splits_to_segment_ids([0, 2, 3]))",
    "tf.ragged.stack_dynamic_partitions(x, [0, 1, 0, 2, 1, 1], 3).to_tensor()",
):
    expression(text, x=X, axis=one_of(0, 1, -1), **NO)
for text in (
    f"{R}.row_lengths()",
    f"{R}.value_rowids()",
    f"{DEEP}.nested_row_lengths()",
    f"{DEEP}.bounding_shape()",
    f"tf.size({R})",
    f"tf.cast({R}, tf.float32).flat_values",
    f"tf.math.floormod({R}, 4).flat_values",
    f"tf.one_hot({R}, 5).to_tensor()",
    f"tf.reduce_any({R} > 3, axis=1)",
    f"tf.ragged.cross([{R}, {R}]).to_tensor()",
    f"tf.strings.as_string({R}).to_tensor()",
    f"tf.equal({R}, {R}).to_tensor()",
    f"tf.sort({R}.to_tensor(), axis=1)",
):
    expression(text, x=N, **NO)
for text in (
    "tf.RaggedTensor.from_row_lengths(tf.range(tf.reduce_sum(n)), n).to_tensor()",
    "tf.ragged.range(n).to_tensor()",
    "tf.ragged.range(n, n + 3, 2).to_tensor()",
    "tf.ragged.range(n).row_splits",
    "tf.sequence_mask(n)",
    "tf.RaggedTensor.from_row_lengths(tf.range(tf.reduce_sum(n)), n).row_lengths()",
):
    expression(text, n=LENGTHS, **NO)
