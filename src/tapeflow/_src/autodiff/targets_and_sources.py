"""Targets and sources: what the user asks a tape about, as identities and gradients to begin with."""

from __future__ import annotations

import enum
from collections.abc import Iterable, Iterator
from typing import Any, Protocol

from tapeflow._src.autodiff import backprop
from tapeflow._src.core import nest
from tapeflow._src.core.composites.composite import CompositeTensor
from tapeflow._src.core.context import identify
from tapeflow._src.core.convert import convert_to_tensor, scalar
from tapeflow._src.core.errors import InvalidArgumentError, shown
from tapeflow._src.core.export import export
from tapeflow._src.core.log import warn_once
from tapeflow._src.core.sizes.dims import same_sizes
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.core.variables.variable import Variable
from tapeflow._src.primitives.array import moving


@export("UnconnectedGradients")
class UnconnectedGradients(enum.Enum):
    """What `gradient` returns for a source that the target does not depend on."""

    NONE = "none"
    ZERO = "zero"

    @classmethod
    def _missing_(cls, value: Any) -> Any:
        raise ValueError(f"unconnected_gradients must be 'none' or 'zero', got {shown(value)}")


class Reader(Protocol):
    """A recorder, as far as it is told of variables that are read."""

    def read(self, variable: Variable, value: Tensor) -> Tensor:
        """What is read."""
        ...


def seeds_of(tape: Reader, target: Any, output_gradients: Any) -> backprop.Gradients:
    """The gradients that the backward pass begins with, by the identities of targets."""
    if target is None:
        raise TypeError(
            "Argument `target` should be a tensor or variable, or a structure of them, but received None."
        )
    targets = tensors_in(target)
    given = [None] * len(targets) if output_gradients is None else tensors_in(output_gradients)
    if len(given) != len(targets):
        raise ValueError(f"{len(targets)} targets were given, and {len(given)} output_gradients")
    seeds: backprop.Gradients = {}
    for t, seed in zip(targets, given, strict=True):
        t = target_of(tape, t)
        if not t.dtype.is_differentiable:
            warn_once(
                "The dtype of the target tensor must be floating (e.g. tf.float32) when calling "
                f"GradientTape.gradient, got {t.dtype!r}"
            )
            continue
        if seed is not None:
            g = _seed(t, seed)
        elif type(t) is Tensor and not t._array.ndim:
            g = Tensor(scalar(1.0, t._array.dtype)._array)
        else:
            g = moving.ones_like(t)
        identity = identify(t)
        seeds[identity] = backprop.accumulate(seeds[identity], g) if identity in seeds else g
    return seeds


_PLAIN = {Tensor, Variable}  # what most targets and sources are: no composite tensors


def tensors_in(structure: Any) -> list[Any]:
    """The leaves of targets and sources: of a composite tensor, the tensors that gradients are about."""
    leaves = nest.flatten(structure)
    if _PLAIN.issuperset(map(type, leaves)):
        return leaves
    found = []
    for x in leaves:
        found += tensors_in(x._differentiable()) if isinstance(x, CompositeTensor) else [x]
    return found


def gradients_like(sources: Any, gradients: Iterable[Any]) -> Any:
    """Gradients of `tensors_in(sources)` in the structure of the sources."""
    leaves = nest.flatten(sources)
    if not _PLAIN.issuperset(map(type, leaves)):
        rest = iter(gradients)
        gradients = [_next(leaf, rest) for leaf in leaves]
    return nest.pack_sequence_as(sources, list(gradients))


def _next(source: Any, gradients: Iterator[Any]) -> Any:
    """The gradient of one source, from the next ones of tensors."""
    if not isinstance(source, CompositeTensor):
        return next(gradients)
    inside = source._differentiable()
    found = [_next(part, gradients) for part in nest.flatten(inside)]
    if any(g is None for g in found):
        return None
    return source._with_gradients(nest.pack_sequence_as(inside, found))


def target_of(tape: Reader, target: Any) -> Tensor:
    """The tensor that is differentiated."""
    variable = variable_of(target)
    if variable is not None:
        return tape.read(variable, variable._now())
    if isinstance(target, CompositeTensor):
        return target_of(tape, target._differentiable())
    if not isinstance(target, Tensor):
        raise TypeError(
            f"targets must be tensors or variables, or structures of them; got {target!r}"
        )
    return target


def _seed(target: Tensor, seed: Any) -> Tensor:
    seed = convert_to_tensor(seed, dtype_hint=target.dtype)
    shape = target._array.shape
    try:
        same = (
            seed._array.shape == shape
            if type(seed) is Tensor
            else same_sizes(seed._array.shape, shape)
        )
        return seed if same else moving.broadcast_to(seed, shape=shape)
    except InvalidArgumentError:
        raise InvalidArgumentError(
            None,
            None,
            f"output_gradients must have the shape of the target: expected {target.shape}, got {seed.shape}",
        ) from None


def source_ids(reads: dict[int, Variable], sources: list[Any]) -> list[list[int]]:
    """The identities of each source. A variable has one for each value that was read."""
    values: dict[int, list[int]] = {}
    for identity, variable in reads.items():
        values.setdefault(id(variable), []).append(identity)
    ids = []
    for s in sources:
        variable = variable_of(s)
        if variable is not None and id(variable) in values:
            ids.append(values[id(variable)])
            continue
        if variable is None and not isinstance(s, Tensor):
            raise TypeError(
                f"sources must be tensors or variables, or structures of them; got {s!r} of type "
                f"{type(s).__name__!r}"
            )
        held = s if variable is None else variable._now()
        if not held.dtype.is_differentiable:
            warn_once(
                "The dtype of the source tensor must be floating (e.g. tf.float32) when calling "
                f"GradientTape.gradient, got {held.dtype!r}"
            )
            ids.append([])
        else:
            ids.append([held._id])
    return ids


def variable_of(value: Any) -> Variable | None:
    """The variable behind a variable-like object (Keras wraps ours), or None."""
    if type(value) is Variable:
        return value
    handle = None if isinstance(value, Tensor) else getattr(value, "handle", None)
    # That of a variable of Keras may have a copy for each replica, and stands for the one of this replica.
    return handle.handle if isinstance(handle, Variable) else None
