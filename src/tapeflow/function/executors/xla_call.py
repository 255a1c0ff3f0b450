"""A program of jax that gives the memory of some arguments to its results, and cannot lose them.

Once jax has begun, memory that is given away is gone, and the results must not be lost, whatever happens. Python looks
for signals between its own instructions: were a result handed from one to the next, an interruption in between would
lose it. So the call itself is made by an iterator that is written in C, and the results go from jax to where they stay
within one instruction:

    values.update(zip(outputs, chain.from_iterable(call.lazily(arrays))))

That holds where jax has called the program on arguments of these kinds before, and runs no Python on the way. The first
time it gets copies of what is to be given away.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import starmap
from typing import Any

import jax
import jax.numpy as jnp


class Call:
    """A function compiled by XLA.

    Args:
      function: of arrays, to be traced by jax.
      donated: the places of arguments whose memory its results may take.
      one_kind: whether all sizes are known, so that only the types of arguments can differ from call to call.
      cold: wraps the compiled function for the calls in which jax compiles.
    """

    def __init__(
        self,
        function: Callable[..., Any],
        donated: Sequence[int],
        one_kind: bool,
        cold: Callable[[Callable[..., Any]], Callable[..., Any]] | None = None,
    ) -> None:
        self._donated = donated
        self._one_kind = one_kind
        self._program = jax.jit(function, donate_argnums=tuple(donated))
        self._cold = self._program if cold is None else cold(self._program)
        self._warm: set[Any] = set()

    def lazily(self, arrays: Sequence[Any]) -> Iterable[Sequence[Any]]:
        """An iterable of one item, the results, which are computed when it is taken."""
        kind: Any = tuple(map(type, arrays))
        if not self._one_kind:
            kind = (kind, tuple([a.shape for a in arrays]))
        if kind in self._warm:
            return starmap(self._program, (arrays,))
        given = list(arrays)
        for i in self._donated:
            given[i] = jnp.array(given[i], copy=True)
        results = self._cold(*given)
        self._warm.add(kind)
        return (results,)
