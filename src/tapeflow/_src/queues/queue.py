"""What all queues share: rows of tensors, threads that wait, and calls inside of functions."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tapeflow._src.core.convert import convert_to_tensor
from tapeflow._src.core.dtypes import DType, as_dtype, bool_, int32
from tapeflow._src.core.errors import CancelledError, OutOfRangeError, invalid, shown
from tapeflow._src.core.export import export
from tapeflow._src.core.shapes import TensorShape
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.ops.arguments import integer
from tapeflow._src.ops.effects.host import bytes_array, on_host
from tapeflow._src.primitives.specs import ArraySpec

Row = tuple[np.ndarray, ...]


@export("queue.QueueBase")
class QueueBase:
    """A queue of tensors, or of tuples of them, for threads that make them and threads that take them.

    What is asked of a queue that has nothing, or no room, waits until another thread helps.

    >>> queue = tf.queue.FIFOQueue(10, [tf.int32], shapes=[[]])
    >>> queue.enqueue_many([[1, 2, 3]])
    >>> queue.dequeue().numpy(), queue.size().numpy()
    (np.int32(1), np.int32(2))

    Args:
      dtypes: of the tensors in a tuple.
      shapes: of these tensors, if they are known.
      names: of these tensors: what is put in and taken out is a dictionary then.
      queue_ref: what holds the rows of the queue.
    """

    def __init__(self, dtypes: Any, shapes: Any, names: Any, queue_ref: Any) -> None:
        kinds = dtypes if isinstance(dtypes, (list, tuple)) else [dtypes]
        self._dtypes = [as_dtype(kind) for kind in kinds]
        self._shapes = _shapes(shapes, len(self._dtypes))
        self._names = None
        if names is not None:
            self._names = list(names) if isinstance(names, (list, tuple)) else [names]
            if len(self._names) != len(self._dtypes):
                raise ValueError(
                    f"A queue of {len(self._dtypes)} tensors needs as many names, got {shown(names)}"
                )
        self._rows: Any = queue_ref
        self._name = "queue"

    @property
    def name(self) -> str:
        """The name of the queue."""
        return self._name

    @property
    def dtypes(self) -> list[DType]:
        """The dtypes of the tensors in a row."""
        return self._dtypes

    @property
    def shapes(self) -> list[TensorShape]:
        """The shapes of the tensors in a row, as far as they are known."""
        return [TensorShape(None)] * len(self._dtypes) if self._shapes is None else self._shapes

    @property
    def names(self) -> list[str] | None:
        """The names of the tensors in a row."""
        return self._names

    @property
    def queue_ref(self) -> Any:
        """What holds the rows."""
        return self._rows

    @staticmethod
    def from_list(index: Any, queues: Sequence[Any]) -> Any:
        """The queue of a number in a list of queues."""
        if not queues or not all(isinstance(q, QueueBase) for q in queues):
            raise TypeError("from_list: queues must be a list of queues")
        return queues[integer("from_list", "index", index)]

    # Putting in.

    def enqueue(self, vals: Any, name: str | None = None) -> None:
        """Puts a row into the queue, when there is room."""
        tensors = self._tensors("enqueue", vals)
        for tensor, shape in zip(tensors, self.shapes, strict=True):
            if not shape.is_compatible_with(tensor.shape):
                raise ValueError(f"Shapes {tensor.shape} and {shape} are incompatible")

        def put(*arrays: np.ndarray) -> list[Any]:
            self._rows.put([arrays])
            return []

        on_host("enqueue", put, tensors, [])

    def enqueue_many(self, vals: Any, name: str | None = None) -> None:
        """Puts rows into the queue: the slices of tensors along their first dimension."""
        tensors = self._tensors("enqueue_many", vals)
        for tensor, shape in zip(tensors, self.shapes, strict=True):
            wanted = TensorShape([None]).concatenate(shape)
            if not wanted.is_compatible_with(tensor.shape):
                raise ValueError(f"Shapes {tensor.shape} and {wanted} are incompatible")

        def put(*arrays: np.ndarray) -> list[Any]:
            if len({len(array) for array in arrays}) > 1:
                raise invalid("enqueue_many: all tensors must have the same number of slices")
            self._rows.put([tuple(map(np.asarray, row)) for row in zip(*arrays, strict=True)])
            return []

        on_host("enqueue_many", put, tensors, [])

    def _tensors(self, op: str, vals: Any) -> list[Tensor]:
        if self._names is not None:
            if not isinstance(vals, dict) or sorted(vals) != sorted(self._names):
                raise ValueError(
                    f"{op}: a queue with names takes a dictionary with {self._names}, got {shown(vals)}"
                )
            vals = [vals[name] for name in self._names]
        elif isinstance(vals, dict):
            raise ValueError(f"{op}: a queue without names takes no dictionary")
        elif not isinstance(vals, (list, tuple)):
            vals = [vals]
        if len(vals) != len(self._dtypes):
            raise ValueError(
                f"{op}: a row of this queue has {len(self._dtypes)} tensors, got {len(vals)}"
            )
        return [convert_to_tensor(v, t) for v, t in zip(vals, self._dtypes, strict=True)]

    # Taking out.

    def dequeue(self, name: str | None = None) -> Any:
        """Takes a row out of the queue, when there is one."""
        shapes = [shape._dims for shape in self.shapes]
        return self._taken("dequeue", lambda: self._rows.take(1, 1)[0], shapes)

    def dequeue_many(self, n: Any, name: str | None = None) -> Any:
        """Takes `n` rows, when there are so many, and stacks them."""
        count = integer("dequeue_many", "n", n)
        return self._taken("dequeue_many", lambda: self._stacked(count, count), self._many(count))

    def dequeue_up_to(self, n: Any, name: str | None = None) -> Any:
        """The same, or fewer if the queue is closed and has no more."""
        count = integer("dequeue_up_to", "n", n)
        return self._taken("dequeue_up_to", lambda: self._stacked(count, 1), self._many(None))

    def _many(self, count: int | None) -> list[Any]:
        if self._shapes is None or not all(self._stackable(shape) for shape in self._shapes):
            raise invalid(
                f"This queue cannot stack its rows: it needs to know their shapes, which are {self.shapes}. Give it "
                "shapes when it is made."
            )
        return [(count, *(s._dims or ())) for s in self._shapes]

    def _stackable(self, shape: TensorShape) -> bool:
        return shape.is_fully_defined()

    def _stacked(self, most: int, least: int) -> Row:
        if most < 0:
            raise invalid(f"a queue cannot give {most} rows")
        if not most:
            shapes = [shape.as_list() for shape in self.shapes]
            pairs = zip(shapes, self._dtypes, strict=True)
            return tuple([np.zeros([0, *(d or 0 for d in s)], t.np_dtype) for s, t in pairs])
        rows = self._rows.take(most, least)
        return tuple([self._stack(column) for column in zip(*rows, strict=True)])

    def _stack(self, column: Sequence[np.ndarray]) -> np.ndarray:
        if column[0].dtype.kind == "S":  # single strings, of which NumPy would make another dtype
            return bytes_array([x.item() for x in column], (len(column),))
        return np.stack(column)

    def _taken(self, op: str, take: Callable[[], Any], shapes: list[Any]) -> Any:
        specs = [ArraySpec(s, t) for s, t in zip(shapes, self._dtypes, strict=True)]
        found = on_host(op, lambda: list(take()), [], specs)
        if self._names is not None:
            return dict(zip(self._names, found, strict=True))
        return found[0] if len(found) == 1 else found

    # The rest.

    def close(self, cancel_pending_enqueues: bool = False, name: str | None = None) -> None:
        """Says that nothing more is put in; what is there can be taken.

        Args:
          cancel_pending_enqueues: whether threads that wait for room are told so by an error.
          name: accepted for compatibility.
        """

        def closed() -> list[Any]:
            self._rows.close(cancel_pending_enqueues)
            return []

        on_host("close", closed, [], [])

    def is_closed(self, name: str | None = None) -> Tensor:
        """Whether the queue is closed."""
        spec = ArraySpec((), bool_)
        return on_host("is_closed", lambda: [np.bool_(self._rows.closed)], [], [spec])[0]

    def size(self, name: str | None = None) -> Tensor:
        """How many rows there are."""
        return on_host("size", lambda: [np.int32(len(self._rows))], [], [ArraySpec((), int32)])[0]


def _shapes(shapes: Any, count: int) -> list[TensorShape] | None:
    if shapes is None:
        return None
    if isinstance(shapes, TensorShape) or not isinstance(shapes, (list, tuple)):
        shapes = [shapes]
    if count == 1 and (not shapes or not isinstance(shapes[0], (list, tuple, TensorShape))):
        shapes = [shapes]
    found = [TensorShape(shape) for shape in shapes]
    if len(found) != count:
        raise ValueError(f"A queue of {count} tensors needs as many shapes, got {len(found)}")
    return found


class Rows:
    """Rows that threads put in and take out.

    Args:
      capacity: how many there may be.
      pick: takes the list of all rows and gives the position of the next.
      spare: how many must be left after rows were taken, while the queue is open.
    """

    def __init__(
        self, capacity: int, pick: Callable[[list[Row]], int] = lambda rows: 0, spare: int = 0
    ) -> None:
        self.capacity = capacity
        self.closed = False
        self._cancelled = False
        self._pick, self._spare = pick, spare
        self._rows: list[Row] = []
        self._changed = threading.Condition()

    def __len__(self) -> int:
        return len(self._rows)

    def put(self, rows: Sequence[Row]) -> None:
        """Adds rows, each when there is room."""
        with self._changed:
            for row in rows:
                self._put_one(row)

    def _put_one(self, row: Row) -> None:
        # Whoever waits for room when the queue is closed may go on waiting, unless that is cancelled.
        waits = False
        while len(self._rows) >= self.capacity and not self._cancelled:
            if self.closed and not waits:
                break
            waits = True
            self._changed.wait(0.1)
        if self._cancelled or (self.closed and not waits):
            raise CancelledError(None, None, "enqueue: the queue is closed")
        self._rows.append(row)
        self._changed.notify_all()

    def take(self, most: int, least: int) -> list[Row]:
        """Takes rows, when there are enough."""
        with self._changed:
            self._wait_for_rows(most + self._spare)
            if len(self._rows) < least:
                raise OutOfRangeError(
                    None,
                    None,
                    f"dequeue: the queue is closed and has {len(self._rows)} rows, too few for {least}",
                )
            count = min(most, len(self._rows))
            found = [self._rows.pop(self._pick(self._rows)) for _ in range(count)]
            self._changed.notify_all()
            return found

    def _wait_for_rows(self, count: int) -> None:
        while len(self._rows) < count and not self.closed:
            self._changed.wait(0.1)

    def close(self, cancel: bool) -> None:
        """No more is put in."""
        with self._changed:
            self.closed = True
            self._cancelled = self._cancelled or cancel
            self._changed.notify_all()
