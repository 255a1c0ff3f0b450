"""`tf.train.TrackableView`: what a checkpoint would look at."""

from __future__ import annotations

from typing import Any

from tapeflow._src.core.export import export
from tapeflow._src.train.object_graph import children, identity


@export("train.TrackableView")
class TrackableView:
    """The objects inside of an object that a checkpoint looks at: variables, modules, lists of them.

    >>> module = tf.Module()
    >>> module.weights = [tf.Variable(1.0), tf.Variable(2.0)]
    >>> view = tf.train.TrackableView(module)
    >>> list(view.children(module)), len(view.descendants())
    (['weights'], 4)

    Args:
      root: the object.
    """

    def __init__(self, root: Any) -> None:
        self._root = root

    @property
    def root(self) -> Any:
        """The object."""
        return self._root

    @classmethod
    def children(cls, obj: Any, **kwargs: Any) -> dict[str, Any]:
        """What is directly inside of an object, by name."""
        return children(obj)

    def descendants(self) -> list[Any]:
        """The object and all that is inside of it, each once, the nearest first."""
        found, seen = [self._root], {identity(self._root)}
        for owner in found:  # grows meanwhile
            for value in children(owner).values():
                if identity(value) not in seen:
                    seen.add(identity(value))
                    found.append(value)
        return found
