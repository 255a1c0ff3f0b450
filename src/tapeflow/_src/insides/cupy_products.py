"""Products of float32 on the tensor cores of GPUs, which CuPy has a switch for that is not documented."""

from __future__ import annotations

from typing import Any

import numpy as np

from tapeflow._src.insides.fallback import slower


def allow_tensor_cores(allowed: bool = True) -> None:
    """Lets products of float32 round their factors to 10 bits (TF32), as TensorFlow and XLA do by default."""
    try:
        from cupy._core import (  # pyright: ignore[reportMissingImports]
            _routines_linalg as products,
        )

        kind: Any = products.COMPUTE_TYPE_TF32 if allowed else products.COMPUTE_TYPE_DEFAULT
        products.set_compute_type(np.float32, kind)
    except RuntimeError:  # CUDA's own: there is no GPU, and no product on one
        return
    except (ImportError, AttributeError):
        slower(
            "this version of CuPy has no switch for tensor cores", "products of float32 are slower"
        )
