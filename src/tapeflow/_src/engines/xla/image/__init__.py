"""Lowerings of images."""
