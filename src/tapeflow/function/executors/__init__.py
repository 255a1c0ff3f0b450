"""What runs a graph: NumPy, XLA, or both."""
