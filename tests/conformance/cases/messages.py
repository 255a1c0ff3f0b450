"""Messages: tensors as `TensorProto`s, their fields and what they are on the wire."""

from case_helpers import expressions

NAMES = {
    "m": "tf.make_tensor_proto",
    "back": "lambda *args, **kw: tf.make_ndarray(m(*args, **kw))",
    "p": "m([1, 2])",
    "text": "lambda *args, **kw: [repr(m(*args, **kw)), m(*args, **kw).SerializeToString()]",
}

CASES = expressions(
    NAMES,
    """
text([1 + 2j, 3])
text(np.array([1 + 2j, 3], np.complex64))
text([True, False], dtype=tf.bool)
text([1, 2], dtype=tf.bfloat16)
text([1.5, 2], dtype=tf.float16)
text(np.float16(1.5))
text(np.array([1, 2], np.uint64))
text(np.uint32(7))
text(np.uint64(2**63 + 1))
text(np.float64(0.1))
text(0.1)
text(np.int64(-7))
text(np.int8(-3))
text(5, dtype=tf.uint8)
text([1, 2], dtype=tf.int8, shape=[2, 1])
text(2**40)
text(True)
text(b'x')
text('ä')
text([['a', 'b'], ['c', 'd']])
text(np.array(['a', 'b']))
text(['a', 'b'], shape=[3])
text([])
text(np.zeros([2, 0], np.int32))
text(1, shape=[2], allow_broadcast=True)
text([1, 2, 3, 4], shape=[2, 2])
text(tf.constant([1.0, 2.0]))
text(tf.Variable(3.0))
m([1, 2, 3], shape=[2])
m([1, 2], dtype=tf.string)
m('a', dtype=tf.int32)
m(1.5, dtype=tf.int32)
m([[1], [2, 3]])
m(None)
m(1, shape=[2], verify_shape=True)
m([1, 2], shape=[2, 2], allow_broadcast=True)
m(1, dtype=tf.qint8)
back([1, 2])
back(['a', 'b'])
back('a')
back([True, False])
back([1 + 2j, 3])
back([1, 2], dtype=tf.bfloat16)
back([1.5, 2], dtype=tf.float16)
back(np.uint64(2**63 + 1))
back([])
back(2.5, shape=[2])
back(['a', 'b'], shape=[3])
back(np.array([1, 2], np.int8))
tf.make_ndarray(type(p)())
tf.make_ndarray([1])
tf.io.parse_tensor(p.SerializeToString(), tf.int32)
tf.make_ndarray(type(p).FromString(tf.io.serialize_tensor(tf.constant([1.0, 2.0])).numpy()))
setattr(p, 'dtype', 'x')
setattr(p, 'tensor_content', 'x')
setattr(p, 'tensor_shape', 3)
setattr(p, 'foo', 3)
p.HasField('dtype')
p.HasField('tensor_shape')
[d.name for d, _ in p.ListFields()]
[p.dtype, p.tensor_shape.dim[0].size, p.tensor_shape.dim[0].name, p.tensor_shape.unknown_rank]
[p.version_number, list(p.int_val), p.tensor_content]
""",
)
