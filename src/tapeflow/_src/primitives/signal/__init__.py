"""Primitives of signals."""
