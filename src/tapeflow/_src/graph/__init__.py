"""Graphs of primitives: what a traced function is, and passes that improve it."""
