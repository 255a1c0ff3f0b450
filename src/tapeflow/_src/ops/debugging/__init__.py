"""Assertions about values, shapes and dtypes."""
