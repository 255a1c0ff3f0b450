"""Branches and loops of traced functions: nodes that hold graphs, and their derivatives."""
