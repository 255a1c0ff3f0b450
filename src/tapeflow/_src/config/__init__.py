"""`tf.config`: settings for the whole program."""
