"""What XLA is told when it compiles: to mean what eager mode means, and to share a GPU with CuPy."""

from __future__ import annotations

import functools
from typing import Any

import jax
import numpy as np

from tapeflow._src.insides.fallback import lacking, slower


@functools.cache
def exact_options(
    small_products: bool = False, large_arrays: bool = False
) -> dict[str, Any] | None:
    """The options by which XLA leaves out rewritings that hold for real numbers alone.

    One of its passes makes `b * log(a)` of `log(a ** b)`, multiplies constants that then overflow, and takes a number
    times a mask for a choice, where infinity times zero is NaN. Without that pass transpositions stay beside products,
    and YNNPACK, which takes products from XLA on processors, crashes on some of them: it is left out as well. Both or
    none, because the one without the other is not safe.

    Args:
      small_products: whether the program has none but small products, of two matrices of float32. Those YNNPACK may
        take: with two dimensions, each transposition becomes a part of the product, or a matrix that is copied. It
        neither packs a matrix before it multiplies nor wakes other threads, and takes two thirds of the time.
      large_arrays: whether it computes much on large arrays. XLA orders a program so that as many operations as can be
        may run side by side, and holds the results of all of them. Operations on large arrays are shared by the threads
        one by one, so for these there is a better order: each where an earlier one has been. It takes as long, and a
        fifth less memory.
    """
    options: dict[str, Any] = {
        "xla_disable_hlo_passes": "algsimp",
        "xla_cpu_experimental_ynn_fusion_type": "",
    }
    wanted = [
        *([_SMALL_PRODUCTS] if small_products else []),
        *([_LARGE_ARRAYS] if large_arrays else []),
    ]
    tried = False
    for name, value, does, instead in wanted:
        error = _failure(options | {name: value})
        if error is None:
            options[name] = value
            tried = True
        else:
            slower(f"XLA does not take the option that {does} ({error})", instead)
    if tried:
        return options
    return _taken(
        options,
        "that keep its answers exact",
        "where infinities and NaN meet, tf.function may answer as with jit_compile=True",
    )


# An option, its value, what it does, and what is without it.
_SMALL_PRODUCTS = (
    "xla_cpu_experimental_ynn_fusion_type",
    "LIBRARY_FUSION_TYPE_INDIVIDUAL_DOT",
    "gives products to YNNPACK",
    "loops of small products are slower",
)
_LARGE_ARRAYS = (
    "xla_cpu_scheduler_type",
    "CPU_SCHEDULER_TYPE_MEMORY_OPTIMIZED",
    "orders operations by the memory that they take",
    "programs with large arrays take more memory",
)


@functools.cache
def sound_options() -> dict[str, Any] | None:
    """The option by which XLA, which is left as it is else, gives no reductions to YNNPACK on processors.

    Versions that do (jax-ml/jax, issues 39103, 39257 and 40412) end the process where floats of seven dimensions are
    reduced, and add up the wrong elements of a product that lies transposed in memory. Products stay with that library.
    None where XLA does not do so by itself, or has no processors to compile for, as with JAX_PLATFORMS=cuda.
    """
    try:
        processor = jax.local_devices(backend="cpu")[0]
    except RuntimeError:
        return None
    x = np.zeros((256, 256), np.float32)  # of small ones it computes none
    with jax.default_device(processor):
        program = jax.jit(lambda x: (x * x).sum(0)).lower(x).compile()
    if "__ynn_fusion" not in (program.as_text() or ""):
        return None
    return _taken(
        {"xla_cpu_experimental_ynn_fusion_type": "LIBRARY_FUSION_TYPE_INDIVIDUAL_DOT"},
        "that keep reductions from YNNPACK",
        "with jit_compile=True, reductions of many dimensions may end the process",
    )


@functools.cache
def without_graphs() -> dict[str, Any] | None:
    """The option by which XLA records no graphs of CUDA's.

    It plays one again with other addresses, and CUDA refuses those of memory that was not taken from the system in the
    same way, as that of CuPy's is. (The number is how many operations a graph must have at least.)
    """
    return _taken(
        {"xla_gpu_graph_min_graph_size": 2**30},
        "by which it shares memory with CuPy",
        "a program on a GPU may fail with an internal error, if an eager op has made one of its inputs",
    )


def _taken(options: dict[str, Any], which: str, instead: str) -> dict[str, Any] | None:
    """The options, if this version of XLA knows them."""
    error = _failure(options)
    if error is None:
        return options
    lacking(f"XLA does not take the options {which} ({error})", instead)
    return None


def _failure(options: dict[str, Any]) -> str | None:
    """What kind of error options lead to, if they do."""
    try:
        jax.jit(lambda x: x + 1, compiler_options=options)(np.float32(0))
    except Exception as error:  # another version of jax, in whatever way it differs
        return type(error).__name__
    return None
