"""Products that a loop need not compute turn by turn."""
