"""`tapeflow doctor`: what there is in this environment, and what `import tensorflow` would give."""

from __future__ import annotations

import importlib.util
import platform
import sys
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import numpy as np

from tapeflow._src.core.system.processors import processors
from tapeflow._src.core.versions import VERSION, __version__
from tapeflow._src.insides.blas_threads import allowed_threads
from tapeflow._src.insides.onednn import library as onednn

_EXTRAS = {
    "jax": "XLA: tf.function compiles",
    "cupy": "eager ops on NVIDIA GPUs",
    "keras": "tf.keras",
    "randomgen": "the bits of large draws of random numbers",
    "PIL": "images in files",
    "matplotlib": "pictures of the examples",
}
_DISTRIBUTIONS = {"PIL": "pillow"}


def lines() -> Iterator[str]:
    """What to say, line by line."""
    yield f"tapeflow {__version__}, with the names and rules of TensorFlow {VERSION}"
    yield f"Python {platform.python_version()}, NumPy {np.__version__}, {platform.machine()}"
    yield f"{processors()} processors may be used, and {allowed_threads()} threads for a product"
    for module, what in _EXTRAS.items():
        yield f"{_found(module)}: {what}"
    yield f"oneDNN {'found' if onednn.is_there() else 'not found'}: convolutions and products on x86-64"
    yield f"import tensorflow: {_tensorflow()}"


def _found(module: str) -> str:
    if importlib.util.find_spec(module) is None:
        return f"{module} not found"
    try:
        return f"{module} {version(_DISTRIBUTIONS.get(module, module))}"
    except PackageNotFoundError:
        return f"{module} found"


def _tensorflow() -> str:
    if "tensorflow" in sys.modules and sys.modules["tensorflow"] is sys.modules["tapeflow"]:
        return "tapeflow"
    spec = importlib.util.find_spec("tensorflow")
    if spec is None or spec.origin is None:
        return "not there; `tapeflow run script.py` gives tapeflow, and so does tensorflow-tapeflow"
    if "tapeflow" in Path(spec.origin).read_text(errors="replace"):
        return "tapeflow, by tensorflow-tapeflow"
    return f"the real TensorFlow ({spec.origin})"
