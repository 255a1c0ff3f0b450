"""Batches of several processes, of which each has a part.

What the processes have need not be equal: the last batch may be smaller in one of them, or it may have no more when
others still do. A batch is then put together from what there is, and each device computes all of it: the result is that
of the whole batch on one device.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from keras.src import tree
from keras.src.trainers.data_adapters.array_data_adapter import ArrayDataAdapter

from tapeflow._src.core.errors import AbortedError
from tapeflow._src.core.placement.devices import devices
from tapeflow._src.core.placement.remote import RemoteTensor
from tapeflow._src.core.system.loading import loaded
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.keras.backend.core import convert_to_tensor

_FAILED = -1  # rows


def is_shared(distribution: Any) -> bool:
    """Whether the batches of a distribution are those of several processes."""
    return distribution is not None and distribution.num_processes > 1


def agreed_number(distribution: Any, adapter: Any) -> int | None:
    """How many batches an epoch has: those of the process that has the most; None if one does not know."""
    counts = _agree(distribution, -1 if adapter.num_batches is None else adapter.num_batches)
    return None if (counts < 0).any() else int(counts.max())


class SharedBatches:
    """The parts of this process, put together with those of the others.

    Args:
      batches: the parts, in any structure.
      distribution: of Keras.
      adapter: what the parts come from. If it knows their sizes, and they are the same in all processes, nothing has to
        be asked at each of them.
    """

    def __init__(self, batches: Any, distribution: Any, adapter: Any) -> None:
        self._batches: Iterator[Any] = iter(batches)
        self._distribution = distribution
        found = _agree(distribution, *_sizes(adapter))
        self._asks = bool((found < 0).any() or (found != found[0]).any())
        self._last: Any = None  # an empty part

    def __iter__(self) -> SharedBatches:
        return self

    def __next__(self) -> Any:
        if not self._asks:
            return self._divided(next(self._batches), None)
        part, failure = None, None
        try:
            part = next(self._batches)
        except StopIteration:
            pass
        except Exception as error:
            failure = error
        if part is not None:
            part = tree.map_structure(np.asarray, part, none_is_leaf=False)
        rows = _FAILED if failure is not None else 0 if part is None else _rows(part)
        counts = _agree(self._distribution, rows)[:, 0]
        if failure is not None:
            raise failure
        if (counts == _FAILED).any():
            raise AbortedError(
                None,
                None,
                f"fit: process {int(np.argmax(counts == _FAILED))} failed while it read a batch; see its own error",
            )
        if not counts.any():
            raise StopIteration
        if part is None:
            part = self._last
        if part is None:
            raise ValueError(
                "fit: this process has no data, and others do. Each process must have at least one batch, so that it "
                "knows what a batch is."
            )
        self._last = tree.map_structure(lambda x: x[:0], part, none_is_leaf=False)
        return self._divided(part, counts)

    def _divided(self, part: Any, counts: np.ndarray | None) -> Any:
        return tree.map_structure(
            lambda x: _put_together(x, self._distribution, counts), part, none_is_leaf=False
        )


def _sizes(adapter: Any) -> tuple[int, int, int]:
    """How many batches an adapter of Keras has, how large they are, and the last one; negative if it is not known."""
    if not isinstance(adapter, ArrayDataAdapter):
        return -1, -1, -1
    return adapter.num_batches, adapter.batch_size, adapter.partial_batch_size or 0


def whole_batch(distribution: Any, tensor: Tensor, line: Any = None) -> Tensor:
    """A batch of which each process has all: each puts on its devices what belongs there."""
    layout = distribution.get_data_layout(tuple(tensor.shape) or (1,)).backend_layout
    return RemoteTensor(devices.engine.put(np.asarray(tensor), layout))


def _put_together(part: Any, distribution: Any, counts: np.ndarray | None) -> Any:
    sharding = _sharding()
    array = np.asarray(convert_to_tensor(part))
    if array.dtype.kind == "O":
        raise ValueError("fit: strings cannot be on several devices. Map them to numbers before.")
    layout = distribution.get_data_layout(array.shape or (1,)).backend_layout
    if not array.ndim:
        return RemoteTensor(devices.engine.put(array, layout))
    if counts is None or (counts == counts[0]).all():
        return RemoteTensor(sharding.put_part(array, layout, _shards(distribution)))
    padded = np.zeros((counts.max(), *array.shape[1:]), array.dtype)
    padded[: len(array)] = array
    parts = sharding.of_all_processes(padded[None])
    chosen = [parts[i][: counts[i]] for i in _shards(distribution)]
    return RemoteTensor(devices.engine.put(np.concatenate(chosen), layout))


def _shards(distribution: Any) -> list[int]:
    """For each part of a batch the first process that has it: with few replicas, several have the same."""
    count = distribution.num_processes
    return list(range(0, count, max(1, count // distribution.num_model_replicas)))


def _rows(part: Any) -> int:
    return max((len(x) for x in tree.flatten(part) if x is not None and x.ndim), default=1)


def _agree(distribution: Any, *numbers: int) -> np.ndarray:
    """What each process says, a row for each."""
    return _sharding().of_all_processes(np.array([numbers], np.int64))


def _sharding() -> Any:
    return loaded("tapeflow._src.engines.xla.sharding")
