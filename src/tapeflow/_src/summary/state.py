"""What summaries are written to, at which step and whether: for each thread its own."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from tapeflow._src.core.carried import carried
from tapeflow._src.core.convert import convert_to_tensor
from tapeflow._src.core.dtypes import bool_
from tapeflow._src.core.export import export
from tapeflow._src.core.scopes import setting
from tapeflow._src.core.tensor import Tensor

if TYPE_CHECKING:
    from tapeflow._src.summary.writer import FileWriter


class _State(threading.local):
    def __init__(self) -> None:
        self.writer: FileWriter | None = None
        self.step: Any = None
        self.recording: Any = True


state = carried(_State())


@export("summary.experimental.get_step")
def get_step() -> Any:
    """The step for summaries that name none: a number, a tensor or a variable, or None.

    >>> tf.summary.experimental.set_step(3)
    >>> tf.summary.experimental.get_step()
    3
    >>> tf.summary.experimental.set_step(None)
    """
    return state.step


@export("summary.experimental.set_step")
def set_step(step: Any) -> None:
    """Sets the step for summaries that name none, in this thread.

    A variable is read whenever a summary is written; inside `tf.function`, too.

    >>> step = tf.Variable(0, dtype=tf.int64)
    >>> tf.summary.experimental.set_step(step)
    >>> tf.summary.experimental.set_step(None)

    Args:
      step: an integer, a scalar tensor or variable, or None.
    """
    state.step = step


def condition() -> Any:
    """Whether to write: a bool, or inside `tf.function` a tensor."""
    if state.writer is None:
        return False
    found = state.recording
    if callable(found) and not hasattr(found, "__tf_tensor__"):
        found = found()
    if isinstance(found, Tensor) or hasattr(found, "__tf_tensor__"):
        found = convert_to_tensor(found)
        return found if found.symbolic else bool(found)
    return bool(found)


@export("summary.should_record_summaries")
def should_record_summaries() -> Tensor:
    """Whether a summary would be written now: there is a default writer, and `record_if` does not forbid it.

    >>> bool(tf.summary.should_record_summaries())
    False
    """
    return convert_to_tensor(condition(), bool_)


@export("summary.record_if")
def record_if(condition: bool | Tensor | Callable[[], Any]) -> setting:
    """Within this context summaries are written only if a condition holds.

    >>> for step in range(1000):
    ...     with tf.summary.record_if(step % 100 == 0):
    ...         written = tf.summary.scalar("loss", 0.5, step=step)

    Args:
      condition: a bool, a scalar bool tensor, or a function that returns one, called for each summary.
    """
    return setting(state, recording=condition)
