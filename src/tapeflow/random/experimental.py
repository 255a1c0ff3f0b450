"""`tf.random.experimental`: other names for what is in `tf.random`, and shuffles that a seed decides."""

# Written by scripts/exports.py, from the lines in _src that export these names.
# ruff: noqa: F401

from tapeflow._src.core.missing import Missing as _Missing
from tapeflow._src.ops.random.distributions import (
    fold_in as stateless_fold_in,
    index_shuffle as index_shuffle,
    split as stateless_split,
    stateless_shuffle as stateless_shuffle,
)
from tapeflow._src.ops.random.generator import (
    Algorithm as Algorithm,
    Generator as Generator,
    create_rng_state as create_rng_state,
    get_global_generator as get_global_generator,
    set_global_generator as set_global_generator,
)

__getattr__ = _Missing("tf.random.experimental")
