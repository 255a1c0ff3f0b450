"""Lowerings of reducing and ordering along axes."""
