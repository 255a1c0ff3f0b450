"""Ops that only order other ops: in eager execution the order is that of the program."""

from __future__ import annotations

from typing import Any

from tapeflow._src.core import nest
from tapeflow._src.core.export import export
from tapeflow._src.ops.array.shaping import identity


@export("group")
def group(*inputs: Any, **kwargs: Any) -> None:
    """Does nothing: by the time it is called, its inputs have been computed.

    >>> tf.group(tf.constant(1.0), tf.constant(2.0))
    """
    unknown = kwargs.keys() - {"name"}
    if unknown:
        raise ValueError(f"group: unknown keyword arguments: {sorted(unknown)}")


@export("no_op")
def no_op(name: str | None = None) -> None:
    """Does nothing.

    >>> tf.no_op()
    """


@export("tuple")
def tuple(tensors: Any, control_inputs: Any = None, name: str | None = None) -> list[Any]:
    """The tensors, all of which have been computed.

    >>> [x.numpy() for x in tf.tuple([tf.constant(1), tf.constant(2)])]
    [np.int32(1), np.int32(2)]
    """
    if not tensors or all(t is None for t in tensors):
        raise ValueError("tuple: must have at least one tensor")
    return [None if t is None else identity(t) for t in nest.flatten(tensors)]
