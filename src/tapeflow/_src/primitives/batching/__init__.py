"""Batching rules for every primitive, and the batch that applies them."""

from tapeflow._src.primitives.batching import (
    indexing,
    kinds,
    linalg,
    moving,
    nn,
    random,
    segments,
    stacks,
    windows,
)
from tapeflow._src.primitives.batching.batch import (
    RULES as RULES,
    Batch as Batch,
)

__all__ = [
    "RULES",
    "Batch",
    "indexing",
    "kinds",
    "linalg",
    "moving",
    "nn",
    "random",
    "segments",
    "stacks",
    "windows",
]
