"""`tf.types.experimental`: what is a function, and what can become a tensor."""

# Written by scripts/exports.py, from the lines in _src that export these names.

import typing as _typing

from tapeflow._src.core.missing import Missing as _Missing

# For editors and type checkers: these are imported when they are first asked for.
# isort: off
# fmt: off
if _typing.TYPE_CHECKING:
    from tapeflow.types.experimental import distributed as distributed
    from tapeflow._src.function.atomic import AtomicFunction as AtomicFunction
    from tapeflow._src.function.trace_types import (
        TraceType as TraceType, SupportsTracingProtocol as SupportsTracingProtocol,
        FunctionType as FunctionType
    )
    from tapeflow._src.function.types import (
        Callable as Callable, TensorLike as TensorLike, PolymorphicFunction as PolymorphicFunction,
        GenericFunction as GenericFunction, ConcreteFunction as ConcreteFunction
    )
# fmt: on
# isort: on

__getattr__ = _Missing(
    "tf.types.experimental",
    later="distributed",
    names={
        "function.atomic": "AtomicFunction",
        "function.trace_types": "TraceType SupportsTracingProtocol FunctionType",
        "function.types": "Callable TensorLike PolymorphicFunction GenericFunction ConcreteFunction",
    },
)


def __dir__() -> list[str]:
    return __getattr__.offered(globals())
