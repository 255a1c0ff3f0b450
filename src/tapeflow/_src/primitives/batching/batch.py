"""Running primitives on many examples at once.

Inside a batch a tensor stands for one example, and looks like one: it has the shape of an example. Behind it is the
*full* tensor, whose first dimension counts the examples. A batching rule says for each primitive how to compute the
full output from the full inputs, with the same primitives, so that whatever watches from outside the batch (a tape, a
forward accumulator, another batch) sees ordinary operations.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tapeflow._src.core.context import Recorder, context, recorders
from tapeflow._src.core.dtypes import from_numpy
from tapeflow._src.core.errors import OpError, UnimplementedError
from tapeflow._src.core.indexed_slices import IndexedSlices
from tapeflow._src.core.interpreter import Interpreter, innermost, new_depth
from tapeflow._src.core.placement.devices import devices
from tapeflow._src.core.placement.remote import beside
from tapeflow._src.core.scopes import setting
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.primitives.all_rows import TABLE
from tapeflow._src.primitives.array import moving
from tapeflow._src.primitives.batched import BatchedTensor
from tapeflow._src.primitives.indexing import picking
from tapeflow._src.primitives.reduction import reducing
from tapeflow._src.primitives.specs import ArraySpec
from tapeflow._src.primitives.table import Primitive

Rule = Callable[..., Any]
"""Called as the primitive is, with the batch first: `rule(batch, *inputs, **attributes)`. It gives the full output, or
a `Shared` one, or a tuple of them."""

RULES: dict[str, Rule] = {}
"""The batching rules by the name of the primitive. Elementwise primitives need none."""


class OneState(BatchedTensor):
    """A random state for each example, where nobody has looked yet: all of them can draw from `one` together."""

    __slots__ = ("one",)

    def __init__(self, one: Tensor, batch: Batch, level: int) -> None:
        # Not a small multiple of the steps that the batches around this one take.
        step = pow(_GOLDEN, level + 1, 2**64)
        words = np.zeros((batch.size, 3), np.uint64)
        words[:, 1] = np.arange(1, batch.size + 1, dtype=np.uint64) * np.uint64(step)
        super().__init__(one + Tensor(words), batch)
        self.one = one

    def __copy__(self) -> Tensor:
        return BatchedTensor(self._full, self.interpreter)


_GOLDEN = 0x9E3779B97F4A7C15  # its multiples spread evenly over the words of 64 bits


class Shared:
    """An output that is the same for all examples."""

    __slots__ = ("tensor",)

    def __init__(self, tensor: Tensor) -> None:
        self.tensor = tensor


class _Entered(setting):
    def __init__(self, batch: Batch, draws: bool) -> None:
        active = context.interpreters
        # `dispatch` as well: it is changed inside, and is what it was after this at the latest.
        dispatch, interpreters = context.dispatch, (*active, batch) if draws else active
        super().__init__(context, dispatch=dispatch, interpreters=interpreters)
        self._batch = batch
        self._around: Any = None
        self._depth = 0

    def __enter__(self) -> None:
        batch = self._batch
        self._around, batch._outside = batch._outside, recorders()
        # It comes before whoever traces now, who may have begun after it: the backward pass of a function does.
        self._depth, batch.depth = batch.depth, new_depth()
        super().__enter__()

    def _leave(self, *exception: Any) -> None:
        self._batch._outside, self._batch.depth = self._around, self._depth
        super()._leave()


class Batch(Interpreter):
    """A number of examples that are computed together."""

    def __init__(self, size: int) -> None:
        self.size = size
        self.depth = new_depth()
        self._outside: tuple[Recorder, ...] | None = None

    def entered(self, draws: bool = False) -> setting:
        """Within this context the tensors of the batch can be computed with.

        Recorders that are active now are outside: they follow the full tensors. Those that come later are inside, and
        follow single examples. With `draws`, random ops give every example numbers of its own.
        """
        return _Entered(self, draws)

    # Examples and full tensors.

    def wrap(self, full: Tensor) -> BatchedTensor:
        """One example of a full tensor."""
        return BatchedTensor(full, self)

    def holds(self, x: Any) -> bool:
        """Whether a tensor is an example of this batch."""
        return x.interpreter is self

    def full(self, x: Any) -> Tensor:
        """The full tensor behind an example. What is not one is repeated for all examples."""
        if x.interpreter is self:
            return x._full
        return moving.broadcast_to(x, shape=(self.size, *x._array.shape))

    def outer(self, x: Any) -> Tensor:
        """The full tensor behind an example, as seen by the recorders outside."""
        outside, _ = self._sides()
        dispatch = context.dispatch
        context.dispatch = (dispatch[0], outside)
        try:
            return self.full(x)
        finally:
            context.dispatch = dispatch

    def data(self, x: Any) -> Tensor:
        """The full tensor behind an example. What is not one stays as it is."""
        return x._full if x.interpreter is self else x

    def aligned(self, *xs: Any) -> list[Tensor]:
        """The data of inputs that broadcast, with the examples along one dimension on the left of all."""
        rank = max(len(x._array.shape) for x in xs)
        return [self.lifted(x, rank) for x in xs]

    def lifted(self, x: Any, rank: int) -> Tensor:
        """The data of an input, where an example has as many dimensions as `rank` at least."""
        shape = x._array.shape
        if x.interpreter is not self:
            return x
        if len(shape) >= rank:
            return x._full
        return moving.reshape(x._full, shape=(self.size, *(1,) * (rank - len(shape)), *shape))

    # Random states.

    def states(self, state: Tensor) -> Tensor:
        """Makes of a random state one for each example."""
        active = context.interpreters  # without this one, where its own rules run
        return OneState(state, self, active.index(self) if self in active else len(active))

    def one_state(self, state: Tensor) -> bool:
        """Whether the examples can draw from one state together."""
        return type(state) is OneState and state.interpreter is self

    # Interpreting.

    def interpret(self, primitive: Primitive, inputs: tuple[Tensor, ...], attrs: Any) -> Any:
        """Runs the batching rule outside, and tells the recorders inside."""
        tracer = context.tracer
        if tracer is not None and tracer.depth > self.depth:  # a branch or loop body inside
            return tracer.interpret(primitive, inputs, attrs)
        outside, inside = self._sides()
        rule = RULES.get(primitive.name)
        if rule is None and not primitive.elementwise:
            raise without_rule(primitive.name)

        def run() -> Any:
            if rule is None:
                return primitive.call(*self.aligned(*inputs))
            return rule(self, *inputs, **attrs)

        if devices.in_use:
            with beside(*inputs):
                result = self._ran(primitive, outside, run, inputs, attrs)
        else:
            result = self._ran(primitive, outside, run, inputs, attrs)
        if type(result) is tuple:
            output = tuple([self._output(each) for each in result])
        else:
            output = self._output(result)
        for recorder in inside:
            recorder.record(primitive, inputs, output, attrs)
        return output

    def _sides(self) -> tuple[tuple[Recorder, ...], list[Recorder]]:
        known = self._outside
        if known is None:
            raise RuntimeError(
                "A tensor from inside tf.vectorized_map is used outside of it. Return it from the function that is "
                "mapped, to get the results of all examples."
            )
        active = recorders()
        if active is known:
            return active, []
        outside = tuple([r for r in active if any(r is k for k in known)])
        return outside, [r for r in active if not any(r is k for k in known)]

    def _ran(
        self,
        primitive: Primitive,
        outside: tuple[Recorder, ...],
        run: Callable[[], Any],
        inputs: tuple[Tensor, ...],
        attrs: dict[str, Any],
    ) -> Any:
        dispatch, interpreters = context.dispatch, context.interpreters
        context.dispatch = (dispatch[0], outside)
        if self in interpreters:
            context.interpreters = interpreters[: interpreters.index(self)]
        try:
            return run()
        except (OpError, ValueError, TypeError) as error:
            raise _of_one_example(primitive, inputs, attrs, error) from None
        finally:
            context.dispatch, context.interpreters = dispatch, interpreters

    def _output(self, result: Any) -> Tensor:
        return result.tensor if type(result) is Shared else BatchedTensor(result, self)

    def record_call(self, call: Any) -> None:
        """A pullback for one example, told to the recorders inside; one for all of them, to those outside."""
        outside, inside = self._sides()
        for recorder in inside:
            recorder.record_call(call)
        if not outside:
            return

        def pullback(*g: Tensor) -> list[Any]:
            with self.entered(draws=True):
                pairs = zip(call.outputs, g, strict=True)
                seeds = [
                    self.wrap(each) if self.holds(y) and each is not None else each
                    for y, each in pairs
                ]
                parts = call.pullback(*seeds)
                return [
                    self._full_gradient(x, part) for x, part in zip(call.inputs, parts, strict=True)
                ]

        full_call = call._replace(
            inputs=[self.data(x) for x in call.inputs],
            outputs=[self.data(y) for y in call.outputs],
            inside=[self.data(x) for x in call.inside],
            pullback=pullback,
            pushforward=None,
        )
        around = innermost([*full_call.inputs, *full_call.outputs])
        if isinstance(around, Batch):  # to which the full tensors are examples
            with setting(context, dispatch=(context.dispatch[0], outside)):
                around.record_call(full_call)
            return
        for recorder in outside:
            recorder.record_call(full_call)

    def _full_gradient(self, x: Tensor, part: Any) -> Any:
        if part is None:
            return None
        if type(part) is IndexedSlices:
            part = picking.dense_from_slices(part)
        if self.holds(x) or not self.holds(part):
            return self.full(part) if self.holds(x) else part
        return reducing.sum_(self.data(part), axis=(0,), keepdims=False)


def without_rule(name: str) -> UnimplementedError:
    """The error for a primitive that cannot be batched."""
    return UnimplementedError(
        None,
        None,
        f"{name}: there is no rule to run this op on many examples at once, as tf.vectorized_map and vectorised "
        "Jacobians do. Use tf.map_fn, or experimental_use_pfor=False.",
    )


def _of_one_example(
    primitive: Primitive, inputs: tuple[Tensor, ...], attrs: dict[str, Any], error: Exception
) -> Exception:
    """The failure in terms of the shapes of one example, if those are what is wrong."""
    specs = [ArraySpec(x._array.shape, from_numpy(x._array.dtype)) for x in inputs]
    try:
        primitive.result(*specs, **attrs)
    except (OpError, ValueError, TypeError) as mistake:
        return mistake
    return error


def rule(*names: str) -> Callable[[Rule], Rule]:
    """Makes a function the batching rule of primitives."""

    def register(function: Rule) -> Rule:
        for name in names:
            if name in RULES:
                raise ValueError(f"{name} has a batching rule already")
            RULES[name] = function
        return function

    return register


def each(make: Callable[[Callable[..., Any]], Rule], *names: str) -> None:
    """Gives primitives a rule of one kind, made from the function that runs the primitive."""
    for name in names:
        rule(name)(make(TABLE[name].call))
