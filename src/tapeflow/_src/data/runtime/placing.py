"""Elements that are put on a device before they are asked for.

A pipeline runs on this computer. Where its elements are to be on a device, because the dataset says so
(`Dataset.prefetch_to_device`) or the scope it is read in (`tf.device`), the copies are made at its very end: a thread
reads ahead and begins them, while the program computes with the element before.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from tapeflow._src.core import nest
from tapeflow._src.core.composites.composite import CompositeTensor
from tapeflow._src.core.context import context
from tapeflow._src.core.placement.devices import Place, devices
from tapeflow._src.core.placement.remote import to_device
from tapeflow._src.core.placement.transfers import LIBRARIES
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.core.user_lines import user_line
from tapeflow._src.data.runtime.background import PrefetchRows, stop_before_others
from tapeflow._src.data.runtime.node import Node
from tapeflow._src.data.runtime.rows import Row, Rows
from tapeflow._src.data.specs import box

AHEAD = 2  # elements, where nobody says how many: one that is there, and one that is on its way


class Destination(NamedTuple):
    """Where elements go.

    Attributes:
      device: the device of jax's for a component of so many bytes; None is this computer.
      ahead: how many elements are put there before they are asked for.
      large_only: whether it depends on the size.
    """

    device: Callable[[int], Any]
    ahead: int = AHEAD
    large_only: bool = False


def destination_of(node: Node) -> Destination | None:
    """Where the elements of a dataset go that is read here and now; None if they stay."""
    if node.destination is not None:
        place, ahead = node.destination
        return None if place.buffers is None else _at(place, ahead)
    place = context.place
    if place is not None:
        return None if place.buffers is None else _at(place, AHEAD)
    if not devices.may_be_used() or not devices.any_accelerator() or devices.policy == "cpu":
        return None
    return Destination(devices.default_for, large_only=devices.policy == "large")


def _at(place: Place, ahead: int) -> Destination:
    return Destination(lambda _: place.buffers, ahead)


class PlacedRow(tuple[Any, ...]):
    """A row whose components are tensors already, on their device.

    Attributes:
      host: the same as it came from the pipeline.
    """

    host: Row


class UploadedRows(Rows):
    """Rows whose copies to a device have begun."""

    def __init__(self, source: Rows, destination: Destination) -> None:
        self._source = source
        self._device = destination.device
        self._line = user_line(*LIBRARIES)  # of who reads: the copies are made by a thread

    def __next__(self) -> Row:
        return self.placed(next(self._source))

    def placed(self, row: Row) -> Row:
        """A row on its device. What cannot be there, as strings, stays."""
        found = PlacedRow([self._put(x) if hasattr(x, "dtype") else x for x in row])
        found.host = row
        return found

    def _put(self, array: Any) -> Any:
        if array.dtype.hasobject:
            boxed = array[()] if array.ndim == 0 else None
            if isinstance(boxed, (CompositeTensor, Tensor)):
                return self._put_parts(boxed)
            return Tensor(array)  # of strings, which stay here
        device = self._device(array.nbytes)
        tensor = Tensor(array)
        return tensor if device is None else to_device(tensor, device, self._line)

    def _put_parts(self, value: Any) -> Any:
        """A composite tensor, or a row of a ragged one, with its components on the device."""
        parts = nest.flatten(value, expand_composites=True)
        there = [self._put(np.asarray(part)) for part in parts]
        return box(nest.pack_sequence_as(value, there, expand_composites=True))

    def skip(self, n: int) -> int:
        """Without copying anything."""
        return self._source.skip(n)


class LargeRows(UploadedRows):
    """The same, if the first row has a component that is large enough. Others are not worth a thread."""

    def __init__(self, source: Rows, destination: Destination) -> None:
        super().__init__(source, destination)
        self._ahead = destination.ahead
        self._rest: Rows | None = None

    def __next__(self) -> Row:
        if self._rest is not None:
            return next(self._rest)
        row = next(self._source)
        found = self.placed(row)
        if any(isinstance(x, Tensor) and type(x) is not Tensor for x in found):
            self._rest = PrefetchRows(
                UploadedRows(self._source, Destination(self._device)), self._ahead
            )
        else:
            self._rest = self._source
        return found


def placed(source: Rows, destination: Destination) -> Rows:
    """The rows of a pipeline on their device, before they are asked for."""
    stop_before_others()
    if destination.large_only:
        return LargeRows(source, destination)
    rows = UploadedRows(source, destination)
    return rows if destination.ahead == 0 else PrefetchRows(rows, destination.ahead)
