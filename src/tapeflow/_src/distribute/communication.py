"""What may be said about how workers talk to each other. XLA decides: gloo between CPUs, NCCL between GPUs."""

from __future__ import annotations

import copy
import enum
from typing import Any

from tapeflow._src.core.errors import shown
from tapeflow._src.core.export import export


@export(
    "distribute.experimental.CommunicationImplementation",
    "distribute.experimental.CollectiveCommunication",
)
class CommunicationImplementation(enum.Enum):
    """Which library moves the numbers. A wish: XLA takes the one that fits the devices.

    >>> tf.distribute.experimental.CommunicationImplementation("RING").name
    'RING'
    """

    AUTO = "AUTO"
    RING = "RING"
    NCCL = "NCCL"


@export("distribute.experimental.CommunicationOptions")
class CommunicationOptions:
    """How workers talk to each other.

    >>> tf.distribute.experimental.CommunicationOptions(timeout_seconds=120.0).timeout_seconds
    120.0

    Args:
      bytes_per_pack: accepted for compatibility: what is added up in one call travels together.
      timeout_seconds: for how long a worker waits for the others where they meet, before the job ends. By default what
        `TAPEFLOW_STEP_LIMIT` says.
      implementation: a `CommunicationImplementation`, or its name.
    """

    def __init__(
        self,
        bytes_per_pack: int = 0,
        timeout_seconds: float | None = None,
        implementation: Any = CommunicationImplementation.AUTO,
    ) -> None:
        if bytes_per_pack < 0:
            raise ValueError(f"Argument `bytes_per_pack` must be >=0, Received {bytes_per_pack}.")
        if isinstance(implementation, str):
            implementation = CommunicationImplementation(implementation.upper())
        if not isinstance(implementation, CommunicationImplementation):
            raise ValueError(
                "CommunicationOptions: implementation must be a "
                f"tf.distribute.experimental.CommunicationImplementation, got {shown(implementation)}"
            )
        self.bytes_per_pack = bytes_per_pack
        self.timeout_seconds = timeout_seconds
        self.implementation = implementation

    def merge(self, options: CommunicationOptions | None) -> CommunicationOptions:
        """The same, with what other options say."""
        merged = copy.copy(self)
        if options is not None:
            merged.bytes_per_pack = options.bytes_per_pack or self.bytes_per_pack
            if options.timeout_seconds is not None:
                merged.timeout_seconds = options.timeout_seconds
            if options.implementation is not CommunicationImplementation.AUTO:
                merged.implementation = options.implementation
        return merged


@export("distribute.experimental.CollectiveHints")
class CollectiveHints(CommunicationOptions):
    """The older name of `CommunicationOptions`.

    >>> tf.distribute.experimental.CollectiveHints(timeout_seconds=60.0).timeout_seconds
    60.0

    Args:
      bytes_per_pack: accepted for compatibility.
      timeout_seconds: for how long a worker waits for the others.
    """

    def __init__(self, bytes_per_pack: int = 0, timeout_seconds: float | None = None) -> None:
        super().__init__(bytes_per_pack, timeout_seconds)
