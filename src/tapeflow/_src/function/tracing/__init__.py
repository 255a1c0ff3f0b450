"""Tracing: running a Python function on symbolic tensors, to find out which primitives it calls."""
