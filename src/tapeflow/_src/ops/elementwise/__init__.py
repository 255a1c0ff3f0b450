"""Ops of functions of each element alone."""
