"""What Keras's functions do with `tf.SparseTensor` and `tf.IndexedSlices`, and how they know `tf.RaggedTensor`.

Functions of the backend know dense tensors, and come here when they are given something else. Whether the result is
sparse, and how it is found, is said by the tables in `elements` (functions of one tensor) and `pairs` (of two).
"""
