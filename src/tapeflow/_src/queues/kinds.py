"""The queues: in order, padded, by priority, at random."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tapeflow._src.core.dtypes import int64
from tapeflow._src.core.export import export
from tapeflow._src.core.shapes import TensorShape
from tapeflow._src.ops.arguments import integer
from tapeflow._src.ops.random.numbers import op_seed
from tapeflow._src.primitives.random.streams import streams
from tapeflow._src.queues.queue import QueueBase, Rows

_UNLIMITED = 2**31 - 1


def _capacity(capacity: Any) -> int:
    count = integer("queue", "capacity", capacity)
    return _UNLIMITED if count < 0 else count


@export("queue.FIFOQueue")
class FIFOQueue(QueueBase):
    """A queue that gives what came first.

    >>> queue = tf.queue.FIFOQueue(2, [tf.float32])
    >>> queue.enqueue([[1.0, 2.0]])
    >>> queue.dequeue().numpy()
    array([1., 2.], dtype=float32)

    Args:
      capacity: how many rows there may be.
      dtypes: of the tensors in a row.
      shapes: of these tensors; `dequeue_many` needs them.
      names: of these tensors.
      shared_name: accepted for compatibility.
      name: of the queue.
    """

    def __init__(
        self,
        capacity: int,
        dtypes: Any,
        shapes: Any = None,
        names: Any = None,
        shared_name: str | None = None,
        name: str = "fifo_queue",
    ) -> None:
        super().__init__(dtypes, shapes, names, Rows(_capacity(capacity)))
        self._name = name


@export("queue.PaddingFIFOQueue")
class PaddingFIFOQueue(QueueBase):
    """A queue that gives what came first, and fills rows up with zeros where they are stacked.

    >>> queue = tf.queue.PaddingFIFOQueue(5, [tf.int32], shapes=[[None]])
    >>> queue.enqueue([[1, 2, 3]])
    >>> queue.enqueue([[4]])
    >>> queue.dequeue_many(2).numpy()
    array([[1, 2, 3],
           [4, 0, 0]], dtype=int32)

    Args:
      capacity: how many rows there may be.
      dtypes: of the tensors in a row.
      shapes: of these tensors, with `None` for sizes that differ.
      names: of these tensors.
      shared_name: accepted for compatibility.
      name: of the queue.
    """

    def __init__(
        self,
        capacity: int,
        dtypes: Any,
        shapes: Any,
        names: Any = None,
        shared_name: str | None = None,
        name: str = "padding_fifo_queue",
    ) -> None:
        super().__init__(dtypes, shapes, names, Rows(_capacity(capacity)))
        self._name = name

    def _stackable(self, shape: TensorShape) -> bool:
        return shape.rank is not None

    def _stack(self, column: Sequence[np.ndarray]) -> np.ndarray:
        if not column[0].ndim:
            return super()._stack(column)
        sizes = np.max([x.shape for x in column], axis=0)
        whole = np.zeros([len(column), *sizes], column[0].dtype)
        if whole.dtype.hasobject:
            whole[...] = b""
        for row, x in zip(whole, column, strict=True):
            row[tuple(map(slice, x.shape))] = x
        return whole


@export("queue.PriorityQueue")
class PriorityQueue(QueueBase):
    """A queue that gives what has the least number first.

    >>> queue = tf.queue.PriorityQueue(5, [tf.string], shapes=[[]])
    >>> queue.enqueue((3, "late"))
    >>> queue.enqueue((1, "soon"))
    >>> queue.dequeue()[1].numpy()
    b'soon'

    Args:
      capacity: how many rows there may be.
      types: the dtypes of the tensors in a row, after the number, which is int64.
      shapes: of these tensors.
      names: of these tensors.
      shared_name: accepted for compatibility.
      name: of the queue.
    """

    def __init__(
        self,
        capacity: int,
        types: Any,
        shapes: Any = None,
        names: Any = None,
        shared_name: str | None = None,
        name: str = "priority_queue",
    ) -> None:
        kinds = list(types) if isinstance(types, (list, tuple)) else [types]
        sizes = None if shapes is None else [[], *shapes]
        rows = Rows(_capacity(capacity), lambda rows: int(np.argmin([row[0] for row in rows])))
        super().__init__([int64, *kinds], sizes, names, rows)
        self._name = name


@export("queue.RandomShuffleQueue")
class RandomShuffleQueue(QueueBase):
    """A queue that gives any of what is there.

    >>> queue = tf.queue.RandomShuffleQueue(10, min_after_dequeue=2, dtypes=[tf.int32], shapes=[[]], seed=1)
    >>> queue.enqueue_many([[1, 2, 3, 4, 5]])
    >>> set(queue.dequeue_many(3).numpy().tolist()) <= {1, 2, 3, 4, 5}
    True

    Args:
      capacity: how many rows there may be.
      min_after_dequeue: how many rows are left to choose from, while the queue is open.
      dtypes: of the tensors in a row.
      shapes: of these tensors.
      names: of these tensors.
      seed: of the choice.
      shared_name: accepted for compatibility.
      name: of the queue.
    """

    def __init__(
        self,
        capacity: int,
        min_after_dequeue: int,
        dtypes: Any,
        shapes: Any = None,
        names: Any = None,
        seed: int | None = None,
        shared_name: str | None = None,
        name: str = "random_shuffle_queue",
    ) -> None:
        seeds = streams.seeds(op_seed(seed))
        generator = np.random.default_rng(None if seeds is None else list(seeds))
        rows = Rows(
            _capacity(capacity), lambda rows: int(generator.integers(len(rows))), min_after_dequeue
        )
        super().__init__(dtypes, shapes, names, rows)
        self._name = name
