"""Ops with effects: inside `tf.function` they happen when it runs, each time, and in the order of the program."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from tapeflow._src.core import nest
from tapeflow._src.core.context import context
from tapeflow._src.core.convert import convert_to_tensor
from tapeflow._src.core.interpreter import innermost
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.primitives.batched import BatchedTensor


def at_run_time(op: Callable[..., None], always: bool = False) -> Callable[..., None]:
    """Makes an op that returns nothing one that waits for the values of its arguments.

    Unless `always`, it runs at once where all values are known while the function is traced. Inside `tf.vectorized_map`
    it runs for one example after the other.
    """

    @functools.wraps(op)
    def waiting(*args: Any, **kwargs: Any) -> None:
        tracer = context.tracer
        if tracer is None and not context.interpreters and not any(map(_is_batched, args)):
            return op(*args, **kwargs)
        leaves = nest.flatten((args, kwargs), expand_composites=True)
        batch = innermost(filter(_is_batched, leaves))
        if batch is not None:
            if tracer is not None and tracer.depth > batch.depth:
                raise NotImplementedError(
                    f"{op.__name__.strip('_')} in a branch or loop inside of tf.vectorized_map: examples that do not "
                    "come there cannot be told from those that do. Take it out of the branch, or use tf.map_fn."
                )
            return _for_each_example(op, always, batch, leaves, (args, kwargs))
        if tracer is None:
            return op(*args, **kwargs)
        places = [i for i, leaf in enumerate(leaves) if _is_tensor(leaf)]
        tensors = [convert_to_tensor(leaves[i]) for i in places]
        if not always and not any(x.symbolic for x in tensors):
            return op(*args, **kwargs)

        def run(*values: Tensor) -> tuple[Any, ...]:
            filled = list(leaves)
            for i, value in zip(places, values, strict=True):
                filled[i] = value
            given = nest.pack_sequence_as((args, kwargs), filled, expand_composites=True)
            new_args, new_kwargs = given
            op(*new_args, **new_kwargs)
            return ()

        tracer.python(op.__name__.rstrip("_"), run, tensors, [])
        return None

    return waiting


def _for_each_example(
    op: Callable[..., None], always: bool, batch: Any, leaves: list[Any], given: Any
) -> None:
    """Runs an op for one example of a batch after the other."""
    batched = [_is_batched(leaf) and leaf.interpreter is batch for leaf in leaves]

    def each(*full: Any) -> None:
        size = next(x for x, many in zip(full, batched, strict=True) if many)._array.shape[0]
        for i in range(size):
            rows = [x[i] if many else x for x, many in zip(full, batched, strict=True)]
            args, kwargs = nest.pack_sequence_as(given, rows, expand_composites=True)
            op(*args, **kwargs)

    each.__name__ = op.__name__
    full = [batch.data(x) if many else x for x, many in zip(leaves, batched, strict=True)]
    at_run_time(each, always)(*full)


def _is_batched(leaf: Any) -> bool:
    return isinstance(leaf, BatchedTensor)


def _is_tensor(leaf: Any) -> bool:
    return isinstance(leaf, Tensor) or hasattr(leaf, "__tf_tensor__")
