"""Classes of Keras 2 that libraries derive from, where those of Keras 3 take other arguments."""

from __future__ import annotations

import importlib
from typing import Any


def optimizer_class() -> type:
    """`tf_keras.optimizers.Optimizer`: its first argument is a name, and the learning rate is the subclass's affair."""
    base: Any = importlib.import_module("tapeflow.keras").optimizers.Optimizer

    class Kind(type):
        """Of Keras's own optimizers, too: a library may ask whether it was given an optimizer."""

        def __instancecheck__(cls, instance: Any) -> bool:
            return (
                isinstance(instance, base)
                if cls is Optimizer
                else super().__instancecheck__(instance)
            )

    class Optimizer(base, metaclass=Kind):
        """An optimizer whose subclass decides what a step is."""

        def __init__(self, name: str | None = None, **kwargs: Any) -> None:
            super().__init__(learning_rate=kwargs.pop("learning_rate", 0.001), name=name, **kwargs)

    return Optimizer
