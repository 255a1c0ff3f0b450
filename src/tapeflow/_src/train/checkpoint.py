"""`tf.train.Checkpoint`: saves and restores everything with a state that an object holds."""

from __future__ import annotations

import os
import threading
from typing import Any

from tapeflow._src.core import dtypes
from tapeflow._src.core.export import export
from tapeflow._src.core.system.handlers import outside_of_traces
from tapeflow._src.core.tracked import Tracked
from tapeflow._src.core.variables.variable import Variable
from tapeflow._src.train import saving
from tapeflow._src.train.formats import SAFETENSORS, checked
from tapeflow._src.train.object_graph import child, identity, is_tracked
from tapeflow._src.train.parts import Together
from tapeflow._src.train.restoration import Restoration
from tapeflow._src.train.state_file import CheckpointState, write_state
from tapeflow._src.train.status import CheckpointLoadStatus, InitializationOnlyStatus


@export("train.CheckpointOptions")
class CheckpointOptions:
    """Options of `save` and `restore`.

    A checkpoint that TensorFlow restores is written if it is asked for:

    >>> import os, tempfile
    >>> folder = tempfile.mkdtemp()
    >>> options = tf.train.CheckpointOptions(format="tensorflow")
    >>> path = tf.train.Checkpoint(v=tf.Variable(1.0)).write(f"{folder}/ckpt", options)
    >>> sorted(os.listdir(folder))
    ['ckpt.data-00000-of-00001', 'ckpt.index']

    Both formats are restored without being asked for. `experimental_sharding_callback` divides the tensors of one in
    TensorFlow's format among files. The other options are accepted and change nothing: a save is always written at
    once.

    Args:
      experimental_sharding_callback: a `tf.train.experimental.ShardingCallback`.
      format: `"safetensors"`, tapeflow's own, which other programs can read, too, or `"tensorflow"`.
    """

    def __init__(
        self,
        experimental_io_device: str | None = None,
        experimental_enable_async_checkpoint: bool = False,
        experimental_write_callbacks: Any = None,
        enable_async: bool = False,
        experimental_skip_slot_variables: bool = False,
        experimental_sharding_callback: Any = None,
        *,
        format: str = SAFETENSORS,
    ) -> None:
        self.format = checked("CheckpointOptions", format)
        self.experimental_io_device = experimental_io_device
        self.experimental_enable_async_checkpoint = experimental_enable_async_checkpoint
        self.experimental_write_callbacks = experimental_write_callbacks
        self.enable_async = enable_async
        self.experimental_skip_slot_variables = experimental_skip_slot_variables
        self.experimental_sharding_callback = experimental_sharding_callback


_counting = threading.RLock()  # a signal handler may save while its thread does


class _Parts:
    """What a checkpoint needs besides the objects it was given. It is not tracked."""

    def __init__(self, root: Any) -> None:
        self.root = root
        self.attached: dict[str, Any] = {}
        self.counter: Variable | None = None


@export("train.Checkpoint")
class Checkpoint(Tracked):
    """Saves the variables, modules, optimizers and iterators it is given, and restores them.

    Objects are found through attributes, lists, dictionaries and tuples, and are matched by these names when the
    checkpoint is restored. Variables that do not exist yet get their values when they are made.

    >>> import tempfile
    >>> step, weights = tf.Variable(7), tf.Variable([1.0, 2.0])
    >>> checkpoint = tf.train.Checkpoint(step=step, weights=weights)
    >>> path = checkpoint.save(tempfile.mkdtemp() + "/ckpt")
    >>> weights.assign([0.0, 0.0]).numpy()
    array([0., 0.], dtype=float32)
    >>> checkpoint.restore(path).assert_consumed()
    <CheckpointLoadStatus of '...ckpt-1': 3 of 3 values restored>
    >>> weights.numpy()
    array([1., 2.], dtype=float32)

    Args:
      root: an object whose attributes are saved as if they were those of the checkpoint.
      **kwargs: objects to save, under these names. They become attributes.
    """

    def __init__(self, root: Any = None, **kwargs: Any) -> None:
        self._parts = _Parts(root)
        if root is not None:
            _check("root", root)
        for name, value in sorted(kwargs.items()):
            _check(name, value)
            setattr(self, name, value)
            if root is not None:
                there = child(root, name)
                if there is not None and identity(there) != identity(value):
                    raise ValueError(
                        f"Cannot create a Checkpoint with keyword argument {name} if root.{name} already exists."
                    )
                self._parts.attached[name] = value
        if root is not None:
            self.root = root

    @property
    def save_counter(self) -> Variable:
        """How often it was saved: the number of the latest checkpoint."""
        return self._counter()

    def _counter(self) -> Variable:
        parts = self._parts
        if parts.counter is None:
            counter = Variable(0, trainable=False, name="save_counter", dtype=dtypes.int64)
            expecting = getattr(self._top, "__dict__", {}).get("_expecting")
            if expecting is not None:
                expecting.arrived(self._top, "save_counter", counter)
            parts.counter = counter
        return parts.counter

    def _next_number(self) -> int:
        """Counts one more save. No two threads get the same number."""
        with _counting:
            return int(self._counter().assign_add(1))

    @property
    def _top(self) -> Any:
        return self if self._parts.root is None else self._parts.root

    def _more(self) -> dict[str, Any]:
        """What is saved besides the attributes of the root."""
        parts = self._parts
        counter = {} if parts.counter is None else {"save_counter": parts.counter}
        return {**parts.attached, **counter}

    @outside_of_traces
    def save(self, file_prefix: Any, options: CheckpointOptions | None = None) -> str:
        """Saves under the next number, and notes in the folder that this is the newest.

        The file is there whole or not at all: a process that is killed leaves the checkpoint before it.

        Args:
          file_prefix: the beginning of the path. A dash, the number and `.safetensors` are added.
          options: among them the format of the file.

        Returns:
          The path without what ends the names of files, which `restore` takes.
        """
        prefix = os.fspath(file_prefix)
        number = self._next_number()
        path = f"{prefix}-{number}"
        together = self._write(path, options)
        if together is None or together.writes:
            write_state(os.path.dirname(path), CheckpointState(path, [path]))
        if together is not None:
            together.wait()
        return path

    @outside_of_traces
    def write(self, file_prefix: Any, options: CheckpointOptions | None = None) -> str:
        """Saves under this name: without a number, and without noting that it is the newest."""
        prefix = saving.prefix_of(file_prefix)
        self._write(prefix, options)
        return prefix

    def _write(self, prefix: str, options: CheckpointOptions | None) -> Together | None:
        file_format = getattr(options, "format", SAFETENSORS)
        callback = getattr(options, "experimental_sharding_callback", None)
        return saving.write(prefix, self._top, self._more(), file_format, callback)

    def restore(
        self, save_path: Any, options: CheckpointOptions | None = None
    ) -> CheckpointLoadStatus | InitializationOnlyStatus:
        """Restores what was saved, now, and where variables are still missing, when they are made.

        A checkpoint that TensorFlow has written is restored, too.

        Args:
          save_path: what `save` returned. None restores nothing.
          options: accepted.

        Returns:
          A status, which says which checkpoint it was, and can be asked whether everything was restored.

        Raises:
          NotFoundError: if there is no such checkpoint.
          DataLossError: if its file was truncated or altered.
        """
        if save_path is not None:
            self._counter()
        return self._read(save_path)

    def read(
        self, save_path: Any, options: CheckpointOptions | None = None
    ) -> CheckpointLoadStatus | InitializationOnlyStatus:
        """Restores what `write` has written: like `restore`, but for the count of saves."""
        return self._read(save_path)

    def _read(self, save_path: Any) -> CheckpointLoadStatus | InitializationOnlyStatus:
        if save_path is None:
            return InitializationOnlyStatus()
        prefix = saving.prefix_of(save_path)
        restoration = Restoration(prefix, self._top, self._more())
        return CheckpointLoadStatus(restoration, self._top, self._more)


def _check(name: str, value: Any) -> None:
    if not is_tracked(value):
        raise ValueError(
            f"`Checkpoint` was expecting {name} to be a trackable object (a tf.Variable, a tf.Module, a Keras object, "
            f"a dataset iterator, or a list, tuple or dictionary of these), got {value!r}. Put a number in a "
            "tf.Variable, and let a class of your own derive from tf.Module."
        )
