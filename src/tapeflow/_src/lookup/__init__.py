"""`tf.lookup`: tables from keys to values. Loaded on first use."""
