"""`tf.summary.write`: a tensor into the file of the default writer, now or whenever a traced function runs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tapeflow._src.core.context import context
from tapeflow._src.core.convert import convert_to_tensor
from tapeflow._src.core.dtypes import int64, string
from tapeflow._src.core.errors import invalid, shown
from tapeflow._src.core.export import export
from tapeflow._src.core.interpreter import concrete
from tapeflow._src.core.names import name_scope
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.io import wire
from tapeflow._src.ops.control.control_flow import cond
from tapeflow._src.summary.event_file import summary_of
from tapeflow._src.summary.state import condition, state
from tapeflow._src.summary.writer import FileWriter

Encode = Callable[[np.ndarray], Any]


@export("summary.write")
def write(
    tag: str, tensor: Any, step: Any = None, metadata: Any = None, name: str | None = None
) -> Tensor:
    """Writes a tensor to the default writer.

    >>> import tempfile
    >>> with tf.summary.create_file_writer(tempfile.mkdtemp()).as_default():
    ...     bool(tf.summary.write("codes", tf.constant([1, 2, 3]), step=0))
    True

    Args:
      tag: the name of the series that it belongs to.
      tensor: the tensor, or a function that returns it, called only if something is written.
      step: the place in the series, an integer. By default that of `tf.summary.experimental.set_step`.
      metadata: a `SummaryMetadata` message or its bytes, which says which plugin of TensorBoard shows it.
      name: accepted for compatibility.

    Returns:
      Whether it was written, as a bool tensor.
    """
    serialized = getattr(metadata, "SerializeToString", None)
    found = metadata or b"" if serialized is None else serialized()
    text = _text(tag)
    return recorded(lambda array: summary_of(text, array, found), tensor, step)


@export("summary.experimental.write_raw_pb")
def write_raw_pb(tensor: Any, step: Any = None, name: str | None = None) -> Tensor:
    """Writes a serialized `Summary` message to the default writer.

    >>> bool(tf.summary.experimental.write_raw_pb(b"", step=0))  # there is no default writer
    False

    Args:
      tensor: the bytes of the message, a scalar string, or a function that returns it.
      step: the place in the series, an integer. By default that of `tf.summary.experimental.set_step`.
      name: accepted for compatibility.
    """

    def encode(message: Any) -> bytes:
        if message.shape or message.dtype != object:
            raise invalid("tf.summary.experimental.write_raw_pb: the message must be one string")
        return wire.data(5, message[()])

    return recorded(encode, tensor, step)


def recorded(encode: Callable[[np.ndarray], bytes], data: Any, step: Any) -> Tensor:
    """Writes a summary if it should be. `encode` makes the field of an event from the array of `data`."""
    writer = state.writer
    if writer is None:
        return convert_to_tensor(False)
    step = state.step if step is None else step

    def record() -> Tensor:
        if step is None:
            raise ValueError(
                "No step set. Please specify one either through the `step` argument or through "
                "tf.summary.experimental.set_step()"
            )
        lazy = callable(data) and not hasattr(data, "__tf_tensor__")
        tensor = convert_to_tensor(data() if lazy else data)
        _write(writer, encode, tensor, _step(step))
        return convert_to_tensor(True)

    wanted = condition()
    if isinstance(wanted, Tensor):
        return cond(wanted, record, lambda: convert_to_tensor(False))
    return record() if wanted else convert_to_tensor(False)


def _write(writer: FileWriter, encode: Encode, tensor: Tensor, step: Tensor) -> None:
    def run(value: Tensor, step: Tensor) -> tuple[()]:
        summary = encode(np.asarray(concrete(value)._array))
        writer.write(int(concrete(step)._array), summary)
        return ()

    if context.tracer is None:
        run(tensor, step)
    else:
        context.tracer.python("write_summary", run, [tensor, step], [])


def _step(step: Any) -> Tensor:
    if isinstance(step, (int, np.integer)):
        return convert_to_tensor(int(step), int64)
    tensor = convert_to_tensor(step)
    if not tensor.dtype.is_integer or tensor.shape.rank:
        raise TypeError(f"tf.summary: step must be an integer, got {shown(step)}")
    return tensor


def _text(tag: Any) -> str:
    if isinstance(tag, str):
        return tag
    found = convert_to_tensor(tag, string).numpy()
    if not isinstance(found, bytes):
        raise TypeError(f"tf.summary: a tag must be a str, got {shown(tag)}")
    return found.decode()


@export("summary.experimental.summary_scope")
class summary_scope(name_scope):
    """A name scope around a summary, which gives its tag: the name with the scopes it is in.

    >>> with tf.name_scope("generator"):
    ...     with tf.summary.experimental.summary_scope("loss") as (tag, scope):
    ...         tag
    'generator/loss'

    Args:
      name: of the summary.
      default_name: of the scope, if there is no name.
      values: accepted for compatibility.
    """

    def __init__(self, name: str, default_name: str = "summary", values: Any = None) -> None:
        super().__init__(name or default_name)
        self._given = name

    def __enter__(self) -> Any:
        tag = tag_of(self._given)
        return tag, super().__enter__()


def tag_of(name: str) -> str:
    """The name of a summary, with the name scopes around it."""
    return "/".join([*context.name_scopes, name])
