"""`tf.train.experimental.PythonState`: what is no variable, in a checkpoint."""

from __future__ import annotations

from typing import Any

from tapeflow._src.core.errors import shown
from tapeflow._src.core.export import export
from tapeflow._src.core.tracked import Tracked


@export("train.experimental.PythonState")
class PythonState(Tracked):
    """A part of a checkpoint that says itself how it becomes a string, and what it is made from one.

    >>> import json, tempfile
    >>> class Counts(tf.train.experimental.PythonState):
    ...     def __init__(self):
    ...         self.seen = {}
    ...     def serialize(self):
    ...         return json.dumps(self.seen)
    ...     def deserialize(self, string_value):
    ...         self.seen = json.loads(string_value)
    >>> counts = Counts()
    >>> counts.seen["a"] = 3
    >>> path = tf.train.Checkpoint(counts=counts).write(tempfile.mkdtemp() + "/ckpt")
    >>> counts.seen = {}
    >>> _ = tf.train.Checkpoint(counts=counts).read(path)
    >>> counts.seen
    {'a': 3}
    """

    def serialize(self) -> Any:
        """The state as a string. It is called when a checkpoint is written."""
        raise NotImplementedError(f"{type(self).__name__}.serialize")

    def deserialize(self, string_value: Any) -> None:
        """Takes over a state.

        Args:
          string_value: what `serialize` has given, as `bytes`.
        """
        raise NotImplementedError(f"{type(self).__name__}.deserialize")


def serialized(state: PythonState) -> bytes:
    """What a checkpoint holds of a state."""
    text = state.serialize()
    if not isinstance(text, (str, bytes)):
        raise TypeError(
            f"{type(state).__name__}.serialize must give a str or bytes, got {shown(text)}"
        )
    return text.encode() if isinstance(text, str) else text
