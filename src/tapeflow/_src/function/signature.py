"""What a call of a traced function is like: which arguments are tensors, and which trace fits.

Tensors count by dtype and shape, variables by these and by which are the same, Python values by type and value,
structures by their form, and other objects as they say or as they compare, without being kept alive.
"""

from __future__ import annotations

import functools
import inspect
import reprlib
import weakref
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from tapeflow._src.core import nest
from tapeflow._src.core.composites.composite import (
    Composed,
    is_expandable,
    one_tensor,
    spec_of,
)
from tapeflow._src.core.convert import convert_to_tensor
from tapeflow._src.core.dtypes import DType
from tapeflow._src.core.errors import shown
from tapeflow._src.core.shapes import TensorShape
from tapeflow._src.core.spec import TensorSpec, TypeSpec
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.core.variables.variable import Variable
from tapeflow._src.function.trace_types import SpecKey, trace_key

Shape = tuple[int | None, ...]

# Keys: what a trace depends on in one argument.


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
        return TensorKey(tuple(a if a == b else None for a, b in pairs), self.dtype, other.name)

    def spec(self, name: str | None = None) -> TensorSpec:
        """The same as a `tf.TensorSpec`."""
        return TensorSpec(self.shape, self.dtype, name)

    def __repr__(self) -> str:
        return repr(self.spec())


class VariableKey:
    """A variable argument. Another one of the same kind can take its place in a trace."""

    __slots__ = ("alias", "dtype", "shape", "trainable")

    def __init__(self, variable: Variable, alias: int) -> None:
        self.shape = variable._shape._dims
        self.dtype = variable.dtype
        self.trainable = variable.trainable
        self.alias = alias  # the number of the variable: the same for one that is passed twice

    def _parts(self) -> tuple[Any, ...]:
        return (self.shape, self.dtype, self.trainable, self.alias)

    def __hash__(self) -> int:
        return hash(self._parts())

    def __eq__(self, other: object) -> bool:
        return type(other) is VariableKey and self._parts() == other._parts()

    def __repr__(self) -> str:
        shape = TensorSpec(self.shape, self.dtype).shape
        return (
            f"VariableSpec(shape={shape}, dtype={self.dtype!r}, trainable={self.trainable}, "
            f"alias_id={self.alias})"
        )


class ObjectKey:
    """An object, equal to what it compares equal to. When it dies, the key is equal to nothing any more."""

    __slots__ = ("_hash", "_ref", "text")

    def __init__(self, value: Any) -> None:
        self.text = f"{type(value).__name__} object"
        try:
            self._hash = hash(value)
        except TypeError:
            raise TypeError(
                f"tf.function: an argument of type {type(value).__name__} cannot be hashed, so that calls with it "
                f"cannot be told apart: {reprlib.repr(value)}. Pass tensors, Python numbers and texts, lists, tuples "
                "and dicts of them, or objects that can be hashed (a dataclass with eq=False or frozen=True can)."
            ) from None
        try:
            self._ref: Any = weakref.ref(value)
        except TypeError:  # it cannot be weakly referenced, so it is kept
            self._ref = lambda: value

    @property
    def value(self) -> Any:
        """The object, or None when it is gone."""
        return self._ref()

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> bool:
        if type(other) is not ObjectKey or self._hash != other._hash:
            return False
        mine, theirs = self._ref(), other._ref()
        return mine is not None and (mine is theirs or bool(mine == theirs))

    def __repr__(self) -> str:
        return f"<{self.text}>"


class IdentityKey(ObjectKey):
    """A variable with a copy for each replica: a trace knows the copies, and holds for no other."""

    def __init__(self, value: Any) -> None:
        self.text, self._hash, self._ref = type(value).__name__, id(value), weakref.ref(value)

    __hash__ = ObjectKey.__hash__

    def __eq__(self, other: object) -> bool:
        return isinstance(other, IdentityKey) and self.value is other.value is not None


_VALUES = frozenset({bool, int, str, bytes, type(None)})


def key_of(leaf: Any) -> Any:
    """What a trace depends on in an argument that is a tensor or a Python value."""
    kind = type(leaf)
    if kind is Tensor:
        return TensorKey(leaf._array.shape, leaf.dtype)
    if kind in _VALUES:
        return (kind, leaf)
    if kind is float:
        return (kind, leaf.hex())  # tells 0.0 from -0.0, and nan equals itself
    if kind is complex:
        return (kind, leaf.real.hex(), leaf.imag.hex())
    if isinstance(leaf, Tensor):
        return TensorKey(tuple(leaf.shape), leaf.dtype)
    if isinstance(leaf, TensorSpec):
        return TensorKey(leaf.shape._dims, leaf.dtype, leaf.name)
    if kind is slice:
        return (kind, key_of(leaf.start), key_of(leaf.stop), key_of(leaf.step))
    if isinstance(leaf, (type, DType)):
        return leaf
    if isinstance(leaf, TensorShape):
        return (kind, leaf._dims)
    if is_expandable(leaf):
        return SpecKey(spec_of(leaf))
    return trace_key(leaf) if hasattr(leaf, "__tf_tracing_type__") else ObjectKey(leaf)


def keys_of(leaves: Sequence[Any]) -> Iterator[Any]:
    """The keys of all arguments, in the order of `flattened`."""
    variables: dict[int, int] = {}
    components: Iterator[Any] = iter(())
    for leaf in leaves:
        spec = next(components, None)
        if isinstance(leaf, Variable):
            number = variables.setdefault(id(leaf), len(variables))
            yield IdentityKey(leaf) if leaf._has_copies else VariableKey(leaf, number)
        elif spec is not None:  # a trace depends on no more of a component than its spec says
            yield key_of(spec)
        else:
            key = key_of(leaf)
            if type(key) is SpecKey:
                components = iter(nest.flatten(key.spec, expand_composites=True))
            yield key


# Structures.


def flattened(structure: Any) -> list[Any]:
    """The leaves as they are traced: arrays are tensors, and composite tensors their specs before their components."""
    leaves: list[Any] = []
    for leaf in nest.flatten(structure):
        if isinstance(leaf, (np.ndarray, np.generic)):
            leaves.append(convert_to_tensor(leaf))
        elif is_expandable(leaf):
            parts = nest.flatten(leaf, expand_composites=True)
            leaves.append(spec_of(leaf))
            kept = (TypeSpec, Variable)
            leaves += [p if isinstance(p, kept) else convert_to_tensor(p) for p in parts]
        else:
            leaves.append(leaf)
    return leaves


def packed(structure: Any, leaves: Sequence[Any]) -> Any:
    """The structure with other leaves, in the order of `flattened`: specs stay where components are specs."""
    rest = iter(leaves)
    new = []
    for leaf in nest.flatten(structure):
        value = next(rest)
        if is_expandable(leaf):
            value = composed(value, [next(rest) for _ in nest.flatten(value, True)])
        new.append(value)
    return nest.pack_sequence_as(structure, new)


def composed(spec: Any, parts: Sequence[Any]) -> Any:
    """A composite tensor of its components; its spec if these are specs, and what stands for it if they are numbers."""
    if any(isinstance(part, (TensorSpec, VariableKey, ObjectKey)) for part in parts):
        return spec
    if any(type(part) is int for part in parts):
        return Composed(spec, parts)
    return nest.pack_sequence_as(spec, parts, expand_composites=True)


def form_of(structure: Any) -> Any:
    """The form of a structure, as something that can be a key."""
    if not nest.is_nested(structure):
        return None
    if isinstance(structure, dict):
        keys = sorted(structure, key=repr)
        return (type(structure), *((_of_dict(key), form_of(structure[key])) for key in keys))
    if isinstance(structure, (list, tuple)):
        return (type(structure), *map(form_of, structure))
    if hasattr(structure, "__tf_flatten__"):
        fixed, parts = structure.__tf_flatten__()
        return (type(structure), *map(key_of, nest.flatten(fixed)), *map(form_of, parts))
    return (type(structure), len(nest.flatten(structure)))


def _of_dict(key: Any) -> Any:
    return key if type(key) is str else key_of(key)  # 1 and True, 0.0 and -0.0 are two keys


# Signatures.


class Signature:
    """The parameters of a Python function, and how calls are matched with them."""

    def __init__(self, function: Callable[..., Any], input_signature: Any) -> None:
        self.name = getattr(function, "__name__", type(function).__name__)
        if isinstance(function, functools.partial):
            self.name = getattr(function.func, "__name__", "partial")
        self.parameters = inspect.signature(function)
        self._simple = self._is_simple()
        self.input_signature = self._checked(input_signature)

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
                "tf.function: input_signature must be a list or tuple of tf.TensorSpec, one for each argument, got "
                f"{input_signature!r}"
            )
        for leaf in nest.flatten(input_signature):
            if not isinstance(leaf, TensorSpec) and not (
                isinstance(leaf, TypeSpec) and is_expandable(leaf)
            ):
                raise TypeError(
                    f"tf.function: input_signature may only contain tf.TensorSpec and other tf.TypeSpecs, got {leaf!r}"
                )
        parameters = self.parameters.parameters.values()
        positional = [
            p for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)
        ]
        variadic = any(p.kind is p.VAR_POSITIONAL for p in parameters)
        if len(input_signature) > len(positional) and not variadic:
            raise TypeError(
                f"tf.function: input_signature has {len(input_signature)} entries, and {self.name} takes "
                f"{len(positional)} positional arguments: {self.parameters}"
            )
        for p in positional[len(input_signature) :]:
            if p.default is p.empty:
                raise TypeError(
                    f"tf.function: input_signature has no tf.TensorSpec for the argument {p.name!r} of {self.name}"
                    f"{self.parameters}, which has no default either"
                )
        return tuple(input_signature)

    def names(self, count: int) -> list[str]:
        """A name for each of `count` positional arguments."""
        names: list[str] = []
        for p in self.parameters.parameters.values():
            if p.kind is p.VAR_POSITIONAL:
                names += [f"{p.name}_{i}" for i in range(count - len(names))]
            elif p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD):
                names.append(p.name)
        return names[:count]

    def bound(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, Any]:
        """Arguments in canonical form: positional where they can be, with defaults, keywords in alphabetical order."""
        if not kwargs and self._simple == len(args):
            return args, kwargs
        try:
            bound = self.parameters.bind(*args, **kwargs)
        except TypeError as error:
            raise self.failed(str(error), args, kwargs) from None
        bound.apply_defaults()
        return bound.args, {name: bound.kwargs[name] for name in sorted(bound.kwargs)}

    def failed(self, why: str, args: Any, kwargs: Any) -> TypeError:
        """The error for a call that does not fit."""
        return TypeError(
            f"Binding inputs to tf.function {self.name!r} failed due to `{why}`. Received args: {shown(args)} and "
            f"kwargs: {shown(kwargs)} for signature: {self.parameters}."
        )

    def cast(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, ...]:
        """Arguments as the input signature wants them: tensors of its dtypes and shapes."""
        specs = self.input_signature
        assert specs is not None
        if len(args) < len(specs):
            raise self.failed(f"{len(specs)} arguments are needed", args, kwargs)
        rest = args[len(specs) :]
        for p, value in zip(
            list(self.parameters.parameters.values())[len(specs) :], rest, strict=False
        ):
            if p.default is not value and key_of(p.default) != key_of(value):
                raise self.failed(
                    f"Can not cast {value!r} to {p.default!r}, the default of {p.name!r}, which input_signature does "
                    "not mention",
                    args,
                    kwargs,
                )
        given = [self._fitted(spec, x, args, kwargs) for spec, x in zip(specs, args, strict=False)]
        return (*given, *rest)

    def _fitted(self, spec: Any, value: Any, args: Any, kwargs: Any) -> Any:
        if isinstance(spec, TypeSpec):
            return fitted(spec, value, lambda why: self.failed(why, args, kwargs))
        try:
            nest.assert_same_structure(spec, value)
        except (ValueError, TypeError) as error:
            if not _same_form_above(spec, value):
                raise self.failed(str(error).splitlines()[0], args, kwargs) from None
            # There is a list where one tensor is wanted.
            parts = zip(_children(spec), _children(value), strict=True)
            new = [self._fitted(s, x, args, kwargs) for s, x in parts]
            return _with_children(spec, new)
        pairs = zip(nest.flatten(spec), nest.flatten(value), strict=True)
        return nest.pack_sequence_as(
            spec, [fitted(s, x, lambda why: self.failed(why, args, kwargs)) for s, x in pairs]
        )


def fitted(spec: Any, value: Any, failed: Callable[[str], Exception]) -> Any:
    """A value as a tensor that a spec describes."""
    if isinstance(spec, TensorSpec):
        value = one_tensor(value)
    if is_expandable(spec) or is_expandable(value):
        if not is_expandable(value) or not spec_of(value).is_subtype_of(spec):
            raise failed(
                f"Can not cast {shown(spec_of(value) if is_expandable(value) else value)} to {spec}"
            )
        return value
    if isinstance(value, TensorSpec):
        if not spec.is_compatible_with(value):
            raise failed(f"Can not cast {value} to {spec}")
        return value
    try:
        tensor = (
            value if isinstance(value, Tensor) else convert_to_tensor(value, dtype_hint=spec.dtype)
        )
    except (TypeError, ValueError) as error:
        raise failed(str(error)) from None
    if tensor.dtype is not spec.dtype or not spec.shape.is_compatible_with(tensor.shape):
        raise failed(f"Can not cast {TensorSpec(tensor.shape, tensor.dtype)} to {spec}")
    return tensor


def _same_form_above(spec: Any, value: Any) -> bool:
    if isinstance(spec, dict):
        return isinstance(value, dict) and spec.keys() == value.keys()
    return type(spec) is type(value) and len(spec) == len(value)


def _children(structure: Any) -> list[Any]:
    if isinstance(structure, dict):
        return [structure[key] for key in sorted(structure, key=repr)]
    return list(structure)


def _with_children(structure: Any, children: list[Any]) -> Any:
    if isinstance(structure, dict):
        return dict(zip(sorted(structure, key=repr), children, strict=True))
    kind = type(structure)
    return kind(*children) if hasattr(structure, "_fields") else kind(children)
