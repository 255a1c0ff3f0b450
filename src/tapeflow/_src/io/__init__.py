"""`tf.io`: files, records, serialized tensors and images."""
