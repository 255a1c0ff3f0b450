"""Loading jax, which is XLA to us: what there is of it, and what a fork does to it."""

from __future__ import annotations

import contextlib
import functools
import os
from types import ModuleType
from typing import Any

from tapeflow._src.core.system.loading import loaded

forks = 0
"""How many forks lie between this process and the one that began."""

PLUGINS = {
    "CUDA": ("jax_cuda12_plugin", "jax_cuda13_plugin"),
    "ROCm": ("jax_rocm7_plugin",),
    "TPU": ("libtpu",),
}
"""The modules by which jax finds what is faster than the CPU."""

_used = False
_cpus = 1
_lost = False


def has_plugin(*kinds: str) -> bool:
    """Whether a plugin of one of these kinds is installed; of any, if none is named. jax is not loaded for it."""
    from importlib.util import find_spec  # which few programs need

    return any(find_spec(name) is not None for kind in kinds or PLUGINS for name in PLUGINS[kind])


def may_find_accelerators() -> bool:
    """Whether jax may find something faster than the CPU. It need not be loaded to know that it may not."""
    if os.environ.get("JAX_PLATFORMS") == "cpu":
        return False
    no_gpu = os.environ.get("CUDA_VISIBLE_DEVICES") in ("", "-1")
    return has_plugin("ROCm", "TPU") or (has_plugin("CUDA") and not no_gpu)


@functools.cache
def has_cupy() -> bool:
    """Whether CuPy is installed, which computes eager ops on NVIDIA's GPUs. It is not loaded for it."""
    from importlib.util import find_spec

    return has_plugin("CUDA") and find_spec("cupy") is not None


def load() -> ModuleType:
    """jax, with its devices ready."""
    if not _used and has_cupy():
        # Else jax would take most of the memory of the GPU for itself, and leave little to CuPy.
        os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
    return loaded("jax", _begin)


def _begin(jax: Any) -> None:
    global _used
    watch_forks()
    _prepare(jax)
    jax.local_devices()
    _used = True


def _prepare(jax: Any) -> None:
    """Tells jax how many devices to make of the CPU, and gives XLA threads for them."""
    if _cpus > jax.config.jax_num_cpu_devices:
        with contextlib.suppress(
            RuntimeError
        ):  # the user's own program has begun with it: see `cpu`
            jax.config.update("jax_num_cpu_devices", _cpus)
    count = jax.config.jax_num_cpu_devices
    if count > 1:
        # A device holds a thread while it waits for the others. With no more threads than devices, what they wait for
        # may find none.
        os.environ.setdefault("PJRT_NPROC", str(max(2 * count, os.cpu_count() or 1)))


def join(address: str | None, count: int | None, number: int | None, **options: Any) -> None:
    """Joins other processes: their devices are then those of this one, too. It has to come before XLA begins.

    Args:
      address: where the first of the processes waits for the others; None if the surroundings tell.
      count: how many processes there are.
      number: of this one.
      options: further ones of `jax.distributed.initialize`.
    """
    global joined
    jax: Any = loaded("jax")
    _prepare(jax)
    # It would take SIGTERM for itself, by which a process could not be ended any more.
    jax.config.update("jax_enable_preemption_service", False)
    jax.distributed.initialize(
        coordinator_address=address, num_processes=count, process_id=number, **options
    )
    joined = True


joined = False
"""Whether there may be other processes."""


def begun() -> bool:
    """Whether XLA has begun, so that no other process can be joined any more."""
    return _used


def want_cpus(count: int) -> None:
    """Says how many devices jax is to make of the CPU. It cannot make more once it has begun."""
    global _cpus
    if _used:
        cpu(count - 1)
    _cpus = max(_cpus, count)


def cpu(number: int) -> Any:
    """One of the devices that jax makes of the CPU."""
    jax: Any = load()
    there = jax.local_devices(backend="cpu")
    if number >= len(there):
        raise RuntimeError(
            f"Virtual devices cannot be modified after being initialized: XLA has begun with {len(there)} logical CPU "
            f"devices, and {number + 1} are asked for. Say so before a tensor is placed, a function compiled, or jax "
            "used."
        )
    return there[number]


def lost_in_fork() -> bool:
    """Whether XLA was in use when this process was forked: then it would wait for threads that are not there."""
    return _lost


def _begin_in_child() -> None:
    global forks, _lost
    forks += 1
    _lost = _lost or _used


_watching = False


def watch_forks() -> None:
    """Counts forks from now on."""
    global _watching
    if not _watching and hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=_begin_in_child)
    _watching = True
