"""Keras on tapeflow: how it finds its backend, and the backend."""
