"""`tf.train`: checkpoints, and moving averages of variables."""
