"""`tf.tpu`, by its names only: libraries name its classes when they are imported, and make them where TPUs are."""

from __future__ import annotations

from enum import Enum
from types import ModuleType
from typing import Any

from tapeflow._src.core import errors
from tapeflow._src.core.missing import ADVICE

_EMBEDDING = (
    *("SGD", "Adagrad", "AdagradMomentum", "FTRL", "Adam", "CustomOptimizer", "TableConfig"),
    *("FeatureConfig", "QuantizationConfig", "RowIdInitializer", "SparseCoreEmbeddingConfig"),
    *("TPUEmbedding", "TPUEmbeddingV0", "TPUEmbeddingV2", "TPUEmbeddingForServing"),
)
_EXPERIMENTAL = ("DeviceAssignment", "Topology", "TPUSystemMetadata", "DeviceOrderMode")


class EmbeddingFeature(Enum):
    """Whether a TPU has a part of its own for embeddings, and which."""

    UNSUPPORTED = "UNSUPPORTED"
    V1 = "V1"
    V2 = "V2"


def namespace() -> ModuleType:
    """The module `tf.tpu`."""
    place = "tf.tpu.experimental"
    hardware: Any = _left_out(f"{place}.HardwareFeature")
    hardware.EmbeddingFeature = EmbeddingFeature
    embedding = _module(f"{place}.embedding", _EMBEDDING)
    experimental = _module(place, _EXPERIMENTAL, embedding=embedding, HardwareFeature=hardware)
    return _module("tf.tpu", ("XLAOptions",), experimental=experimental)


def _module(name: str, classes: tuple[str, ...], **more: Any) -> ModuleType:
    module = ModuleType(name, "TPUs are left out: its classes can be asked about, and not made.")
    vars(module).update({each: _left_out(f"{name}.{each}") for each in classes} | more)
    return module


def _left_out(name: str) -> type:
    def refuse(self: Any, *args: Any, **kwargs: Any) -> None:
        raise errors.UnimplementedError(
            None, None, f"{name} belongs to TPUs, and there are none here. {ADVICE['tf.tpu']}"
        )

    return type(name.rpartition(".")[2], (), {"__init__": refuse, "__module__": "tensorflow"})
