"""The methods of `tf.data.Dataset` about files: which there are, and datasets that are saved in them."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from tapeflow._src.core.context import context
from tapeflow._src.core.dtypes import int64
from tapeflow._src.core.errors import OnlyEagerlyError, invalid
from tapeflow._src.core.spec import TensorSpec
from tapeflow._src.data.nodes.saved import Folder, Shard, Sharding, Snapshot
from tapeflow._src.data.nodes.shuffling import Shuffle
from tapeflow._src.data.nodes.sources import Listed, Slices
from tapeflow._src.data.options import Options
from tapeflow._src.data.runtime import background
from tapeflow._src.data.runtime.functions import ElementFunction, arguments
from tapeflow._src.data.runtime.node import Node, Run
from tapeflow._src.data.specs import DatasetSpec
from tapeflow._src.io.files import matching_files
from tapeflow._src.ops.array.shaping import shape
from tapeflow._src.ops.elementwise.arithmetic import maximum

if TYPE_CHECKING:
    from tapeflow._src.data.dataset import Dataset


class Storing:
    """Methods for `Dataset`."""

    _node: Node
    _options: Options

    def _with(self, node: Node) -> Dataset:
        raise NotImplementedError

    @staticmethod
    def list_files(
        file_pattern: Any, shuffle: bool | None = None, seed: Any = None, name: str | None = None
    ) -> Dataset:
        """Gives the names of the files that match a pattern, or one of several.

        >>> import tempfile
        >>> folder = tempfile.mkdtemp()
        >>> for number in range(2):
        ...     tf.io.write_file(f"{folder}/{number}.txt", "")
        >>> data = tf.data.Dataset.list_files(folder + "/*.txt", shuffle=False)
        >>> [name.numpy()[-5:] for name in data]
        [b'0.txt', b'1.txt']

        Args:
          file_pattern: a text with `*`, `?` and `[...]`, or a vector of them.
          shuffle: whether the names come in random order, another one each time; True by default.
          seed: an integer, from which the order follows.
          name: accepted for compatibility.

        Raises:
          tf.errors.InvalidArgumentError: if there are none.
        """
        from tapeflow._src.data.dataset import Dataset

        if isinstance(file_pattern, (list, tuple)):
            file_pattern = [os.fspath(p) if isinstance(p, os.PathLike) else p for p in file_pattern]
        found = matching_files(file_pattern)
        if not found.symbolic and not found.shape[0]:
            raise invalid(f"No files matched pattern: {file_pattern}")
        node: Node = Slices(found)
        if shuffle or shuffle is None:
            node = Shuffle(node, maximum(shape(found, int64)[0], 1), seed, True)
        return Dataset(node)

    def save(
        self,
        path: Any,
        compression: Any = None,
        shard_func: Callable[..., Any] | None = None,
        checkpoint_args: Any = None,
    ) -> None:
        """Writes all elements to a folder, from which `tf.data.Dataset.load` reads them.

        >>> import tempfile
        >>> path = tempfile.mkdtemp() + "/numbers"
        >>> tf.data.Dataset.range(3).save(path)
        >>> [int(x) for x in tf.data.Dataset.load(path)]
        [0, 1, 2]

        The format is tapeflow's own. A folder is complete when all has been written.

        Args:
          path: of the folder.
          compression: accepted for compatibility: files are as large as the elements.
          shard_func: a function from an element to the number of the file it is written to; all to one by default.
          checkpoint_args: must be None.
        """
        if checkpoint_args is not None:
            raise invalid("Dataset.save: checkpoint_args is not supported: save the whole dataset")
        if context.tracer is not None:
            raise OnlyEagerlyError("Dataset.save only works eagerly, outside of tf.function.")
        spec = self._node.spec
        function = _shard_function("save", shard_func, spec)
        sharding = Sharding(Folder(path), spec, function)
        for row in self._node.rows(Run(self._node)):
            sharding.write(row)
        sharding.finish()

    @staticmethod
    def load(
        path: Any,
        element_spec: Any = None,
        compression: Any = None,
        reader_func: Callable[[Dataset], Dataset] | None = None,
        wait: bool = False,
    ) -> Dataset:
        """Gives the elements that `Dataset.save` has written.

        >>> import tempfile
        >>> path = tempfile.mkdtemp() + "/numbers"
        >>> tf.data.Dataset.range(4).save(path, shard_func=lambda x: x % 2)
        >>> one_by_one = lambda shards: shards.flat_map(lambda shard: shard)
        >>> [int(x) for x in tf.data.Dataset.load(path, reader_func=one_by_one)]
        [0, 2, 1, 3]

        Args:
          path: of the folder.
          element_spec: what the elements are like; it must fit what was written.
          compression: accepted for compatibility.
          reader_func: a function from a dataset of datasets, one for each shard, to the dataset of elements; by default
            shards are read in turn.
          wait: accepted for compatibility: a folder that is not complete is an error.
        """
        from tapeflow._src.data.dataset import Dataset

        folder = Folder(path)
        written, counts = folder.read()
        if element_spec is not None and not DatasetSpec(element_spec).is_compatible_with(
            DatasetSpec(written)
        ):
            raise invalid(
                f"Dataset.load: the elements in {folder.path} are {written}, and element_spec is {element_spec}"
            )
        return Dataset(_loaded(folder, written, counts, reader_func))

    def snapshot(
        self,
        path: Any,
        compression: Any = "AUTO",
        reader_func: Callable[[Dataset], Dataset] | None = None,
        shard_func: Callable[..., Any] | None = None,
        name: str | None = None,
    ) -> Dataset:
        """Writes elements to a folder in the first iteration, and reads them from there in all others.

        They are there for other programs, too, once an iteration has come to the end.

        >>> import tempfile
        >>> data = tf.data.Dataset.range(3).map(lambda x: x * x).snapshot(tempfile.mkdtemp() + "/squares")
        >>> [int(x) for x in data], [int(x) for x in data]
        ([0, 1, 4], [0, 1, 4])

        Args:
          path: of the folder.
          compression: accepted for compatibility.
          reader_func: see `load`.
          shard_func: see `save`.
          name: accepted for compatibility.
        """
        spec = self._node.spec
        function = _shard_function("snapshot", shard_func, spec)

        def loaded() -> Node:
            return _loaded(Folder(path), *Folder(path).read(), reader_func)

        return self._with(Snapshot(self._node, path, function, loaded))


def _shard_function(op: str, function: Any, spec: Any) -> ElementFunction | None:
    if function is None:
        return None
    made = ElementFunction(function, arguments(spec), op)
    found = made._spec
    if not (
        isinstance(found, TensorSpec) and found.dtype.is_integer and found.shape.rank in (0, None)
    ):
        raise TypeError(f"Dataset.{op}: shard_func must return a scalar integer, got {found}")
    return made


def _loaded(folder: Folder, spec: Any, counts: list[int], reader: Any) -> Node:
    from tapeflow._src.data.dataset import Dataset

    nodes = [Shard(folder.shard(number), spec, count) for number, count in enumerate(counts)]
    if len(nodes) == 1 and reader is None:
        return nodes[0]
    shards = Dataset(Listed([(node,) for node in nodes], DatasetSpec(spec)))
    if reader is None:
        return shards.interleave(lambda shard: shard, cycle_length=background.cores())._node
    made = reader(shards)
    if not isinstance(made, Dataset):
        raise TypeError(f"`reader_func` must return a `tf.data.Dataset` object. Got {type(made)}.")
    return made._node
