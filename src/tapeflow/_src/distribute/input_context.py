"""What is said about input pipelines: which worker one is for, and how elements come to the replicas."""

from __future__ import annotations

import enum
from typing import NamedTuple

from tapeflow._src.core.export import export


@export("distribute.InputContext")
class InputContext:
    """Tells a function that makes a dataset which worker it is for.

    >>> context = tf.distribute.InputContext(num_input_pipelines=2, input_pipeline_id=1, num_replicas_in_sync=4)
    >>> context.get_per_replica_batch_size(32)
    8

    Args:
      num_input_pipelines: how many workers read.
      input_pipeline_id: the number of this one.
      num_replicas_in_sync: how many replicas there are in all.
    """

    def __init__(
        self,
        num_input_pipelines: int = 1,
        input_pipeline_id: int = 0,
        num_replicas_in_sync: int = 1,
    ) -> None:
        self._pipelines = num_input_pipelines
        self._number = input_pipeline_id
        self._replicas = num_replicas_in_sync

    @property
    def num_input_pipelines(self) -> int:
        """How many workers read."""
        return self._pipelines

    @property
    def input_pipeline_id(self) -> int:
        """The number of this worker."""
        return self._number

    @property
    def num_replicas_in_sync(self) -> int:
        """How many replicas there are in all."""
        return self._replicas

    def get_per_replica_batch_size(self, global_batch_size: int) -> int:
        """The part of a batch that one replica gets."""
        if global_batch_size % self._replicas:
            raise ValueError(
                f"The `global_batch_size` {global_batch_size} is not divisible by `num_replicas_in_sync` "
                f"{self._replicas} "
            )
        return global_batch_size // self._replicas

    def __str__(self) -> str:
        return f"tf.distribute.InputContext(input pipeline id {self._number}, total: {self._pipelines})"


@export("distribute.InputReplicationMode")
class InputReplicationMode(enum.Enum):
    """For whom the function of `distribute_datasets_from_function` makes a dataset.

    >>> tf.distribute.InputReplicationMode.PER_WORKER.value
    'PER_WORKER'
    """

    PER_WORKER = "PER_WORKER"
    PER_REPLICA = "PER_REPLICA"


@export("distribute.InputOptions")
class InputOptions(NamedTuple):
    """How elements come to the replicas.

    >>> tf.distribute.InputOptions().experimental_replication_mode.name
    'PER_WORKER'
    """

    experimental_fetch_to_device: bool | None = True
    experimental_replication_mode: InputReplicationMode = InputReplicationMode.PER_WORKER
    experimental_place_dataset_on_device: bool = False
    experimental_per_replica_buffer_size: int = 1


@export("distribute.RunOptions")
class RunOptions(NamedTuple):
    """How `Strategy.run` runs a function. Accepted, as there is nothing to choose.

    >>> tf.distribute.RunOptions().experimental_enable_dynamic_batch_size
    True
    """

    experimental_enable_dynamic_batch_size: bool = True
    experimental_bucketizing_dynamic_shape: bool = False
    experimental_xla_options: object = None
