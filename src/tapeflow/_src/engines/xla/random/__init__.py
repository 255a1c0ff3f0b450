"""Lowerings of random numbers."""
