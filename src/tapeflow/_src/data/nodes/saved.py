"""Datasets in folders: `Dataset.save`, `Dataset.load` and `Dataset.snapshot`.

    dataset.json     what the elements are like and how many there are in each shard; it is written last
    00000.shard      files as those of `Dataset.cache`, one for each shard

A folder without the first file is not complete, and is written anew.
"""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Callable, Sequence
from typing import Any

from tapeflow._src.core.composites.composite import is_expandable
from tapeflow._src.core.dtypes import DType, as_dtype
from tapeflow._src.core.errors import DataLossError, NotFoundError, invalid
from tapeflow._src.core.shapes import TensorShape
from tapeflow._src.core.spec import TensorSpec
from tapeflow._src.core.system.files import checked_path, replacing, translating_os_errors
from tapeflow._src.data.nodes.composites import contracted
from tapeflow._src.data.runtime.cache_file import FileRows, RowWriter
from tapeflow._src.data.runtime.functions import ElementFunction
from tapeflow._src.data.runtime.node import Node, Run
from tapeflow._src.data.runtime.rows import Row, Rows
from tapeflow._src.data.specs import (
    NoneTensorSpec,
    expanded_leaves,
    expander,
    leaves,
    tensor_leaves,
)

_NAME = "dataset.json"
_VERSION = 1
_MOST_SHARDS = 10_000


def encoded(spec: Any) -> Any:
    """An element spec as JSON can hold it."""
    if isinstance(spec, TensorSpec):
        return {
            "shape": None if spec.shape.rank is None else spec.shape.as_list(),
            "dtype": spec.dtype.name,
        }
    if isinstance(spec, NoneTensorSpec):
        return {"none": True}
    if isinstance(spec, dict):
        return {"dict": [[key, encoded(value)] for key, value in spec.items()]}
    if is_expandable(spec):
        return {"composite": type(spec).__name__, "like": [_named(x) for x in spec._serialize()]}
    return {"tuple": [encoded(part) for part in spec]}


def _named(x: Any) -> Any:
    """A shape, a dtype or a number as JSON can hold it."""
    if isinstance(x, DType):
        return {"dtype": x.name}
    if isinstance(x, TensorShape):
        return {"shape": None if x.rank is None else x.as_list()}
    return x


def _meant(said: Any) -> Any:
    if not isinstance(said, dict):
        return said
    return as_dtype(said["dtype"]) if "dtype" in said else TensorShape(said["shape"])


def _composite_spec(name: str, parts: Sequence[Any]) -> Any:
    from tapeflow._src.ragged.spec import RaggedTensorSpec
    from tapeflow._src.sparse.tensor import SparseTensorSpec

    kinds = {kind.__name__: kind for kind in (RaggedTensorSpec, SparseTensorSpec)}
    return kinds[name](*parts)


def decoded(said: Any) -> Any:
    """The spec of what `encoded` gave."""
    if "dict" in said:
        return {key: decoded(value) for key, value in said["dict"]}
    if "none" in said:
        return NoneTensorSpec()
    if "tuple" in said:
        return tuple(decoded(part) for part in said["tuple"])
    if "composite" in said:
        return _composite_spec(said["composite"], [_meant(part) for part in said["like"]])
    return TensorSpec(said["shape"], as_dtype(said["dtype"]))


def _saved_leaves(op: str, spec: Any) -> list[TensorSpec]:
    """The specs of all tensors of an element that can be saved: tensors, ragged and sparse ones."""
    kinds = ("TensorSpec", "NoneTensorSpec", "RaggedTensorSpec", "SparseTensorSpec")
    if all(type(leaf).__name__ in kinds for leaf in leaves(spec)):
        return expanded_leaves(op, spec)
    return tensor_leaves(op, spec)


class Folder:
    """Where a dataset is saved."""

    def __init__(self, path: Any) -> None:
        self.path = checked_path(path)

    def is_there(self) -> bool:
        """Whether all of it is."""
        return os.path.exists(os.path.join(self.path, _NAME))

    def forget(self) -> None:
        """Says that what is there does not count: its shards are about to be replaced."""
        with contextlib.suppress(FileNotFoundError):
            os.remove(os.path.join(self.path, _NAME))

    def shard(self, number: int) -> str:
        """The path of a shard."""
        return os.path.join(self.path, f"{number:05}.shard")

    def finish(self, spec: Any, counts: Sequence[int]) -> None:
        """Says that all is there."""
        said = {"tapeflow dataset": _VERSION, "spec": encoded(spec), "counts": list(counts)}
        with replacing(os.path.join(self.path, _NAME)) as file:
            file.write(json.dumps(said).encode())

    def read(self) -> tuple[Any, list[int]]:
        """What the elements are like, and how many there are in each shard."""
        if not self.is_there():
            raise NotFoundError(
                None,
                None,
                f"Could not find a dataset that was saved in {self.path}: there is no {_NAME}",
            )
        with translating_os_errors(self.path), open(os.path.join(self.path, _NAME), "rb") as file:
            text = file.read()
        try:
            said = json.loads(text)
            if said["tapeflow dataset"] != _VERSION:
                raise ValueError(f"version {said['tapeflow dataset']}")
            return decoded(said["spec"]), [int(count) for count in said["counts"]]
        except (ValueError, KeyError, TypeError, RecursionError) as error:
            raise DataLossError(
                None,
                None,
                f"The dataset in {self.path} cannot be read: {_NAME} is damaged: {error}",
            ) from None


class Sharding:
    """Writes rows to the shards of a folder."""

    def __init__(self, folder: Folder, spec: Any, function: ElementFunction | None) -> None:
        self._folder, self._spec, self._function = folder, spec, function
        self._specs = _saved_leaves("save", spec)
        self._expand = expander(spec)
        self._writers: dict[int, RowWriter] = {}
        self._counts: dict[int, int] = {}
        with translating_os_errors(folder.path):
            os.makedirs(folder.path, exist_ok=True)
            folder.forget()
        if function is None:
            self._writer(0)

    def _writer(self, shard: int) -> RowWriter:
        if not 0 <= shard < _MOST_SHARDS:
            raise invalid(
                f"Dataset.save: shard_func must give numbers from 0 to {_MOST_SHARDS - 1}, got {shard}"
            )
        if shard not in self._writers:
            self._writers[shard] = RowWriter(self._folder.shard(shard), self._specs)
            self._counts[shard] = 0
        return self._writers[shard]

    def write(self, row: Row) -> None:
        """Adds a row."""
        shard = 0 if self._function is None else int(self._function(row)[0])
        self._writer(shard).write(row if self._expand is None else tuple(self._expand(row)))
        self._counts[shard] += 1

    def finish(self) -> None:
        """Gives the files their names. Shards between those that got nothing are empty."""
        for shard in range(max(self._writers, default=-1) + 1):
            self._writer(shard).finish()
        self._folder.finish(self._spec, [self._counts[i] for i in range(len(self._counts))])


class Shard(Node):
    """What is in one shard."""

    name = "_LoadDataset"

    def __init__(self, path: str, spec: Any, count: int) -> None:
        self._path, self.spec, self._count = path, spec, count

    def cardinality(self) -> int:
        """What was written."""
        return self._count

    def rows(self, run: Run) -> Rows:
        """From the file."""
        return contracted(FileRows(self._path, _saved_leaves("load", self.spec)), self.spec)


class Snapshot(Node):
    """The elements of a dataset, which are written to a folder when they are read for the first time.

    Args:
      source: the dataset.
      path: of the folder.
      function: gives the shard of an element.
      loaded: gives the dataset of what is in the folder.
    """

    name = "_SnapshotDataset"

    def __init__(
        self, source: Node, path: Any, function: ElementFunction | None, loaded: Callable[[], Node]
    ) -> None:
        self.inputs = (source,)
        self._folder, self._shard, self._loaded = Folder(path), function, loaded
        _saved_leaves("snapshot", source.spec)

    @property
    def spec(self) -> Any:  # pyright: ignore[reportIncompatibleVariableOverride]
        """That of the input."""
        return self.inputs[0].spec

    def cardinality(self) -> int:
        """That of the input."""
        return self.inputs[0].cardinality()

    def rows(self, run: Run) -> Rows:
        """From the folder, if it is there."""
        if self._folder.is_there():
            return self._loaded().rows(run)
        return SnapshotRows(
            self.inputs[0].rows(run), Sharding(self._folder, self.spec, self._shard)
        )


class SnapshotRows(Rows):
    """Rows that are written to a folder."""

    def __init__(self, source: Rows, sharding: Sharding) -> None:
        self._source, self._sharding = source, sharding
        self._over = False

    def __next__(self) -> Row:
        try:
            row = next(self._source)
        except StopIteration:
            if not self._over:
                self._over = True
                self._sharding.finish()
            raise
        if not self._over:
            self._sharding.write(row)
        return row
