"""Losses over very many classes, of which a few are sampled: `tf.nn.nce_loss`, `tf.nn.sampled_softmax_loss`."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from tapeflow._src.core import dtypes
from tapeflow._src.core.convert import convert_to_tensor
from tapeflow._src.core.export import export
from tapeflow._src.core.sizes.extremes import surely_unequal
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.ops.arguments import integer
from tapeflow._src.ops.array.shaping import cast
from tapeflow._src.ops.nn.activations import embedding_lookup
from tapeflow._src.ops.nn.candidates import log_uniform_candidate_sampler
from tapeflow._src.ops.nn.losses import (
    sigmoid_cross_entropy_with_logits,
    softmax_cross_entropy_with_logits,
)
from tapeflow._src.primitives.array import moving
from tapeflow._src.primitives.elementwise import binary, unary
from tapeflow._src.primitives.indexing import picking
from tapeflow._src.primitives.linalg import products as linalg
from tapeflow._src.primitives.reduction import ordering, reducing
from tapeflow._src.primitives.rules import invalid


class AccidentalHits(NamedTuple):
    """What `tf.nn.compute_accidental_hits` gives: a place in each of the three for every hit."""

    indices: Tensor
    ids: Tensor
    weights: Tensor


@export("nn.compute_accidental_hits")
def compute_accidental_hits(
    true_classes: Any,
    sampled_candidates: Any,
    num_true: Any,
    seed: int | None = None,
    name: str | None = None,
) -> AccidentalHits:
    """Where a sampled class is a true class of an example, by accident.

    >>> hits = tf.nn.compute_accidental_hits([[0], [3]], [3, 5, 0], num_true=1)
    >>> hits.indices.numpy(), hits.ids.numpy()
    (array([0, 1], dtype=int32), array([2, 0]))

    Args:
      true_classes: for each example its true classes: an int64 tensor `[batch, num_true]`.
      sampled_candidates: the sampled classes.
      num_true: how many true classes an example has.
      seed: accepted for compatibility.
      name: accepted for compatibility.

    Returns:
      For each hit the example, the place among the sampled classes, and the lowest float, which
      takes the class out of a softmax when it is added to its logit.
    """
    hits = _hits(_labels("compute_accidental_hits", true_classes, num_true), sampled_candidates)
    found = ordering.nonzero(hits)
    rows = picking.getitem(found, index=(slice(None), 0))
    places = picking.getitem(found, index=(slice(None), 2))
    lowest = moving.zeros_like(cast(rows, dtypes.float32)) + float(np.finfo(np.float32).min)
    return AccidentalHits(cast(rows, dtypes.int32), places, lowest)


@export("nn.nce_loss")
def nce_loss(
    weights: Any,
    biases: Any,
    labels: Any,
    inputs: Any,
    num_sampled: Any,
    num_classes: Any,
    num_true: Any = 1,
    sampled_values: Any = None,
    remove_accidental_hits: bool = False,
    name: str | None = "nce_loss",
) -> Tensor:
    """Noise-contrastive estimation: tell the true classes from sampled ones.

    >>> weights, biases = tf.zeros([10, 3]), tf.zeros([10])
    >>> loss = tf.nn.nce_loss(weights, biases, [[1], [2]], tf.ones([2, 3]), 4, 10)
    >>> loss.shape
    TensorShape([2])

    Args:
      weights: the vector of each class, `[num_classes, dim]`, or a list of tensors with those rows.
      biases: the bias of each class, `[num_classes]`.
      labels: the true classes, `[batch, num_true]`.
      inputs: the activations, `[batch, dim]`.
      num_sampled: how many classes to sample for a batch.
      num_classes: how many there are.
      num_true: how many true classes an example has.
      sampled_values: what a candidate sampler gave; `tf.random.log_uniform_candidate_sampler` by
        default.
      remove_accidental_hits: whether to leave out sampled classes that are true for an example.
      name: accepted for compatibility.

    Returns:
      The loss of each example.
    """
    logits, targets = _logits(
        "nce_loss",
        (weights, biases, labels, inputs),
        (num_sampled, num_classes, num_true),
        sampled_values,
        remove_accidental_hits,
        None,
    )
    losses = sigmoid_cross_entropy_with_logits(targets, logits)
    return reducing.sum_(losses, axis=(1,), keepdims=False)


@export("nn.sampled_softmax_loss")
def sampled_softmax_loss(
    weights: Any,
    biases: Any,
    labels: Any,
    inputs: Any,
    num_sampled: Any,
    num_classes: Any,
    num_true: Any = 1,
    sampled_values: Any = None,
    remove_accidental_hits: bool = True,
    seed: int | None = None,
    name: str | None = "sampled_softmax_loss",
) -> Tensor:
    """The cross-entropy of a softmax over the true classes and a few sampled ones, in place of all.

    >>> weights, biases = tf.zeros([10, 3]), tf.zeros([10])
    >>> loss = tf.nn.sampled_softmax_loss(weights, biases, [[1], [2]], tf.ones([2, 3]), 4, 10)
    >>> loss.shape
    TensorShape([2])

    It is for training; for evaluation, take the softmax over all classes.

    Args:
      weights: the vector of each class, `[num_classes, dim]`, or a list of tensors with those rows.
      biases: the bias of each class, `[num_classes]`.
      labels: the true classes, `[batch, num_true]`.
      inputs: the activations, `[batch, dim]`.
      num_sampled: how many classes to sample for a batch.
      num_classes: how many there are.
      num_true: how many true classes an example has.
      sampled_values: what a candidate sampler gave; `tf.random.log_uniform_candidate_sampler` by
        default.
      remove_accidental_hits: whether to leave out sampled classes that are true for an example.
      seed: of the sampler: see `tf.random.set_seed`.
      name: accepted for compatibility.

    Returns:
      The loss of each example.
    """
    logits, targets = _logits(
        "sampled_softmax_loss",
        (weights, biases, labels, inputs),
        (num_sampled, num_classes, num_true),
        sampled_values,
        remove_accidental_hits,
        seed,
    )
    return softmax_cross_entropy_with_logits(moving.stop_gradient(targets), logits)


def _logits(
    op: str,
    tensors: tuple[Any, Any, Any, Any],
    numbers: tuple[Any, Any, Any],
    sampled_values: Any,
    remove_hits: bool,
    seed: int | None,
) -> tuple[Tensor, Tensor]:
    """The logits of the true and the sampled classes, `[batch, num_true + num_sampled]`, and their labels.

    From each logit the logarithm of how often its class is sampled is taken off, so that frequent classes are not
    pushed down more than others.
    """
    weights, biases, labels, inputs = tensors
    num_sampled, num_classes, num_true = numbers
    labels = _labels(op, labels, num_true)
    inputs = convert_to_tensor(inputs)
    if inputs.ndim != 2:
        raise invalid(f"{op}: inputs must be a matrix, got shape {inputs.shape}")
    batch, true = labels._array.shape
    if sampled_values is None:
        sampled_values = log_uniform_candidate_sampler(
            labels, true, num_sampled, True, num_classes, seed
        )
    sampled, true_count, sampled_count = (
        moving.stop_gradient(convert_to_tensor(value)) for value in sampled_values
    )
    sampled = cast(sampled, dtypes.int64)
    ids = moving.concat(moving.reshape(labels, shape=(batch * true,)), sampled, axis=0)
    rows, offsets = embedding_lookup(weights, ids), embedding_lookup(biases, ids)
    own, others = rows[: batch * true], rows[batch * true :]
    width = inputs._array.shape[-1]
    own = moving.reshape(own, shape=(batch, true, width))
    products = moving.reshape(inputs, shape=(batch, 1, width)) * own
    true_logits = reducing.sum_(products, axis=(2,), keepdims=False)
    true_logits = true_logits + moving.reshape(offsets[: batch * true], shape=(batch, true))
    other_logits = linalg.matmul(inputs, others, transpose_a=False, transpose_b=True)
    other_logits = other_logits + offsets[batch * true :]
    if remove_hits:
        hits = reducing.any_(_hits(labels, sampled), axis=(1,), keepdims=False)
        other_logits = other_logits + cast(hits, inputs.dtype) * float(inputs.dtype.min)
    true_logits = true_logits - unary.log(cast(true_count, inputs.dtype))
    other_logits = other_logits - unary.log(cast(sampled_count, inputs.dtype))
    targets = moving.concat(
        moving.ones_like(true_logits) / float(true), moving.zeros_like(other_logits), axis=1
    )
    return moving.concat(true_logits, other_logits, axis=1), targets


def _labels(op: str, labels: Any, num_true: Any) -> Tensor:
    labels = cast(labels, dtypes.int64)
    count = integer(op, "num_true", num_true)
    if labels._array.ndim != 2 or surely_unequal(labels._array.shape[1], count):
        raise invalid(
            f"{op}: the true classes must be a matrix with num_true = {count} columns, got shape "
            f"{list(labels.shape)}"
        )
    return moving.reshape(labels, shape=(labels._array.shape[0], count))


def _hits(labels: Tensor, sampled: Any) -> Tensor:
    """`[batch, num_true, num_sampled]`: whether a true class is a sampled one."""
    sampled = cast(sampled, dtypes.int64)
    wide = moving.reshape(labels, shape=(*labels._array.shape, 1))
    return binary.equal(wide, sampled)
