"""Whether a program may have kernels written in Pallas: where it runs, and whether jax has what compiles them."""

from __future__ import annotations

import functools
import threading
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import jax

from tapeflow._src.engines.xla.sharding import is_on_mesh
from tapeflow._src.insides.fallback import slower

# Elements of an array: below, XLA's own kernels take no longer than it takes to start them.
_WORTH_IT = 2**20


class _Chosen(threading.local):
    """What a test has chosen for this thread."""

    for_all: bool = False


_chosen = _Chosen()


@contextmanager
def for_all_sizes() -> Iterator[None]:
    """Within this context kernels are used for small arrays, too, and where there is no GPU, jax interprets them."""
    before, _chosen.for_all = _chosen.for_all, True
    try:
        yield
    finally:
        _chosen.for_all = before


def has_kernels() -> bool:
    """Whether the program that is being traced may have kernels: on one GPU of NVIDIA's. XLA could not divide them."""
    return not is_on_mesh() and (_have_compiler() or _chosen.for_all)


def is_interpreted() -> bool:
    """Whether jax is to interpret kernels."""
    return _chosen.for_all and not _have_compiler()


def is_worth_it(size: int) -> bool:
    """Whether an array of so many elements is large enough for a kernel."""
    return size >= (1 if _chosen.for_all else _WORTH_IT)


def on_nvidia(kernel: Callable[..., Any], composed: Callable[..., Any], *arrays: Any) -> Any:
    """What a kernel gives where the program is compiled for a GPU, and elsewhere what computes the same."""
    if is_interpreted():
        return kernel(*arrays)
    # It comes when jax compiles, right after this, and tells users nothing: without Triton there will be no kernels.
    warnings.filterwarnings("ignore", "The Pallas Triton backend is deprecated", DeprecationWarning)
    return jax.lax.platform_dependent(*arrays, cuda=kernel, default=composed)


@functools.cache
def _have_compiler() -> bool:
    if jax.default_backend() != "gpu":
        return False
    try:
        from jax.experimental.pallas import triton  # noqa: F401  # it may be missing

        capability = float(jax.devices()[0].compute_capability)
    except Exception as error:  # another version of jax, or a GPU that is not NVIDIA's
        slower(
            f"jax has no kernels for this GPU ({type(error).__name__})",
            "layer norms and cross entropies read memory more often",
        )
        return False
    return capability >= 8.0
