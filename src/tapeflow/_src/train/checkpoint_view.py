"""`tf.train.CheckpointView`: which objects a checkpoint holds, beside those of a program."""

from __future__ import annotations

import os
from collections import deque
from typing import Any

from tapeflow._src.core.errors import InvalidArgumentError, shown
from tapeflow._src.core.export import export
from tapeflow._src.core.log import get_logger
from tapeflow._src.tensorflow_files.bundle import Bundle
from tapeflow._src.train import saving
from tapeflow._src.train.object_graph import children, identity, is_tracked, tensorflow_children
from tapeflow._src.train.trackable_view import TrackableView


@export("train.CheckpointView")
class CheckpointView:
    """The objects of a checkpoint by numbers, and how they hang together. The first one has the number 0.

    >>> import tempfile
    >>> module = tf.Module()
    >>> module.a, module.b = tf.Variable(1.0), tf.Variable(2.0)
    >>> view = tf.train.CheckpointView(tf.train.Checkpoint(module).write(tempfile.mkdtemp() + "/ckpt"))
    >>> view.children(0)["a"], view.descendants()[:3]
    (1, [0, 1, 2])
    >>> other = tf.Module()
    >>> other.a, other.c = tf.Variable(1.0), tf.Variable(3.0)
    >>> matched, only_saved, only_there = view.diff(other)
    >>> sorted(matched), only_saved[0], only_there[0] is other.c
    ([0, 1], 2, True)

    Args:
      save_path: what `save` has returned.
    """

    def __init__(self, save_path: Any) -> None:
        try:
            file, self._nodes = saving.opened(saving.prefix_of(os.fspath(save_path)))
        except InvalidArgumentError as error:
            raise ValueError(
                f'The specified checkpoint "{save_path}" does not appear to be object-based (saved with TF2): '
                f"{error.message}"
            ) from None
        self._children_of = tensorflow_children if isinstance(file, Bundle) else children

    def children(self, node_id: int) -> dict[str, int]:
        """The numbers of what is directly inside of an object, by name.

        Args:
          node_id: the number of the object.
        """
        return dict(self._nodes[node_id].children)

    def descendants(self) -> list[int]:
        """The numbers of the first object and of all that is inside of it, the nearest first."""
        found = {0: None}
        waiting = deque([0])
        while waiting:
            for number in self._nodes[waiting.popleft()].children.values():
                if number not in found:
                    found[number] = None
                    waiting.append(number)
        return list(found)

    def match(self, obj: Any) -> dict[int, Any]:
        """The objects of a program that have a counterpart of the same name at the same place, by its number.

        Args:
          obj: the counterpart of the first object.
        """
        if not is_tracked(obj):
            raise ValueError(f"Expected a Trackable, got {shown(obj)} of type {type(obj)}.")
        found: dict[int, Any] = {0: obj}
        waiting = deque([0])
        while waiting:
            owner = waiting.popleft()
            inside = self._children_of(found[owner])
            for name, number in self._nodes[owner].children.items():
                if name not in inside or number == 0:
                    continue
                if number not in found:
                    found[number] = inside[name]
                    waiting.append(number)
                elif identity(found[number]) != identity(inside[name]):
                    get_logger().warning(
                        "Inconsistent references when matching the checkpoint into this object graph: %s and %s.",
                        found[number],
                        inside[name],
                    )
        return found

    def diff(self, obj: Any) -> tuple[dict[int, Any], list[int], list[Any]]:
        """What `match` gives, the numbers of objects that are in the checkpoint only, and the objects that are not.

        Args:
          obj: the counterpart of the first object.
        """
        matched = self.match(obj)
        known = {identity(value) for value in matched.values()}
        only_there = [x for x in TrackableView(obj).descendants() if identity(x) not in known]
        return matched, [n for n in self.descendants() if n not in matched], only_there
