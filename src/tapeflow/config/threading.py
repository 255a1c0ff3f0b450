"""`tf.config.threading`: how many threads compute."""

# Written by scripts/exports.py, from the lines in _src that export these names.

from tapeflow._src.config.threading import (
    get_inter_op_parallelism_threads as get_inter_op_parallelism_threads,
    get_intra_op_parallelism_threads as get_intra_op_parallelism_threads,
    set_inter_op_parallelism_threads as set_inter_op_parallelism_threads,
    set_intra_op_parallelism_threads as set_intra_op_parallelism_threads,
)
from tapeflow._src.core.missing import Missing as _Missing

__getattr__ = _Missing("tf.config.threading")
