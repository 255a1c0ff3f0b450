"""`tf.random.experimental`: other names for what is in `tf.random`, and a shuffle that a seed decides."""

from tapeflow.core.missing import Missing as _Missing
from tapeflow.ops.distributions import (
    fold_in as stateless_fold_in,  # noqa: F401
    split as stateless_split,  # noqa: F401
    stateless_shuffle as stateless_shuffle,
)
from tapeflow.ops.generator import (
    Algorithm as Algorithm,
    Generator as Generator,
    create_rng_state as create_rng_state,
    get_global_generator as get_global_generator,
    set_global_generator as set_global_generator,
)

__getattr__ = _Missing("tf.random.experimental")
