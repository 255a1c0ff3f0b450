"""`tf.config.threading`: how many threads compute."""

from __future__ import annotations

import functools as _functools
from collections.abc import Callable
from typing import Any

from tapeflow._src.core.export import export

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
    """Sets how many threads a matrix product is computed with, by the BLAS library of NumPy.

    XLA has threads of its own, whose number is fixed when jax starts.

    >>> tf.config.threading.set_intra_op_parallelism_threads(1)
    >>> tf.config.threading.set_intra_op_parallelism_threads(0)

    Args:
      num_threads: a number of threads; 0 for one on each processor.
    """
    from tapeflow._src.engines.workers import processors

    _chosen["intra"] = _checked(num_threads)
    _set_blas_threads()(num_threads or processors())


def _checked(num_threads: Any) -> int:
    if isinstance(num_threads, bool) or not isinstance(num_threads, int) or num_threads < 0:
        raise ValueError(f"num_threads must be an integer >= 0, got {num_threads!r}")
    return num_threads


@_functools.cache
def _set_blas_threads() -> Callable[[int], Any]:
    try:
        from threadpoolctl import ThreadpoolController
    except ImportError:
        # Without it, the library that comes with NumPy can be asked directly.
        from tapeflow._src.insides.blas import thread_setter

        return thread_setter()
    libraries = ThreadpoolController().select(user_api="blas").lib_controllers
    return lambda count: [library.set_num_threads(count) for library in libraries]
