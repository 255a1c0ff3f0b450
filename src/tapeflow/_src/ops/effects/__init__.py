"""Ops with effects, and ops about where and when they run."""
