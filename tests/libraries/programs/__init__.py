"""Programs that others wrote on libraries of TensorFlow's, run there and here with the same seed."""
