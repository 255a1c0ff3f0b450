"""What this installation can do."""

from __future__ import annotations

import collections
from typing import Any

from tapeflow._src.core.export import export
from tapeflow._src.core.system.jax_loading import has_plugin


@export("sysconfig.get_build_info")
def get_build_info() -> dict[str, Any]:
    """Whether jax is installed for GPUs: of NVIDIA (`is_cuda_build`), of AMD (`is_rocm_build`).

    >>> tf.sysconfig.get_build_info()["is_tensorrt_build"]
    False
    """
    return collections.OrderedDict(
        is_cuda_build=has_plugin("CUDA"),
        is_rocm_build=has_plugin("ROCm"),
        is_tensorrt_build=False,
    )
