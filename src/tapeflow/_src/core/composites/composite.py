"""Composite tensors: values that are made of several tensors, and count as one.

A composite says with `_type_spec` what it is like; its spec (`core.spec.TypeSpec`) takes it apart and puts it together.
That is all that `tf.nest`, `tf.function`, branches and loops, datasets and tapes need to know of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tapeflow._src.core.errors import shown
from tapeflow._src.core.spec import TensorSpec, TypeSpec
from tapeflow._src.core.tensor import Tensor


class CompositeTensor:
    """What `tf.IndexedSlices`, `tf.RaggedTensor`, `tf.SparseTensor` and extension types are."""

    __slots__ = ()

    _is_tensor = False
    """Whether `tf.is_tensor` says so."""

    _is_one_tensor = False
    """Whether it is a tensor of which more is known: where a tensor is wanted, the one inside will do."""

    @property
    def _type_spec(self) -> Any:
        """What it is like."""
        raise NotImplementedError(f"{type(self).__name__}._type_spec")

    def _convert_variables_to_tensors(self) -> Any:
        """The same, in which the values of variables stand in their place: what a function returns."""
        return self

    def _differentiable(self) -> Any:
        """The structure of tensors that gradients are about, where it is a target or a source."""
        raise ValueError(
            f"Type {type(self).__name__} is not supported as a gradient source or gradient target. Use the tensors "
            f"inside of it: {shown(self)}"
        )

    def _with_gradients(self, gradients: Any) -> Any:
        """The gradient of this source, from those of its tensors, none of which is None."""
        raise NotImplementedError(f"{type(self).__name__}._with_gradients")


def one_tensor(x: Any) -> Any:
    """The tensor inside of one of which more is known; all else as it is."""
    return x.__tf_tensor__() if getattr(x, "_is_one_tensor", False) else x


def like_one(x: Any, tensor: Tensor) -> Any:
    """A tensor with what more is known of `x`."""
    return x._with_gradients(tensor) if getattr(x, "_is_one_tensor", False) else tensor


class Composed:
    """In the place of a composite tensor: its spec, and numbers that stand for its components."""

    __slots__ = ("numbers", "spec")

    def __init__(self, spec: Any, numbers: Sequence[int]) -> None:
        self.spec = spec
        self.numbers = list(numbers)


def is_expandable(leaf: Any) -> bool:
    """Whether a leaf of a structure has components, or is the spec of what has."""
    return isinstance(leaf, CompositeTensor) or (isinstance(leaf, TypeSpec) and leaf._expands)


def spec_of(leaf: Any) -> Any:
    """The spec of what `is_expandable`."""
    return leaf._type_spec if isinstance(leaf, CompositeTensor) else leaf


def components_of(leaf: Any) -> Any:
    """The components of what `is_expandable`: tensors, or the specs of them."""
    if isinstance(leaf, CompositeTensor):
        return leaf._type_spec._to_components(leaf)
    return leaf._component_specs


def no_rows(spec: Any) -> Any:
    """A batch without rows, of tensors or composite tensors. What is not known of its sizes is zero."""
    if not isinstance(spec, TensorSpec):
        return spec._no_rows()
    sizes = [d or 0 for d in spec.shape.as_list()[1:]] if spec.shape.rank else []
    return Tensor(np.zeros([0, *sizes], spec.dtype.np_dtype))
