"""Variables: what they hold, and how their values change as wholes."""
