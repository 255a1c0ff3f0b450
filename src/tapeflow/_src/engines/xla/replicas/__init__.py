"""One program for all replicas of a strategy: the nodes of one of them, compiled for a mesh of their devices."""
