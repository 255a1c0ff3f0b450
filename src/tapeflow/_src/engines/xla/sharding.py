"""Values that lie on several devices at once: meshes, layouts, and what is put there and fetched from there.

A layout is jax's `NamedSharding`; see `core.placement.layouts`. With several processes (`core.system.jax_loading.join`)
a mesh spans the devices of all of them, each process holds the parts of its own devices, and all run the same program.
"""

from __future__ import annotations

import functools
import math
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental import multihost_utils
from jax.sharding import Mesh, NamedSharding, PartitionSpec

from tapeflow._src.core.placement.devices import devices
from tapeflow._src.insides.jax_state import x64_enabled


def mesh_over(over: Sequence[Any], shape: Sequence[int], names: Sequence[str]) -> Mesh:
    """A mesh of jax's devices."""
    found = np.empty(len(over), object)
    found[:] = over
    return Mesh(found.reshape(shape), tuple(names))


@functools.lru_cache(256)
def everywhere(mesh: Mesh) -> NamedSharding:
    """The layout of what each device of a mesh has the whole of."""
    return NamedSharding(mesh, PartitionSpec())


def divided(mesh: Mesh, *axes: str | None) -> NamedSharding:
    """The layout of what is divided: for each axis of the value the axis of the mesh, or None."""
    return NamedSharding(mesh, PartitionSpec(*axes))


def fitting(layout: NamedSharding, shape: Sequence[int]) -> NamedSharding:
    """The layout, where the sizes of an array can be divided so; axes that cannot are whole on each device.

    It does not end in axes that are whole: jax compiles again for a layout that is written in another way.
    """
    spec = [
        axes if not n % _parts(layout, axes) else None
        for n, axes in zip(shape, layout.spec, strict=False)
    ]
    while spec and spec[-1] is None:
        spec.pop()
    if spec == list(layout.spec):
        return layout
    return NamedSharding(layout.mesh, PartitionSpec(*spec))


def misfit(layout: NamedSharding, shape: Sequence[int]) -> str | None:
    """Why an array of a shape cannot be laid out so, if it cannot."""
    spec = layout.spec
    if len(spec) > len(shape):
        return f"the layout {tuple(spec)} has {len(spec)} axes, and the shape {tuple(shape)} has {len(shape)}"
    for axis, (n, axes) in enumerate(zip(shape, spec, strict=False)):
        if n % _parts(layout, axes):
            return (
                f"axis {axis} of the shape {tuple(shape)} cannot be divided into {_parts(layout, axes)} equal parts, "
                f"one for each step along {axes!r} of the mesh"
            )
    return None


def _parts(layout: NamedSharding, axes: Any) -> int:
    names = axes if isinstance(axes, tuple) else (axes,)
    return math.prod(layout.mesh.shape[name] for name in names if name is not None)


# There and back.


def put(array: Any, layout: NamedSharding) -> Any:
    """A copy of an array in a layout; what does not fit it is whole on each device.

    With several processes each of them has the whole array, or all of them have parts of one that lies elsewhere.
    """
    devices.in_use = True
    layout = fitting(layout, array.shape)
    if isinstance(array, jax.Array) and not array.is_fully_addressable:
        return in_turn(layout, _relaid(layout), (array,))
    if layout.is_fully_addressable:
        # Without memory of NumPy's in it: a program may be given the buffer to write its result there.
        return jax.device_put(array, layout, may_alias=False)
    whole = np.asarray(array)
    return jax.make_array_from_callback(
        whole.shape, layout, lambda index: np.array(whole[index]), dtype=whole.dtype
    )


@functools.lru_cache(256)
def _relaid(layout: NamedSharding) -> Callable[..., Any]:
    return jax.jit(lambda x: x, out_shardings=layout)


def whole(buffer: Any) -> np.ndarray:
    """A buffer as an array of NumPy's. If no process has all of it, all of them must ask for it."""
    if not buffer.is_fully_addressable and not buffer.is_fully_replicated:
        layout = everywhere(buffer.sharding.mesh)
        buffer = in_turn(layout, _relaid(layout), (buffer,))
    return np.asarray(buffer)


def shards_of(array: Any) -> Sequence[Any]:
    """The parts of an array that the devices of this process have.

    jax makes a list of them when it is first asked. Whoever interrupts it then (Ctrl-C) leaves it with the first few of
    them for ever. The array itself is whole: a copy of it has a list of its own.
    """
    found = array.addressable_shards
    layout = array.sharding
    if len(found) < len(layout.addressable_devices):
        found = in_turn(layout, _copied(layout), (array,)).addressable_shards
    return found


@functools.lru_cache(256)
def _copied(layout: NamedSharding) -> Callable[..., Any]:
    return jax.jit(jnp.copy, out_shardings=layout)


class Box(NamedTuple):
    """A part of an array that this process holds: where it begins and ends along each axis, and its values."""

    begin: tuple[int, ...]
    end: tuple[int, ...]
    values: Any


def boxes(buffer: Any) -> list[Box]:
    """The parts of a buffer that this process has to answer for: each place is in one box of one process."""
    found = []
    for shard in shards_of(buffer):
        if shard.replica_id == 0:
            ends = [s.indices(n)[:2] for s, n in zip(shard.index, buffer.shape, strict=True)]
            found.append(Box(tuple(b for b, _ in ends), tuple(e for _, e in ends), shard.data))
    return found


# Programs.

_alone = threading.RLock()


@contextmanager
def turn(layout: NamedSharding) -> Iterator[bool]:
    """Within this context a program on a mesh may be started. Gives whether it must be waited for in it.

    On logical CPU devices one runs at a time: they share a pool of threads, and with many programs in it each might
    wait for a thread for its last device, which the others hold while they wait for theirs.
    """
    before, _running.mesh = _running.mesh, layout.mesh
    try:
        if next(iter(layout.device_set)).platform != "cpu":
            yield False
        else:
            with _alone:
                yield True
    finally:
        _running.mesh = before


class _Running(threading.local):
    """The mesh that a program of this thread runs on, while it is started or compiled."""

    mesh: Any = None


_running = _Running()


def is_on_mesh() -> bool:
    """Whether the program that this thread is compiling runs on a mesh."""
    return _running.mesh is not None


def constrained(x: Any, layout: NamedSharding | None) -> Any:
    """In a program: the same value, which lies as a layout says where the program runs on that mesh."""
    if layout is None or layout.mesh != _running.mesh:
        return x
    return jax.lax.with_sharding_constraint(x, fitting(layout, x.shape))


def in_turn(layout: NamedSharding, program: Callable[..., Any], arguments: Sequence[Any]) -> Any:
    """What a program on a mesh gives, when its turn has come."""
    with turn(layout) as waits:
        found = program(*arguments)
        return jax.block_until_ready(found) if waits else found


# Between processes.


def put_part(part: np.ndarray, layout: NamedSharding, owners: Sequence[int]) -> Any:
    """An array in a layout of which each process has a part of equal size along the first axis.

    If the parts cannot be divided among the devices of a process, each device has the whole.

    Args:
      part: that of this process.
      layout: of the whole.
      owners: for each part, in their order, a process that has it.
    """
    devices.in_use = True
    local: Any = layout.mesh.local_mesh
    with x64_enabled():
        if part.shape[0] % _parts(NamedSharding(local, layout.spec), layout.spec[0]) == 0:
            return jax.make_array_from_process_local_data(layout, part)
        parts = of_all_processes(part[None])
        return put(np.concatenate([parts[i] for i in owners]), layout)


def process() -> int:
    """The number of this process."""
    return jax.process_index()


def of_all_processes(part: np.ndarray) -> np.ndarray:
    """The parts of all processes, one after the other along the first axis. All of them must ask for it."""
    with x64_enabled():
        return np.asarray(multihost_utils.process_allgather(part, tiled=True))


def of_first_process(array: np.ndarray) -> np.ndarray:
    """What the first process has. All of them must ask for it."""
    with x64_enabled():
        return np.asarray(multihost_utils.broadcast_one_to_all(array))
