"""`tf.types.experimental.TraceType`: objects of users that say themselves which of them one trace serves."""

from __future__ import annotations

import abc
import inspect
from collections.abc import Iterator, Sequence
from typing import Any

from tapeflow._src.core.export import export
from tapeflow._src.core.spec import TypeSpec


@export("types.experimental.TraceType")
class TraceType(abc.ABC):
    """What `tf.function` has to know of an argument: for which others a trace can be used, too.

    An object is asked for it by `__tf_tracing_type__`. Here all objects of a class share their traces:

    >>> class FruitType(tf.types.experimental.TraceType):
    ...     def __init__(self, fruit):
    ...         self.fruit = fruit
    ...     def is_subtype_of(self, other):
    ...         return self == other
    ...     def most_specific_common_supertype(self, others):
    ...         return self if all(self == other for other in others) else None
    ...     def placeholder_value(self, placeholder_context=None):
    ...         return self.fruit
    ...     def __eq__(self, other):
    ...         return isinstance(other, FruitType) and type(self.fruit) is type(other.fruit)
    ...     def __hash__(self):
    ...         return hash(type(self.fruit))
    >>> class Apple:
    ...     flavor = 3.0
    ...     def __tf_tracing_type__(self, context):
    ...         return FruitType(self)
    >>> f = tf.function(lambda fruit: fruit.flavor * tf.constant(2.0))
    >>> f(Apple()).numpy(), f(Apple()).numpy(), f.experimental_get_tracing_count()
    (np.float32(6.0), np.float32(6.0), 1)

    Every `tf.TypeSpec` is one.
    """

    @abc.abstractmethod
    def is_subtype_of(self, other: Any) -> bool:
        """Whether a trace for another type serves this one.

        Args:
          other: a `TraceType`.
        """

    @abc.abstractmethod
    def most_specific_common_supertype(self, others: Sequence[Any]) -> Any:
        """The narrowest type that this one and others are subtypes of, or None.

        Args:
          others: `TraceType`s.
        """

    @abc.abstractmethod
    def placeholder_value(self, placeholder_context: Any) -> Any:
        """What the function is traced with in the place of the argument.

        Args:
          placeholder_context: accepted for compatibility.
        """

    @abc.abstractmethod
    def __hash__(self) -> int: ...

    @abc.abstractmethod
    def __eq__(self, other: object) -> bool: ...

    def to_tensors(self, value: Any) -> list[Any]:
        """The tensors in a value. There are none: objects with tensors inside are `tf.experimental.ExtensionType`s.

        Args:
          value: a value of this type.
        """
        return []

    def from_tensors(self, tensors: Iterator[Any]) -> Any:
        """The value for tensors: the placeholder.

        Args:
          tensors: not used.
        """
        return self.placeholder_value(None)

    def flatten(self) -> list[Any]:
        """The types of the tensors in a value."""
        return []

    def cast(self, value: Any, cast_context: Any) -> Any:
        """A value as one of this type.

        Args:
          value: a value that equals the placeholder.
          cast_context: accepted for compatibility.
        """
        if value != self.placeholder_value(None):
            raise AssertionError(f"Can not cast {value!r} to type {self!r}")
        return value


TraceType.register(TypeSpec)


class _Supporters(type):
    def __instancecheck__(cls, instance: Any) -> bool:
        return hasattr(instance, "__tf_tracing_type__")


@export("types.experimental.SupportsTracingProtocol")
class SupportsTracingProtocol(metaclass=_Supporters):
    """Objects that have `__tf_tracing_type__`, and so say which of them share a trace of a `tf.function`.

    >>> isinstance(3, tf.types.experimental.SupportsTracingProtocol)
    False
    """

    def __tf_tracing_type__(self, context: Any) -> TraceType:
        raise NotImplementedError(f"{type(self).__name__}.__tf_tracing_type__")


class _Captured:
    """In the place of the default of a parameter, which is no part of a type."""

    def __repr__(self) -> str:
        return "<captured_default_value>"


CAPTURED_DEFAULT = _Captured()


class TypedParameter(inspect.Parameter):
    """A parameter of a `tf.function`, and what is known of what it takes."""

    @property
    def optional(self) -> bool:
        """Whether it has a default."""
        return self.default is not self.empty

    @property
    def type_constraint(self) -> Any:
        """What an argument has to be, or None if nobody said so."""
        return None if self.annotation is self.empty else self.annotation


@export("types.experimental.FunctionType")
class FunctionType(inspect.Signature):
    """The parameters of a `tf.function` and of its traces, with the specs of what they are.

    >>> f = tf.function(lambda x, n: x * n)
    >>> concrete = f.get_concrete_function(tf.TensorSpec([2], tf.float32), 2.0)
    >>> concrete.function_type.parameters["x"].annotation
    TensorSpec(shape=(2,), dtype=tf.float32, name=None)
    >>> concrete.function_type.parameters["n"].annotation
    Literal[2.0]
    >>> concrete.function_type.return_annotation
    TensorSpec(shape=(2,), dtype=tf.float32, name=None)
    >>> print(f.function_type)
    (x, n)
    """

    def __init__(
        self,
        parameters: Sequence[inspect.Parameter] | None = None,
        *,
        return_annotation: Any = inspect.Signature.empty,
        __validate_parameters__: bool = True,
    ) -> None:
        super().__init__(parameters, return_annotation=return_annotation)

    @property
    def output(self) -> Any:
        """What is returned, or None where nobody knows yet."""
        return None if self.return_annotation is self.empty else self.return_annotation

    def text(self, captures: Sequence[str] = ()) -> str:
        """One line for each argument, for what is returned, and for what is captured."""
        given: Any = self.parameters.values()
        return "\n".join(
            [
                "Input Parameters:",
                *(f"  {p.name} ({p.kind.name}): {p.type_constraint!r}" for p in given),
                "Output Type:",
                f"  {self.output!r}",
                "Captures:",
                *(f"  {each}" for each in captures or ["None"]),
            ]
        )

    def __repr__(self) -> str:
        return self.text()


class SpecKey:
    """What a composite tensor is like. The keys of its components follow it."""

    __slots__ = ("spec",)

    def __init__(self, spec: TypeSpec) -> None:
        self.spec = spec

    def __hash__(self) -> int:
        return hash(self.spec)

    def __eq__(self, other: object) -> bool:
        return type(other) is SpecKey and self.spec == other.spec

    def covers(self, other: Any) -> bool:
        """Whether a trace made for this one can be used for another."""
        return type(other) is SpecKey and other.spec.is_subtype_of(self.spec)

    def widened(self, other: Any) -> Any:
        """What covers both, or None."""
        common = type(other) is SpecKey and self.spec.most_specific_common_supertype([other.spec])
        return SpecKey(common) if common else None

    def traced(self, value: Any) -> Any:
        """What a trace is made with in the place of a value."""
        return self.spec

    def __repr__(self) -> str:
        return repr(self.spec)


class TraceKey:
    """An argument that has a `TraceType`."""

    __slots__ = ("type",)

    def __init__(self, kind: TraceType) -> None:
        self.type = kind

    def __hash__(self) -> int:
        return hash(self.type)

    def __eq__(self, other: object) -> bool:
        return type(other) is TraceKey and self.type == other.type

    def covers(self, other: Any) -> bool:
        """Whether a trace made for this one can be used for another."""
        return type(other) is TraceKey and other.type.is_subtype_of(self.type)

    def widened(self, other: Any) -> Any:
        """What covers both, or None."""
        common = type(other) is TraceKey and self.type.most_specific_common_supertype([other.type])
        return TraceKey(common) if common else None

    def traced(self, value: Any) -> Any:
        """What a trace is made with in the place of a value."""
        return self.type.placeholder_value(None)

    def __repr__(self) -> str:
        return repr(self.type)


SAID = (SpecKey, TraceKey)
"""What says itself what is traced in its place."""


def trace_key(value: Any) -> TraceKey:
    """The key of an argument that says its type itself."""
    kind = value.__tf_tracing_type__(None)
    if not isinstance(kind, TraceType):
        raise TypeError(
            f"tf.function: {type(value).__name__}.__tf_tracing_type__ must give a tf.types.experimental.TraceType, got "
            f"{kind!r}"
        )
    if kind.flatten():
        raise TypeError(
            f"tf.function: {kind!r} has tensors inside, which a TraceType is not taken apart into. Make "
            f"{type(value).__name__} a tf.experimental.ExtensionType."
        )
    return TraceKey(kind)
