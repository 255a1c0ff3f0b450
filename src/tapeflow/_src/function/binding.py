"""Calls of a concrete function: which argument belongs to which input of the trace."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tapeflow._src.core import nest
from tapeflow._src.core.composites.composite import one_tensor
from tapeflow._src.core.convert import convert_to_tensor
from tapeflow._src.core.errors import DTypeError
from tapeflow._src.core.spec import TensorSpec
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.function import description
from tapeflow._src.function.signature import (
    ObjectKey,
    Signature,
    TensorKey,
    VariableKey,
    fitted,
    flattened,
    form_of,
    key_of,
    keys_of,
)
from tapeflow._src.function.trace_types import SpecKey, TraceKey


class Binding:
    """Matches the arguments of a call with those of a trace.

    Args:
      signature: the parameters of the function.
      arguments: what was traced, positional arguments and keywords, with a spec for each tensor.
      form: of these arguments.
      keys: for each leaf of them what it must be like.
      names: of the tensors, by which they can be passed too.
      text: makes the signature a text, for errors.
    """

    def __init__(
        self,
        signature: Signature,
        arguments: tuple[Any, Any],
        form: Any,
        keys: Sequence[Any],
        names: Sequence[str | None],
        text: Callable[[], str],
    ) -> None:
        self._signature = signature
        self._arguments = arguments
        self._form = form
        self._keys = keys
        self._names = names
        self._text = text
        self._takes_variables = any(type(key) is VariableKey for key in keys)

    def leaves(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[Any]:
        """The arguments of a call one by one, as the parameters of the function or as a flat list of tensors."""
        try:
            structure = self._structured(args, kwargs)
        except TypeError as error:
            flat = self._flat(args, kwargs)
            if flat is None:
                raise error from None
            return flat
        if form_of(structure) != self._form:
            raise self._failed(
                "the structure of the arguments differs from the traced one", args, kwargs
            )
        leaves = flattened(structure)
        if len(leaves) != len(self._keys):
            leaves = flattened(nest.map_structure(one_tensor, structure))
        if len(leaves) != len(self._keys):
            raise self._failed(
                "the kinds of the arguments differ from the traced ones", args, kwargs
            )
        numbers = list(keys_of(leaves)) if self._takes_variables else None
        for i, key in enumerate(self._keys):
            if type(key) is TensorKey:
                leaves[i] = self._tensor(key, leaves[i], args, kwargs)
            elif type(key) in (SpecKey, TraceKey) and key.covers(key_of(leaves[i])):
                continue
            elif (key_of(leaves[i]) if numbers is None else numbers[i]) != key:
                what = flattened(self._arguments)[i]
                raise self._failed(
                    f"Can not cast {leaves[i]!r} to {description.type_text(what)}", args, kwargs
                )
        return leaves

    def _structured(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, Any]:
        """Arguments by the parameters of the function. Python values may be left out: they are part of the trace."""
        parameters = self._signature.parameters
        try:
            bound = parameters.bind_partial(*args, **kwargs)
        except TypeError as error:
            raise self._failed(str(error), args, kwargs) from None
        traced = parameters.bind(*self._arguments[0], **self._arguments[1]).arguments
        for name, value in traced.items():
            if name in bound.arguments:
                continue
            if any(isinstance(x, (TensorSpec, VariableKey)) for x in flattened(value)):
                raise self._failed(f"missing a required argument: {name!r}", args, kwargs)
            resolved = [x.value if isinstance(x, ObjectKey) else x for x in nest.flatten(value)]
            bound.arguments[name] = nest.pack_sequence_as(value, resolved)
        bound.arguments = {
            name: bound.arguments[name] for name in parameters.parameters if name in bound.arguments
        }
        if len(bound.arguments) > len(traced):
            raise self._failed("too many arguments", args, kwargs)
        # A list may stand for one tensor, and NumPy's arrays have whatever dtype they happened to get.
        new_args = [
            self._as_tensor(spec, x)
            for spec, x in zip(self._arguments[0], bound.args, strict=False)
        ]
        if len(bound.args) != len(self._arguments[0]):
            raise self._failed("too many positional arguments", args, kwargs)
        names = sorted(bound.kwargs)
        if names != list(self._arguments[1]):
            raise self._failed(
                f"keyword arguments {names} differ from the traced ones", args, kwargs
            )
        new_kwargs = {
            name: self._as_tensor(self._arguments[1][name], bound.kwargs[name]) for name in names
        }
        return tuple(new_args), new_kwargs

    @staticmethod
    def _as_tensor(spec: Any, value: Any) -> Any:
        if isinstance(spec, TensorSpec) and (
            nest.is_nested(value) or isinstance(value, (np.ndarray, np.generic))
        ):
            return convert_to_tensor(value, dtype_hint=spec.dtype)
        return value

    def _flat(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[Any] | None:
        """Tensors in the order of the trace, or by the names of their specs."""
        names = self._names
        given: list[Any] = list(args)
        for name in names[len(given) :]:
            if name not in kwargs:
                return None
            given.append(kwargs[name])
        if (
            len(given) != len(names)
            or len(args) + len(kwargs) != len(names)
            or self._takes_variables
        ):
            return None
        leaves: list[Any] = [None] * len(self._keys)
        positions = [i for i, key in enumerate(self._keys) if type(key) is TensorKey]
        for i, value in zip(positions, given, strict=True):
            leaves[i] = self._tensor(self._keys[i], value, args, kwargs)
        return leaves

    def _tensor(self, key: TensorKey, value: Any, args: Any, kwargs: Any) -> Any:
        if isinstance(value, Tensor) and value.dtype is not key.dtype:
            why = f"expected a tensor of dtype {key.dtype.name}, got {value.dtype.name}"
            raise DTypeError(None, None, str(self._failed(why, args, kwargs)))
        return fitted(key.spec(), value, lambda why: self._failed(why, args, kwargs))

    def _failed(self, why: str, args: Any, kwargs: Any) -> TypeError:
        return TypeError(
            f"Binding inputs to tf.function {self._signature.name!r} failed due to `{why}`. Received args: {args!r} "
            f"and kwargs: {kwargs!r} for signature: {self._text()}."
        )
