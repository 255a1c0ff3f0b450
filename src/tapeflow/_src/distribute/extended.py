"""`tf.distribute.StrategyExtended`: what libraries need of a strategy, such as where its replicas are."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from typing import Any

from tapeflow._src.core.context import context
from tapeflow._src.core.convert import convert_to_tensor
from tapeflow._src.core.export import export
from tapeflow._src.core.placement.devices import device as device_scope, devices as known_devices
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.core.variables.variable import Variable
from tapeflow._src.distribute.lockstep import in_step
from tapeflow._src.distribute.reduce_op import (
    ReduceOp,
    gathered,
    reduce_op as as_reduce_op,
    reduced,
)
from tapeflow._src.distribute.replica import ReplicaContext, all_gathered, all_reduced
from tapeflow._src.distribute.values import Mirrored, PerReplica, local, part, regrouped


@export("distribute.StrategyExtended")
class StrategyExtended:
    """What `Strategy.extended` is.

    >>> strategy = tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"])
    >>> strategy.extended.worker_devices
    ('/job:localhost/replica:0/task:0/device:CPU:0', '/job:localhost/replica:0/task:0/device:CPU:1')

    Args:
      devices: one for each replica of this process.
      first: the number of the first of these among all replicas.
      count: how many replicas all workers have together.
    """

    def __init__(self, devices: Sequence[str], first: int = 0, count: int | None = None) -> None:
        self._devices = tuple(devices)
        self.first = first
        self.count = len(devices) if count is None else count
        self.strategy: Any = None

    @property
    def workers(self) -> int:
        """How many processes there are."""
        return self.count // self.local

    @property
    def worker(self) -> int:
        """The number of this process among them."""
        return self.first // self.local

    @property
    def local(self) -> int:
        """How many replicas this process has."""
        return len(self._devices)

    @property
    def worker_devices(self) -> tuple[str, ...]:
        """The devices of the replicas of this process."""
        return self._devices

    @property
    def mesh_devices(self) -> tuple[str, ...]:
        """The devices of all replicas, if one traced program may run on them together."""
        return self._devices if self.local == self.count else ()

    @property
    def parameter_devices(self) -> tuple[str, ...]:
        """The devices that have copies of variables."""
        return self._devices

    @property
    def experimental_require_static_shapes(self) -> bool:
        """Whether all shapes must be known when a function is traced: no."""
        return False

    @property
    def should_checkpoint(self) -> bool:
        """Whether this process is the one that saves checkpoints."""
        return self.first == 0

    @property
    def should_save_summary(self) -> bool:
        """Whether this process is the one that writes summaries."""
        return self.first == 0

    # Replicas.

    def call_for_each_replica(
        self, fn: Callable[..., Any], args: Sequence[Any] = (), kwargs: Any = None
    ) -> Any:
        """What `Strategy.run` does with a plain function."""
        given = kwargs or {}
        contexts = [ReplicaContext(self.strategy, self.first + i, i) for i in range(self.local)]
        functions = [
            partial(self._call, i, fn, part(i, tuple(args)), part(i, dict(given)))
            for i in range(self.local)
        ]
        return regrouped(in_step(contexts, functions, self.mesh_devices))

    def _call(self, index: int, fn: Callable[..., Any], args: Any, kwargs: Any) -> Any:
        with self.placed(index):
            return fn(*args, **kwargs)

    def placed(self, index: int) -> AbstractContextManager[Any]:
        """The scope of a replica's device, if there is one to tell from this computer. A program has one place."""
        if context.tracer is not None:
            return nullcontext()
        name = "/device:" + self._devices[index].rpartition("device:")[2]
        there = [d.name for d in known_devices.logical()]
        return device_scope(name) if len(there) > 1 and name in there else nullcontext()

    def local_numbers(self) -> Any:
        """For each replica of this process its number among them."""
        return PerReplica(range(self.local)) if self.local > 1 else 0

    # Values of all replicas.

    def reduced_across(self, op: ReduceOp, value: Any) -> Any:
        """One value of those of all replicas."""
        parts = local(value)
        if parts is not None:
            return reduced(op, parts)
        if self.count > 1 and op is ReduceOp.SUM:
            raise ValueError(
                f"A non-DistributedValues value {value} cannot be reduced with the given reduce op {op}."
            )
        return convert_to_tensor(value)

    def gathered_across(self, value: Any, axis: int) -> Any:
        """The values of all replicas, put together."""
        parts = local(value)
        return convert_to_tensor(value) if parts is None else gathered(parts, axis)

    def all_reduced(self, op: ReduceOp, brought: Sequence[Sequence[Any]]) -> list[list[Any]]:
        """For each replica what becomes of the tensors that all have brought."""
        return all_reduced(op, brought, self.placed)

    def all_gathered(self, axis: int, brought: Sequence[Sequence[Any]]) -> list[list[Any]]:
        """For each replica what all have brought put together, and where its own begins."""
        return all_gathered(axis, brought, self.placed)

    def reduce_to(
        self, reduce_op: Any, value: Any, destinations: Any, options: Any = None
    ) -> Mirrored:
        """One value of those of all replicas, for each of them.

        Args:
          reduce_op: `tf.distribute.ReduceOp`, or its name.
          value: values for each replica.
          destinations: accepted for compatibility: all replicas get the result.
          options: `tf.distribute.experimental.CommunicationOptions`.
        """
        return self.broadcast_to(self.reduced_across(as_reduce_op(reduce_op), value), destinations)

    def batch_reduce_to(
        self, reduce_op: Any, value_destination_pairs: Iterable[Any], options: Any = None
    ) -> list[Mirrored]:
        """The same for several values."""
        return [self.reduce_to(reduce_op, x, to) for x, to in value_destination_pairs]

    def broadcast_to(self, tensor: Any, destinations: Any) -> Mirrored:
        """A tensor for each replica."""
        return Mirrored([tensor] * self.local)

    # Variables.

    def first_value(self, value: Tensor) -> Tensor:
        """What the first worker has made for a new variable: there is no other."""
        return value

    def variable_created_in_scope(self, v: Variable) -> bool:
        """Whether a variable was made in the scope of this strategy."""
        return getattr(v, "distribute_strategy", None) is self.strategy

    def colocate_vars_with(self, colocate_with_variable: Any) -> AbstractContextManager[Any]:
        """Within this context variables are made where another one is: as always."""
        return nullcontext()

    def update(
        self,
        var: Variable,
        fn: Callable[..., Any],
        args: Sequence[Any] = (),
        kwargs: Any = None,
        group: bool = True,
    ) -> Any:
        """Calls a function on each copy of a variable.

        Args:
          var: a variable with a copy for each replica.
          fn: takes a copy, and the arguments as its replica has them.
          args: positional arguments.
          kwargs: arguments by names.
          group: whether the results count as one value; if not, they come as a tuple.
        """
        copies = local(var) or (var,)
        results = [
            fn(copy, *part(i, tuple(args)), **part(i, dict(kwargs or {})))
            for i, copy in enumerate(copies)
        ]
        return regrouped(results, Mirrored) if group else tuple(results)

    def read_var(self, v: Variable) -> Any:
        """What a variable holds."""
        return convert_to_tensor(v)

    def value_container(self, value: Any) -> Any:
        """What a copy of a variable is part of."""
        return value._whole if isinstance(value, Variable) else value
