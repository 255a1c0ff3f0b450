"""Which strategy is in use, and where the program is: inside of a replica, or outside of all."""

from __future__ import annotations

from typing import Any

from tapeflow._src.core.context import context
from tapeflow._src.core.errors import shown
from tapeflow._src.core.export import export
from tapeflow._src.core.scopes import Scope, setting
from tapeflow._src.core.variables.variable import Variable
from tapeflow._src.distribute.extended import StrategyExtended
from tapeflow._src.distribute.reduce_op import ReduceOp
from tapeflow._src.distribute.replica import DefaultReplicaContext
from tapeflow._src.distribute.strategy import ONLY_ACROSS, Strategy
from tapeflow._src.distribute.values import local


class _NoScope(Scope):
    """The scope of the default strategy, which changes nothing."""

    def __enter__(self) -> Strategy:
        if context.strategy is not None:
            raise RuntimeError("Must not nest tf.distribute.Strategy scopes.")
        return default

    def _leave(self, *exception: Any) -> None:
        self._guard = None


class _Default(Strategy):
    """The strategy where none is in use: one replica, which is the program."""

    def scope(self) -> Any:
        """Changes nothing."""
        return _NoScope()

    def run(self, fn: Any, args: Any = (), kwargs: Any = None, options: Any = None) -> Any:
        """Calls the function."""
        return fn(*args, **(kwargs or {}))

    def _across(self) -> setting:
        if context.replica is not None:
            raise RuntimeError(ONLY_ACROSS)
        return setting(context, strategy=context.strategy)

    def _reduced(self, op: ReduceOp, value: Any) -> Any:
        # Of any kind, None as well: a step need not return anything.
        return value if local(value) is None else super()._reduced(op, value)

    def new_variable(self, *args: Any, **kwargs: Any) -> Variable:
        """A plain variable."""
        return object.__new__(Variable)

    def experimental_distribute_dataset(self, dataset: Any, options: Any = None) -> Any:
        """The dataset."""
        return dataset


default = _Default(StrategyExtended(["/device:CPU:0"]))
default.extended.strategy = default
_default_replica = DefaultReplicaContext(default, 0)


@export("distribute.get_strategy")
def get_strategy() -> Strategy:
    """The strategy whose scope is open, or the default one.

    >>> tf.distribute.get_strategy().num_replicas_in_sync
    1
    """
    return default if context.strategy is None else context.strategy


@export("distribute.has_strategy")
def has_strategy() -> bool:
    """Whether a strategy is in use that is not the default one.

    >>> tf.distribute.has_strategy()
    False
    """
    return context.strategy is not None and context.strategy is not default


@export("distribute.in_cross_replica_context")
def in_cross_replica_context() -> bool:
    """Whether a strategy is in use, and no replica is running.

    >>> with tf.distribute.OneDeviceStrategy("CPU:0").scope():
    ...     tf.distribute.in_cross_replica_context()
    True
    """
    return context.strategy is not None and context.replica is None


@export("distribute.get_replica_context")
def get_replica_context() -> Any:
    """The replica that is running. Outside of `Strategy.run`, in the scope of a strategy, there is none.

    >>> tf.distribute.get_replica_context().num_replicas_in_sync
    1
    """
    if context.replica is not None:
        return context.replica
    return None if context.strategy is not None else _default_replica


@export("distribute.experimental_set_strategy")
def experimental_set_strategy(strategy: Strategy | None) -> None:
    """Makes a strategy the one in use, without a scope.

    >>> tf.distribute.experimental_set_strategy(tf.distribute.OneDeviceStrategy("CPU:0"))
    >>> tf.distribute.has_strategy()
    True
    >>> tf.distribute.experimental_set_strategy(None)
    """
    if context.replica is not None:
        raise RuntimeError(ONLY_ACROSS)
    if strategy is not None and not isinstance(strategy, Strategy):
        raise TypeError(
            f"experimental_set_strategy: expected a tf.distribute.Strategy or None, got {shown(strategy)}"
        )
    context.strategy = None if strategy is default else strategy
