"""Signatures as text, in TensorFlow's layout."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from typing import Any

from tapeflow._src.core.spec import TensorSpec, TypeSpec
from tapeflow._src.core.variables.variable import Variable
from tapeflow._src.function.signature import ObjectKey, Signature, VariableKey

_Parameter = tuple[str, str, str]  # name, kind, type


def parameters(
    signature: Signature, args: Sequence[Any], kwargs: dict[str, Any]
) -> list[_Parameter]:
    """For each argument its name, how it can be passed, and what it is."""
    known = signature.parameters.parameters
    found: list[_Parameter] = []
    for name, value in zip(signature.names(len(args)), args, strict=True):
        kind = known[name].kind if name in known else inspect.Parameter.POSITIONAL_ONLY
        found.append((name, kind.name, type_text(value)))
    for name, value in kwargs.items():
        found.append((name, inspect.Parameter.KEYWORD_ONLY.name, type_text(value)))
    return found


def short(given: list[_Parameter], result: Any) -> str:
    """On one line."""
    arguments = ", ".join(f"{name}: {text}" for name, _, text in given)
    return f"({arguments}) -> {type_text(result)}"


def long(given: list[_Parameter], result: Any, captured: Sequence[Variable]) -> str:
    """One line for each argument, result and captured variable."""
    # By name: addresses would say nothing.
    captures = [f"{v._name}: {TensorSpec(v.shape, v.dtype)!r}" for v in captured]
    return "\n".join(
        [
            "Input Parameters:",
            *(f"  {name} ({kind}): {text}" for name, kind, text in given),
            *([] if given else ["  None"]),
            "Output Type:",
            f"  {type_text(result)}",
            "Captures:",
            *(f"  {text}" for text in captures or ["None"]),
        ]
    )


def type_text(value: Any) -> str:
    """What an argument or a result is."""
    if isinstance(value, TensorSpec):
        return repr(TensorSpec(value.shape, value.dtype))
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
