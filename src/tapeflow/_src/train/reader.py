"""Looking into a checkpoint without the objects it was made from."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from tapeflow._src.core.dtypes import DType, string
from tapeflow._src.core.errors import NotFoundError, shown
from tapeflow._src.core.export import export
from tapeflow._src.tensorflow_files.bundle import OBJECT_GRAPH_KEY, Bundle
from tapeflow._src.train import saving
from tapeflow._src.train.state_file import latest_checkpoint

_GRAPH = OBJECT_GRAPH_KEY


class CheckpointReader:
    """The tensors of a checkpoint by name. `tf.train.load_checkpoint` makes it."""

    def __init__(self, prefix: str) -> None:
        self._file = saving.opened_file(prefix)
        # In TensorFlow's files the objects are a tensor among the others.
        self._graph = (
            {} if isinstance(self._file, Bundle) else {_GRAPH: self._file.texts["objects"]}
        )

    def has_tensor(self, name: str) -> bool:
        """Whether there is a tensor of this name."""
        return name in self._graph or name in self._file.entries

    def get_tensor(self, name: str) -> Any:
        """The tensor of a name, as an array. The objects are there as a JSON text, or as TensorFlow writes them."""
        if name in self._graph:
            return self._graph[name].encode()
        if name not in self._file.entries:
            raise NotFoundError(None, None, f"Key {name} not found in checkpoint{self._near(name)}")
        array = self._file.read(name)
        return array if array.ndim else array[()]

    def get_variable_to_shape_map(self) -> dict[str, list[int]]:
        """The shapes by name."""
        return {
            **{k: [] for k in self._graph},
            **{k: list(e.shape) for k, e in self._file.entries.items()},
        }

    def get_variable_to_dtype_map(self) -> dict[str, DType]:
        """The dtypes by name."""
        return {
            **dict.fromkeys(self._graph, string),
            **{k: e.dtype for k, e in self._file.entries.items()},
        }

    def debug_string(self) -> bytes:
        """The names, dtypes and shapes as a text."""
        lines = [
            f"{k} ({e.dtype.name}) {list(e.shape)}" for k, e in sorted(self._file.entries.items())
        ]
        return "\n".join(lines).encode()

    def _near(self, name: str) -> str:
        near = sorted(key for key in self._file.entries if key.startswith(f"{name}/"))
        return f". There is {', '.join(near[:5])}." if near else ""


@export("train.load_checkpoint")
def load_checkpoint(ckpt_dir_or_file: Any) -> CheckpointReader:
    """A reader of a checkpoint, or of the latest one in a folder.

    >>> import tempfile
    >>> path = tf.train.Checkpoint(v=tf.Variable([1.0, 2.0])).save(tempfile.mkdtemp() + "/ckpt")
    >>> tf.train.load_checkpoint(path).get_tensor("v/.ATTRIBUTES/VARIABLE_VALUE")
    array([1., 2.], dtype=float32)

    Args:
      ckpt_dir_or_file: what `save` returned, or the folder.
    """
    path = os.fspath(ckpt_dir_or_file)
    if os.path.isdir(path):
        latest = latest_checkpoint(path)
        if latest is None:
            raise ValueError(
                f"Couldn't find 'checkpoint' file or checkpoints in given directory {path}"
            )
        path = latest
    return CheckpointReader(saving.prefix_of(path))


@export("train.load_variable")
def load_variable(ckpt_dir_or_file: Any, name: str) -> np.ndarray:
    """One tensor of a checkpoint, as an array.

    >>> import tempfile
    >>> path = tf.train.Checkpoint(v=tf.Variable([1.0, 2.0])).save(tempfile.mkdtemp() + "/ckpt")
    >>> tf.train.load_variable(path, "v/.ATTRIBUTES/VARIABLE_VALUE")
    array([1., 2.], dtype=float32)

    Args:
      ckpt_dir_or_file: what `save` returned, or the folder.
      name: one of the names that `tf.train.list_variables` gives.
    """
    if not isinstance(name, str):
        raise TypeError(f"load_variable: name must be a str, got {shown(name)}")
    return load_checkpoint(ckpt_dir_or_file).get_tensor(name.removesuffix(":0"))


@export("train.list_variables")
def list_variables(ckpt_dir_or_file: Any) -> list[tuple[str, list[int]]]:
    """The names and shapes of the tensors in a checkpoint.

    >>> import tempfile
    >>> path = tf.train.Checkpoint(v=tf.Variable([1.0, 2.0])).write(tempfile.mkdtemp() + "/ckpt")
    >>> tf.train.list_variables(path)
    [('_CHECKPOINTABLE_OBJECT_GRAPH', []), ('v/.ATTRIBUTES/VARIABLE_VALUE', [2])]

    Args:
      ckpt_dir_or_file: what `save` returned, or the folder.
    """
    return sorted(load_checkpoint(ckpt_dir_or_file).get_variable_to_shape_map().items())
