"""Values that are made of several tensors, such as `tf.RaggedTensor`, and how ops come to take them."""
