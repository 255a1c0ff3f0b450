"""What this installation can do."""

from __future__ import annotations

import collections
from importlib import util
from typing import Any

from tapeflow._src.core.export import export


@export("sysconfig.get_build_info")
def get_build_info() -> dict[str, Any]:
    """Whether jax is installed for GPUs: of NVIDIA (`is_cuda_build`), of AMD (`is_rocm_build`).

    >>> tf.sysconfig.get_build_info()["is_tensorrt_build"]
    False
    """
    return collections.OrderedDict(
        is_cuda_build=_has("jax_cuda12_plugin", "jax_cuda13_plugin"),
        is_rocm_build=_has("jax_rocm7_plugin"),
        is_tensorrt_build=False,
    )


def _has(*modules: str) -> bool:
    return any(util.find_spec(name) is not None for name in modules)
