"""Lowerings of neural networks."""
