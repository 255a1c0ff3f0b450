"""What a call of a traced function is like: which arguments are tensors, and which trace fits.

Tensors count by dtype and shape, Python values by their value, structures by their form, and other objects by their
identity, without being kept alive.
"""

from __future__ import annotations

import functools
import inspect
import weakref
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tapeflow.core import nest
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.dtypes import DType
from tapeflow.core.indexed_slices import IndexedSlices
from tapeflow.core.spec import TensorSpec
from tapeflow.core.tensor import Tensor
from tapeflow.core.variable import Variable

Shape = tuple[int | None, ...]


class TensorKey:
    """A tensor argument, as far as a trace depends on it."""

    __slots__ = ("_hash", "dtype", "name", "shape")

    def __init__(self, shape: Shape | None, dtype: DType, name: str | None = None) -> None:
        self.shape = shape
        self.dtype = dtype
        self.name = name
        self._hash = hash((shape, dtype))

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> bool:
        return type(other) is TensorKey and self.shape == other.shape and self.dtype is other.dtype

    def covers(self, other: Any) -> bool:
        """Whether a trace made for this one can be used for another."""
        if type(other) is not TensorKey or self.dtype is not other.dtype:
            return False
        if self.shape is None:
            return True
        return (
            other.shape is not None
            and len(self.shape) == len(other.shape)
            and all(a is None or a == b for a, b in zip(self.shape, other.shape, strict=True))
        )

    def widened(self, other: Any) -> Any:
        """What covers both, or None."""
        if type(other) is not TensorKey or self.dtype is not other.dtype:
            return None
        if self.shape is None or other.shape is None or len(self.shape) != len(other.shape):
            return None
        pairs = zip(self.shape, other.shape, strict=True)
        return TensorKey(tuple(a if a == b else None for a, b in pairs), self.dtype, self.name)

    def __repr__(self) -> str:
        return f"TensorSpec(shape={_shape_text(self.shape)}, dtype={self.dtype!r}, name=None)"


def _shape_text(shape: Shape | None) -> str:
    return "<unknown>" if shape is None else str(shape)


class ObjectKey:
    """An object by its identity. When the object dies, the key is equal to nothing any more."""

    __slots__ = ("_id", "_ref", "text")

    def __init__(self, value: Any) -> None:
        self._id = id(value)
        self.text = f"{type(value).__name__} object"
        try:
            self._ref: Any = weakref.ref(value)
        except TypeError:  # it cannot be weakly referenced, so it is kept
            self._ref = lambda: value

    def __hash__(self) -> int:
        return self._id

    def __eq__(self, other: object) -> bool:
        if type(other) is not ObjectKey or self._id != other._id:
            return False
        mine = self._ref()
        return mine is not None and mine is other._ref()

    def __repr__(self) -> str:
        return f"<{self.text}>"


_VALUES = frozenset({bool, int, str, bytes, type(None), complex})


def key_of(leaf: Any) -> Any:
    """What a trace depends on in an argument that is a tensor or a Python value."""
    kind = type(leaf)
    if kind is Tensor:
        array = leaf._array
        return TensorKey(array.shape, leaf.dtype)
    if kind in _VALUES:
        return (kind, leaf)
    if kind is float:
        return (kind, leaf.hex())  # tells 0.0 from -0.0, and nan equals itself
    if isinstance(leaf, Tensor):
        return TensorKey(tuple(leaf.shape), leaf.dtype)
    if isinstance(leaf, TensorSpec):
        dims = leaf.shape._dims
        return TensorKey(dims, leaf.dtype, leaf.name)
    if isinstance(leaf, (type, DType)):
        return leaf
    return ObjectKey(leaf)


def prepared(leaf: Any) -> Any:
    """An argument as it is traced: arrays are tensors, everything else is what it is."""
    if isinstance(leaf, (np.ndarray, np.generic)):
        return convert_to_tensor(leaf)
    return leaf


def is_tensor(leaf: Any) -> bool:
    """Whether an argument becomes an input of the graph."""
    return isinstance(leaf, (Tensor, TensorSpec))


class Signature:
    """The parameters of a Python function, and how calls are matched with them."""

    def __init__(self, function: Callable[..., Any], input_signature: Any) -> None:
        self.name = getattr(function, "__name__", type(function).__name__)
        if isinstance(function, functools.partial):
            self.name = getattr(function.func, "__name__", "partial")
        self.parameters = inspect.signature(function)
        self._simple = self._is_simple()
        self.input_signature = self._checked(input_signature)
        defaults = self.parameters.parameters.values()
        self._defaults = [p for p in defaults if p.default is not p.empty]

    def _is_simple(self) -> int | None:
        """How many arguments a call has, if that is all there is to say about it."""
        parameters = self.parameters.parameters.values()
        if all(p.kind is p.POSITIONAL_OR_KEYWORD and p.default is p.empty for p in parameters):
            return len(parameters)
        return None

    def _checked(self, input_signature: Any) -> tuple[Any, ...] | None:
        if input_signature is None:
            return None
        if not isinstance(input_signature, (list, tuple)):
            raise TypeError(
                "tf.function: input_signature must be a sequence of tf.TensorSpec, one for each argument, got "
                f"{input_signature!r}"
            )
        for leaf in nest.flatten(input_signature):
            if not isinstance(leaf, TensorSpec):
                raise TypeError(
                    f"tf.function: input_signature may only contain tf.TensorSpec, got {leaf!r}"
                )
        positional = [
            p
            for p in self.parameters.parameters.values()
            if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)
        ]
        variadic = any(p.kind is p.VAR_POSITIONAL for p in self.parameters.parameters.values())
        if len(input_signature) > len(positional) and not variadic:
            raise TypeError(
                f"tf.function: input_signature has {len(input_signature)} entries, and {self.name} takes "
                f"{len(positional)} positional arguments: {self.parameters}"
            )
        return tuple(input_signature)

    def bound(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, Any]:
        """Arguments in canonical form: positional where they can be, with defaults filled in."""
        if not kwargs and self._simple == len(args):
            return args, kwargs
        try:
            bound = self.parameters.bind(*args, **kwargs)
        except TypeError as error:
            raise self.failed(str(error), args, kwargs) from None
        bound.apply_defaults()
        return bound.args, bound.kwargs

    def failed(self, why: str, args: Any, kwargs: Any) -> TypeError:
        """The error for a call that does not fit."""
        return TypeError(
            f"Binding inputs to tf.function {self.name!r} failed: {why}. Received args: {args!r} and kwargs: "
            f"{kwargs!r} for signature: {self.parameters}."
        )

    def cast(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, ...]:
        """Arguments as the input signature wants them: tensors of its dtypes and shapes."""
        specs = self.input_signature
        assert specs is not None
        given = args[: len(specs)]
        if len(given) < len(specs):
            raise self.failed(f"{len(specs)} arguments are needed", args, kwargs)
        try:
            nest.assert_same_structure(list(specs), list(given))
        except (ValueError, TypeError):
            given = tuple(
                self._tensors(spec, value, args, kwargs)
                for spec, value in zip(specs, given, strict=True)
            )
        leaves = [
            self._cast_leaf(spec, value, args, kwargs)
            for spec, value in zip(nest.flatten(specs), nest.flatten(given), strict=True)
        ]
        return (*nest.pack_sequence_as(specs, leaves), *args[len(specs) :])

    def _tensors(self, spec: Any, value: Any, args: Any, kwargs: Any) -> Any:
        if isinstance(spec, TensorSpec):  # a list where one tensor is wanted
            try:
                return convert_to_tensor(value, spec.dtype)
            except (TypeError, ValueError) as error:
                raise self.failed(str(error), args, kwargs) from None
        nest.assert_same_structure(spec, value)
        return value

    def _cast_leaf(self, spec: TensorSpec, value: Any, args: Any, kwargs: Any) -> Any:
        if isinstance(value, TensorSpec):
            if not spec.is_compatible_with(value):
                raise self.failed(f"Can not cast {value} to {spec}", args, kwargs)
            return value
        try:
            tensor = (
                value
                if isinstance(value, Tensor)
                else convert_to_tensor(value, dtype_hint=spec.dtype)
            )
        except (TypeError, ValueError) as error:
            raise self.failed(str(error), args, kwargs) from None
        if tensor.dtype is not spec.dtype or not spec.shape.is_compatible_with(tensor.shape):
            have = TensorSpec(tensor.shape, tensor.dtype)
            raise self.failed(f"Can not cast {have} to {spec}", args, kwargs)
        return tensor


def variable_key(variable: Variable) -> Any:
    """A variable counts by its identity."""
    return ObjectKey(variable)


def expand(leaves: Sequence[Any]) -> list[Any]:
    """Leaves with the tensors inside of composite ones laid open."""
    flat: list[Any] = []
    for leaf in leaves:
        if isinstance(leaf, IndexedSlices):
            flat += [leaf.values, leaf.indices]
        else:
            flat.append(leaf)
    return flat
