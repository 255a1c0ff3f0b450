"""What TensorFlow draws, recorded."""
