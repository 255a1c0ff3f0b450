"""Tables, and datasets by what they give."""

from tests.differential.calls import expression
from tests.differential.draw import floats, ints, one_of

X = floats(shape=(7, 2), dtypes=("float32", "float64"), edges=0.0, forms=("tensor",))
N = ints(0, 9, shape=(5,), dtypes=("int64",), forms=("tensor",))
SIZE = one_of(1, 2, 3, 8)
NO = {"_gradients": False, "_bad": False, "_second": False}
D = "tf.data.Dataset.from_tensor_slices(x)"

for text in (
    f"list({D})",
    f"list({D}.batch(n))",
    f"list({D}.batch(n, drop_remainder=True))",
    f"list({D}.map(lambda y: y * 2 + 1))",
    f"list({D}.map(lambda y: (y, tf.reduce_sum(y))).batch(n))",
    f"list({D}.filter(lambda y: y[0] > 0))",
    f"list({D}.skip(n).take(2))",
    f"list({D}.shard(n, 0))",
    f"list({D}.repeat(2).skip(n))",
    f"list({D}.enumerate(n))",
    f"list({D}.window(n).flat_map(lambda w: w.batch(n)))",
    f"list({D}.window(n, shift=1, drop_remainder=True).flat_map(lambda w: w.batch(n)))",
    f"list({D}.interleave(lambda y: tf.data.Dataset.from_tensors(y).repeat(2), cycle_length=n))",
    f"list({D}.unbatch())",
    f"list({D}.scan(tf.zeros([2], x.dtype), lambda s, y: (s + y, s * y)))",
    f"{D}.reduce(tf.zeros([2], x.dtype), lambda s, y: s + y)",
    f"list(tf.data.Dataset.zip({D}, {D}.skip(n)))",
    f"list({D}.concatenate({D}.take(n)))",
    f"list({D}.shuffle(n, seed=3))",
    f"list({D}.shuffle(5, seed=n).batch(2))",
    f"list({D}.cache().prefetch(n))",
    f"list({D}.batch(4).rebatch(n))",
    f"list({D}.take_while(lambda y: y[1] < 1))",
    f"list({D}.padded_batch(n))",
    f"{D}.cardinality()",
    f"list({D}.map(tf.square, num_parallel_calls=2).batch(n, num_parallel_calls=2))",
    f"list({D}.ragged_batch(n).map(lambda r: tf.reduce_sum(r)))",
):
    expression(text, x=X, n=SIZE, **NO)
T = "tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer([1, 2, 5], [10, 20, 50], tf.int64, tf.int64), -1)"
V = "tf.lookup.StaticVocabularyTable(tf.lookup.KeyValueTensorInitializer(['1', '2'], [0, 1], tf.string, tf.int64), 3)"
M = "tf.lookup.experimental.MutableHashTable(tf.int64, tf.int64, -1)"
for text in (
    f"{T}.lookup(n)",
    f"{T}[n]",
    f"{T}.size()",
    f"{V}.lookup(tf.strings.as_string(n))",
    f"{V}.size()",
    f"(lambda t: (t.insert(n, n * 2), t.lookup(tf.range(9, dtype=tf.int64)))[1])({M})",
    f"(lambda t: (t.insert(n, n * 2), t.remove(n[:2]), t.lookup(tf.range(9, dtype=tf.int64)))[2])({M})",
    f"(lambda t: (t.insert(n, n), t.size())[1])({M})",
    "list(tf.data.Dataset.from_tensor_slices(n).unique())",
    "list(tf.data.Dataset.from_tensor_slices(n).map(lambda y: y % 3).batch(2))",
    "list(tf.data.Dataset.choose_from_datasets([tf.data.Dataset.range(9), tf.data.Dataset.range(9)], "
    "tf.data.Dataset.from_tensor_slices(n % 2)))",
    "list(tf.data.Dataset.from_tensor_slices(n).group_by_window("
    "lambda y: y % 2, lambda k, w: w.batch(3), 3))",
):
    expression(text, n=N, **NO)
