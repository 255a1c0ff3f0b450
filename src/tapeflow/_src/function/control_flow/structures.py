"""What branches and loop bodies return: any structure of tensors, numbers, composite tensors and `tf.TensorArray`s."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from tapeflow._src.core import nest
from tapeflow._src.core.composites.composite import CompositeTensor
from tapeflow._src.core.convert import convert_to_tensor
from tapeflow._src.core.sizes.dims import same_size
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.function.control_flow.primitives import Described, described
from tapeflow._src.function.tracing.late_ranks import assume_ranks
from tapeflow._src.function.tracing.tracer import Tracer
from tapeflow._src.ops.control.tensor_array import TensorArray

Rebuild = Callable[[Sequence[Any]], Any]


class Flat:
    """A structure taken apart.

    Attributes:
      structure: with its leaves.
      tensors: all tensors in it.
    """

    def __init__(self, structure: Any, convert: Callable[[int, Any], Tensor] | None = None) -> None:
        self.structure = structure
        self.tensors: list[Tensor] = []
        self.growing: set[int] = set()  # stacks that may become longer
        self.specs: dict[int, Any] = {}  # of composite tensors, by the number of their leaf
        self._slots: list[tuple[int, Rebuild]] = []
        for position, leaf in enumerate(nest.flatten(structure)):
            if isinstance(leaf, CompositeTensor):
                leaf = leaf._convert_variables_to_tensors()
                self.specs[position] = leaf._type_spec
                parts = [convert_to_tensor(x) for x in nest.flatten(leaf, expand_composites=True)]
                rebuild = partial(self._composed, position)
            else:
                parts, rebuild = _parts(position, leaf, convert)
            if isinstance(leaf, TensorArray) and leaf.dynamic_size:
                self.growing.add(len(self.tensors))
            self.tensors += parts
            self._slots.append((len(parts), rebuild))

    def _composed(self, position: int, new: Sequence[Any]) -> Any:
        return nest.pack_sequence_as(self.specs[position], list(new), expand_composites=True)

    @property
    def kinds(self) -> list[int]:
        """How many tensors each leaf has: 0 for None, 1 for a tensor, more for slices."""
        return [count for count, _ in self._slots]

    def rebuilt(self, tensors: Sequence[Any]) -> Any:
        """The structure with other tensors."""
        leaves = []
        at = 0
        for count, rebuild in self._slots:
            leaves.append(rebuild(tensors[at : at + count]))
            at += count
        return nest.pack_sequence_as(self.structure, leaves)


def _parts(
    position: int, leaf: Any, convert: Callable[[int, Any], Tensor] | None
) -> tuple[list[Tensor], Rebuild]:
    if leaf is None:
        return [], lambda new: None
    if isinstance(leaf, TensorArray):
        return [leaf._as_stack()], lambda new: leaf._with_stack(new[0])
    tensor = convert_to_tensor(leaf) if convert is None else convert(position, leaf)
    return [tensor], lambda new: new[0]


def check_branches(op: str, names: Sequence[str], results: Sequence[Flat]) -> None:
    """Raises unless all branches return the same structure, with the same dtypes."""
    first = results[0]
    for name, other in zip(names[1:], results[1:], strict=True):
        what = f"{names[0]} and {name} of tf.{op}"
        a, b = (nest.flatten(x.structure) for x in (first, other))
        try:
            nest.assert_same_structure(first.structure, other.structure, expand_composites=True)
        except (TypeError, ValueError) as error:
            raise TypeError(
                f"{what} must return the same structure of values: {first.structure!r} and {other.structure!r}. {error}"
            ) from None
        for x, y in zip(a, b, strict=True):
            if (x is None) != (y is None):
                raise ValueError(
                    f"{what} must return as many tensors: one returns None where the other returns "
                    f"{x if y is None else y!r}"
                )
        if first.kinds != other.kinds:
            raise TypeError(
                f"{what} must return the same kinds of values: {first.structure!r} and {other.structure!r}"
            )
        for position, spec in other.specs.items():  # the result is what both may be
            common = spec.most_specific_compatible_type(first.specs[position])
            first.specs[position] = common
        for x, y in zip(first.tensors, other.tensors, strict=True):
            if x.dtype is not y.dtype:
                raise TypeError(
                    f"{what} must return tensors of the same dtypes: one returns {x!r}, of dtype {x.dtype.name}, and "
                    f"the other {y!r}, of dtype {y.dtype.name}. Use tf.cast in one of them."
                )


def joined(tensors: Sequence[Tensor], tracer: Tracer) -> Described:
    """What is known of a tensor that is one of several."""
    assume_ranks(tensors)
    first, *rest = [described(x, tracer) for x in tensors]
    shape = first[0]
    for other, _ in rest:
        if len(other) != len(shape) or (other[:1] == ("stack",)) != (shape[:1] == ("stack",)):
            raise ValueError(
                "tf.cond: the branches return tensors of different ranks, with shapes "
                f"{' and '.join(str(x.shape) for x in tensors)}. Reshape one of them: ops have to know the rank."
            )
        shape = tuple([_common(a, b) for a, b in zip(shape, other, strict=True)])
    return shape, first[1]


def _common(a: Any, b: Any) -> Any:
    if isinstance(a, tuple) and isinstance(b, tuple):
        if len(a) != len(b):
            return None
        return tuple([_common(x, y) for x, y in zip(a, b, strict=True)])
    return a if same_size(a, b) else None
