"""Primitives of functions of each element alone."""
