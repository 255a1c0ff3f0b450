"""Moments in parts, losses over batches, sampled classes, and morphology."""

import numpy as np
from tests.differential.calls import expression, op
from tests.differential.draw import (
    WIDE,
    axes_of,
    bools,
    code,
    derived,
    floats,
    indices,
    one_of,
    shaped,
    shapes,
    sometimes,
)
from tests.differential.values import Array

# Moments

op(
    "nn.sufficient_statistics",
    x=floats(shape=shapes(1, 3), dtypes=("float32",), edges=0.0),
    axes=axes_of("x", none=False),
    shift=one_of(None, 0.5),
    keepdims=bools(),
    _bad=False,
    _loose=4.0,
    _valid=lambda x, axes, **_: isinstance(axes, list) and 0 not in x.shape,
)
op(
    "nn.normalize_moments",
    counts=floats(1.0, 5.0, shape=(), dtypes=WIDE, edges=0.0),
    mean_ss=shaped("counts", lambda dice, of: (3,)),
    variance_ss=shaped("counts", lambda dice, of: (3,)),
    shift=one_of(None, 0.5),
    _bad=False,
    _loose=4.0,
)
op(
    "nn.weighted_moments",
    x=floats(shape=(2, 3), dtypes=WIDE, edges=0.0),
    axes=one_of([0], [1], [0, 1]),
    frequency_weights=shaped("x", lambda dice, of: dice.one([(2, 3), (2, 1), ()]), low=0.5),
    keepdims=bools(),
    _bad=False,
    _loose=10.0,
)
op(
    "nn.batch_norm_with_global_normalization",
    input=floats(shape=(1, 2, 2, 3), dtypes=WIDE, edges=0.0),
    mean=shaped("input", lambda dice, of: (3,)),
    variance=shaped("input", lambda dice, of: (3,), low=0.1),
    beta=shaped("input", lambda dice, of: (3,)),
    gamma=shaped("input", lambda dice, of: (3,)),
    variance_epsilon=0.001,
    scale_after_normalization=bools(),
    _bad=False,
    _loose=4.0,
)

# Losses over batches

op(
    "nn.compute_average_loss",
    per_example_loss=floats(shape=(4,), dtypes=WIDE),
    sample_weight=sometimes(shaped("per_example_loss", lambda dice, of: (4,), low=0.1)),
    global_batch_size=one_of(None, 8),
)
op("nn.scale_regularization_loss", regularization_loss=floats(shape=shapes(0, 1), dtypes=WIDE))

# Classes that are sampled are given, where values are compared: the samples differ.

TRUE = indices(lambda **_: 5, shape=(2, 1), dtypes=("int64",))
SAMPLED = code(
    "([0, 2, 4], [[0.5], [0.7]], [0.5, 0.6, 0.4])", "([1, 1, 3], [[0.5], [0.7]], [0.3, 0.3, 0.2])"
)
for name in ("nce_loss", "sampled_softmax_loss"):
    op(
        f"nn.{name}",
        weights=floats(shape=(5, 3), dtypes=("float32",), edges=0.0),
        biases=floats(shape=(5,), dtypes=("float32",), edges=0.0, forms=("tensor", "variable")),
        labels=TRUE,
        inputs=shaped("weights", lambda dice, of: (2, 3)),
        num_sampled=3,
        num_classes=5,
        sampled_values=SAMPLED,
        remove_accidental_hits=bools(),
        _bad=False,
        _loose=10.0,
    )
expression(
    "[r.dtype for r in tf.nn.compute_accidental_hits(true, sampled, num_true=1)]",
    true=TRUE,
    sampled=derived(lambda dice, true: Array(np.arange(4, dtype="int64"))),
)
for name in ("random.uniform_candidate_sampler", "random.log_uniform_candidate_sampler"):
    op(
        name,
        true_classes=TRUE,
        num_true=1,
        num_sampled=3,
        unique=bools(),
        range_max=5,
        _values=False,
        _bad=False,
    )
op(
    "random.all_candidate_sampler",
    true_classes=TRUE,
    num_true=1,
    num_sampled=5,
    unique=True,
    _values=False,
    _bad=False,
)
op(
    "random.fixed_unigram_candidate_sampler",
    true_classes=TRUE,
    num_true=1,
    num_sampled=3,
    unique=bools(),
    range_max=5,
    unigrams=[1.0, 2.0, 1.0, 3.0, 1.0],
    _values=False,
    _bad=False,
)

# Morphology

for name, argument in (("dilation2d", "input"), ("erosion2d", "value")):
    op(
        f"nn.{name}",
        **{argument: floats(shape=one_of((1, 4, 4, 2), (2, 3, 5, 1)), dtypes=WIDE, edges=0.0)},
        filters=shaped(argument, lambda dice, of: (2, 2, of[-1]), edges=0.0),
        strides=one_of([1, 1, 1, 1], [1, 2, 1, 1]),
        padding=one_of("SAME", "VALID"),
        data_format="NHWC",
        dilations=one_of([1, 1, 1, 1], [1, 1, 2, 1]),
        _bad=False,
    )
