"""Primitives of neural networks."""
