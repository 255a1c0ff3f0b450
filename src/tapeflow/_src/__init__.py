"""The layers of tapeflow, lowest first: core, primitives, ops, autodiff, graph, engines, function, and the rest.

A layer knows those under it and none above it; docs/architecture.md is the map.
"""
