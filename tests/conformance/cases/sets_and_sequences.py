"""Sets, edit distances, decoders of sequences, sparse tensors as strings, Sobol's points, and other rare names."""

import numpy as np
from case_helpers import derivatives, everywhere, expressions, value_and_gradients

_rng = np.random.default_rng(15)
SCORES = _rng.normal(size=(6, 3, 5)).astype(np.float32) * 2
IMAGE = _rng.uniform(-1.0, 1.0, (2, 5, 6, 2)).astype(np.float32)
FILTER = _rng.uniform(-1.0, 1.0, (2, 3, 2, 3)).astype(np.float32)

NAMES = {
    "scores": f"np.array({SCORES.tolist()}, np.float32)",
    # What a composite tensor is made of.
    "P": (
        "lambda x: [P(y) for y in x] if isinstance(x, (list, tuple)) else "
        "[x.indices, x.values, x.dense_shape] if isinstance(x, tf.SparseTensor) else "
        "x.to_list() if isinstance(x, tf.RaggedTensor) else x"
    ),
    # Eagerly, in a function, and in one that is compiled here.
    "E": (
        "lambda f, *xs: [P(f(*xs)), P(tf.function(f, autograph=False)(*xs)), "
        "P(tf.function(f, autograph=False, jit_compile=tf.__name__ == 'tapeflow')(*xs))]"
    ),
    "S": "tf.SparseTensor",
    "sets": "tf.sets",
    "a": "S([[0, 0], [0, 1], [1, 0]], [3, 1, 2], [2, 2])",
    "b": "S([[0, 0], [1, 0]], [1, 2], [2, 4])",
    "mixed": "S([[0, 1], [0, 0], [1, 0]], [3, 1, 2], [2, 2])",
    "words": "S([[0, 0], [0, 1], [1, 0]], ['x', 'a', 'x'], [2, 2])",
    "deep": "S([[0, 0, 0], [0, 1, 0], [1, 1, 1]], [5, 6, 7], [2, 2, 3])",
    "h": "S([[0, 0, 0], [1, 0, 0]], ['a', 'b'], [2, 1, 1])",
    "t": "S([[0, 1, 0], [1, 0, 0], [1, 0, 1], [1, 1, 0]], ['a', 'b', 'c', 'a'], [2, 2, 2])",
    "r": "tf.ragged.constant",
    "spelled": "lambda x: S([[0, i] for i in range(len(x))], list(x), [1, len(x)])",
    "stored": "tf.io.serialize_sparse",
}

SETS = """
E(sets.union, a, b)
E(sets.intersection, a, b)
E(sets.difference, a, b)
E(lambda a, b: sets.difference(a, b, aminusb=False), a, b)
E(sets.union, a, tf.constant([[1, 5], [2, 2]]))
E(sets.difference, tf.constant([[1, 5], [2, 2]]), a)
E(lambda a, b: sets.difference(a, b, False), tf.constant([[1, 5], [2, 2]]), a)
E(sets.difference, a, tf.constant([[1, 5], [2, 2]]))
E(sets.intersection, tf.constant([[[1, 5], [2, 2]]]), tf.constant([[[1, 4], [2, 2]]]))
E(sets.union, tf.constant([['b', 'a'], ['c', 'c']]), tf.constant([['a', 'q'], ['c', 'd']]))
E(sets.intersection, words, tf.constant([['a'], ['x']]))
E(sets.union, deep, deep)
E(sets.difference, deep, deep)
E(sets.size, a)
E(sets.size, deep)
E(sets.size, words)
E(sets.size, S(np.zeros([0, 2], np.int64), np.zeros([0], np.int32), [2, 3]))
E(lambda a, b: sets.union(a, b, validate_indices=False), mixed, b)
P(sets.union(tf.zeros([2, 0], tf.int32), tf.zeros([2, 0], tf.int32)))
P(sets.union(tf.constant([[-3, 7]], tf.int8), tf.constant([[7, -128]], tf.int8)))
P(sets.union(tf.constant([[200, 7]], tf.uint16), tf.constant([[7, 65535]], tf.uint16)))
P(sets.union(tf.constant([[2**40, 7]], tf.int64), tf.constant([[7, -2**40]], tf.int64)))
sets.union(mixed, b)
sets.union([1, 2], [2, 3])
sets.union([[1.0, 2]], [[2, 3.0]])
sets.union([[1, 2]], [['a']])
sets.union([[1, 2]], [[2], [3]])
sets.union(tf.constant([[1, 2]]), tf.constant([[1, 2]], tf.int64))
sets.union(3, 4)
sets.union(S([[0, 0]], [1], [2, 1]), S([[0, 0]], [1], [3, 1]))
sets.size([[1]])
sets.size(S([[0]], [1], [3]))
sets.size(S([[0, 0]], [1.0], [3, 3]))
sets.size(S([[0, 5]], [1], [3, 3]))
"""

DISTANCES = """
E(tf.edit_distance, h, t)
E(lambda h, t: tf.edit_distance(h, t, normalize=False), h, t)
E(tf.edit_distance, a, b)
E(tf.edit_distance, b, a)
tf.edit_distance(S(np.zeros([0, 2], np.int64), np.zeros([0], np.int32), [2, 3]), b)
tf.edit_distance(b, S(np.zeros([0, 2], np.int64), np.zeros([0], np.int32), [2, 3]))
tf.edit_distance(spelled('kitten'), spelled('sitting'), False)
tf.edit_distance([[1]], t)
tf.edit_distance(t, [[1]])
tf.edit_distance(S([[0]], [1], [1]), S([[0]], [1], [1]))
tf.edit_distance(S([[0, 0]], [1.0], [1, 1]), S([[0, 0]], [1], [1, 1]))
tf.edit_distance(S([[0, 0]], [1], [1, 1]), S([[0, 0, 0]], [1], [1, 1, 1]))
"""

DECODERS = """
E(tf.nn.ctc_greedy_decoder, scores, [6, 4, 0])
E(lambda x, n: tf.nn.ctc_greedy_decoder(x, n, merge_repeated=False), scores, [6, 4, 1])
E(lambda x, n: tf.nn.ctc_greedy_decoder(x, n, blank_index=0), scores, [6, 4, 1])
E(lambda x, n: tf.nn.ctc_greedy_decoder(x, n, blank_index=-2), scores, [6, 4, 1])
P(tf.nn.ctc_greedy_decoder(scores.astype(np.float64), [6, 4, 1]))
tf.nn.ctc_greedy_decoder(scores, [7, 4, 1])
tf.nn.ctc_greedy_decoder(scores, [6, 4])
tf.nn.ctc_greedy_decoder(scores[0], [6, 4])
tf.nn.ctc_greedy_decoder(scores, [6, 4, 1], blank_index=9)
tf.nn.ctc_greedy_decoder(scores.astype(np.int32), [6, 4, 1])
E(tf.nn.ctc_beam_search_decoder, scores, [6, 4, 2])
E(lambda x, n: tf.nn.ctc_beam_search_decoder(x, n, beam_width=10, top_paths=3), scores, [6, 4, 2])
E(lambda x, n: tf.nn.ctc_beam_search_decoder(x, n, beam_width=3, top_paths=3), scores, [6, 4, 2])
P(tf.nn.ctc_beam_search_decoder(scores, [6, 4, 2], beam_width=1))
P(tf.nn.ctc_beam_search_decoder(scores[:3, :, :2], [3, 2, 1], beam_width=5, top_paths=2))
tf.cast(tf.nn.ctc_beam_search_decoder(scores.astype(np.float64), [6, 4, 2], 10, 2)[1], tf.float32)
P(tf.nn.ctc_beam_search_decoder(scores * 5, [6, 4, 2], beam_width=20, top_paths=5))
tf.nn.ctc_beam_search_decoder(scores, [6, 4, 2], beam_width=2, top_paths=3)
tf.nn.ctc_beam_search_decoder(scores, [6, 4, 0], beam_width=5, top_paths=2)
tf.nn.ctc_beam_search_decoder(scores, [7, 4, 0])
tf.nn.ctc_beam_search_decoder(scores, [6, 4])
"""

STRINGS = """
E(tf.io.serialize_sparse, a)
E(tf.io.serialize_sparse, words)
E(tf.io.serialize_many_sparse, a)
E(tf.io.serialize_many_sparse, deep)
E(lambda x: tf.io.deserialize_many_sparse(tf.io.serialize_many_sparse(x), tf.int32), deep)
E(lambda x: tf.io.deserialize_many_sparse(tf.io.serialize_many_sparse(x), tf.string, rank=2), words)
P(tf.io.deserialize_many_sparse(tf.stack([stored(a), stored(b)]), tf.int32))
tf.io.deserialize_many_sparse(tf.stack([tf.io.serialize_sparse(a)]), tf.int64)
tf.io.deserialize_many_sparse(tf.stack([stored(a), stored(S([[0]], [1], [1]))]), tf.int32)
tf.io.serialize_sparse([1])
tf.io.serialize_sparse(a, out_type=tf.int32)
tf.io.deserialize_many_sparse([['x', 'y', 'z']], tf.int32)
tf.io.deserialize_many_sparse(['x', 'y', 'z'], tf.int32)
tf.io.serialize_many_sparse(S([[0]], [1], [1]))
"""

RAGGED = """
E(lambda x, y: tf.ragged.cross_hashed([x, y], 100), r([['a'], ['b', 'c']]), r([['d'], ['e']]))
E(lambda x, y: tf.ragged.cross_hashed([x, y]), r([['a'], ['b', 'c']]), r([[1], [2]]))
P(tf.ragged.cross_hashed([r([['a'], ['b', 'c']]), [[1], [2]]], 100, hash_key=7))
P(tf.ragged.cross_hashed([r([[1], [], [2, 3]]), r([['x'], ['y'], []])], 1000))
P(tf.ragged.cross_hashed([r([[1.0], [2.0]])], 100))
E(lambda v: list(tf.ragged_fill_empty_rows([0, 2, 2], v, 4, -1.0)), tf.constant([1.0, 2.0, 3.0]))
list(tf.ragged_fill_empty_rows([1, 0, 1], ['a', 'b', 'c'], 3, 'none'))
list(tf.ragged_fill_empty_rows(tf.zeros([0], tf.int64), tf.zeros([0]), 2, 5.0))
tf.ragged_fill_empty_rows([0, 2, 2], [1.0, 2.0], 4, -1.0)
tf.ragged_fill_empty_rows([0, 5], [1.0, 2.0], 4, -1.0)
tf.ragged_fill_empty_rows([0, -1], [1.0, 2.0], 4, -1.0)
tf.ragged_fill_empty_rows([0, 1], [1.0, 2.0], 4, [-1.0])
list(tf.ragged_fill_empty_rows_grad([0, 2, 3], [1.0, 2.0, 3.0, 4.0, 5.0]))
tf.ragged_fill_empty_rows_grad([[0]], [1.0])
"""

SOBOL = """
tf.math.sobol_sample(3, 4)
tf.math.sobol_sample(40, 33)
tf.math.sobol_sample(7, 5, skip=2)
tf.math.sobol_sample(5, 3, skip=2**24)
tf.math.sobol_sample(5, 3, skip=2**24, dtype=tf.float64)
tf.math.sobol_sample(2, 3, dtype=tf.float64)
tf.math.sobol_sample(1111, 9)[:, 1000:]
tf.function(lambda n: tf.math.sobol_sample(2, n))(tf.constant(5))
tf.math.sobol_sample(0, 4)
tf.math.sobol_sample(2, -1)
tf.math.sobol_sample(2, 0)
tf.math.sobol_sample(2, 2, -1)
tf.math.sobol_sample(2, 2, dtype=tf.int32)
tf.math.sobol_sample([2], 2)
tf.math.sobol_sample(2, 1, skip=2**31 - 2)
tf.math.sobol_sample(2.0, 3)
"""


def _conv(padding="SAME", strides=(1, 1, 1, 1), explicit_paddings=(), dilations=(1, 1, 1, 1)):
    """TensorFlow has no gradients of it: those are compared with `conv2d`."""

    def case(tf):
        def f(x, k):
            return tf.conv(x, k, strides, padding, explicit_paddings, dilations=dilations)

        def like(x, k):
            pads = [
                list(pair)
                for pair in zip(explicit_paddings[::2], explicit_paddings[1::2], strict=True)
            ]
            return tf.nn.conv2d(x, k, strides, pads or padding, dilations=dilations)

        g = f if tf.__name__ == "tapeflow" else like
        return [
            everywhere(tf, f, IMAGE, FILTER),
            everywhere(tf, derivatives(tf, g), IMAGE, FILTER),
        ]

    return case


def _apart(padding, rates, **options):
    def case(tf):
        def op(x, count, padding):
            return tf.nn.conv2d(x, FILTER, 1, padding)

        def f(x):
            return tf.nn.with_space_to_batch(x, rates, padding, op, **options)

        return everywhere(tf, derivatives(tf, f), IMAGE)

    return case


def _filled(tf):
    def f(values, default):
        return tf.ragged_fill_empty_rows([0, 2, 2], values, 4, default).output_values ** 2

    return value_and_gradients(tf, f, [1.0, 2.0, 3.0], 9.0)


CASES = {
    **expressions(NAMES, SETS),
    **expressions(NAMES, DISTANCES),
    **expressions(NAMES, DECODERS),
    **expressions(NAMES, STRINGS),
    **expressions(NAMES, RAGGED),
    **expressions(NAMES, SOBOL),
    "ragged_fill_empty_rows_gradients": _filled,
    "conv": _conv(),
    "conv_valid": _conv(padding="VALID", strides=[1, 2, 1, 1]),
    "conv_explicit": _conv(padding="EXPLICIT", explicit_paddings=[0, 0, 1, 0, 0, 2, 0, 0]),
    "conv_dilated": _conv(padding="VALID", dilations=[1, 2, 2, 1]),
    "conv_3d": lambda tf: tf.conv(IMAGE[:, None], FILTER[None], [1, 1, 1, 1, 1], "SAME"),
    "conv_batch_dims": lambda tf: tf.conv(IMAGE[None], FILTER, [1, 1, 1, 1], "SAME", batch_dims=2),
    "conv_of_short_strides": lambda tf: tf.conv(IMAGE, FILTER, [1, 1], "SAME"),
    "conv_of_other_channels": lambda tf: tf.conv(IMAGE, FILTER[:, :, :1], [1, 1, 1, 1], "SAME"),
    "conv_of_a_vector": lambda tf: tf.conv(IMAGE[:, :, 0], FILTER[0], [1, 1, 1], "SAME"),
    "conv_with_another_padding": lambda tf: tf.conv(IMAGE, FILTER, [1, 1, 1, 1], "OTHER"),
    "with_space_to_batch": _apart("VALID", [2, 2]),
    "with_space_to_batch_same": _apart("SAME", [2, 3], filter_shape=[2, 3]),
    "with_space_to_batch_of_one": _apart("SAME", [1, 1], filter_shape=[2, 3]),
    "with_space_to_batch_one_dimension": _apart("VALID", [2], spatial_dims=[2]),
    "with_space_to_batch_without_sizes": _apart("SAME", [2, 2]),
    "with_space_to_batch_other_padding": _apart("OTHER", [2, 2]),
    "with_space_to_batch_scalar": _apart("VALID", 2),
    "with_space_to_batch_zero": _apart("VALID", [0, 1]),
    "with_space_to_batch_of_the_batch": _apart("VALID", [2], spatial_dims=[0]),
    "with_space_to_batch_in_disorder": _apart("VALID", [2, 2], spatial_dims=[2, 1]),
}
