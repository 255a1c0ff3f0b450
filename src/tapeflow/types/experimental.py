"""`tf.types.experimental`: what is a function, and what can become a tensor."""

# Written by scripts/exports.py, from the lines in _src that export these names.

from tapeflow._src.core.missing import Missing as _Missing
from tapeflow._src.function.types import (
    Callable as Callable,
    ConcreteFunction as ConcreteFunction,
    GenericFunction as GenericFunction,
    PolymorphicFunction as PolymorphicFunction,
    TensorLike as TensorLike,
)

__getattr__ = _Missing("tf.types.experimental")
