"""`tf.queue`: queues of tensors between threads."""

# Written by scripts/exports.py, from the lines in _src that export these names.

from tapeflow._src.core.missing import Missing as _Missing
from tapeflow._src.queues.kinds import (
    FIFOQueue as FIFOQueue,
    PaddingFIFOQueue as PaddingFIFOQueue,
    PriorityQueue as PriorityQueue,
    RandomShuffleQueue as RandomShuffleQueue,
)
from tapeflow._src.queues.queue import QueueBase as QueueBase

__getattr__ = _Missing("tf.queue")
