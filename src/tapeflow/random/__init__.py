"""`tf.random`: random numbers."""

# Written by scripts/exports.py, from the lines in _src that export these names.

from tapeflow._src.core.missing import Missing as _Missing
from tapeflow._src.ops.nn.candidates import (
    all_candidate_sampler as all_candidate_sampler,
    fixed_unigram_candidate_sampler as fixed_unigram_candidate_sampler,
    log_uniform_candidate_sampler as log_uniform_candidate_sampler,
    uniform_candidate_sampler as uniform_candidate_sampler,
)
from tapeflow._src.ops.random.distributions import (
    fold_in as fold_in,
    gamma as gamma,
    poisson as poisson,
    split as split,
    stateless_binomial as stateless_binomial,
    stateless_gamma as stateless_gamma,
    stateless_parameterized_truncated_normal as stateless_parameterized_truncated_normal,
    stateless_poisson as stateless_poisson,
)
from tapeflow._src.ops.random.generator import (
    Algorithm as Algorithm,
    Generator as Generator,
    create_rng_state as create_rng_state,
    get_global_generator as get_global_generator,
    set_global_generator as set_global_generator,
)
from tapeflow._src.ops.random.numbers import (
    categorical as categorical,
    normal as normal,
    set_seed as set_seed,
    shuffle as shuffle,
    stateless_categorical as stateless_categorical,
    stateless_normal as stateless_normal,
    stateless_truncated_normal as stateless_truncated_normal,
    stateless_uniform as stateless_uniform,
    truncated_normal as truncated_normal,
    uniform as uniform,
)
from tapeflow.random import experimental as experimental

__getattr__ = _Missing("tf.random")
