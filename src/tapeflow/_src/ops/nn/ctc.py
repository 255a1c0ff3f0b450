"""Connectionist temporal classification: a loss for sequences whose alignment is not known."""

from __future__ import annotations

from typing import Any

from tapeflow._src.core import dtypes
from tapeflow._src.core.convert import convert_to_tensor
from tapeflow._src.core.errors import DTypeError, InvalidArgumentError, invalid
from tapeflow._src.core.export import export
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.ops.array.creation import fill, zeros
from tapeflow._src.ops.array.moving import concat, stack, unstack
from tapeflow._src.ops.array.shaping import cast, expand_dims, reshape, transpose
from tapeflow._src.ops.indexing.gathering import gather, where
from tapeflow._src.ops.nn.losses import log_softmax
from tapeflow._src.ops.reduction.reducing import reduce_logsumexp

# The logarithm of a probability of 0: finite, because differences of infinities are NaN.
_IMPOSSIBLE = -1e30


@export("nn.ctc_loss")
def ctc_loss(
    labels: Any,
    logits: Any,
    label_length: Any,
    logit_length: Any,
    logits_time_major: bool = True,
    unique: Any = None,
    blank_index: int | None = None,
    name: str | None = None,
) -> Tensor:
    """The negative logarithm of the probability of `labels`, summed over all alignments with `logits`.

    It is composed of ops, so derivatives of any order exist.

    >>> labels = tf.constant([[1, 2]])
    >>> logits = tf.zeros([3, 1, 3])  # three steps, one example, two classes besides the blank
    >>> loss = tf.nn.ctc_loss(labels, logits, label_length=[2], logit_length=[3])
    >>> round(float(loss[0]), 4)  # 5 of the 27 paths spell "1 2"
    1.6864

    Args:
      labels: class numbers `[batch, longest label]`, without blanks. A `tf.SparseTensor` says itself how long its rows
        are: `label_length` is not looked at, and `blank_index` must be given.
      logits: `[time, batch, classes]`, or `[batch, time, classes]` if not `logits_time_major`.
      label_length: how many of each row of `labels` count.
      logit_length: how many steps of each sequence count.
      logits_time_major: the order of the first two dimensions of `logits`.
      unique: accepted for compatibility; TensorFlow uses it on TPUs only.
      blank_index: the class that means "nothing". By default 0; negative numbers count from the end.
      name: accepted for compatibility.

    Returns:
      A loss for each example; infinite where the label cannot be spelled in so few steps.
    """
    logits = convert_to_tensor(logits)
    labels = convert_to_tensor(labels)
    label_length, logit_length = convert_to_tensor(label_length), convert_to_tensor(logit_length)
    if len(logits._array.shape) != 3 or len(labels._array.shape) != 2:
        raise invalid(
            "ctc_loss: logits must have three dimensions and labels two, got shapes "
            f"{list(logits._array.shape)} and {list(labels._array.shape)}"
        )
    if not labels.dtype.is_integer:
        raise DTypeError(
            None,
            None,
            f"ctc_loss: labels must be integers, got {labels.dtype.name}",
        )
    if logits_time_major:
        logits = transpose(logits, [1, 0, 2])
    _, time, classes = logits._array.shape
    if not time:
        raise invalid("ctc_loss: logits have no time steps")
    blank = 0 if blank_index is None else blank_index
    if not -classes <= blank < classes:
        raise InvalidArgumentError(
            None, None, f"ctc_loss: blank_index {blank} is not in [{-classes}, {classes})"
        )
    spelled = _with_blanks(labels, blank % classes)
    chances = unstack(gather(log_softmax(logits), spelled, axis=2, batch_dims=1), axis=1)
    end = _forward(chances, _may_skip(spelled), logit_length)
    loss = -_at_the_end(end, label_length)
    infinite = convert_to_tensor(float("inf"), loss.dtype)
    return where(loss > -_IMPOSSIBLE / 2, infinite, loss)


def _with_blanks(labels: Tensor, blank: int) -> Tensor:
    """`a b` becomes `_ a _ b _`: between two labels there may be blanks."""
    batch, length = labels._array.shape
    blanks = fill([batch, length], blank)
    pairs = stack([cast(blanks, labels.dtype), labels], axis=2)
    last = cast(fill([batch, 1], blank), labels.dtype)
    return concat([reshape(pairs, [batch, 2 * length]), last], axis=1)


def _may_skip(spelled: Tensor) -> Tensor:
    """Where the blank before a label may be left out: if the label before it is another."""
    batch, positions = spelled._array.shape
    if positions < 3:
        return zeros([batch, positions], dtypes.bool_)
    # A blank among the labels is a label like others.
    other = spelled[:, 2:] != spelled[:, :-2]
    return concat([zeros([batch, 2], dtypes.bool_), other], axis=1)


def _forward(chances: list[Tensor], may_skip: Tensor, logit_length: Tensor) -> Tensor:
    """The logarithm of the probability of each prefix, after the last step of each sequence."""
    batch, positions = may_skip._array.shape
    never = cast(fill([batch, positions], _IMPOSSIBLE), chances[0].dtype)
    alpha = concat([chances[0][:, :2], never[:, 2:]], axis=1)
    for step, chance in enumerate(chances[1:], 1):
        after_one = concat([never[:, :1], alpha[:, :-1]], axis=1)
        after_two = concat([never[:, :2], alpha[:, :-2]], axis=1)[:, :positions]
        ways = stack([alpha, after_one, where(may_skip, after_two, never)])
        running = expand_dims(logit_length > step, 1)
        alpha = where(running, reduce_logsumexp(ways, axis=0) + chance, alpha)
    return alpha


def _at_the_end(alpha: Tensor, label_length: Tensor) -> Tensor:
    """A sequence may end with the last label or with a blank after it."""
    last = 2 * cast(label_length, dtypes.int32)
    with_blank = gather(alpha, expand_dims(last, 1), axis=1, batch_dims=1)[:, 0]
    before = where(last > 0, last - 1, last)
    without = gather(alpha, expand_dims(before, 1), axis=1, batch_dims=1)[:, 0]
    both = reduce_logsumexp(stack([with_blank, without]), axis=0)
    return where(last > 0, both, with_blank)
