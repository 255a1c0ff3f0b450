"""Sizes that are known only when a function runs, and what is known of them before."""
