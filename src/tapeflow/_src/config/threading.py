"""`tf.config.threading`: how many threads compute."""

from __future__ import annotations

from typing import Any

from tapeflow._src.core.export import export
from tapeflow._src.core.system.processors import processors
from tapeflow._src.insides.blas_threads import use_threads
from tapeflow._src.insides.fallback import lacking
from tapeflow._src.insides.onednn import library as onednn

_chosen = {"inter": 0, "intra": 0}


@export("config.threading.get_inter_op_parallelism_threads")
def get_inter_op_parallelism_threads() -> int:
    """What `set_inter_op_parallelism_threads` was given last; 0 at first.

    >>> tf.config.threading.get_inter_op_parallelism_threads()
    0
    """
    return _chosen["inter"]


@export("config.threading.set_inter_op_parallelism_threads")
def set_inter_op_parallelism_threads(num_threads: int) -> None:
    """Accepted for compatibility: ops run one after the other, in the order of the program.

    >>> tf.config.threading.set_inter_op_parallelism_threads(0)

    Args:
      num_threads: a number of threads; 0 leaves the choice to the library.
    """
    _chosen["inter"] = _checked(num_threads)


@export("config.threading.get_intra_op_parallelism_threads")
def get_intra_op_parallelism_threads() -> int:
    """What `set_intra_op_parallelism_threads` was given last; 0 at first.

    >>> tf.config.threading.get_intra_op_parallelism_threads()
    0
    """
    return _chosen["intra"]


@export("config.threading.set_intra_op_parallelism_threads")
def set_intra_op_parallelism_threads(num_threads: int) -> None:
    """Sets how many threads a matrix product is computed with, by the BLAS library of NumPy or by oneDNN.

    XLA has threads of its own, whose number is fixed when jax starts.

    >>> tf.config.threading.set_intra_op_parallelism_threads(1)
    >>> tf.config.threading.set_intra_op_parallelism_threads(0)

    Args:
      num_threads: a number of threads; 0 for one on each processor.
    """
    _chosen["intra"] = _checked(num_threads)
    onednn.use_threads(num_threads or processors())
    if not use_threads(num_threads or processors()):
        lacking(
            "NumPy's BLAS library cannot be told its number of threads",
            "pip install threadpoolctl, which knows more libraries, or set OMP_NUM_THREADS",
        )


def _checked(num_threads: Any) -> int:
    if isinstance(num_threads, bool) or not isinstance(num_threads, int) or num_threads < 0:
        raise ValueError(f"num_threads must be an integer >= 0, got {num_threads!r}")
    return num_threads
