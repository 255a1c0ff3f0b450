"""`tf.queue`: queues of tensors."""
