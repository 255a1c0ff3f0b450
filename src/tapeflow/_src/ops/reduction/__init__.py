"""Ops of reducing and ordering along axes."""
