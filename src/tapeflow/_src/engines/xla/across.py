"""Sums and collections of arrays over all processes, through one device of each."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding

from tapeflow._src.engines.xla.sharding import divided, everywhere, in_turn, mesh_over
from tapeflow._src.insides.jax_state import x64_enabled


@functools.cache
def _mesh() -> Mesh:
    """The first device of each process, in the order of the processes."""
    first: dict[int, Any] = {}
    for device in jax.devices():
        first.setdefault(device.process_index, device)
    return mesh_over([first[i] for i in sorted(first)], [len(first)], ["process"])


@functools.cache
def _programs() -> tuple[NamedSharding, Callable[..., Any], Callable[..., Any]]:
    layout = everywhere(_mesh())
    total = jax.jit(
        lambda parts: [jnp.sum(x, 0, dtype=x.dtype) for x in parts], out_shardings=layout
    )
    return divided(_mesh(), "process"), total, jax.jit(lambda parts: parts, out_shardings=layout)


def _run(program: Callable[..., Any], parts: Sequence[np.ndarray]) -> list[np.ndarray]:
    layout = _programs()[0]
    with x64_enabled():
        given = [jax.make_array_from_process_local_data(layout, x[None]) for x in parts]
        return [np.asarray(x) for x in in_turn(layout, program, (given,))]


def summed(parts: Sequence[np.ndarray]) -> list[np.ndarray]:
    """The sums of what all processes have. All must ask for it, with arrays of the same shapes."""
    return _run(_programs()[1], parts)


def collected(part: np.ndarray) -> np.ndarray:
    """What all processes have, stacked. All must ask for it, with arrays of the same shape."""
    return _run(_programs()[2], [part])[0]
