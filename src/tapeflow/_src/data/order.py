"""The methods of `tf.data.Dataset` about which elements there are, in which order, and where they wait."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from tapeflow._src.core.convert import convert_to_tensor
from tapeflow._src.core.dtypes import string
from tapeflow._src.core.errors import invalid
from tapeflow._src.core.placement.devices import place_of
from tapeflow._src.data.nodes import batching, cache, extras, joining, selection, shuffling
from tapeflow._src.data.options import Options
from tapeflow._src.data.runtime import background, placing
from tapeflow._src.data.runtime.node import Node, node_of
from tapeflow._src.ops.arguments import integer

if TYPE_CHECKING:
    from tapeflow._src.data.dataset import Dataset


class Arrangement:
    """Methods for `Dataset`."""

    _node: Node
    _options: Options

    def _with(self, node: Node) -> Dataset:
        raise NotImplementedError

    def shuffle(
        self,
        buffer_size: Any,
        seed: Any = None,
        reshuffle_each_iteration: bool | None = None,
        name: str | None = None,
    ) -> Dataset:
        """Gives the elements in random order: each is drawn from the next `buffer_size` ones.

        >>> data = tf.data.Dataset.range(5).shuffle(5, seed=1)
        >>> sorted(int(x) for x in data)
        [0, 1, 2, 3, 4]

        The order follows from `seed` and from `tf.random.set_seed`. For a perfect shuffle the buffer must hold all
        elements. Where they are slices of tensors, that costs no more than a list of their numbers.

        Args:
          buffer_size: from how many elements each is drawn; `tf.data.UNKNOWN_CARDINALITY` stands for all.
          seed: an integer.
          reshuffle_each_iteration: whether the order is another one each time; True by default.
          name: accepted for compatibility.
        """
        anew = True if reshuffle_each_iteration is None else bool(reshuffle_each_iteration)
        return self._with(shuffling.Shuffle(self._node, buffer_size, seed, anew))

    def repeat(self, count: Any = None, name: str | None = None) -> Dataset:
        """Gives the elements `count` times, or without end.

        >>> [int(x) for x in tf.data.Dataset.range(2).repeat(2)]
        [0, 1, 0, 1]

        Args:
          count: how often; None or -1 for without end.
          name: accepted for compatibility.
        """
        return self._with(selection.Repeat(self._node, -1 if count is None else count))

    def take(self, count: Any, name: str | None = None) -> Dataset:
        """Gives the first `count` elements, or all if it is -1.

        >>> [int(x) for x in tf.data.Dataset.range(5).take(2)]
        [0, 1]

        Args:
          count: how many.
          name: accepted for compatibility.
        """
        return self._with(selection.Take(self._node, count))

    def skip(self, count: Any, name: str | None = None) -> Dataset:
        """Leaves out the first `count` elements, or all if it is -1.

        >>> [int(x) for x in tf.data.Dataset.range(5).skip(3)]
        [3, 4]

        Args:
          count: how many.
          name: accepted for compatibility.
        """
        return self._with(selection.Skip(self._node, count))

    def shard(self, num_shards: Any, index: Any, name: str | None = None) -> Dataset:
        """Gives every `num_shards`-th element, from number `index` on.

        >>> [int(x) for x in tf.data.Dataset.range(7).shard(3, 1)]
        [1, 4]

        Args:
          num_shards: how many parts there are.
          index: which part.
          name: accepted for compatibility.
        """
        return self._with(selection.Shard(self._node, num_shards, index))

    def enumerate(self, start: Any = 0, name: str | None = None) -> Dataset:
        """Gives pairs of a number and an element.

        >>> [(int(i), int(x)) for i, x in tf.data.Dataset.from_tensor_slices([7, 8]).enumerate(start=5)]
        [(5, 7), (6, 8)]

        Args:
          start: the first number.
          name: accepted for compatibility.
        """
        return self._with(joining.enumerated(self._node, start))

    def concatenate(self, dataset: Dataset, name: str | None = None) -> Dataset:
        """Gives the elements of this dataset, and then those of another.

        >>> [int(x) for x in tf.data.Dataset.range(2).concatenate(tf.data.Dataset.range(3))]
        [0, 1, 0, 1, 2]

        Args:
          dataset: its elements must be of the same dtypes, in the same structure.
          name: accepted for compatibility.
        """
        return self._with(
            joining.Concatenated(self._node, node_of("concatenate", "dataset", dataset))
        )

    def cache(self, filename: Any = "", name: str | None = None) -> Dataset:
        """Keeps the elements, so that all iterations after the first need not compute them again.

        They are kept when the first iteration has come to the end.

        >>> data = tf.data.Dataset.range(3).map(lambda x: x * x).cache()
        >>> [int(x) for x in data], [int(x) for x in data]
        ([0, 1, 4], [0, 1, 4])

        Args:
          filename: the beginning of the name of a file; in memory without it. The file is there for other programs
            too, until somebody deletes it.
          name: accepted for compatibility.
        """
        if not isinstance(filename, (str, os.PathLike)):
            given = convert_to_tensor(filename, string)
            if given.ndim:
                raise invalid(f"Dataset.cache: filename must be a scalar, got shape {given.shape}")
            filename = os.fsdecode(given.numpy())
        if not os.fspath(filename):
            return self._with(cache.MemoryCache(self._node))
        return self._with(cache.FileCache(self._node, os.fspath(filename)))

    def prefetch(self, buffer_size: Any, name: str | None = None) -> Dataset:
        """Reads elements ahead in a thread, while the program does something else.

        >>> [int(x) for x in tf.data.Dataset.range(3).prefetch(tf.data.AUTOTUNE)]
        [0, 1, 2]

        Args:
          buffer_size: how many elements to read ahead; `tf.data.AUTOTUNE` leaves that to us.
          name: accepted for compatibility.
        """
        size = integer("Dataset.prefetch", "buffer_size", buffer_size)
        if size < -1:
            raise invalid(
                f"Dataset.prefetch: buffer_size must be >= 0, or -1 for auto-tuning, got {size}"
            )
        return self._with(extras.Prefetch(self._node, background.PREFETCHED if size < 0 else size))

    def prefetch_to_device(self, device: Any, buffer_size: Any = None) -> Dataset:
        """Puts elements on a device ahead of time, while the program computes with those before them.

        >>> data = tf.data.Dataset.range(3).batch(2).prefetch_to_device("/CPU:0")
        >>> [x.numpy().tolist() for x in data]
        [[0, 1], [2]]

        It is meant for the end of a pipeline. What comes after it, and looks at the elements, runs on this computer.
        Strings stay there, too. In a scope, `with tf.device(device)`, all datasets are read like this.

        Args:
          device: the name of a device, such as `"GPU:0"`.
          buffer_size: how many elements to put there ahead of time; by default, or `tf.data.AUTOTUNE`, two.
        """
        op = "Dataset.prefetch_to_device"
        place = place_of(op, device)
        size = -1 if buffer_size is None else integer(op, "buffer_size", buffer_size)
        if size < -1:
            raise invalid(f"{op}: buffer_size must be >= 0, or -1 for auto-tuning, got {size}")
        if place is None:
            return self.prefetch(size)
        return self._with(extras.ToDevice(self._node, place, placing.AHEAD if size < 0 else size))

    def rebatch(
        self, batch_size: Any, drop_remainder: bool = False, name: str | None = None
    ) -> Dataset:
        """Makes batches of another size.

        >>> [x.numpy().tolist() for x in tf.data.Dataset.range(4).batch(2).rebatch(3)]
        [[0, 1, 2], [3]]

        Args:
          batch_size: how many elements.
          drop_remainder: whether to leave out a last batch that is smaller.
          name: accepted for compatibility.
        """
        return self._with(batching.Batch(batching.Unbatch(self._node), batch_size, drop_remainder))

    def unique(self, name: str | None = None) -> Dataset:
        """Leaves out elements that were there before.

        >>> [int(x) for x in tf.data.Dataset.from_tensor_slices([1, 2, 1]).unique()]
        [1, 2]

        Args:
          name: accepted for compatibility.
        """
        return self._with(extras.Unique(self._node))

    def ignore_errors(self, log_warning: bool = False, name: str | None = None) -> Dataset:
        """Leaves out elements whose computation raises an exception.

        >>> data = tf.data.Dataset.from_tensor_slices([1.0, 0.0, 4.0])
        >>> data = data.map(lambda x: tf.debugging.check_numerics(1.0 / x, "inf"))
        >>> [float(x) for x in data.ignore_errors()]
        [1.0, 0.25]

        Args:
          log_warning: whether to log what was raised.
          name: accepted for compatibility.
        """
        return self._with(extras.IgnoreErrors(self._node, log_warning))

    def bucket_by_sequence_length(
        self,
        element_length_func: Callable[..., Any],
        bucket_boundaries: Sequence[int],
        bucket_batch_sizes: Sequence[int],
        padded_shapes: Any = None,
        padding_values: Any = None,
        pad_to_bucket_boundary: bool = False,
        no_padding: bool = False,
        drop_remainder: bool = False,
        name: str | None = None,
    ) -> Dataset:
        """Batches elements of similar length, padded.

        >>> data = tf.data.Dataset.range(1, 5).map(lambda n: tf.fill([n], n))
        >>> data = data.bucket_by_sequence_length(lambda x: tf.shape(x)[0], [3], [2, 2])
        >>> [x.numpy().tolist() for x in data]
        [[[1, 0], [2, 2]], [[3, 3, 3, 0], [4, 4, 4, 4]]]

        Args:
          element_length_func: a function from an element to its length, an int32.
          bucket_boundaries: at which lengths another bucket begins.
          bucket_batch_sizes: the batch size of each bucket: one more than there are boundaries.
          padded_shapes: see `padded_batch`.
          padding_values: see `padded_batch`.
          pad_to_bucket_boundary: whether to pad to the length of the bucket, not to that of its longest element.
          no_padding: whether all elements of a bucket have the same shape already.
          drop_remainder: whether to leave out last batches that are smaller.
          name: accepted for compatibility.
        """
        return extras.bucketed(
            self,
            element_length_func,
            bucket_boundaries,
            bucket_batch_sizes,
            padded_shapes,
            padding_values,
            pad_to_bucket_boundary,
            no_padding,
            drop_remainder,
        )

    def with_options(self, options: Options, name: str | None = None) -> Dataset:
        """Gives the same dataset with options.

        >>> options = tf.data.Options()
        >>> options.deterministic = True
        >>> tf.data.Dataset.range(3).with_options(options).options().deterministic
        True

        Args:
          options: a `tf.data.Options`.
          name: accepted for compatibility.
        """
        result = self._with(self._node)
        result._options = self._options.merge(options)
        return result

    def options(self) -> Options:
        """Gives the options of the dataset.

        >>> tf.data.Dataset.range(3).options().deterministic is None
        True
        """
        return self._options
