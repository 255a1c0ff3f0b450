"""TensorFlow's ops by kind, each a plain function of primitives."""
