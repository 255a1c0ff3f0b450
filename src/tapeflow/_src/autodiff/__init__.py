"""Automatic differentiation, and `tf.autodiff`."""
