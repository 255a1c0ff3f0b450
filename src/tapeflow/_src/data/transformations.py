"""The methods of `tf.data.Dataset` that apply the user's functions, or put elements together and apart."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from tapeflow._src.core import dtypes, nest
from tapeflow._src.core.context import context
from tapeflow._src.core.errors import TracingError
from tapeflow._src.core.export import export_value
from tapeflow._src.core.placement.remote import placed
from tapeflow._src.data import in_function
from tapeflow._src.data.nodes import batching, mapping, mixing, windows
from tapeflow._src.data.nodes.composites import SparseBatch
from tapeflow._src.data.options import Options
from tapeflow._src.data.resampling import resampled
from tapeflow._src.data.runtime import background
from tapeflow._src.data.runtime.node import Node, Run
from tapeflow._src.data.specs import packer
from tapeflow._src.ops.arguments import integer

if TYPE_CHECKING:
    from tapeflow._src.data.dataset import Dataset

AUTOTUNE = mapping.AUTOTUNE


class Transformations:
    """Methods for `Dataset`."""

    _node: Node
    _options: Options

    def _with(self, node: Node) -> Dataset:
        raise NotImplementedError

    def __tf_iterate__(self) -> in_function.Loop:
        raise NotImplementedError

    def map(
        self,
        map_func: Callable[..., Any],
        num_parallel_calls: Any = None,
        deterministic: bool | None = None,
        synchronous: bool | None = None,
        use_unbounded_threadpool: bool | None = None,
        name: str | None = None,
    ) -> Dataset:
        """Applies a function to each element.

        The function is traced once, as `tf.function` does. An element that is a tuple becomes several arguments.

        >>> list(tf.data.Dataset.range(3).map(lambda x: x * x).as_numpy_iterator())
        [np.int64(0), np.int64(1), np.int64(4)]

        Args:
          map_func: the function.
          num_parallel_calls: how many threads to use; `tf.data.AUTOTUNE` uses them if the function is slow enough.
          deterministic: whether parallel calls keep the order of the elements. By default the options decide.
          synchronous: accepted for compatibility.
          use_unbounded_threadpool: accepted for compatibility.
          name: accepted for compatibility.
        """
        calls = None
        if num_parallel_calls is not None:
            calls = integer("Dataset.map", "num_parallel_calls", num_parallel_calls)
        if calls is not None and calls < 1 and calls != AUTOTUNE:
            raise _too_few_calls("map", calls)
        if deterministic is None:
            deterministic = self._options.deterministic is not False
        return self._with(mapping.Map(self._node, map_func, calls, deterministic))

    def filter(self, predicate: Callable[..., Any], name: str | None = None) -> Dataset:
        """Keeps the elements for which a predicate holds.

        >>> list(tf.data.Dataset.range(5).filter(lambda x: x % 2 == 0).as_numpy_iterator())
        [np.int64(0), np.int64(2), np.int64(4)]

        Args:
          predicate: a function that returns a scalar bool.
          name: accepted for compatibility.
        """
        return self._with(mapping.Filter(self._node, predicate))

    def take_while(self, predicate: Callable[..., Any], name: str | None = None) -> Dataset:
        """Ends before the first element for which a predicate does not hold.

        >>> list(tf.data.Dataset.range(9).take_while(lambda x: x < 2).as_numpy_iterator())
        [np.int64(0), np.int64(1)]

        Args:
          predicate: a function that returns a scalar bool.
          name: accepted for compatibility.
        """
        return self._with(mapping.TakeWhile(self._node, predicate, "take_while"))

    def scan(
        self, initial_state: Any, scan_func: Callable[..., Any], name: str | None = None
    ) -> Dataset:
        """Applies a function to a state and each element; it returns the next state and an element.

        >>> totals = tf.data.Dataset.range(1, 4).scan(tf.constant(0, tf.int64), lambda s, x: (s + x, s + x))
        >>> list(totals.as_numpy_iterator())
        [np.int64(1), np.int64(3), np.int64(6)]

        Args:
          initial_state: a structure of tensors.
          scan_func: takes a state and an element, and returns a state and an element.
          name: accepted for compatibility.
        """
        return self._with(mapping.Scan(self._node, initial_state, scan_func))

    def reduce(
        self, initial_state: Any, reduce_func: Callable[..., Any], name: str | None = None
    ) -> Any:
        """Goes through all elements, and gives the last state.

        >>> tf.data.Dataset.range(5).reduce(tf.constant(0, tf.int64), lambda s, x: s + x).numpy()
        np.int64(10)

        Args:
          initial_state: a structure of tensors.
          reduce_func: takes a state and an element, and returns the next state.
          name: accepted for compatibility.
        """
        if context.tracer is not None:
            return in_function.reduce(self.__tf_iterate__(), initial_state, reduce_func)
        function = mapping.StateFunction(reduce_func, initial_state, self._node.spec, "reduce")
        state, run = function.first, Run(self._node)
        call = function.call.within(run)
        for row in self._node.rows(run):
            state = call((*state, *row))
        result = packer(function.state_spec)(state)
        return nest.map_structure(placed, result, expand_composites=True)

    def flat_map(self, map_func: Callable[..., Any], name: str | None = None) -> Dataset:
        """Makes a dataset of each element, and gives their elements, one dataset after the other.

        >>> data = tf.data.Dataset.from_tensor_slices([[1, 2], [3, 4]])
        >>> list(data.flat_map(tf.data.Dataset.from_tensor_slices).as_numpy_iterator())
        [np.int32(1), np.int32(2), np.int32(3), np.int32(4)]

        Args:
          map_func: a function from an element to a dataset.
          name: accepted for compatibility.
        """
        return self._with(mapping.FlatMap(self._node, map_func))

    def interleave(
        self,
        map_func: Callable[..., Any],
        cycle_length: Any = None,
        block_length: Any = None,
        num_parallel_calls: Any = None,
        deterministic: bool | None = None,
        name: str | None = None,
    ) -> Dataset:
        """Makes a dataset of each element, and gives the elements of several of them in turn.

        >>> data = tf.data.Dataset.range(1, 4).interleave(
        ...     lambda x: tf.data.Dataset.from_tensors(x).repeat(2), cycle_length=2)
        >>> [int(x) for x in data]
        [1, 2, 1, 2, 3, 3]

        Args:
          map_func: a function from an element to a dataset.
          cycle_length: how many datasets are read in turn; by default as many as there are processors.
          block_length: how many elements of one are read before it is the turn of the next; 1 by default.
          num_parallel_calls: more than 1 reads each dataset ahead in a thread of its own.
          deterministic: accepted for compatibility: the order is always the same.
          name: accepted for compatibility.
        """
        op = "Dataset.interleave"
        cycle = AUTOTUNE if cycle_length is None else integer(op, "cycle_length", cycle_length)
        cycle = background.cores() if cycle == AUTOTUNE else cycle
        block = 1 if block_length is None else integer(op, "block_length", block_length)
        threads = False
        if num_parallel_calls is not None:
            calls = integer(op, "num_parallel_calls", num_parallel_calls)
            if calls < 1 and calls != AUTOTUNE:
                raise _too_few_calls("interleave", calls)
            threads = calls > 1
        return self._with(
            mapping.FlatMap(self._node, map_func, "interleave", cycle, block, threads)
        )

    def batch(
        self,
        batch_size: Any,
        drop_remainder: bool = False,
        num_parallel_calls: Any = None,
        deterministic: bool | None = None,
        name: str | None = None,
    ) -> Dataset:
        """Puts `batch_size` elements into one, along a new first dimension.

        >>> [x.numpy().tolist() for x in tf.data.Dataset.range(5).batch(2)]
        [[0, 1], [2, 3], [4]]

        Args:
          batch_size: how many elements.
          drop_remainder: whether to leave out a last batch that is smaller.
          num_parallel_calls: accepted for compatibility.
          deterministic: accepted for compatibility.
          name: accepted for compatibility.
        """
        return self._with(batching.Batch(self._node, batch_size, drop_remainder))

    def ragged_batch(
        self,
        batch_size: Any,
        drop_remainder: bool = False,
        row_splits_dtype: Any = dtypes.int64,
        name: str | None = None,
    ) -> Dataset:
        """Batches elements of different shapes, as ragged tensors.

        >>> data = tf.data.Dataset.range(4).map(lambda n: tf.range(n))
        >>> list(data.ragged_batch(2))
        [<tf.RaggedTensor [[], [0]]>, <tf.RaggedTensor [[0, 1], [0, 1, 2]]>]

        Args:
          batch_size: how many elements.
          drop_remainder: whether to leave out a last batch that is smaller.
          row_splits_dtype: int32 or int64.
          name: accepted for compatibility.
        """
        node = batching.RaggedBatch(self._node, batch_size, drop_remainder, row_splits_dtype)
        return self._with(node)

    def sparse_batch(self, batch_size: Any, row_shape: Any, name: str | None = None) -> Dataset:
        """Batches elements of different shapes, as sparse tensors that hold all of their elements.

        >>> data = tf.data.Dataset.range(3).map(lambda n: tf.range(n))
        >>> [tf.sparse.to_dense(x).numpy().tolist() for x in data.sparse_batch(2, row_shape=[2])]
        [[[0, 0], [0, 0]], [[0, 1]]]

        Args:
          batch_size: how many elements.
          row_shape: of a row of the batch, which no element may exceed. None or -1 stands for the largest size.
          name: accepted for compatibility.
        """
        return self._with(SparseBatch(self._node, batch_size, row_shape))

    def padded_batch(
        self,
        batch_size: Any,
        padded_shapes: Any = None,
        padding_values: Any = None,
        drop_remainder: bool = False,
        name: str | None = None,
    ) -> Dataset:
        """Batches elements of different shapes, padded at the end of each dimension.

        >>> data = tf.data.Dataset.range(1, 4).map(lambda n: tf.fill([n], n))
        >>> [x.numpy().tolist() for x in data.padded_batch(3)]
        [[[1, 0, 0], [2, 2, 0], [3, 3, 3]]]

        Args:
          batch_size: how many elements.
          padded_shapes: a shape for each component; None or -1 stands for the largest size in the batch.
          padding_values: what to pad with: a value for each component, or one for all. By default 0 or "".
          drop_remainder: whether to leave out a last batch that is smaller.
          name: accepted for compatibility.
        """
        return self._with(
            batching.PaddedBatch(
                self._node, batch_size, padded_shapes, padding_values, drop_remainder
            )
        )

    def unbatch(self, name: str | None = None) -> Dataset:
        """Takes elements apart along their first dimension.

        >>> [int(x) for x in tf.data.Dataset.from_tensors([1, 2, 3]).unbatch()]
        [1, 2, 3]

        Args:
          name: accepted for compatibility.
        """
        return self._with(batching.Unbatch(self._node))

    def window(
        self,
        size: Any,
        shift: Any = None,
        stride: Any = 1,
        drop_remainder: bool = False,
        name: str | None = None,
    ) -> Dataset:
        """Gives windows of elements, each as a dataset.

        >>> windows = tf.data.Dataset.range(4).window(2, shift=1, drop_remainder=True)
        >>> [x.numpy().tolist() for x in windows.flat_map(lambda w: w.batch(2))]
        [[0, 1], [1, 2], [2, 3]]

        Args:
          size: how many elements are in a window.
          shift: how far each window is from the one before; `size` by default.
          stride: how far the elements of a window are apart.
          drop_remainder: whether to leave out last windows that are smaller.
          name: accepted for compatibility.
        """
        return self._with(windows.Window(self._node, size, shift, stride, drop_remainder))

    def group_by_window(
        self,
        key_func: Callable[..., Any],
        reduce_func: Callable[..., Any],
        window_size: Any = None,
        window_size_func: Callable[..., Any] | None = None,
        name: str | None = None,
    ) -> Dataset:
        """Groups elements by a key, and makes a dataset of each group that is full.

        >>> data = tf.data.Dataset.range(6).group_by_window(
        ...     lambda x: x % 2, lambda key, group: group.batch(3), window_size=3)
        >>> [x.numpy().tolist() for x in data]
        [[0, 2, 4], [1, 3, 5]]

        Args:
          key_func: a function from an element to a scalar int64.
          reduce_func: a function from a key and a dataset to a dataset.
          window_size: how many elements make a group.
          window_size_func: a function from a key to that number, instead.
          name: accepted for compatibility.
        """
        if (window_size is None) == (window_size_func is None):
            raise ValueError(
                "Exactly one of the `window_size` and `window_size_func` arguments must be provided."
            )
        size = window_size_func or (lambda key: window_size)
        return self._with(mixing.GroupByWindow(self._node, key_func, reduce_func, size))

    def rejection_resample(
        self,
        class_func: Callable[..., Any],
        target_dist: Any,
        initial_dist: Any = None,
        seed: Any = None,
        name: str | None = None,
    ) -> Dataset:
        """Leaves elements out by chance, so that their classes come as often as is wanted.

        >>> data = tf.data.Dataset.range(1000).map(lambda x: tf.cast(x % 10 == 0, tf.int32))
        >>> data = data.rejection_resample(lambda x: x, [0.5, 0.5], [0.9, 0.1], seed=1)
        >>> classes = [int(c) for c, x in data]
        >>> 0.3 < sum(classes) / len(classes) < 0.7
        True

        Args:
          class_func: a function from an element to its class, a scalar int32.
          target_dist: how often each class is to come: numbers whose sum is 1.
          initial_dist: how often each class comes; by default that is estimated meanwhile.
          seed: an integer.
          name: accepted for compatibility.

        Returns:
          A dataset of pairs of a class and an element.
        """
        return resampled(self, class_func, target_dist, initial_dist, seed)  # pyright: ignore[reportArgumentType]

    def apply(self, transformation_func: Callable[[Any], Any], name: str | None = None) -> Dataset:
        """Gives what a function makes of this dataset.

        >>> tf.data.Dataset.range(5).apply(lambda data: data.take(2)).cardinality().numpy()
        np.int64(2)

        Args:
          transformation_func: a function from a dataset to a dataset.
          name: accepted for compatibility.
        """
        result = transformation_func(self)
        if not isinstance(result, Transformations):
            raise TypeError(
                f"`transformation_func` must return a `tf.data.Dataset` object. Got {type(result)}."
            )
        return result  # pyright: ignore[reportReturnType]


export_value("AUTOTUNE", "data.AUTOTUNE", "data.experimental.AUTOTUNE")


def _too_few_calls(op: str, calls: int) -> TracingError:
    return TracingError(
        None,
        None,
        f"Dataset.{op}: num_parallel_calls must be greater than zero, or tf.data.AUTOTUNE, got {calls}",
    )
