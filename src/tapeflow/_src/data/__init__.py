"""`tf.data`: input pipelines.

>>> data = tf.data.Dataset.from_tensor_slices([1, 2, 3, 4]).shuffle(4).batch(2).prefetch(tf.data.AUTOTUNE)
>>> sum(int(tf.reduce_sum(batch)) for batch in data)
10
"""
