"""The backward pass: a walk over the records of a tape, last to first.

A record is a plain tuple, because one is made for every operation:

    (output id, primitive, edges)           an operation with one output; an edge is (input id, rule, kept values)
    (output ids, call, input ids)           anything else: several outputs, or a pullback for all inputs at once

Identities are integers, so a record keeps no tensor alive but those its rules need.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from tapeflow._src.core.context import Recorder, quietly, recorders
from tapeflow._src.core.dtypes import int64
from tapeflow._src.core.indexed_slices import IndexedSlices
from tapeflow._src.core.interpreter import innermost
from tapeflow._src.core.placement.devices import devices
from tapeflow._src.core.placement.remote import beside
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.primitives.array import moving, patterns
from tapeflow._src.primitives.indexing import picking
from tapeflow._src.primitives.specs import ArraySpec
from tapeflow._src.primitives.table import TABLE

Record = tuple[Any, Any, Any]
Gradients = dict[int, Any]


class Call(NamedTuple):
    """A computation that brings its own pullback: gradients of all outputs in, gradients of all inputs out.

    A pullback that takes `partial` gradients gets None for an output that has none; others get zeros. It may bring a
    `pushforward`, too: tangents of all inputs in, tangents of all outputs out, or NotImplemented. It is `custom` if the
    operations inside do not tell its gradient, because a user wrote one for it or for a part of it. `lost` says which
    inputs have no gradient, whatever they hold. Who follows none of them may follow a tensor that the function has from
    elsewhere, and so what was made on the way: `inside` has each output as the operations inside made it.
    """

    name: str
    inputs: Sequence[Tensor]
    outputs: Sequence[Tensor]
    pullback: Callable[..., Sequence[Any]]
    partial: bool = False
    pushforward: Callable[[Sequence[Tensor | None]], list[Tensor | None]] | None = None
    custom: bool = False
    lost: Callable[[], set[int]] | None = None
    inside: Sequence[Tensor] = ()


def record_call(call: Call) -> None:
    """Tells the recorders of a computation that brings its own pullback."""
    interpreter = innermost([*call.inputs, *call.outputs])
    if interpreter is not None:
        interpreter.record_call(call)
        return
    for recorder in recorders():
        recorder.record_call(call)


def record_inside(recorder: Recorder, call: Call) -> None:
    """Tells a recorder that follows no input of a call that its outputs are what was made inside."""
    for x, y in zip(call.inside, call.outputs, strict=False):
        recorder.record(_IDENTITY, (x,), y, None)


class JointRule(NamedTuple):
    """What a record of the second form keeps of a call."""

    name: str
    pullback: Callable[..., Sequence[Any]]  # is told first of which inputs the gradients are wanted
    outputs: tuple[ArraySpec, ...]
    partial: bool = False
    custom: bool = False
    lost: Callable[[], set[int]] | None = None


_IDENTITY = TABLE["identity"]  # gradients pass it in whatever form they have


def backward(
    records: list[Record],
    seeds: Gradients,
    sources: set[int],
    needed: set[int] | None,
    release: bool,
) -> Gradients:
    """Carries the gradients `seeds` (by tensor identity) back, and returns those of `sources`.

    Args:
      records: what a tape recorded, in order.
      seeds: the gradients to begin with.
      sources: the identities whose gradients are asked for. All others are dropped on the way.
      needed: if given, the identities worth computing a gradient for (see `reachable`).
      release: whether records may be dropped as they are used, which lowers peak memory.
    """
    gradients = seeds
    if not release:
        records = records.copy()
    apart = devices.in_use
    alone = not apart and not recorders()  # nobody is told of what is added up
    private: set[int] = set()  # of which identities the gradient is a sum that nobody else can see
    while records:
        output, operation, edges = records.pop()
        if type(output) is not int:
            if private:
                private.difference_update(output)
            _joint_step(gradients, output, operation, edges, sources, needed)
            continue
        g = gradients.get(output)
        if g is None:
            continue
        if output not in sources:
            del gradients[output]
        if private:
            private.discard(output)  # a rule may pass it on as it is
        if type(g) is IndexedSlices and operation is not _IDENTITY:
            g = picking.dense_from_slices(g)
        for source, rule, kept in edges:
            if needed is not None and source not in needed:
                continue
            part = _beside_gradient(rule, g, kept) if apart else rule(g, *kept)
            total = gradients.get(source)
            if total is None:
                gradients[source] = part
            elif source not in private or not _written_over(total, part):
                gradients[source] = accumulate(total, part)
                if alone:
                    private.add(source)
        g = part = total = None  # which would stay until the next ones are there
    return gradients


def _written_over(total: Any, part: Any) -> bool:
    """Adds to a sum where it is, which takes no more memory, if that gives what `accumulate` does."""
    if type(total) is not Tensor or type(part) is not Tensor:
        return False
    array, more = total._array, part._array
    if array.dtype is not more.dtype or array.shape != more.shape or type(array) is not np.ndarray:
        return False
    quietly(np.add, array, more, array)
    return True


def _beside_gradient(rule: Callable[..., Any], g: Any, kept: tuple[Any, ...]) -> Any:
    """What a rule gives, with its own constants on the device of the gradient that comes in."""
    with beside(g):
        return rule(g, *kept)


def _joint_step(
    gradients: Gradients,
    outputs: tuple[int, ...],
    rule: JointRule,
    inputs: tuple[int, ...],
    sources: set[int],
    needed: set[int] | None,
) -> None:
    found = [gradients.get(o) for o in outputs]
    if all(g is None for g in found):
        return
    for o in outputs:
        if o not in sources:
            gradients.pop(o, None)
    with beside(next(g for g in found if g is not None)):
        found = [
            (None if rule.partial else zeros(spec)) if g is None else dense(g)
            for g, spec in zip(found, rule.outputs, strict=True)
        ]
    wanted = [i if needed is None or i in needed else 0 for i in inputs]
    for source, part in zip(wanted, rule.pullback(wanted, *found), strict=True):
        if source and part is not None:
            total = gradients.get(source)
            gradients[source] = part if total is None else accumulate(total, part)


def zeros(spec: ArraySpec) -> Tensor:
    """A tensor of zeros."""
    return patterns.zeros(spec.shape, spec.dtype)


def zeros_like(x: Tensor) -> Tensor:
    """Zeros in the form of a tensor."""
    if type(x._array.shape) is not tuple:
        return x._array.shape.zeros_like(x)  # stacks of tensors, inside of `tf.function`
    return moving.zeros_like(x)


def dense(g: Any) -> Tensor:
    """A gradient as a tensor, whichever form it has."""
    return picking.dense_from_slices(g) if type(g) is IndexedSlices else g


def accumulate(total: Any, part: Any) -> Any:
    """Adds two gradients. Rows stay rows as long as both are."""
    if type(total) is Tensor and type(part) is Tensor:
        return total + part
    if type(total) is IndexedSlices and type(part) is IndexedSlices:
        indices = [total.indices, part.indices]
        if indices[0].dtype is not indices[1].dtype:  # of int32 and of int64
            indices = [moving.cast(x, dtype=int64) for x in indices]
        return IndexedSlices(
            moving.concat(total.values, part.values, axis=0),
            moving.concat(*indices, axis=0),
            total.dense_shape,
        )
    total, part = dense(total), dense(part)
    if type(total) is not Tensor and type(total._array.shape) is not tuple:
        return total._array.shape.added(total, part)  # stacks of tensors, inside of `tf.function`
    return total + part


def summed(gradients: Iterable[tuple[Any, Any]]) -> dict[int, Any]:
    """Gradients by the identities of their targets, those of one target added up. Constants have none."""
    found: dict[int, Any] = {}
    for target, g in gradients:
        if target._id:
            there = found.get(target._id)
            found[target._id] = g if there is None else accumulate(there, g)
    return found


def reachable(records: list[Record], sources: set[int]) -> set[int]:
    """The identities that depend on `sources`: gradients of all others cannot matter."""
    found = set(sources)
    for output, _, edges in records:
        if type(output) is int:
            for edge in edges:
                if edge[0] in found:
                    found.add(output)
                    break
        elif not found.isdisjoint(edges):
            found.update(output)
    return found
