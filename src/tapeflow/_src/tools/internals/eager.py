"""What `tensorflow.python.eager` knows of the running thread."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from typing import Any

from tapeflow._src.core.context import context as _thread, executing_eagerly
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.primitives.random.streams import streams


class _EagerKind(type):
    """Of a class that has no instances of its own."""

    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, Tensor) and not instance.symbolic


class EagerTensor(Tensor, metaclass=_EagerKind):
    """A tensor that has a value: every `tf.Tensor` outside of `tf.function`."""


class Context:
    """What `context.context()` returns: the few questions that libraries ask of it."""

    def executing_eagerly(self) -> bool:
        """Whether ops run at once."""
        return executing_eagerly()

    def num_gpus(self) -> int:
        """How many GPUs there are."""
        from tapeflow._src.config.placement import list_logical_devices

        return len(list_logical_devices("GPU"))

    def ensure_initialized(self) -> None:
        """There is nothing to prepare."""

    @property
    def device_name(self) -> str | None:
        """The device that a scope asks for, if one does."""
        return None if _thread.place is None else _thread.place.name

    @property
    def device_spec(self) -> Any:
        """The same, taken apart."""
        return importlib.import_module("tapeflow").DeviceSpec.from_string(self.device_name or "")


_context = Context()


def context() -> Context:
    """The context of this thread."""
    return _context


def num_gpus() -> int:
    """How many GPUs there are."""
    return _context.num_gpus()


def global_seed() -> int | None:
    """What `tf.random.set_seed` was given, if it was."""
    return streams.global_seed


def should_record_backprop(tensors: Sequence[Any]) -> bool:
    """Whether a tape that is open follows one of these tensors."""
    recorders = _thread.dispatch[1]
    return any(r.follows(x._id) for r in recorders for x in tensors)


def could_possibly_record() -> bool:
    """Whether a tape is open."""
    return bool(_thread.dispatch[1])


class Gauge:
    """Counters that TensorFlow's makers collect, and nobody does here."""

    def __init__(self, *_: Any) -> None: ...

    def get_cell(self, *_: Any) -> Gauge:
        """Itself."""
        return self

    def set(self, *_: Any) -> None:
        """Nothing is kept."""

    increase_by = add = set
