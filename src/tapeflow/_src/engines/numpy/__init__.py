"""The NumPy program: straight-line Python made from a graph."""
