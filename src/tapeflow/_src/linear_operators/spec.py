"""How an operator is taken apart: it is a composite tensor, so functions, branches and loops take and return it."""

from __future__ import annotations

import functools
import inspect
from typing import Any

import numpy as np

from tapeflow._src.core import nest
from tapeflow._src.core.composites.composite import CompositeTensor
from tapeflow._src.core.convert import convert_to_tensor
from tapeflow._src.core.spec import TensorSpec, TypeSpec
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.core.variables.spec import VariableSpec
from tapeflow._src.core.variables.variable import Variable


class LinearOperatorSpec(TypeSpec):
    """The class of an operator, the specs of the arguments that are tensors, and the other arguments.

    Args:
      kind: the class.
      specs: those of tensors, variables and operators among the arguments, by name.
      fixed: the other arguments by name.
    """

    def __init__(self, kind: type, specs: dict[str, Any], fixed: dict[str, Any]) -> None:
        self._kind, self._specs, self._fixed = kind, specs, fixed

    @property
    def value_type(self) -> type:
        """The class of the operator."""
        return self._kind

    @property
    def _component_specs(self) -> Any:
        return self._specs

    def _serialize(self) -> tuple[Any, ...]:
        return (self._kind, self._specs, self._fixed)

    def _to_components(self, value: Any) -> Any:
        given = arguments_of(value)
        return {name: given[name] for name in self._specs}

    def _from_components(self, components: Any) -> Any:
        return self._kind(**self._fixed, **components)

    def _batch(self, size: int | None) -> LinearOperatorSpec:
        specs = nest.map_structure(lambda spec: spec._batch(size), self._specs)
        return LinearOperatorSpec(self._kind, specs, self._fixed)

    def _unbatch(self) -> LinearOperatorSpec:
        specs = nest.map_structure(lambda spec: spec._unbatch(), self._specs)
        return LinearOperatorSpec(self._kind, specs, self._fixed)

    def __repr__(self) -> str:
        return f"{self._kind.__name__}Spec({self._specs!r}, {self._fixed!r})"


def spec_of_operator(operator: Any) -> LinearOperatorSpec:
    """The spec of an operator."""
    specs, fixed = {}, {}
    for name, value in arguments_of(operator).items():
        if any(map(_is_part, nest.flatten(value))):
            specs[name] = nest.map_structure(_spec_of, value)
        else:
            fixed[name] = value
    return LinearOperatorSpec(type(operator), specs, fixed)


@functools.cache
def _parameters(kind: type) -> list[inspect.Parameter]:
    parameters = inspect.signature(kind).parameters.values()
    return [p for p in parameters if p.name != "name" and p.kind is p.POSITIONAL_OR_KEYWORD]


def arguments_of(operator: Any) -> dict[str, Any]:
    """What another operator like this one is made with, but for its name."""
    given = operator.parameters
    found = {}
    for p in _parameters(type(operator)):
        value = getattr(operator, p.name, given.get(p.name, p.default))
        if value is p.empty:
            raise TypeError(
                f"{type(operator).__name__} cannot be taken apart: its parameter {p.name!r} is no attribute of it, and "
                "is not among the `parameters` that it gives to LinearOperator.__init__."
            )
        if isinstance(value, np.ndarray):
            value = convert_to_tensor(value)
        found[p.name] = value
    return found


def _is_part(value: Any) -> bool:
    return isinstance(value, (Tensor, Variable, CompositeTensor))


def _spec_of(value: Any) -> Any:
    if isinstance(value, CompositeTensor):
        return value._type_spec
    if isinstance(value, Variable):
        return VariableSpec.from_value(value)
    return TensorSpec(value.shape, value.dtype)


def without_variables(operator: Any) -> Any:
    """An operator on the values of its variables."""

    def converted(value: Any) -> Any:
        if isinstance(value, CompositeTensor):
            return value._convert_variables_to_tensors()
        return convert_to_tensor(value) if isinstance(value, Variable) else value

    if not operator.variables:
        return operator
    return type(operator)(**nest.map_structure(converted, arguments_of(operator)))
