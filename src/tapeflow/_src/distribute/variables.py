"""Variables with a copy for each replica.

Inside of a replica such a variable is the copy of that replica. Outside, a mirrored variable is its first copy, and a
variable that is synchronised on reading is the sum or mean of all.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tapeflow._src.core.context import context, new_id, no_recorders
from tapeflow._src.core.convert import convert_to_tensor
from tapeflow._src.core.indexed_slices import IndexedSlices
from tapeflow._src.core.scopes import setting
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.core.variables.kinds import VariableAggregation, VariableSynchronization
from tapeflow._src.core.variables.steps import Step
from tapeflow._src.core.variables.variable import Variable
from tapeflow._src.distribute.reduce_op import ReduceOp
from tapeflow._src.distribute.values import DistributedValues, regrouped
from tapeflow._src.ops.array.shaping import cast


class Copy(Variable):
    """The copy of one replica."""

    _of: DistributedVariable

    @property
    def _whole(self) -> Variable:
        return self._of

    def _draft(self, value: Tensor) -> Variable:
        """A variable like this one, which nobody knows, to try on it what becomes of a value."""
        draft = object.__new__(Variable)
        draft._value, draft._shape, draft._constraint = value, self._shape, self._constraint
        draft._differentiable, draft._name = self._differentiable, self._name
        draft._trainable, draft._created = self._trainable, self._created
        return draft


class DistributedVariable(Variable):
    """A variable with a copy for each replica of a strategy."""

    __slots__ = ()
    _has_copies = True

    _copies: tuple[Copy, ...]
    _strategy: Any

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        """`made` has made it already."""

    @classmethod
    def made(cls, strategy: Any, count: int, given: dict[str, Any]) -> DistributedVariable:
        """A new variable.

        Args:
          strategy: whose replicas have copies.
          count: how many they are in this process.
          given: the arguments of `tf.Variable`. The initial value is made once.
        """
        self = object.__new__(cls)
        aggregation = given.pop("aggregation", None)
        synchronization = given.pop("synchronization", None)
        name = given.pop("name", None) or "Variable"
        value = given.pop("initial_value", None)
        copies: list[Copy] = []
        for i in range(count):
            value = copies[0]._value if i else value
            with strategy.extended.placed(i):
                copy = Copy(value, name=name if not i else f"{name}/replica_{i}", **given)
            copy._of = self
            copy.synchronization = synchronization or VariableSynchronization.AUTO
            copy.aggregation = aggregation or VariableAggregation.NONE
            if not i:
                copy._value = strategy.extended.first_value(copy._value)
            copies.append(copy)
        first = copies[0]
        self._copies = tuple(copies)
        self._strategy = strategy
        self.aggregation = aggregation or VariableAggregation.NONE
        self._shape, self._constraint = first._shape, first._constraint
        self._differentiable, self._name = first._differentiable, first._name
        self._created = new_id()
        return self

    # The copies.

    @property
    def values(self) -> tuple[Copy, ...]:
        """The copies, in the order of the replicas."""
        return self._copies

    replica_values = _values = values

    @property
    def keeps_equal(self) -> bool | None:
        """Whether the copies are equal, whatever replicas assign; None if that is up to the replicas."""
        return False

    @property
    def distribute_strategy(self) -> Any:
        """The strategy that it was made by."""
        return self._strategy

    def _mine(self) -> Copy:
        """The copy of the replica that is running; outside of replicas, the first."""
        replica = context.replica
        if replica is None or replica.strategy is not self._strategy:
            return self._copies[0]
        return self._copies[replica.index]

    def _replica(self) -> Any:
        """The replica that is running, which must be one of this strategy."""
        replica = context.replica
        if replica is not None and replica.strategy is not self._strategy:
            raise RuntimeError(
                f"Mixing different tf.distribute.Strategy objects: {replica.strategy} is not {self._strategy}"
            )
        return replica

    @property
    def handle(self) -> Variable:
        """The copy that tapes know it by."""
        return self._mine()

    @property
    def _value(self) -> Tensor:  # pyright: ignore[reportIncompatibleVariableOverride]
        return self._mine()._value

    @_value.setter
    def _value(self, value: Tensor) -> None:
        self._mine()._value = value

    @property
    def _trainable(self) -> bool:  # pyright: ignore[reportIncompatibleVariableOverride]
        return self._copies[0]._trainable

    @_trainable.setter
    def _trainable(self, value: bool) -> None:
        for copy in self._copies:
            copy._trainable = value

    # Reading.

    def value(self) -> Tensor:
        """What the variable holds now, as a tensor of its own."""
        return self._apart(self._read())

    def _read(self) -> Tensor:
        return self._mine()._read()

    def _now(self) -> Tensor:
        return self._mine()._now()

    def __tf_tensor__(self, dtype: Any = None, name: str | None = None) -> Tensor:
        if context.replica is None:
            return convert_to_tensor(self._read(), dtype)
        return self._mine().__tf_tensor__(dtype, name)

    # Assigning.

    def assign(
        self,
        value: Any,
        use_locking: bool = False,
        name: str | None = None,
        read_value: bool = True,
    ) -> Any:
        """Puts a value into the copies: what replicas assign is aggregated first, if that is what was asked for."""
        return self._update("assign", value, read_value)

    def assign_add(
        self,
        delta: Any,
        use_locking: bool = False,
        name: str | None = None,
        read_value: bool = True,
    ) -> Any:
        """Adds to the copies."""
        return self._update("assign_add", delta, read_value)

    def assign_sub(
        self,
        delta: Any,
        use_locking: bool = False,
        name: str | None = None,
        read_value: bool = True,
    ) -> Any:
        """Subtracts from the copies."""
        return self._update("assign_sub", delta, read_value)

    def _update(self, op: str, value: Any, read_value: bool = True) -> Any:
        replica = self._replica()
        if replica is None:
            self._update_all(op, value)
            return self if read_value else None
        if replica.leads:
            ready = _ready(self._copies[0], op, value)
            self._lead(lambda copy: getattr(copy, op)(ready), value, replaces=op == "assign")
            return self if read_value else None
        self._update_mine(op, value)
        return self._mine() if read_value else None

    def _together(
        self, change: Callable[[Variable, int], Any], *origins: Any, replaces: bool = False
    ) -> list[Any]:
        """Changes all copies. Whatever fails or interrupts it, all of them have been changed then, or none.

        Args:
          change: what is done to each, with its number. While it runs, others wait for the copies, so it must not wait
            for another variable.
          origins: what the new values are computed from, for `explain`.
          replaces: whether the old values have no part in them.
        """
        copies = self._copies
        recorders: Any = context.dispatch[1]
        is_seen = context.tracer is not None or any(r.substitutes for r in recorders)
        if is_seen or len(copies) == 1:  # a traced function has a step of its own
            return [change(copy, i) for i, copy in enumerate(copies)]
        step = Step()
        with step.lock:
            try:
                held = step.claim(copies, range(len(copies)))
                drafts = [copy._draft(x) for copy, x in zip(copies, held, strict=True)]
                with no_recorders():
                    results = [change(draft, i) for i, draft in enumerate(drafts)]
                step.commit([draft._value for draft in drafts])
            except BaseException:
                step.give_up()
                raise
        step.let_others()
        for recorder in recorders:
            for copy, before in zip(copies, held, strict=True):
                recorder.note("assign", copy, origins=origins if replaces else (before, *origins))
        return results

    def _lead(
        self, change: Callable[[Variable], Any], *origins: Any, replaces: bool = False
    ) -> Any:
        """Changes the first copy, and gives all others what it holds then."""
        first: list[Variable] = []

        def follow(copy: Variable, i: int) -> Any:
            if i:
                return copy.assign(first[0]._now())
            first.append(copy)
            return change(copy)

        return self._together(follow, *origins, replaces=replaces)[0]

    def _update_all(self, op: str, value: Any) -> None:
        """Changes all copies, from outside of the replicas."""
        values: Sequence[Any] = [value] * len(self._copies)
        if isinstance(value, DistributedValues):
            values = value.values
        ready = [_ready(copy, op, x) for copy, x in zip(self._copies, values, strict=True)]
        self._together(lambda copy, i: getattr(copy, op)(ready[i]), value, replaces=op == "assign")

    def _update_mine(self, op: str, value: Any) -> None:
        """Changes the copy of the replica that is running."""
        getattr(self._mine(), op)(value)

    # Rows.

    def _scatter(self, op: str, combine: Any, slices: IndexedSlices) -> Variable:
        return self._scatter_by(lambda v, s: v._scatter(op, combine, s), op, _read(slices))

    def _scatter_nd(self, op: str, combine: Any, indices: Any, updates: Any) -> Variable:
        at, new = _read(indices), _read(updates)
        return self._scatter_by(lambda v, _: v._scatter_nd(op, combine, at, new), op, None)

    def _scatter_by(self, scatter: Callable[..., Any], op: str, slices: Any) -> Variable:
        replica = self._replica()
        if replica is None:
            self._together(lambda copy, _: scatter(copy, slices), slices)
            return self
        if replica.leads:
            self._lead(lambda copy: scatter(copy, slices), slices)
        else:
            scatter(self._mine(), slices)
        return self._mine()

    def _exchange(self, function: Callable[[Tensor], Tensor], *origins: Any) -> Tensor:
        replica = self._replica()
        if replica is None:
            return self._together(lambda copy, _: copy._exchange(function, *origins), *origins)[0]
        if replica.leads:
            return self._lead(lambda copy: copy._exchange(function, *origins), *origins)
        return self._mine()._exchange(function, *origins)

    # Python's own protocols.

    def __deepcopy__(self, memo: dict[int, Any]) -> Variable:
        with setting(context, strategy=self._strategy, replica=None):
            copied = Variable(
                self._read().__deepcopy__(memo),
                self._trainable,
                constraint=self._constraint,
                synchronization=self.synchronization,
                aggregation=self.aggregation,
            )
        copied._name = self._name
        memo[id(self)] = copied
        return copied

    def __repr__(self) -> str:
        lines = [f"  {i}: {copy!r}" for i, copy in enumerate(self._copies)]
        return f"{type(self).__name__}:{{\n" + ",\n".join(lines) + "\n}"


class MirroredVariable(DistributedVariable):
    """A variable whose copies are kept equal, by assigning to all of them together."""

    synchronization = VariableSynchronization.ON_WRITE

    @property
    def keeps_equal(self) -> bool | None:
        """Whether what replicas assign is brought together first."""
        return None if self.aggregation is VariableAggregation.NONE else True

    def _update_mine(self, op: str, value: Any) -> None:
        if self.aggregation is VariableAggregation.NONE:
            super()._update_mine(op, value)
        else:
            self._replica().meet(lambda brought: self._aggregate(op, brought), value)

    def _aggregate(self, op: str, brought: Sequence[Any]) -> Sequence[None]:
        if self.aggregation is VariableAggregation.ONLY_FIRST_REPLICA:
            value = brought[0]
        else:
            reduce_op = ReduceOp.from_variable_aggregation(self.aggregation)
            value = self._strategy.extended.reduced_across(reduce_op, regrouped(brought))
        self._update_all(op, self._fitting(value))
        return [None] * len(brought)

    def _fitting(self, value: Any) -> Any:
        """A mean of integers, which is no integer, as one."""
        if isinstance(value, Tensor) and value.dtype is not self.dtype and self.dtype.is_integer:
            return cast(value, self.dtype)
        return value

    def _scatter_by(self, scatter: Callable[..., Any], op: str, slices: Any) -> Variable:
        alike = (VariableAggregation.NONE, VariableAggregation.ONLY_FIRST_REPLICA)
        replica = self._replica()
        if replica is None or replica.leads or self.aggregation is VariableAggregation.NONE:
            return super()._scatter_by(scatter, op, slices)
        if self.aggregation not in alike and (slices is None or op not in _ADDING):
            raise NotImplementedError(
                f"{op} is only supported for mirrored variable (variable created within certain "
                "`tf.distribute.Strategy` scope) with NONE or `ONLY_FIRST_REPLICA` aggregation, got: "
                f"{self.aggregation}."
            )

        def aggregate(brought: Sequence[Any]) -> Sequence[None]:
            found = brought[0]
            if self.aggregation not in alike:
                reduce_op = ReduceOp.from_variable_aggregation(self.aggregation)
                found = self._strategy.extended.reduced_across(reduce_op, regrouped(brought))
            self._together(lambda copy, _: scatter(copy, found), found)
            return [None] * len(brought)

        replica.meet(aggregate, slices)
        return self._mine()


def _ready(copy: Copy, op: str, value: Any) -> Any:
    """What is assigned to a copy, which has been read and fits before others have to wait for the copies."""
    if context.tracer is not None or isinstance(value, IndexedSlices):
        return _read(value)
    return copy._operand(op, value)


def _read(value: Any) -> Any:
    """A value without variables in it, which might be waited for."""
    if isinstance(value, IndexedSlices):
        return IndexedSlices(_read(value.values), _read(value.indices), value.dense_shape)
    return convert_to_tensor(value) if isinstance(value, Variable) else value


_ADDING = ("scatter_add", "scatter_sub")


class SyncOnReadVariable(DistributedVariable):
    """A variable whose copies change by themselves, and are brought together where somebody reads it."""

    synchronization = VariableSynchronization.ON_READ

    def _read(self) -> Tensor:
        if context.replica is not None:
            return super()._read()
        if self.aggregation is VariableAggregation.ONLY_FIRST_REPLICA:
            return self._copies[0]._read()
        op = ReduceOp.from_variable_aggregation(self.aggregation)
        value = self._strategy.extended.reduced_across(
            op, DistributedValues([copy._read() for copy in self._copies])
        )
        return cast(value, self.dtype) if value.dtype is not self.dtype else value

    def _now(self) -> Tensor:
        return super()._now() if context.replica is not None else self._read()

    def _update_all(self, op: str, value: Any) -> None:
        if self.aggregation is VariableAggregation.NONE:  # what it would be read as is not known
            ReduceOp.from_variable_aggregation(self.aggregation)
        if self.aggregation is VariableAggregation.SUM:
            if op != "assign":
                raise ValueError(
                    f"SyncOnReadVariable does not support `{op}` in cross-replica context when aggregation is set to "
                    "`tf.VariableAggregation.SUM`."
                )
            value = self._shares(self._converted(value))
        super()._update_all(op, value)

    def _shares(self, whole: Tensor) -> Any:
        """What the copies have of a sum. Of integers the first replica has the rest, so that nothing is lost."""
        count = self._strategy.num_replicas_in_sync
        if not self.dtype.is_integer:
            return cast(whole / count, self.dtype)
        whole = cast(whole, self.dtype)
        share = whole // count
        first = self._strategy.extended.first
        rest = whole - share * (count - 1) if not first else share
        return DistributedValues([rest, *[share] * (len(self._copies) - 1)])
