"""What functions and their traces take and return: as types, and as text in TensorFlow's layout."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from typing import Any

from tapeflow._src.core.spec import TensorSpec, TypeSpec
from tapeflow._src.core.variables.variable import Variable
from tapeflow._src.function.signature import (
    ObjectKey,
    Signature,
    TensorKey,
    VariableKey,
    flattened,
    packed,
)
from tapeflow._src.function.trace_types import CAPTURED_DEFAULT, FunctionType, TypedParameter


def function_type(signature: Signature) -> FunctionType:
    """The parameters of a function, and what its input signature says of them."""
    parameters = signature.parameters.parameters
    signed = list(signature.input_signature or ())
    if len(signed) > _positional(signature):
        return FunctionType(_given(signature, (signed, {})))
    names = [n for n, p in parameters.items() if p.kind <= p.POSITIONAL_OR_KEYWORD]
    said = dict(zip(names, map(_typed, signed), strict=False))
    if signature.input_signature is not None:  # what it does not mention has its default
        rest = names[len(signed) :]
        said |= {n: _typed(parameters[n].default) for n in rest}
    return FunctionType(
        [
            TypedParameter(
                p.name,
                p.kind,
                default=p.empty if p.default is p.empty else CAPTURED_DEFAULT,
                annotation=said.get(p.name, p.empty),
            )
            for p in parameters.values()
        ]
    )


def traced_type(signature: Signature, arguments: tuple[Any, Any], result: Any) -> FunctionType:
    """What a trace takes and returns."""
    return FunctionType(_given(signature, arguments), return_annotation=_typed(result))


def described(trace: Any) -> FunctionType:
    """The type of a concrete function, in which tensors have the names that somebody gave them."""
    leaves = zip(trace._keys, flattened(trace._arguments), strict=True)
    said = [TensorSpec(x.shape, x.dtype, k.name) if type(k) is TensorKey else x for k, x in leaves]
    arguments = packed(trace._arguments, said)
    return traced_type(trace._signature, arguments, trace.structured_outputs)


def _positional(signature: Signature) -> int:
    parameters = signature.parameters.parameters.values()
    return sum(p.kind <= p.POSITIONAL_OR_KEYWORD for p in parameters)


def _given(signature: Signature, arguments: tuple[Any, Any]) -> list[TypedParameter]:
    """A parameter for each argument: those before arguments of any number have no names to callers."""
    args, kwargs = arguments
    known = signature.parameters.parameters
    variadic = any(p.kind is p.VAR_POSITIONAL for p in known.values())
    found = []
    for name, value in zip(signature.names(len(args)), args, strict=True):
        kind = inspect.Parameter.POSITIONAL_ONLY if variadic else known[name].kind
        found.append(TypedParameter(name, kind, annotation=_typed(value)))
    order = [n for n in known if n in kwargs]
    for name in [*order, *(n for n in kwargs if n not in known)]:
        kind = inspect.Parameter.KEYWORD_ONLY
        found.append(TypedParameter(name, kind, annotation=_typed(kwargs[name])))
    return found


class _Shown:
    """A type that is only told."""

    def __init__(self, value: Any) -> None:
        self._text = type_text(value)

    def __repr__(self) -> str:
        return self._text

    def __eq__(self, other: object) -> bool:
        return type(other) is _Shown and self._text == other._text

    def __hash__(self) -> int:
        return hash(self._text)


def _typed(value: Any) -> Any:
    return value if isinstance(value, (TypeSpec, VariableKey, ObjectKey)) else _Shown(value)


def long(described: FunctionType, captured: Sequence[Variable]) -> str:
    """A type on several lines, with the variables that are captured."""
    # By name: addresses would say nothing.
    return described.text([f"{v._name}: {TensorSpec(v.shape, v.dtype)!r}" for v in captured])


def type_text(value: Any) -> str:
    """What an argument or a result is."""
    if isinstance(value, (VariableKey, ObjectKey, TypeSpec)):
        return repr(value)
    if isinstance(value, dict):
        return f"Dict[{', '.join(f'[{k!r}, {type_text(v)}]' for k, v in value.items())}]"
    if isinstance(value, list):
        return f"List[{', '.join(map(type_text, value))}]"
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        pairs = zip(value._fields, value, strict=True)  # type: ignore[attr-defined]
        return f"{type(value).__name__}[{', '.join(f'[{k!r}, {type_text(v)}]' for k, v in pairs)}]"
    if isinstance(value, tuple):
        return f"Tuple[{', '.join(map(type_text, value))}]"
    return f"Literal[{value!r}]"
