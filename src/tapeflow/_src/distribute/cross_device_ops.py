"""`tf.distribute.CrossDeviceOps`: ways to add up the values of replicas, all with the same result."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tapeflow._src.core.errors import shown
from tapeflow._src.core.export import export
from tapeflow._src.distribute.reduce_op import reduce_op as as_reduce_op, reduced
from tapeflow._src.distribute.values import Mirrored, local
from tapeflow._src.ops.arguments import integer


@export("distribute.CrossDeviceOps")
class CrossDeviceOps:
    """How values of replicas are brought together. The kinds differ in how the bytes travel, which XLA decides here.

    >>> values = tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"]).run(lambda: tf.constant(1.0))
    >>> tf.distribute.ReductionToOneDevice().reduce("SUM", values, values).values[1].numpy()
    np.float32(2.0)
    """

    def reduce(
        self, reduce_op: Any, per_replica_value: Any, destinations: Any, options: Any = None
    ) -> Mirrored:
        """One value of those of all replicas, for each of them."""
        values = local(per_replica_value)
        if values is None:
            raise ValueError(
                f"CrossDeviceOps.reduce: per_replica_value must have a value for each replica, got "
                f"{shown(per_replica_value)}"
            )
        return Mirrored([reduced(as_reduce_op(reduce_op), values)] * len(values))

    def batch_reduce(
        self, reduce_op: Any, value_destination_pairs: Sequence[Any], options: Any = None
    ) -> list[Mirrored]:
        """The same for several values."""
        return [self.reduce(reduce_op, x, to) for x, to in value_destination_pairs]

    def broadcast(self, tensor: Any, destinations: Any) -> Mirrored:
        """A tensor for each replica that `destinations` has a value for."""
        return Mirrored([tensor] * len(local(destinations) or (None,)))


@export("distribute.ReductionToOneDevice")
class ReductionToOneDevice(CrossDeviceOps):
    """Adds up on one device.

    >>> isinstance(tf.distribute.ReductionToOneDevice(), tf.distribute.CrossDeviceOps)
    True

    Args:
      reduce_to_device: accepted for compatibility.
      accumulation_fn: accepted for compatibility.
    """

    def __init__(self, reduce_to_device: Any = None, accumulation_fn: Any = None) -> None:
        self.reduce_to_device = reduce_to_device
        self.accumulation_fn = accumulation_fn


@export("distribute.HierarchicalCopyAllReduce")
class HierarchicalCopyAllReduce(CrossDeviceOps):
    """Adds up in groups of devices.

    >>> tf.distribute.HierarchicalCopyAllReduce(num_packs=2).num_packs
    2

    Args:
      num_packs: accepted for compatibility.
    """

    def __init__(self, num_packs: int = 1) -> None:
        self.num_packs = _packs(num_packs)


@export("distribute.NcclAllReduce")
class NcclAllReduce(CrossDeviceOps):
    """Adds up with NVIDIA's library.

    >>> tf.distribute.NcclAllReduce().num_packs
    1

    Args:
      num_packs: accepted for compatibility.
    """

    def __init__(self, num_packs: int = 1) -> None:
        self.num_packs = _packs(num_packs)


def _packs(packs: Any) -> int:
    count = integer("all-reduce", "num_packs", packs)
    if count < 0:
        raise ValueError(f"NCCL all-reduce requires num_packs >= 0, but {count} is specified")
    return count
