"""What XLA is told when it compiles a program that must mean what eager mode means."""

from __future__ import annotations

import functools
from typing import Any

import jax
import numpy as np

from tapeflow._src.insides.fallback import lacking


@functools.cache
def exact_options() -> dict[str, Any] | None:
    """The options by which XLA leaves out rewritings that hold for real numbers alone.

    One of its passes makes `b * log(a)` of `log(a ** b)`, multiplies constants that then overflow, and takes a number
    times a mask for a choice, where infinity times zero is NaN. Without that pass transpositions stay beside products,
    and YNNPACK, which takes products from XLA on processors, crashes on some of them: it is left out as well. Both or
    none, because the one without the other is not safe.
    """
    options: dict[str, Any] = {
        "xla_disable_hlo_passes": "algsimp",
        "xla_cpu_experimental_ynn_fusion_type": "",
    }
    try:
        jax.jit(lambda x: x + 1, compiler_options=options)(np.float32(0))
    except Exception as error:  # another version of jax, in whatever way it differs
        lacking(
            f"XLA does not take the options that keep its answers exact ({type(error).__name__})",
            "where infinities and NaN meet, tf.function may answer as with jit_compile=True",
        )
        return None
    return options
