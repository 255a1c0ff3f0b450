"""Objects whose attributes a checkpoint saves, and restores as soon as they are there."""

from __future__ import annotations

from typing import Any, Protocol


class Expecting(Protocol):
    """What waits for attributes that a checkpoint holds values for. `tapeflow.train` makes these."""

    def arrived(self, owner: Any, name: str, value: Any) -> Any:
        """Restores a new attribute, and gives what to set in its place."""
        ...


class Tracked:
    """The base of objects that checkpoints look into: `tf.Module`, `tf.train.Checkpoint`, and Keras's objects.

    A checkpoint may be restored before all variables are made. What is still missing is then noted in the attribute
    `_expecting`, and a variable gets its value when it is set.
    """

    def __setattr__(self, name: str, value: Any) -> None:
        expecting: Expecting | None = self.__dict__.get("_expecting")
        if expecting is not None:
            value = expecting.arrived(self, name, value)
        super().__setattr__(name, value)
