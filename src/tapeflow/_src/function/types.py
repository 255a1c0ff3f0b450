"""`tf.types.experimental`: what is a function, and what can become a tensor."""

from __future__ import annotations

from typing import Any, Union

import numpy as np

from tapeflow._src.core.export import export, export_value
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.core.variables.variable import Variable
from tapeflow._src.function.atomic import AtomicFunction
from tapeflow._src.function.concrete import ConcreteFunction
from tapeflow._src.function.function import Function

TensorLike = Union[  # noqa: UP007  # for `isinstance`, and to be shown
    Tensor, Variable, int, float, bool, str, bytes, complex, tuple, list, np.ndarray, np.generic
]
PolymorphicFunction = GenericFunction = Function


class _Callables(type):
    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, (Function, ConcreteFunction, AtomicFunction))


@export("types.experimental.Callable")
class Callable(metaclass=_Callables):
    """What `tf.function` makes, for one kind of arguments or for all.

    >>> isinstance(tf.function(lambda x: x), tf.types.experimental.Callable)
    True
    """


export_value("TensorLike", "types.experimental.TensorLike")
export_value("PolymorphicFunction", "types.experimental.PolymorphicFunction")
export_value("GenericFunction", "types.experimental.GenericFunction")
export_value("ConcreteFunction", "types.experimental.ConcreteFunction")
