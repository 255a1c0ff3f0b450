"""Control flow, effects, and Python inside of computations."""
