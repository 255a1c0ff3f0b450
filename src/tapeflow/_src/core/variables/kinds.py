"""How the copies of a variable on several replicas are kept together: when they agree, and on what."""

from __future__ import annotations

import enum
from typing import Any

from tapeflow._src.core.export import export


@export("VariableAggregation")
class VariableAggregation(enum.Enum):
    """What becomes of the values that several replicas assign to one variable.

    >>> tf.VariableAggregation.MEAN.name
    'MEAN'
    """

    NONE = 0
    SUM = 1
    MEAN = 2
    ONLY_FIRST_REPLICA = 3


@export("VariableSynchronization")
class VariableSynchronization(enum.Enum):
    """When the copies of a variable on several replicas are brought together.

    >>> tf.VariableSynchronization.ON_READ.name
    'ON_READ'
    """

    AUTO = 0
    NONE = 1
    ON_WRITE = 2
    ON_READ = 3


def checked_kind(
    synchronization: Any, aggregation: Any, name: str | None
) -> tuple[VariableSynchronization, VariableAggregation]:
    """The two of a new variable, by default `AUTO` and `NONE`."""
    if aggregation is None:
        aggregation = VariableAggregation.NONE
    if synchronization is None:
        synchronization = VariableSynchronization.AUTO
    if not isinstance(aggregation, VariableAggregation):
        raise ValueError(f"Invalid variable aggregation mode: {aggregation} for variable: {name}")
    if not isinstance(synchronization, VariableSynchronization):
        raise ValueError(
            f"Invalid variable synchronization mode: {synchronization} for variable: {name}"
        )
    return synchronization, aggregation
