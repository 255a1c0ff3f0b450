"""`tf.random`: random numbers."""

# Written by scripts/exports.py, from the lines in _src that export these names.
# ruff: noqa: E501

import typing as _typing

from tapeflow._src.core.missing import Missing as _Missing
from tapeflow.random import experimental as experimental

# For editors and type checkers: these are imported when they are first asked for.
# isort: off
# fmt: off
if _typing.TYPE_CHECKING:
    from tapeflow._src.ops.nn.candidates import (
        uniform_candidate_sampler as uniform_candidate_sampler,
        log_uniform_candidate_sampler as log_uniform_candidate_sampler,
        fixed_unigram_candidate_sampler as fixed_unigram_candidate_sampler,
        all_candidate_sampler as all_candidate_sampler
    )
    from tapeflow._src.ops.nn.learned_candidates import (
        learned_unigram_candidate_sampler as learned_unigram_candidate_sampler
    )
    from tapeflow._src.ops.random.distributions import (
        gamma as gamma, stateless_gamma as stateless_gamma, poisson as poisson,
        stateless_poisson as stateless_poisson, stateless_binomial as stateless_binomial,
        stateless_parameterized_truncated_normal as stateless_parameterized_truncated_normal,
        split as split, fold_in as fold_in
    )
    from tapeflow._src.ops.random.generator import (
        Algorithm as Algorithm, create_rng_state as create_rng_state, Generator as Generator,
        get_global_generator as get_global_generator, set_global_generator as set_global_generator
    )
    from tapeflow._src.ops.random.numbers import (
        set_seed as set_seed, normal as normal, truncated_normal as truncated_normal,
        uniform as uniform, shuffle as shuffle, categorical as categorical,
        stateless_normal as stateless_normal,
        stateless_truncated_normal as stateless_truncated_normal,
        stateless_uniform as stateless_uniform, stateless_categorical as stateless_categorical
    )
# fmt: on
# isort: on

__getattr__ = _Missing(
    "tf.random",
    names={
        "ops.nn.candidates": "uniform_candidate_sampler log_uniform_candidate_sampler fixed_unigram_candidate_sampler all_candidate_sampler",
        "ops.nn.learned_candidates": "learned_unigram_candidate_sampler",
        "ops.random.distributions": "gamma stateless_gamma poisson stateless_poisson stateless_binomial stateless_parameterized_truncated_normal split fold_in",
        "ops.random.generator": "Algorithm create_rng_state Generator get_global_generator set_global_generator",
        "ops.random.numbers": "set_seed normal truncated_normal uniform shuffle categorical stateless_normal stateless_truncated_normal stateless_uniform stateless_categorical",
    },
)


def __dir__() -> list[str]:
    return __getattr__.offered(globals())
