"""`tf.distribute.ReplicaContext`: what a function sees of the other replicas while `Strategy.run` calls it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from functools import partial
from typing import Any

from tapeflow._src.autodiff.backprop import Call
from tapeflow._src.core import nest
from tapeflow._src.core.context import context, recorders
from tapeflow._src.core.convert import convert_to_tensor
from tapeflow._src.core.export import export
from tapeflow._src.core.indexed_slices import IndexedSlices
from tapeflow._src.core.scopes import setting
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.distribute.lockstep import DIFFERENT_GRAPH
from tapeflow._src.distribute.reduce_op import (
    ReduceOp,
    gathered,
    reduce_op as as_reduce_op,
    reduced,
)
from tapeflow._src.distribute.values import part, regrouped
from tapeflow._src.ops.indexing.slicing import slice_ as tf_slice
from tapeflow._src.primitives.array import moving


@export("distribute.ReplicaContext")
class ReplicaContext:
    """What `tf.distribute.get_replica_context()` gives inside of `Strategy.run`.

    >>> strategy = tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"])
    >>> def step():
    ...     context = tf.distribute.get_replica_context()
    ...     return context.all_reduce("SUM", tf.constant(1.0))
    >>> strategy.experimental_local_results(strategy.run(step))[1].numpy()
    np.float32(2.0)
    """

    leads = False
    """Whether it does for all replicas what it does: see `for_all`."""

    def __init__(self, strategy: Any, replica_id_in_sync_group: int, local: int = 0) -> None:
        self._strategy = strategy
        self.number = replica_id_in_sync_group
        # Among the replicas of this process.
        self.index = local
        self._steps: Any = None
        self._place: Any = None
        self._counts: dict[str | None, int] = {}

    def joined(self, steps: Any, place: Any) -> None:
        """Tells it of the run that it is part of."""
        self._steps, self._place = steps, place

    # What it is.

    @property
    def strategy(self) -> Any:
        """The strategy that runs the replica."""
        return self._strategy

    @property
    def num_replicas_in_sync(self) -> int:
        """How many replicas there are."""
        return self._strategy.num_replicas_in_sync

    @property
    def replica_id_in_sync_group(self) -> Any:
        """The number of this replica, as a scalar tensor."""
        return convert_to_tensor(self.number)

    @property
    def devices(self) -> list[str]:
        """The device of this replica."""
        return [self._strategy.extended.worker_devices[self.index]]

    # What it does.

    def merge_call(
        self, merge_fn: Callable[..., Any], args: Sequence[Any] = (), kwargs: Any = None
    ) -> Any:
        """Calls a function once for all replicas, outside of them, and gives each its part of the result.

        Args:
          merge_fn: takes the strategy, and the arguments of all replicas as values for each of them.
          args: what this replica brings.
          kwargs: the same, by names.
        """

        def merged(brought: Sequence[Any]) -> list[Any]:
            args, kwargs = regrouped([(list(a), k) for a, k in brought])
            result = merge_fn(self._strategy, *args, **kwargs)
            return [part(i, result) for i in range(len(brought))]

        return self.meet(merged, (args, kwargs or {}))

    def meet(self, meeting: Any, value: Any) -> Any:
        """What a function of the values of all replicas gives this one."""
        if context.tracer is not self._steps.tracer:
            raise RuntimeError(DIFFERENT_GRAPH)
        return self._place.meet(meeting, value)

    def made(self, name: str | None, make: Callable[[], Any]) -> Any:
        """A variable that is made inside of a replica. The first replica makes it, and the others get the same.

        Which is the same is told by the name, and how many of that name there were: the first replica may have made
        variables that others find (those of a layer, say), and need not make.
        """
        mine = self._counts.get(name, 0)
        self._counts[name] = mine + 1
        made = self._steps.made.setdefault(name, [])
        if mine == len(made):
            made.append(make())
        return made[mine]

    def for_all(self, function: Callable[..., Any], *args: Any) -> None:
        """Calls a function once for all replicas, with the arguments of the first.

        The function runs as if in that replica. What it assigns to a variable is assigned to all copies of it, so that
        an update that is the same in all replicas (of the weights, after the gradients have been added up) is computed
        once.
        """

        def called(brought: Sequence[Any]) -> list[None]:
            with setting(context, replica=_Leader(self._strategy, self.number, self.index)):
                function(*brought[0])
            return [None] * len(brought)

        self.meet(called, args)

    def all_reduce(self, reduce_op: Any, value: Any, options: Any = None) -> Any:
        """The sum or mean over all replicas, which each of them gets. Gradients flow through it.

        Args:
          reduce_op: `tf.distribute.ReduceOp`, or its name.
          value: a structure of tensors, of the same shapes in each replica.
          options: `tf.distribute.experimental.CommunicationOptions`.
        """
        op = as_reduce_op(reduce_op)
        leaves = [
            x if isinstance(x, IndexedSlices) else convert_to_tensor(x) for x in nest.flatten(value)
        ]
        results = self.meet(partial(self._strategy.extended.all_reduced, op), leaves)
        for x, y in zip(leaves, results, strict=True):
            if isinstance(x, Tensor):
                # The gradient of a sum over all is the sum of all gradients.
                self._record(op.name, x, y, lambda g: [self.all_reduce(op, g)])
        return nest.pack_sequence_as(value, results)

    def all_gather(self, value: Any, axis: int, options: Any = None) -> Any:
        """The values of all replicas, put together along an axis. Gradients flow through it.

        Args:
          value: a structure of tensors. Their sizes along the axis may differ between replicas.
          axis: an integer.
          options: `tf.distribute.experimental.CommunicationOptions`.
        """
        for x in nest.flatten(value):
            if isinstance(x, IndexedSlices):
                raise NotImplementedError("all_gather does not support IndexedSlices")
        leaves = [convert_to_tensor(x) for x in nest.flatten(value)]
        results = self.meet(partial(self._strategy.extended.all_gathered, axis), leaves)
        for x, (y, before) in zip(leaves, results, strict=True):
            self._record("all_gather", x, y, partial(self._own_part, x, before, axis))
        return nest.pack_sequence_as(value, [y for y, _ in results])

    def _own_part(self, x: Tensor, before: Any, axis: int, g: Tensor) -> list[Tensor]:
        total = self.all_reduce(ReduceOp.SUM, g)
        begin: list[Any] = [0] * len(x._array.shape)
        begin[axis] = before
        return [tf_slice(total, begin, list(x._array.shape))]

    def _record(self, name: str, x: Tensor, y: Tensor, pullback: Callable[..., Any]) -> None:
        """Tells the tapes of this replica. Those around `run` have seen the sum itself."""
        outside = {id(r) for r in self._steps.recorders}
        inside = [r for r in recorders() if id(r) not in outside]
        if inside and x.dtype.is_differentiable:
            call = Call(name, [x], [y], pullback)
            for recorder in inside:
                recorder.record_call(call)

    def __enter__(self) -> ReplicaContext:
        return self

    def __exit__(self, *exception: Any) -> None:
        pass


Scopes = Callable[[int], AbstractContextManager[Any]]
"""For each replica the scope of its device."""


def all_reduced(op: ReduceOp, brought: Sequence[Sequence[Any]], scopes: Scopes) -> list[list[Any]]:
    """For each replica the sums or means of what all have brought, as tensors of its own."""
    totals = [reduced(op, column) for column in zip(*brought, strict=True)]
    return [[own(x, scopes(i)) for x in totals] for i in range(len(brought))]


def all_gathered(axis: int, brought: Sequence[Sequence[Any]], scopes: Scopes) -> list[list[Any]]:
    """For each replica what all have brought, put together, and where its own part begins."""
    answers: list[list[Any]] = [[] for _ in brought]
    for column in zip(*brought, strict=True):
        whole = gathered(column, axis)
        before: Any = 0
        for i, (answer, x) in enumerate(zip(answers, column, strict=True)):
            answer.append((own(whole, scopes(i)), before))
            before = before + x._array.shape[axis]
    return answers


def own(x: Any, scope: AbstractContextManager[Any]) -> Any:
    """A tensor of a replica's own."""
    with scope:
        return moving.identity(x) if isinstance(x, Tensor) else x


class _Leader(ReplicaContext):
    """The first replica, while it does something for all. What it has is what all have."""

    leads = True

    def meet(self, meeting: Any, value: Any) -> Any:
        """The others have nothing of their own to bring."""
        return meeting([value])[0]

    def made(self, name: str | None, make: Callable[[], Any]) -> Any:
        """A variable for all."""
        return make()

    def all_reduce(self, reduce_op: Any, value: Any, options: Any = None) -> Any:
        """The value: it has been brought together already."""
        return value


class DefaultReplicaContext(ReplicaContext):
    """The only replica there is where no strategy is in use."""

    def meet(self, meeting: Any, value: Any) -> Any:
        """There is nobody to meet."""
        with setting(context, strategy=self._strategy, replica=None):
            return meeting([value])[0]

    def all_reduce(self, reduce_op: Any, value: Any, options: Any = None) -> Any:
        """The value."""
        as_reduce_op(reduce_op)
        return nest.map_structure(_as_it_is, value)

    def all_gather(self, value: Any, axis: int, options: Any = None) -> Any:
        """The value."""
        return nest.map_structure(_as_it_is, value)


def _as_it_is(x: Any) -> Any:
    return x if isinstance(x, IndexedSlices) else convert_to_tensor(x)
