"""`tf.nn.learned_unigram_candidate_sampler`: classes are drawn as often as they were true so far."""

from __future__ import annotations

from typing import Any

import numpy as np

from tapeflow._src.core import dtypes
from tapeflow._src.core.context import context
from tapeflow._src.core.export import export
from tapeflow._src.core.system.memory import check_room
from tapeflow._src.core.variables.variable import Variable
from tapeflow._src.ops.array import shaping
from tapeflow._src.ops.control.scopes import init_scope
from tapeflow._src.ops.indexing import segments
from tapeflow._src.ops.nn.candidates import (
    Candidates,
    checked_classes,
    checked_sizes,
    drawn_by,
    positive,
)
from tapeflow._src.primitives.array import moving
from tapeflow._src.primitives.reduction import reducing

_counts: dict[Any, Variable] = {}
"""How often each class was true, and one, for each kind of call outside of functions."""


@export("nn.learned_unigram_candidate_sampler", "random.learned_unigram_candidate_sampler")
def learned_unigram_candidate_sampler(
    true_classes: Any,
    num_true: Any,
    num_sampled: Any,
    unique: bool,
    range_max: Any,
    seed: int | None = None,
    name: str | None = None,
) -> Candidates:
    """Draws classes as often as they were true in earlier calls: in the beginning, all are equally likely.

    >>> drawn = tf.nn.learned_unigram_candidate_sampler([[0], [3]], 1, 2, unique=False, range_max=4, seed=8)
    >>> drawn.true_expected_count.numpy().ravel()
    array([0.5, 0.5], dtype=float32)
    >>> drawn = tf.nn.learned_unigram_candidate_sampler([[1], [3]], 1, 2, unique=False, range_max=4, seed=8)
    >>> drawn.true_expected_count.numpy().ravel().round(3)
    array([0.333, 0.667], dtype=float32)

    Calls with the same arguments but for `true_classes` learn together; in a `tf.function`, each call for itself.

    Args:
      true_classes: for each example its true classes: an int64 tensor `[batch, num_true]`.
      num_true: how many true classes an example has.
      num_sampled: how many classes to draw.
      unique: whether all of them are to be different.
      range_max: how many classes there are.
      seed: see `tf.random.set_seed`.
      name: accepted for compatibility.

    Returns:
      As for `tf.random.uniform_candidate_sampler`.
    """
    op = "learned_unigram_candidate_sampler"
    count = positive(op, "range_max", range_max)
    size = positive(op, "num_sampled", num_sampled)
    classes = checked_classes(op, true_classes, num_true, count)
    checked_sizes(op, size, bool(unique), count)
    seen = _seen(op, (num_true, size, bool(unique), count, seed))
    total = seen.value()
    share = total / reducing.sum_(total, axis=(0,), keepdims=True)
    found = drawn_by(share, classes, size, bool(unique), seed)
    flat = shaping.reshape(classes, [-1])
    ones = moving.cast(moving.ones_like(flat), dtype=dtypes.float64)
    seen.assign(total + segments.unsorted_segment_sum(ones, flat, count))
    return found


def _seen(op: str, key: Any) -> Variable:
    known = _counts.get(key) if context.tracer is None else None
    if known is None:
        check_room(op, (key[3],), np.dtype(np.float64))
        with init_scope():
            known = Variable(np.ones(key[3]), trainable=False, dtype=dtypes.float64)
        if context.tracer is None:
            _counts[key] = known
    return known
