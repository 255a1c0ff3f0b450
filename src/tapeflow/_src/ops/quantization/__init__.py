"""Numbers rounded to a few levels."""
