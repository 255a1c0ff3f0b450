"""Primitives of reducing and ordering along axes."""
