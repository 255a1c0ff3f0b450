"""Lowerings of signals."""
