"""Primitives of images."""
