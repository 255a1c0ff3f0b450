"""`tf.raw_ops`: ops by the names and arguments that TensorFlow's graphs have for them."""
