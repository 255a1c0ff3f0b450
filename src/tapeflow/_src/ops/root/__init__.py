"""Names at the root of TensorFlow that belong to no subject."""
