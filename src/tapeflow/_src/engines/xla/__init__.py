"""The XLA engine: every primitive as jax calls, compiled by XLA."""
