"""`tf.types.experimental`: what is a function, and what can become a tensor."""

# Written by scripts/exports.py, from the lines in _src that export these names.

import typing as _typing

from tapeflow._src.core.missing import Missing as _Missing
from tapeflow._src.function.types import (
    Callable as Callable,
    ConcreteFunction as ConcreteFunction,
    GenericFunction as GenericFunction,
    PolymorphicFunction as PolymorphicFunction,
    TensorLike as TensorLike,
)

# For editors and type checkers: these are imported when they are first asked for.
if _typing.TYPE_CHECKING:
    from tapeflow.types.experimental import distributed as distributed

__getattr__ = _Missing("tf.types.experimental", later="distributed")
