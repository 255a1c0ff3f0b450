"""`tf.summary`: what a training run is like, written to event files that TensorBoard shows."""
