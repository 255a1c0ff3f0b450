"""Einstein sums."""

from __future__ import annotations

import functools
from typing import Any

import jax.numpy as jnp
import numpy as np

from tapeflow.engines.xla.indexing import is_half
from tapeflow.engines.xla.linalg import product
from tapeflow.engines.xla.lowerings import lowering


@lowering("einsum")
def _einsum(*xs: Any, subscripts: tuple[str, ...], output: str, stretch: str) -> Any:
    """Half precision is added up in float32, and rounded once in the end."""
    dtype = xs[0].dtype
    work = np.dtype(np.float32) if is_half(dtype) else dtype
    equation = f"{','.join(subscripts)}->{output}"
    multiply = functools.partial(jnp.einsum, equation, preferred_element_type=work)
    return product(multiply, *xs).astype(dtype)
