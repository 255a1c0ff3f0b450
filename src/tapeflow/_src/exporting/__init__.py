"""Traced functions in the formats of other programs."""
