"""`tf.strings`: what is computed with strings, on the host. Loaded on first use."""
