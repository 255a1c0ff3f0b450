"""Ops of signals."""
