"""Ops of random numbers."""
