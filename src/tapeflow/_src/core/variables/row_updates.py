"""What a variable does to a part of its value: rows by their numbers, elements by their coordinates."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from tapeflow._src.core.context import context, no_recorders
from tapeflow._src.core.convert import convert_to_tensor
from tapeflow._src.core.errors import invalid, shown, wrong_object
from tapeflow._src.core.indexed_slices import IndexedSlices
from tapeflow._src.core.late import late
from tapeflow._src.core.placement.remote import RemoteTensor, fresh, moved_beside
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.core.variables.indices import INDEX_DTYPES, add_rows, places

if TYPE_CHECKING:
    from tapeflow._src.core.dtypes import DType
    from tapeflow._src.core.variables.variable import Variable


class RowUpdates:
    """The methods `scatter_add`, `scatter_nd_update` and their kin, and those that read rows."""

    __slots__ = ()

    if TYPE_CHECKING:

        @property
        def name(self) -> str: ...
        @property
        def dtype(self) -> DType: ...
        def _read(self) -> Tensor: ...
        def _now(self) -> Tensor: ...
        def _change(self, compute: Callable[[Any], Any], *origins: Any) -> Variable: ...

    def _scatter(self, op: str, combine: Any, slices: IndexedSlices) -> Variable:
        if not isinstance(slices, IndexedSlices):
            raise TypeError(f"{op} takes tf.IndexedSlices, got {shown(slices)}")
        rows = convert_to_tensor(slices.indices)
        values = convert_to_tensor(slices.values, self.dtype)
        if context.tracer is not None:
            return self._scatter_traced(op, rows[..., None], values)
        if type(self._now()) is RemoteTensor:
            return self._scatter_on_device(op, rows[..., None], values)
        rows = np.asarray(rows._array)
        if not values.ndim:  # one number for all the rows
            shape = rows.shape + self._now()._array.shape[1:]
            values = Tensor(np.broadcast_to(values._array, shape))
        return self._scatter_nd(op, combine, rows[..., None], values)

    def _scatter_traced(self: Any, op: str, indices: Any, updates: Any) -> Variable:
        """Updates rows or elements inside `tf.function`, by the ops for tensors."""
        indices, updates = convert_to_tensor(indices), convert_to_tensor(updates, self.dtype)
        context.tracer.assign(self, late.scattered(op, self._read(), indices, updates))
        return self

    def _scatter_on_device(self: Any, op: str, indices: Any, updates: Any) -> Variable:
        """The same where the variable is."""
        indices, updates = convert_to_tensor(indices), convert_to_tensor(updates, self.dtype)

        def scattered(value: Tensor) -> Tensor:
            with no_recorders():
                return moved_beside(fresh(late.scattered(op, value, indices, updates)), value)

        self._exchange(scattered, updates)
        return self

    def _scatter_nd(self, op: str, combine: Any, indices: Any, updates: Any) -> Variable:
        """Puts `updates` at coordinates, by `combine(rows of a copy, row numbers, updates)`."""
        if context.tracer is not None:
            return self._scatter_traced(op, indices, updates)
        if type(self._now()) is RemoteTensor:
            return self._scatter_on_device(op, indices, updates)
        indices = np.asarray(convert_to_tensor(indices)._array)
        values = convert_to_tensor(updates, self.dtype)._array
        if indices.dtype not in INDEX_DTYPES:
            raise invalid(f"{op}: indices must be int32 or int64, got {indices.dtype}")

        def changed(held: Any) -> Any:
            depth = indices.shape[-1] if indices.ndim else held.ndim + 1
            if depth > held.ndim:
                raise invalid(
                    f"{op}: the last dimension of indices {list(indices.shape)} counts coordinates, and the variable "
                    f"{self.name!r} has shape {list(held.shape)}"
                )
            wanted = indices.shape[:-1] + held.shape[depth:]
            if values.shape != wanted:
                raise invalid(
                    f"{op}: updates must have shape {list(wanted)} for these indices into the variable "
                    f"{self.name!r} of shape {list(held.shape)}, got {list(values.shape)}"
                )
            rows, table = places(op, indices, held.shape)
            array = np.array(held, order="C")  # so that the table of rows is a view of it
            combine(array.reshape(table), rows, values.reshape(rows.size, *table[1:]))
            return array

        return self._change(changed, updates)

    def scatter_add(
        self, sparse_delta: IndexedSlices, use_locking: bool = False, name: str | None = None
    ) -> Variable:
        """Adds rows; rows that repeat add up."""
        return self._scatter("scatter_add", add_rows, sparse_delta)

    def scatter_sub(
        self, sparse_delta: IndexedSlices, use_locking: bool = False, name: str | None = None
    ) -> Variable:
        """Subtracts rows."""
        return self._scatter("scatter_sub", _subtract_rows, sparse_delta)

    def scatter_mul(
        self, sparse_delta: IndexedSlices, use_locking: bool = False, name: str | None = None
    ) -> Variable:
        """Multiplies rows."""
        return self._scatter("scatter_mul", np.multiply.at, sparse_delta)

    def scatter_div(
        self, sparse_delta: IndexedSlices, use_locking: bool = False, name: str | None = None
    ) -> Variable:
        """Divides rows."""
        return self._scatter("scatter_div", np.divide.at, sparse_delta)

    def scatter_max(
        self, sparse_delta: IndexedSlices, use_locking: bool = False, name: str | None = None
    ) -> Variable:
        """Keeps the larger of the rows and the given ones."""
        return self._scatter("scatter_max", np.maximum.at, sparse_delta)

    def scatter_min(
        self, sparse_delta: IndexedSlices, use_locking: bool = False, name: str | None = None
    ) -> Variable:
        """Keeps the smaller of the rows and the given ones."""
        return self._scatter("scatter_min", np.minimum.at, sparse_delta)

    def scatter_update(
        self, sparse_delta: IndexedSlices, use_locking: bool = False, name: str | None = None
    ) -> Variable:
        """Replaces rows."""
        return self._scatter("scatter_update", _replace_rows, sparse_delta)

    def scatter_nd_add(self, indices: Any, updates: Any, name: str | None = None) -> Variable:
        """Adds to elements or slices named by coordinates."""
        return self._scatter_nd("scatter_nd_add", add_rows, indices, updates)

    def scatter_nd_sub(self, indices: Any, updates: Any, name: str | None = None) -> Variable:
        """Subtracts from elements or slices named by coordinates."""
        return self._scatter_nd("scatter_nd_sub", _subtract_rows, indices, updates)

    def scatter_nd_max(self, indices: Any, updates: Any, name: str | None = None) -> Variable:
        """Keeps the larger of the elements named by coordinates and the given ones."""
        return self._scatter_nd("scatter_nd_max", np.maximum.at, indices, updates)

    def scatter_nd_min(self, indices: Any, updates: Any, name: str | None = None) -> Variable:
        """Keeps the smaller of the elements named by coordinates and the given ones."""
        return self._scatter_nd("scatter_nd_min", np.minimum.at, indices, updates)

    def scatter_nd_update(self, indices: Any, updates: Any, name: str | None = None) -> Variable:
        """Replaces elements or slices named by coordinates."""
        return self._scatter_nd("scatter_nd_update", _replace_rows, indices, updates)

    def batch_scatter_update(
        self, sparse_delta: IndexedSlices, use_locking: bool = False, name: str | None = None
    ) -> Variable:
        """Replaces elements along the last dimension of the indices, batch by batch."""
        if not isinstance(sparse_delta, IndexedSlices):
            raise wrong_object(
                "batch_scatter_update", "sparse_delta", "tf.IndexedSlices", sparse_delta
            )
        coordinates = late.batch_coordinates(sparse_delta.indices)
        return self._scatter_nd(
            "batch_scatter_update", _replace_rows, coordinates, sparse_delta.values
        )

    def sparse_read(self, indices: Any, name: str | None = None) -> Tensor:
        """The rows at `indices`, as `tf.gather` gives them."""
        return late.gather(self, indices)

    def gather_nd(self, indices: Any, name: str | None = None) -> Tensor:
        """The elements at `indices`, as `tf.gather_nd` gives them."""
        return late.gather_nd(self, indices)


def _subtract_rows(out: Any, rows: Any, values: Any) -> None:
    add_rows(out, rows, np.negative(values))


def _replace_rows(out: Any, rows: Any, values: Any) -> None:
    out[rows] = values
