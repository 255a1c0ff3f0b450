"""Connectionist temporal classification: the loss, and decoding."""

from __future__ import annotations

from typing import Any

import tapeflow as tf
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.keras.backend.conversion import cast, convert_to_tensor, shape
from tapeflow._src.keras.backend.nn.operands import floats

_NEVER = -1e30
"""The logarithm of a probability of 0: finite, because differences of infinities are NaN."""

_PAD = -1


def ctc_loss(
    target: Any, output: Any, target_length: Any, output_length: Any, mask_index: int = 0
) -> Tensor:
    """The negative logarithm of the probability of the targets, over all alignments."""
    output = _at_least_float32(output)
    return tf.nn.ctc_loss(
        convert_to_tensor(target, "int32"),
        output,
        convert_to_tensor(target_length, "int32"),
        convert_to_tensor(output_length, "int32"),
        logits_time_major=False,
        blank_index=mask_index,
    )


def ctc_decode(
    inputs: Any,
    sequence_lengths: Any,
    strategy: str = "greedy",
    beam_width: int = 100,
    top_paths: int = 1,
    merge_repeated: bool = True,
    mask_index: int | None = 0,
) -> tuple[Tensor, Tensor]:
    """The most probable labels `[paths, batch, time]`, padded with -1, and the score of each path.

    The score is the logarithm of its probability; that of the greedy strategy is the negative sum of the logits.
    """
    inputs = _at_least_float32(inputs)
    lengths = convert_to_tensor(sequence_lengths, "int32")
    classes = shape(inputs)[-1]
    blank = classes - 1 if mask_index is None else mask_index % classes
    if strategy == "greedy":
        return _greedy(inputs, lengths, blank, merge_repeated)
    if strategy == "beam_search":
        return _BeamSearch(inputs, lengths, blank, beam_width).best(top_paths)
    raise ValueError(
        f"Invalid strategy {strategy}. Supported values are 'greedy' and 'beam_search'."
    )


def _at_least_float32(x: Any) -> Tensor:
    x = floats(x)
    return x if x.dtype is tf.float64 else cast(x, tf.float32)


def _greedy(
    logits: Tensor, lengths: Tensor, blank: int, merge_repeated: bool
) -> tuple[Tensor, Tensor]:
    """The best class of each step, without blanks and repetitions."""
    time = shape(logits)[1]
    running = tf.sequence_mask(lengths, time)
    labels = tf.argmax(logits, -1, tf.int32)
    score = -tf.reduce_sum(tf.where(running, tf.reduce_max(logits, -1), 0.0), 1, keepdims=True)
    kept = tf.logical_and(running, labels != blank)
    if merge_repeated:
        changed = labels[:, 1:] != labels[:, :-1]
        kept = tf.logical_and(kept, tf.pad(changed, [(0, 0), (1, 0)], constant_values=True))
    # What is kept moves to the front, in its order.
    order = tf.argsort(tf.cast(tf.logical_not(kept), tf.int32), axis=1, stable=True)
    labels = tf.gather(tf.where(kept, labels, _PAD), order, axis=1, batch_dims=1)
    return tf.expand_dims(labels, 0), score


class _BeamSearch:
    """The most probable prefixes after each step.

    A prefix has two probabilities: that of the ways which end in a blank, and of those which end in its last label:
    after a blank the same label can come again. In arrays `[batch, beam, ...]`:

        paths     the labels, padded with -1
        count     how many there are
        blank     the logarithms of the two probabilities
        label
    """

    def __init__(self, logits: Tensor, lengths: Tensor, blank: int, width: int) -> None:
        self.chances = tf.transpose(tf.nn.log_softmax(logits), [1, 0, 2])
        self.lengths, self.blank_index, self.width = lengths, blank, width
        self.batch, self.time, self.classes = shape(logits)

    def best(self, top_paths: int) -> tuple[Tensor, Tensor]:
        """The paths that are left in the end, the best first, and their scores."""
        beams = [self.batch, self.width]
        never = tf.fill(beams, tf.constant(_NEVER, self.chances.dtype))
        # In the beginning there is one prefix, the empty one; the others are impossible.
        first = tf.concat([tf.zeros_like(never[:, :1]), never[:, 1:]], 1)
        state = (tf.fill([*beams, self.time], _PAD), tf.zeros(beams, tf.int32), first, never)
        _, (paths, _, blank, label) = tf.while_loop(
            lambda step, _: step < self.time,
            lambda step, state: (step + 1, self._step(step, state)),
            (tf.constant(0), state),
        )
        scores, order = tf.math.top_k(_either(blank, label), top_paths)
        paths = tf.gather(paths, order, axis=1, batch_dims=1)
        possible = scores > _NEVER / 2
        paths = tf.where(tf.expand_dims(possible, 2), paths, _PAD)
        return tf.transpose(paths, [1, 0, 2]), tf.where(possible, scores, float("-inf"))

    def _step(self, step: Tensor, state: Any) -> Any:
        paths, count, blank, label = state
        chance = tf.gather(self.chances, step)  # [batch, classes]
        last = tf.gather(paths, tf.expand_dims(tf.maximum(count - 1, 0), 2), axis=2, batch_dims=2)
        last = tf.squeeze(last, 2)  # -1 if there is none
        known = tf.maximum(last, 0)
        whole = _either(blank, label)

        # A prefix stays if a blank or its last label comes,
        stay_blank = whole + chance[:, self.blank_index : self.blank_index + 1]
        repeated = label + tf.gather(chance, known, axis=1, batch_dims=1)
        stay_label = tf.where(last == _PAD, _NEVER, repeated)
        # and grows if another comes, or the same after a blank. [batch, beam, classes]
        classes = tf.range(self.classes)
        ways = tf.where(
            classes == tf.expand_dims(last, 2), tf.expand_dims(blank, 2), tf.expand_dims(whole, 2)
        )
        grown = tf.where(classes == self.blank_index, _NEVER, ways + tf.expand_dims(chance, 1))

        # A prefix that grows into another one of the beam is counted there. [batch, parent, child]
        places = tf.range(self.time) < tf.expand_dims(tf.maximum(count - 1, 0), 2)
        without_last = tf.where(places, paths, _PAD)
        same = tf.expand_dims(paths, 2) == tf.expand_dims(without_last, 1)
        parent = tf.logical_and(tf.reduce_all(same, 3), tf.expand_dims(count > 0, 1))
        gained = tf.where(parent, tf.gather(grown, known, axis=2, batch_dims=1), _NEVER)
        stay_label = _either(stay_label, tf.reduce_logsumexp(gained, 1))
        children = tf.one_hot(last, self.classes, dtype=chance.dtype)
        taken = tf.matmul(tf.cast(parent, chance.dtype), children) > 0.0
        grown = tf.where(taken, _NEVER, grown)

        # The best of those that stay and those that grow are the next beam.
        flat = tf.reshape(grown, [self.batch, self.width * self.classes])
        scores, chosen = tf.math.top_k(
            tf.concat([_either(stay_blank, stay_label), flat], 1), self.width
        )
        stays = chosen < self.width
        source = tf.where(stays, chosen, (chosen - self.width) // self.classes)
        added = tf.where(stays, _PAD, (chosen - self.width) % self.classes)

        def of(x: Tensor) -> Tensor:
            return tf.gather(x, source, axis=1, batch_dims=1)

        length = of(count)
        end = tf.range(self.time) == tf.expand_dims(length, 2)
        after = (
            tf.where(end, tf.expand_dims(added, 2), of(paths)),
            tf.where(stays, length, length + 1),
            tf.where(stays, of(stay_blank), _NEVER),
            tf.where(stays, of(stay_label), scores),
        )
        running = tf.expand_dims(self.lengths > step, 1)
        return (
            tf.where(tf.expand_dims(running, 2), after[0], paths),
            *[tf.where(running, new, old) for new, old in zip(after[1:], state[1:], strict=True)],
        )


def _either(a: Tensor, b: Tensor) -> Tensor:
    """The logarithm of the sum of two probabilities."""
    return tf.maximum(a, b) + tf.math.log1p(tf.exp(-tf.abs(a - b)))
