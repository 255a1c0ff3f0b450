"""What a job of `tf.data.experimental.service` is asked for."""

from __future__ import annotations

import enum
from typing import Any

from tapeflow._src.core.errors import shown
from tapeflow._src.core.export import export


@export("data.experimental.service.ShardingPolicy")
class ShardingPolicy(enum.IntEnum):
    """How workers divide a dataset: each reads all (OFF), who is free the next (DYNAMIC), or every n-th file or row."""

    OFF = 0
    DYNAMIC = 1
    FILE = 2
    DATA = 3
    FILE_OR_DATA = 4
    HINT = 5


@export("data.experimental.service.CrossTrainerCache")
class CrossTrainerCache:
    """Says that trainers read the same elements of a job, and that each is computed once.

    >>> tf.data.experimental.service.CrossTrainerCache("first").trainer_id
    'first'

    The fastest trainer decides how far the job has come; one that is 64 elements behind goes on with the oldest that
    are left. The dataset should have no end.

    Args:
      trainer_id: the name of this trainer.
    """

    def __init__(self, trainer_id: str) -> None:
        if not trainer_id:
            raise ValueError(
                f"tf.data service cross-trainer cache requires a non-empty trainer ID, got {shown(trainer_id)}"
            )
        self.trainer_id = trainer_id


def policy_of(processing_mode: Any) -> ShardingPolicy:
    """The policy that a user means."""
    if isinstance(processing_mode, ShardingPolicy):
        return processing_mode
    if processing_mode == "parallel_epochs":
        return ShardingPolicy.OFF
    if processing_mode == "distributed_epoch":
        return ShardingPolicy.DYNAMIC
    raise ValueError(
        "tf.data service processing mode should be a `tf.data.experimental.service.ShardingPolicy`, "
        f'"parallel_epochs", or "distributed_epoch". Got {shown(processing_mode)}.'
    )


def check_options(
    job_name: Any,
    consumer_index: int | None,
    num_consumers: int | None,
    compression: Any,
    target_workers: Any,
) -> None:
    """Raises for what a job cannot be asked for."""
    if job_name is not None and (not isinstance(job_name, str) or not job_name):
        raise ValueError(f"`job_name` must be a non-empty string, got {shown(job_name)}")
    if (consumer_index is None) != (num_consumers is None):
        raise ValueError("Must either set both `consumer_index` and `num_consumers`, or neither.")
    if num_consumers is not None and job_name is None:
        raise ValueError("`job_name` must be set when setting `num_consumers`")
    if (
        num_consumers is not None
        and consumer_index is not None
        and not 0 <= consumer_index < num_consumers
    ):
        raise ValueError(
            f"`consumer_index` must be from 0 to {num_consumers - 1}, got {consumer_index}"
        )
    if compression not in ("AUTO", "SNAPPY", None):
        raise ValueError(
            f"Invalid `compression` argument: {shown(compression)}. Use 'AUTO' or None."
        )
    if str(target_workers).upper() not in ("AUTO", "ANY", "LOCAL"):
        raise ValueError(
            f'`target_workers` must be "AUTO", "ANY" or "LOCAL", got {shown(target_workers)}'
        )
