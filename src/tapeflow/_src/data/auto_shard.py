"""`tf.data.experimental.AutoShardPolicy`: how a dataset is divided among workers."""

from __future__ import annotations

import enum

from tapeflow._src.core.export import export


@export("data.experimental.AutoShardPolicy")
class AutoShardPolicy(enum.IntEnum):
    """How a dataset is divided among workers.

    >>> tf.data.Options().experimental_distribute.auto_shard_policy
    <AutoShardPolicy.AUTO: 0>
    """

    OFF = -1
    AUTO = 0
    FILE = 1
    DATA = 2
    HINT = 3
