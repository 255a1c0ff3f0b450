"""Lowerings of linear algebra."""
