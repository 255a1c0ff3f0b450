"""`Function.function_spec`: the parameters of a function, as libraries written for TensorFlow ask for them."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any

from tapeflow._src.core import nest
from tapeflow._src.function import description

if TYPE_CHECKING:
    from tapeflow._src.function.signature import Signature
    from tapeflow._src.function.trace_types import FunctionType


class FunctionSpec:
    """The parameters of a `tf.function`, their defaults, and what was said of them.

    >>> import tapeflow as tf
    >>> f = tf.function(lambda x, n=2, *, scale=1.0: x * scale)
    >>> f.function_spec.arg_names, f.function_spec.default_values
    (['x', 'n'], {'n': 2, 'scale': 1.0})
    """

    def __init__(self, signature: Signature, jit_compile: bool | None) -> None:
        self._signature = signature
        self.jit_compile = jit_compile

    @property
    def function_type(self) -> FunctionType:
        """The parameters, with what the input signature says of them."""
        return description.function_type(self._signature)

    @property
    def input_signature(self) -> Any:
        """The input signature, or None."""
        return self._signature.input_signature

    @property
    def flat_input_signature(self) -> tuple[Any, ...]:
        """Its specs one by one."""
        return tuple(nest.flatten(self.input_signature))

    @property
    def arg_names(self) -> list[str]:
        """The names of the parameters that can be given by position."""
        return [p.name for p in self._parameters if p.kind <= p.POSITIONAL_OR_KEYWORD]

    @property
    def default_values(self) -> dict[str, Any]:
        """The defaults of those parameters that have one."""
        return {p.name: p.default for p in self._parameters if p.default is not p.empty}

    @property
    def fullargspec(self) -> inspect.FullArgSpec:
        """The parameters as `inspect.getfullargspec` tells them, without annotations."""
        by_kind: dict[Any, list[str]] = {}
        for p in self._parameters:
            by_kind.setdefault(p.kind, []).append(p.name)
        defaults, kinds = self.default_values, inspect.Parameter
        keywords = by_kind.get(kinds.KEYWORD_ONLY, [])
        return inspect.FullArgSpec(
            args=self.arg_names,
            varargs=by_kind.get(kinds.VAR_POSITIONAL, [None])[0],
            varkw=by_kind.get(kinds.VAR_KEYWORD, [None])[0],
            defaults=tuple(defaults[n] for n in self.arg_names if n in defaults) or None,
            kwonlyargs=keywords,
            kwonlydefaults={n: defaults[n] for n in keywords if n in defaults} or None,
            annotations={},
        )

    @property
    def _parameters(self) -> list[inspect.Parameter]:
        return list(self._signature.parameters.parameters.values())
