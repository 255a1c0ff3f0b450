"""What stands for one example of a batch. The batch itself, which needs a rule for every row, is in `batching`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn

from tapeflow._src.core.interpreter import AbstractArray
from tapeflow._src.core.tensor import Tensor

if TYPE_CHECKING:
    from tapeflow._src.primitives.batching.batch import Batch

_WHY = (
    "A tensor inside tf.vectorized_map stands for many examples at once, so it has a shape and no value: it cannot be "
    "turned into a NumPy array or a Python number, decide an `if`, a loop or a shape, index with brackets, or be "
    "assigned to a variable. Use ops on it (tf.where, tf.gather, ...), or tf.map_fn, which takes one example at a time."
)


class BatchedTensor(Tensor):
    """One example of a batch."""

    __slots__ = ("_full", "interpreter")

    interpreter: Batch
    symbolic = True

    def __init__(self, full: Tensor, batch: Batch) -> None:
        of = full._array
        self._array = AbstractArray(of.shape[1:], of.dtype, _WHY)
        self._id = 0
        self._full = full
        self.interpreter = batch

    def __copy__(self) -> Tensor:
        """The same value under another identity, to recorders inside and outside of the batch."""
        return type(self)(self._full.__copy__(), self.interpreter)

    def __deepcopy__(self, memo: dict[int, Any]) -> NoReturn:
        raise TypeError(_WHY)

    def __reduce__(self) -> NoReturn:
        raise TypeError(_WHY)

    def __repr__(self) -> str:
        return (
            f"<tf.Tensor: shape={tuple(self._array.shape)}, dtype={self.dtype.name}, "
            f"one of {self.interpreter.size} examples>"
        )

    __str__ = __repr__


def behind(x: Tensor, depth: int) -> Tensor:
    """The full tensor that an example is of, to an interpreter of this depth. Batches around it stay as they are."""
    while isinstance(x, BatchedTensor) and x.interpreter.depth > depth:
        x = x._full
    return x
