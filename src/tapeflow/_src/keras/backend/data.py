"""Batches for `fit`, `evaluate` and `predict`: Keras's data adapters, and one for `tf.data`."""

from __future__ import annotations

import functools
import sys
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from keras.src import tree
from keras.src.trainers.data_adapters import (
    array_slicing,
    data_adapter_utils,
    raise_unsupported_arg,
)
from keras.src.trainers.data_adapters.array_data_adapter import ArrayDataAdapter
from keras.src.trainers.data_adapters.data_adapter import DataAdapter
from keras.src.trainers.epoch_iterator import EpochIterator

import tapeflow as tf
from tapeflow._src.core.composites.composite import CompositeTensor
from tapeflow._src.core.context import context
from tapeflow._src.core.placement.devices import LARGE, devices
from tapeflow._src.core.placement.layouts import home_of
from tapeflow._src.core.placement.remote import RemoteTensor, to_device
from tapeflow._src.core.placement.transfers import LIBRARIES
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.core.user_lines import user_line
from tapeflow._src.data.runtime.background import PrefetchRows, stop_before_others
from tapeflow._src.data.runtime.placing import AHEAD
from tapeflow._src.data.runtime.rows import Rows
from tapeflow._src.keras.backend import replicas
from tapeflow._src.keras.backend.core import convert_to_tensor
from tapeflow._src.keras.backend.distribution_lib import (
    current_distribution,
    distribute_data_input,
    is_distributed,
)
from tapeflow._src.keras.backend.shared_data import (
    SharedBatches,
    agreed_number,
    is_shared,
    whole_batch,
)
from tapeflow._src.keras.backend.sparse.kinds import is_ragged, is_sparse_tensor
from tapeflow._src.keras.backend.sparse.libraries import of_library

Put = Callable[[Tensor, Any], Tensor]


class Batches(EpochIterator):
    """The batches of an epoch, which also takes a `tf.data.Dataset` of tapeflow."""

    def __init__(self, x: Any, y: Any = None, sample_weight: Any = None, **options: Any) -> None:
        given: Any = tree.map_structure(of_library, (x, y), none_is_leaf=False)
        x, y = given
        if _has_strings((x, y)) or any(map(_is_not_dense, tree.flatten((x, y)))):
            x, y, sample_weight = _batched(x, y, sample_weight, options), None, None
        if is_dataset(x):
            x = DatasetAdapter.of(replicas.of_worker(x), y, sample_weight, options)
            y = sample_weight = None
        super().__init__(x=x, y=y, sample_weight=sample_weight, **options)
        self.put: Put | None = None  # brings a part of a batch where the program runs
        self._last = -1  # the number of the batch that was given last
        self._count_together()

    def reset(self) -> None:
        """Begins again."""
        super().reset()
        self._count_together()

    def _count_together(self) -> None:
        if self._is_in_parts():
            self._num_batches = agreed_number(current_distribution(), self.data_adapter)

    def _is_in_parts(self) -> bool:
        """Whether each of several processes has a part of each batch."""
        distribution = current_distribution()
        if not is_shared(distribution):
            return False
        whole = isinstance(self.data_adapter, DatasetAdapter) and distribution.auto_shard_dataset
        return not whole

    def _get_iterator(self) -> Iterator[Any]:
        self._now: Any = super()._get_iterator()
        if isinstance(self.data_adapter, ArrayDataAdapter):
            self._now = replicas.in_one_order(self._now)
        if self._is_in_parts():
            shared = SharedBatches(self._now, current_distribution(), self.data_adapter)
            self._now = Ahead(shared, lambda tensor, line: tensor)
        elif self.put is not None:
            alone = isinstance(self.data_adapter, ArrayDataAdapter)
            self._now = (AheadInThread if alone else Ahead)(self._now, self.put)
        return self._now

    def __next__(self) -> tuple[int, int, list[Any]]:
        begin, self._last, data = super().__next__()
        return begin, self._last, data

    def go_ahead(self) -> None:
        """Begins to copy the next batches to the device, while it computes with those that were given last."""
        if isinstance(self._now, Ahead):
            count = self.steps_per_execution
            if self.num_batches is not None:  # not beyond the epoch
                count = min(count, self.num_batches - self._last - 1)
            self._now.go_ahead(count)


class Ahead:
    """Batches whose copies to a device begin before they are asked for.

    Nothing is read ahead but by `go_ahead`, in the thread of the program: a generator may look at the model.

    Args:
      batches: what is read.
      put: brings a tensor where it is needed; also given the user's line, if another thread copies.
    """

    def __init__(self, batches: Any, put: Put) -> None:
        self._batches = iter(batches)
        self._put = put
        self._ready: deque[Any] = deque()
        self._failure: BaseException | None = None

    def __iter__(self) -> Ahead:
        return self

    def __next__(self) -> Any:
        if self._ready:
            return self._ready.popleft()
        if self._failure is not None:
            failure, self._failure = self._failure, None
            raise failure
        return self._placed(next(self._batches))

    def go_ahead(self, count: int) -> None:
        """Reads batches until so many are ready. What goes wrong is raised where the batch is asked for."""
        try:
            while len(self._ready) < count and self._failure is None:
                self._ready.append(self._placed(next(self._batches)))
        except Exception as error:
            self._failure = error

    def _placed(self, batch: Any) -> Any:
        return _placed(batch, self._put, _as_tensor)


class AheadInThread:
    """The same for slices of arrays, which a thread takes and copies: nobody can tell when they are read.

    It begins when the first batch was given, and is large enough to be worth it.
    """

    def __init__(self, batches: Any, put: Put) -> None:
        stop_before_others()
        self._batches = _Placed(iter(batches), put)
        self._rest: Rows | None = None

    def __iter__(self) -> AheadInThread:
        return self

    def __next__(self) -> Any:
        if self._rest is not None:
            return next(self._rest)[0]
        (batch,) = next(self._batches)
        large = sum(x._array.nbytes for x in tree.flatten(batch) if x is not None) >= LARGE
        self._rest = PrefetchRows(self._batches, AHEAD) if large else self._batches
        return batch


class _Placed(Rows):
    """Batches on a device, each as a row of one."""

    def __init__(self, batches: Iterator[Any], put: Put) -> None:
        self._batches = batches
        self._put = put
        self._line = user_line(*LIBRARIES)  # of who reads: the copies are made by a thread

    def __next__(self) -> tuple[Any]:
        return (_placed(next(self._batches), self._put, _taken, self._line),)


def _taken(x: Any) -> Tensor:
    """A tensor of an array that is nobody else's, if it has memory of its own: the copy goes on after it was begun."""
    return Tensor(x) if _is_plain(x) else _as_tensor(x)


def _placed(batch: Any, put: Put, as_tensor: Callable[[Any], Tensor], line: Any = None) -> Any:
    def placed(x: Any) -> Any:
        tensor = as_tensor(x)
        return put(tensor, line) if _goes_to_devices(tensor) else tensor

    return tree.map_structure(placed, batch, none_is_leaf=False)


def _goes_to_devices(x: Any) -> bool:
    """Whether x is a tensor of numbers. Strings and sparse tensors stay on this computer."""
    return isinstance(x, Tensor) and x._array.dtype.kind != "O"


def _is_plain(x: Any) -> bool:
    """Whether x is what the array of a tensor looks like, with memory of its own."""
    return (
        type(x) is np.ndarray
        and x.flags.owndata
        and x.dtype.isnative
        and x.dtype.kind in "biuf"
        and x.dtype.itemsize <= 8  # no long doubles
    )


def way_to_program(weights: Sequence[Any], compiled: bool) -> Put | None:
    """What brings a part of a batch where a step of a model runs; None if that is this computer."""
    distribution = current_distribution()
    if distribution is not None:
        return functools.partial(whole_batch if is_shared(distribution) else _divided, distribution)
    device = _device_of_program(weights, compiled)
    return None if device is None else lambda tensor, line: to_device(tensor, device, line)


def _divided(distribution: Any, tensor: Tensor, line: Any = None) -> Tensor:
    """A tensor of a batch, or of what this process has of it, on the devices of a mesh."""
    layout = distribution.get_data_layout(tensor.shape or (1,))
    return distribute_data_input(tensor, layout, distribution.batch_dim_name)


def _device_of_program(weights: Sequence[Any], compiled: bool) -> Any:
    if context.place is not None:
        return context.place.buffers
    if not devices.may_be_used():
        return None
    values = [v.handle._value for v in weights if v.handle is not None]
    remote = [x for x in values if type(x) is RemoteTensor]
    if remote:
        return home_of(max(remote, key=lambda x: x._array.nbytes)._array.device)
    return devices.default_for(LARGE) if compiled and devices.any_accelerator() else None


def is_dataset(x: Any) -> bool:
    """Whether x is a dataset of `tf.data`, which need not be imported to know."""
    data = sys.modules.get("tapeflow.data")
    return data is not None and (isinstance(x, data.Dataset) or _is_distributed(x))


def _is_distributed(x: Any) -> bool:
    distribute = sys.modules.get("tapeflow.distribute")
    return distribute is not None and isinstance(x, distribute.DistributedDataset)


def _is_not_dense(x: Any) -> bool:
    """Whether x is a sparse or ragged tensor, which Keras's adapter for arrays cannot slice."""
    return is_sparse_tensor(x) or is_ragged(x)


def _has_strings(data: Any) -> bool:
    """Whether there are strings among arrays and tensors, which Keras's adapter for arrays cannot slice."""
    leaves = tree.flatten(data)
    kinds = [getattr(getattr(leaf, "dtype", None), "name", "") for leaf in leaves]
    return any(
        kind == "string" or kind.startswith(("str", "bytes", "object")) for kind in map(str, kinds)
    ) and not any(hasattr(leaf, "iloc") for leaf in leaves)  # pandas has its own adapter


def _batched(x: Any, y: Any, sample_weight: Any, options: dict[str, Any]) -> Any:
    """Arrays and tensors, sparse and ragged ones too, as a dataset, by the options of `fit`."""
    parts = data_adapter_utils.pack_x_y_sample_weight(x, y, sample_weight)
    data = tf.data.Dataset.from_tensor_slices(tree.map_structure(convert_to_tensor, parts))
    if options.get("shuffle"):
        data = data.shuffle(max(int(data.cardinality()), 1))
    return data.batch(options.get("batch_size") or 32)


class DatasetAdapter(DataAdapter):
    """Gives Keras the batches of a dataset."""

    def __init__(self, dataset: Any, class_weight: Any = None) -> None:
        self._dataset = dataset
        self._class_weight = class_weight

    @classmethod
    def of(
        cls, dataset: Any, y: Any, sample_weight: Any, options: dict[str, Any]
    ) -> DatasetAdapter:
        """An adapter, if the other arguments of `fit` allow it."""
        if y is not None:
            raise_unsupported_arg("y", "the targets", "tf.data.Dataset")
        if sample_weight is not None:
            raise_unsupported_arg("sample_weights", "the sample weights", "tf.data.Dataset")
        return cls(dataset, options.get("class_weight"))

    def get_numpy_iterator(self) -> Iterator[Any]:
        """The batches, as tensors.

        The dataset's iterator is made here, not with the first batch: Keras makes one at the end of each epoch which
        it does not read, and each takes a seed from a dataset that is shuffled, on TensorFlow too.
        """
        if self._class_weight is None:
            return self._batches(iter(self._dataset))
        with tf.device("CPU:0"):  # where the weights are looked up
            return self._batches(iter(self._dataset))

    def _batches(self, batches: Iterator[Any]) -> Iterator[Any]:
        in_parts = _is_distributed(self._dataset)
        for batch in batches:
            if self._class_weight is None:
                yield replicas.in_parts(batch) if in_parts else batch
            else:
                yield (
                    replicas.of_parts(self._weighted, batch) if in_parts else self._weighted(batch)
                )

    def _weighted(self, batch: Any) -> Any:
        x, y, sample_weight = data_adapter_utils.unpack_x_y_sample_weight(batch)
        if sample_weight is not None:
            raise ValueError(
                "fit: the dataset has sample weights already, so `class_weight` cannot be given, too"
            )
        weights = data_adapter_utils.class_weight_to_sample_weights(
            np.asarray(y), self._class_weight
        )
        return x, y, weights

    @property
    def num_batches(self) -> int | None:
        """How many batches there are, if that is known and finite."""
        cardinality: Any = self._dataset.cardinality
        count = int(np.asarray(cardinality() if callable(cardinality) else cardinality))
        return count if count >= 0 else None

    @property
    def batch_size(self) -> int | None:
        """The dataset decides on it."""
        return None

    @property
    def has_partial_batch(self) -> bool | None:
        """The dataset knows."""
        return None

    @property
    def partial_batch_size(self) -> int | None:
        """The dataset knows."""
        return None


def train_validation_split(arrays: Any, share: float) -> tuple[Any, Any]:
    """Arrays without their last rows, and these rows. Of what is not dense, Keras divides the numbers of the rows."""
    given: Any = tree.map_structure(of_library, arrays, none_is_leaf=False)
    whole = tree.map_structure(_row_numbers, given, none_is_leaf=False)
    split: Any = array_slicing.train_validation_split
    first, last = split(whole, validation_split=share)
    kept: Any = tree.map_structure(_rows, given, first, none_is_leaf=False)
    return kept, tree.map_structure(_rows, given, last, none_is_leaf=False)


def _row_numbers(x: Any) -> Any:
    return np.arange(x.shape[0]) if _is_not_dense(x) else x


def _rows(x: Any, part: Any) -> Any:
    """Rows of x that follow one another: some arrays, or the numbers of rows of a sparse or ragged tensor."""
    if is_ragged(x):
        return x[int(part[0]) : int(part[-1]) + 1]
    if not is_sparse_tensor(x):
        return part
    rest = x.shape[1:].as_list()
    return tf.sparse.slice(x, [int(part[0]), *[0] * len(rest)], [len(part), *rest])


def as_result(x: Any) -> Any:
    """What `predict` gives of a tensor: an array. Sparse and ragged tensors stay such."""
    return x if isinstance(x, CompositeTensor) else np.asarray(x)


def joined_results(*parts: Any) -> Any:
    """Results of several batches, arrays or tensors, as one."""
    if isinstance(parts[0], np.ndarray):
        try:
            return np.concatenate(parts)
        except ValueError:
            from tapeflow._src.keras.backend import ragged

            return ragged.joined(parts)
    return tf.sparse.concat(0, parts) if is_sparse_tensor(parts[0]) else tf.concat(parts, 0)


def as_tensors(batch: Any) -> Any:
    """A batch of arrays, tensors or numbers as tensors. Arrays are copied: they may change after the step."""
    batch = tree.map_structure(_as_tensor, batch, none_is_leaf=False)
    distribution = current_distribution()
    if distribution is None:
        return batch

    def divided(x: Any) -> Any:
        there = not _goes_to_devices(x) or is_distributed(x)
        return x if there else _divided(distribution, x)

    return tree.map_structure(divided, batch, none_is_leaf=False)


def _as_tensor(x: Any) -> Any:
    return x if getattr(x, "has_parts", False) else convert_to_tensor(of_library(x))
