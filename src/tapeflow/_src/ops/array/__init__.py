"""Ops of shapes and of moving elements about."""
