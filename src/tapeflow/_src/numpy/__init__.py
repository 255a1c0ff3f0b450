"""`tf.experimental.numpy`: NumPy's names and its rules for dtypes, on tensors."""
