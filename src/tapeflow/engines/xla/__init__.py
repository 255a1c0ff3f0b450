"""The XLA engine: every primitive as jax calls, compiled by XLA. Imported only where it is used, with jax installed."""
