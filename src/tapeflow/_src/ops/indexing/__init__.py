"""Ops of picking and placing elements and rows."""
