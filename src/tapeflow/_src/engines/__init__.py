"""Engines besides NumPy: other ways to run the primitives of the table."""
