"""`tf.distribute.Strategy`: runs a function on all replicas, and brings together what they return."""

from __future__ import annotations

import inspect
import weakref
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from tapeflow._src.core import nest
from tapeflow._src.core.context import context
from tapeflow._src.core.convert import convert_to_tensor
from tapeflow._src.core.export import export
from tapeflow._src.core.scopes import Scope, setting
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.core.variables.kinds import (
    VariableSynchronization,
    checked_kind,
)
from tapeflow._src.core.variables.variable import Variable
from tapeflow._src.distribute.extended import StrategyExtended
from tapeflow._src.distribute.reduce_op import ReduceOp, reduce_op as as_reduce_op
from tapeflow._src.distribute.values import DistributedValues, local, wrapped
from tapeflow._src.distribute.variables import MirroredVariable, SyncOnReadVariable
from tapeflow._src.function.autograph import convert
from tapeflow._src.function.autograph.calls import is_enabled
from tapeflow._src.function.autograph.rules import is_users, python_function
from tapeflow._src.function.function import Function
from tapeflow._src.ops.array.shaping import cast, shape as tf_shape
from tapeflow._src.ops.reduction.reducing import reduce_prod, reduce_sum

ONLY_ACROSS = (
    "Method requires being in cross-replica context, use get_replica_context().merge_call()"
)
_PARAMETERS = inspect.signature(Variable.__init__)


@export("distribute.experimental.ValueContext")
class ValueContext:
    """What the function of `experimental_distribute_values_from_function` is told.

    >>> tf.distribute.experimental.ValueContext(1, 4).num_replicas_in_sync
    4
    """

    def __init__(self, replica_id_in_sync_group: int = 0, num_replicas_in_sync: int = 1) -> None:
        self._number = replica_id_in_sync_group
        self._count = num_replicas_in_sync

    @property
    def replica_id_in_sync_group(self) -> int:
        """The number of the replica that the value is for."""
        return self._number

    @property
    def num_replicas_in_sync(self) -> int:
        """How many replicas there are."""
        return self._count


@export("distribute.Strategy")
class Strategy:
    """A way to run one program on several replicas. Use one of its kinds, such as `tf.distribute.MirroredStrategy`.

    >>> strategy = tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"])
    >>> with strategy.scope():
    ...     v = tf.Variable(1.0)
    >>> def replica(x):
    ...     return x * v
    >>> each = strategy.experimental_distribute_values_from_function(
    ...     lambda context: tf.constant(float(context.replica_id_in_sync_group)))
    >>> strategy.reduce("SUM", strategy.run(replica, args=(each,)), axis=None).numpy()
    np.float32(1.0)
    """

    def __init__(self, extended: StrategyExtended) -> None:
        self._extended = extended
        self._functions: weakref.WeakKeyDictionary[Any, Function] = weakref.WeakKeyDictionary()

    # What it is.

    @property
    def extended(self) -> StrategyExtended:
        """What a library needs of a strategy, beyond what programs need."""
        return self._extended

    @property
    def num_replicas_in_sync(self) -> int:
        """How many replicas run in step, those of all workers."""
        return self._extended.count

    @property
    def cluster_resolver(self) -> Any:
        """Where the other workers are, if there are any."""
        return None

    def scope(self) -> Any:
        """Within this context variables are made for all replicas, and this is `tf.distribute.get_strategy()`."""
        return _StrategyScope(self)

    # Running.

    def run(
        self,
        fn: Callable[..., Any],
        args: Sequence[Any] = (),
        kwargs: dict[str, Any] | None = None,
        options: Any = None,
    ) -> Any:
        """Calls a function on each replica, and gives what they return as values for each of them.

        A `tf.function`, and anything that is called inside of one, becomes one program with all replicas in it. Else
        the replicas run in step.

        Args:
          fn: what to call. Of an argument that has a value for each replica it gets its own.
          args: positional arguments.
          kwargs: arguments by names.
          options: `tf.distribute.RunOptions`.
        """
        if not isinstance(args, (list, tuple)):
            raise ValueError(f"positional args must be a list or tuple, got {type(args)}")
        with self.scope():  # a class of users may have made more of it
            if isinstance(fn, Function):
                return self._in_function(fn)(tuple(args), kwargs or {})
            function = python_function(fn) if is_enabled() else None
            if function is not None and is_users(function):
                fn = convert(fn)
            return self._extended.call_for_each_replica(fn, args, kwargs)

    def _in_function(self, fn: Function) -> Function:
        """A function that has all replicas of another one in it, which would not let them meet."""
        found = self._functions.get(fn)
        if found is None:
            inner = fn._converted()

            def replicated(args: Any, kwargs: Any) -> Any:
                return self._extended.call_for_each_replica(inner, args, kwargs)

            replicated.__name__ = fn.name
            found = self._functions[fn] = Function(
                replicated,
                autograph=False,
                jit_compile=fn._options["jit_compile"],
                reduce_retracing=fn._options["reduce_retracing"],
            )
        return found

    def _across(self) -> setting:
        """Within this context the strategy is in use, which must not be so inside of a replica."""
        if context.replica is not None:
            raise RuntimeError(ONLY_ACROSS)
        if context.strategy is not None and context.strategy is not self:
            raise mixing(context.strategy, self)
        return setting(context, strategy=self)

    # Bringing together.

    def reduce(self, reduce_op: Any, value: Any, axis: Any) -> Any:
        """One value of those of all replicas.

        >>> strategy = tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"])
        >>> rows = strategy.run(lambda: tf.constant([1.0, 2.0]))
        >>> strategy.reduce("SUM", rows, axis=None).numpy(), strategy.reduce("MEAN", rows, axis=0).numpy()
        (array([2., 4.], dtype=float32), np.float32(1.5))

        Args:
          reduce_op: `tf.distribute.ReduceOp`, or its name.
          value: a structure of values for each replica.
          axis: also sums over this axis of each value, or several; None leaves them as they are. A mean is then that
            over all elements, however many each replica has.
        """
        op = as_reduce_op(reduce_op)
        with self._across():
            if axis is None:
                return nest.map_structure(lambda x: self._reduced(op, x), value)
            return nest.map_structure(lambda x: self._reduced_along(op, x, axis), value)

    def _reduced(self, op: ReduceOp, value: Any) -> Any:
        return self._extended.reduced_across(op, value)

    def _reduced_along(self, op: ReduceOp, value: Any, axis: Any) -> Tensor:
        parts = local(value)
        tensors = [convert_to_tensor(x) for x in ([value] if parts is None else parts)]
        across = self._extended.reduced_across
        sums = [reduce_sum(x, axis) for x in tensors]
        if op is ReduceOp.SUM:
            return across(op, DistributedValues(sums) if parts is not None else sums[0])
        counts = [_count(x, axis) for x in tensors]
        if parts is None:
            total, count = sums[0], counts[0]
        else:
            total = across(ReduceOp.SUM, DistributedValues(sums))
            count = across(ReduceOp.SUM, DistributedValues(counts))
        return total / cast(count, total.dtype)

    def gather(self, value: Any, axis: int) -> Any:
        """The values of all replicas, put together along an axis.

        >>> strategy = tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"])
        >>> strategy.gather(strategy.run(lambda: tf.constant([[1.0], [2.0]])), axis=0).shape
        TensorShape([4, 1])

        Args:
          value: a structure of values for each replica, which may have different sizes along the axis.
          axis: an integer.
        """
        if context.replica is not None:
            raise RuntimeError(
                "tf.distribute.Strategy.gather method requires cross-replica context, use "
                "get_replica_context().all_gather() instead"
            )
        with self._across():
            return nest.map_structure(lambda x: self._extended.gathered_across(x, axis), value)

    def experimental_local_results(self, value: Any) -> tuple[Any, ...]:
        """The values of the replicas of this process, as a tuple.

        >>> strategy = tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"])
        >>> len(strategy.experimental_local_results(strategy.run(lambda: tf.constant(1.0))))
        2
        """
        if not nest.is_nested(value):
            return local(value) or (value,)
        leaves = nest.flatten(value)
        parts = [local(leaf) or (leaf,) * self._extended.local for leaf in leaves]
        return tuple(nest.pack_sequence_as(value, column) for column in zip(*parts, strict=True))

    def experimental_distribute_values_from_function(
        self, value_fn: Callable[[ValueContext], Any]
    ) -> Any:
        """A value for each replica, made by a function that is told which."""
        first, count = self._extended.first, self.num_replicas_in_sync
        made = [value_fn(ValueContext(first + i, count)) for i in range(self._extended.local)]
        return made[0] if len(made) == 1 else wrapped(made)

    # Data.

    def experimental_distribute_dataset(self, dataset: Any, options: Any = None) -> Any:
        """A dataset whose batches are divided among the replicas.

        >>> strategy = tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"])
        >>> data = strategy.experimental_distribute_dataset(tf.data.Dataset.range(4).batch(4))
        >>> [x.numpy().tolist() for x in next(iter(data)).values]
        [[0, 1], [2, 3]]

        Args:
          dataset: its batches are those of all replicas together.
          options: `tf.distribute.InputOptions`.
        """
        from tapeflow._src.distribute.datasets import divided

        return divided(self, dataset, options)

    def distribute_datasets_from_function(
        self, dataset_fn: Callable[[Any], Any], options: Any = None
    ) -> Any:
        """A dataset that a function makes, whose batches are each for one replica.

        Args:
          dataset_fn: is told of the worker by a `tf.distribute.InputContext`.
          options: `tf.distribute.InputOptions`.
        """
        from tapeflow._src.distribute.datasets import dealt

        return dealt(self, dataset_fn, options)

    experimental_distribute_datasets_from_function = distribute_datasets_from_function

    # Variables.

    def new_variable(self, *args: Any, **kwargs: Any) -> Variable:
        """A variable with a copy for each replica: what `tf.Variable` makes in the scope."""
        given = dict(_PARAMETERS.bind(None, *args, **kwargs).arguments)
        given.pop("self")
        name = given.get("name")
        kind, given["aggregation"] = checked_kind(
            given.get("synchronization"), given.get("aggregation"), name
        )
        if kind is VariableSynchronization.NONE:
            raise ValueError(
                "`NONE` variable synchronization mode is not supported with tf.distribute strategy. Please change the "
                f"`synchronization` for variable: {name}"
            )
        on_read = kind is VariableSynchronization.ON_READ
        if on_read:
            given["trainable"] = bool(given.get("trainable"))
        cls: Any = SyncOnReadVariable if on_read else MirroredVariable
        make = partial(cls.made, self, self._extended.local, given)
        return make() if context.replica is None else context.replica.made(name, make)

    def __deepcopy__(self, memo: dict[int, Any]) -> Strategy:
        return self


def _count(x: Tensor, axis: Any) -> Tensor:
    """How many elements are summed for each of the results."""
    sizes = tf_shape(x)
    axes = [axis] if not isinstance(axis, (list, tuple)) else list(axis)
    return reduce_prod([sizes[a] for a in axes])


def mixing(a: Any, b: Any) -> RuntimeError:
    """The error for two strategies at once."""
    return RuntimeError(f"Mixing different tf.distribute.Strategy objects: {a} is not {b}")


class _StrategyScope(Scope):
    """What `Strategy.scope` gives. It may be entered again inside of itself."""

    def __init__(self, strategy: Strategy) -> None:
        self._strategy = strategy
        self._before: Any = None

    def __enter__(self) -> Strategy:
        if context.replica is not None:
            raise RuntimeError(ONLY_ACROSS)
        if context.strategy is not None and context.strategy is not self._strategy:
            raise mixing(context.strategy, self._strategy)
        self._before = context.strategy
        self._guard = self._latest
        context.strategy = self._strategy
        return self._strategy

    def _leave(self, *exception: Any) -> None:
        context.strategy = self._before
        self._guard = None
