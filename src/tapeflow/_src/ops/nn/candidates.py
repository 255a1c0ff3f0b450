"""Candidate samplers: a few classes out of many, to train on instead of all.

Each sampler gives the classes it drew, and how often it draws the true classes and the drawn ones on average.

Drawing without repetition is drawing again whenever a class came up before. The classes that are left, in order, are
those with the largest of `log(p) + noise`, for noise from Gumbel's distribution, so no loop is needed; how many draws
it took is drawn afterwards, as a sum of geometric numbers.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from tapeflow._src.core import dtypes
from tapeflow._src.core.context import quietly
from tapeflow._src.core.convert import convert_to_tensor
from tapeflow._src.core.errors import UnimplementedError
from tapeflow._src.core.export import export
from tapeflow._src.core.placement.remote import beside, table_beside
from tapeflow._src.core.system.memory import check_room
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.ops.arguments import integer
from tapeflow._src.ops.array.shaping import cast
from tapeflow._src.ops.random import numbers as random
from tapeflow._src.primitives.array import checks, moving, patterns
from tapeflow._src.primitives.elementwise import binary, unary
from tapeflow._src.primitives.indexing import picking
from tapeflow._src.primitives.nn import activations
from tapeflow._src.primitives.reduction import ordering, reducing, running
from tapeflow._src.primitives.rules import DTypeError, invalid


class Candidates(NamedTuple):
    """What a sampler gives."""

    sampled_candidates: Tensor
    true_expected_count: Tensor
    sampled_expected_count: Tensor


@export("random.uniform_candidate_sampler")
def uniform_candidate_sampler(
    true_classes: Any,
    num_true: Any,
    num_sampled: Any,
    unique: bool,
    range_max: Any,
    seed: int | None = None,
    name: str | None = None,
) -> Candidates:
    """Draws classes that are all equally likely.

    >>> drawn = tf.random.uniform_candidate_sampler([[0], [3]], 1, 4, unique=True, range_max=10)
    >>> len(set(drawn.sampled_candidates.numpy().tolist()))
    4

    Args:
      true_classes: for each example its true classes: an int64 tensor `[batch, num_true]`.
      num_true: how many true classes an example has.
      num_sampled: how many classes to draw.
      unique: whether all of them are to be different.
      range_max: how many classes there are.
      seed: see `tf.random.set_seed`.
      name: accepted for compatibility.

    Returns:
      `sampled_candidates`, of shape `[num_sampled]`, and how often each class is drawn on average:
      `true_expected_count`, of the shape of `true_classes`, and `sampled_expected_count`.
    """
    op = "uniform_candidate_sampler"
    count = positive(op, "range_max", range_max)
    check_room(op, (count,), np.dtype(np.float64))
    share = np.full(count, 1.0 / count)
    return _drawn(op, true_classes, num_true, num_sampled, unique, share, seed)


@export("random.log_uniform_candidate_sampler")
def log_uniform_candidate_sampler(
    true_classes: Any,
    num_true: Any,
    num_sampled: Any,
    unique: bool,
    range_max: Any,
    seed: int | None = None,
    name: str | None = None,
) -> Candidates:
    """Draws classes by Zipf's law, for classes in the order of their frequency, as words often are.

    >>> drawn = tf.random.log_uniform_candidate_sampler([[0], [9]], 1, 4, unique=False, range_max=10)
    >>> drawn.true_expected_count.numpy().ravel().round(3)
    array([1.156, 0.159], dtype=float32)

    The class `k` has the probability `(log(k + 2) - log(k + 1)) / log(range_max + 1)`.

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
    op = "log_uniform_candidate_sampler"
    count = positive(op, "range_max", range_max)
    check_room(op, (count,), np.dtype(np.float64))
    return _drawn(op, true_classes, num_true, num_sampled, unique, _zipf(count), seed)


@functools.lru_cache(maxsize=4)
def _zipf(count: int) -> np.ndarray:
    """The shares of classes in the order of their frequency: there may be very many."""
    return np.diff(np.log(np.arange(1.0, count + 2))) / np.log(count + 1.0)


@export("nn.fixed_unigram_candidate_sampler", "random.fixed_unigram_candidate_sampler")
def fixed_unigram_candidate_sampler(
    true_classes: Any,
    num_true: Any,
    num_sampled: Any,
    unique: bool,
    range_max: Any,
    vocab_file: str = "",
    distortion: float = 1.0,
    num_reserved_ids: int = 0,
    num_shards: int = 1,
    shard: int = 0,
    unigrams: Sequence[float] = (),
    seed: int | None = None,
    name: str | None = None,
) -> Candidates:
    """Draws classes by given frequencies.

    >>> drawn = tf.random.fixed_unigram_candidate_sampler(
    ...     [[0], [3]], 1, 4, unique=False, range_max=4, unigrams=[1.0, 2.0, 3.0, 4.0]
    ... )
    >>> drawn.true_expected_count.numpy().ravel()
    array([0.4, 1.6], dtype=float32)

    Args:
      true_classes: for each example its true classes: an int64 tensor `[batch, num_true]`.
      num_true: how many true classes an example has.
      num_sampled: how many classes to draw.
      unique: whether all of them are to be different.
      range_max: how many classes there are.
      vocab_file: a file with a line for each class, which ends in a comma and its frequency.
      distortion: the power to raise the frequencies to: 0 makes them equal.
      num_reserved_ids: how many classes to put before the first one, which are never drawn.
      num_shards: accepted for compatibility; 1.
      shard: accepted for compatibility; 0.
      unigrams: the frequencies, if they are not in a file.
      seed: see `tf.random.set_seed`.
      name: accepted for compatibility.

    Returns:
      As for `tf.random.uniform_candidate_sampler`.
    """
    op = "fixed_unigram_candidate_sampler"
    if num_shards != 1 or shard != 0:
        raise UnimplementedError(None, None, f"{op}: only num_shards=1 and shard=0 are supported.")
    if bool(vocab_file) == bool(len(unigrams)):
        raise invalid(f"{op}: give either vocab_file or unigrams.")
    counts = _frequencies(vocab_file) if vocab_file else np.asarray(unigrams, np.float64)
    counts = np.concatenate([np.zeros(num_reserved_ids), counts**distortion])
    classes = positive(op, "range_max", range_max)
    if len(counts) != classes:
        raise invalid(
            f"{op}: range_max is {classes}, and there are {len(counts)} classes "
            f"({num_reserved_ids} of them reserved)."
        )
    share = counts / counts.sum()
    return _drawn(op, true_classes, num_true, num_sampled, unique, share, seed)


@export("nn.all_candidate_sampler", "random.all_candidate_sampler")
def all_candidate_sampler(
    true_classes: Any,
    num_true: Any,
    num_sampled: Any,
    unique: bool,
    seed: int | None = None,
    name: str | None = None,
) -> Candidates:
    """Gives all classes: what a loss is with every class, and no approximation.

    >>> tf.random.all_candidate_sampler([[0], [3]], 1, 4, unique=True).sampled_candidates.numpy()
    array([0, 1, 2, 3])

    Args:
      true_classes: for each example its true classes: an int64 tensor `[batch, num_true]`.
      num_true: how many true classes an example has.
      num_sampled: how many classes there are.
      unique: accepted for compatibility.
      seed: accepted for compatibility.
      name: accepted for compatibility.

    Returns:
      As for `tf.random.uniform_candidate_sampler`. All counts are 1.
    """
    op = "all_candidate_sampler"
    count = positive(op, "num_sampled", num_sampled)
    classes = checked_classes(op, true_classes, num_true)
    ones = moving.ones_like(moving.cast(classes, dtype=dtypes.float32))
    with beside(classes):
        all_classes = patterns.numbers(count)
        return Candidates(all_classes, ones, patterns.full((count,), 1.0, dtypes.float32))


# The pieces.


def _drawn(
    op: str,
    true_classes: Any,
    num_true: Any,
    num_sampled: Any,
    unique: bool,
    share: np.ndarray,
    seed: int | None,
) -> Candidates:
    """Draws classes, each with its share in the probability."""
    size = positive(op, "num_sampled", num_sampled)
    classes = checked_classes(op, true_classes, num_true, len(share))
    checked_sizes(op, size, unique, int(np.count_nonzero(share)))
    draw = _different if unique else _repeated
    with beside(classes):
        sampled, tries = draw(share, size, seed, classes)
    return _counted(table_beside(classes, share), classes, sampled, size, tries)


def drawn_by(
    share: Tensor, classes: Tensor, size: int, unique: bool, seed: int | None
) -> Candidates:
    """The same by shares that are known only when the program runs. None of them is zero."""
    with beside(classes):
        if unique:
            sampled, tries = _taken(share, unary.log(share), share._array.shape[0], size, seed)
        else:
            steps = running.cumsum(share, axis=0, exclusive=False, reverse=False)
            level = random.uniform([size], dtype=dtypes.float64, seed=seed)
            # The last step is one, however it was rounded.
            sampled, tries = (
                ordering.searchsorted(steps[:-1], level, side="right", dtype=dtypes.int64),
                None,
            )
    return _counted(share, classes, sampled, size, tries)


def _counted(
    share: Tensor, classes: Tensor, sampled: Tensor, size: int, tries: Tensor | None
) -> Candidates:
    def expected(numbers: Tensor) -> Tensor:
        chance = picking.gather(share, numbers, axis=0, batch_dims=0)
        if tries is None:
            return cast(chance * float(size), dtypes.float32)
        return cast(-unary.expm1(tries * unary.log1p(-chance)), dtypes.float32)

    return Candidates(sampled, expected(classes), expected(sampled))


def checked_sizes(op: str, size: int, unique: bool, classes: int) -> None:
    """Raises if not as many different classes can be drawn."""
    if unique and size > classes:
        raise invalid(
            f"{op}: num_sampled = {size} different classes cannot be drawn from {classes}."
        )


def _repeated(share: np.ndarray, size: int, seed: int | None, like: Tensor) -> tuple[Tensor, None]:
    """Draws by the running sum of the shares: a class is as likely as its step is high."""
    steps = np.cumsum(share)
    # Rounding must neither leave a gap at the end nor reach a class that is never drawn.
    steps[np.flatnonzero(share)[-1] :] = 1.0
    level = random.uniform([size], dtype=dtypes.float64, seed=seed)
    edges = table_beside(like, steps)
    return ordering.searchsorted(edges, level, side="right", dtype=dtypes.int64), None


def _different(
    share: np.ndarray, size: int, seed: int | None, like: Tensor
) -> tuple[Tensor, Tensor]:
    """Draws different classes, and the number of draws with repetition that it took."""
    likely = table_beside(like, quietly(np.log, share))
    return _taken(table_beside(like, share), likely, len(share), size, seed)


def _taken(
    share: Tensor, likely: Tensor, total: int, size: int, seed: int | None
) -> tuple[Tensor, Tensor]:
    level = 1.0 - random.uniform([total + size - 1], dtype=dtypes.float64, seed=seed)  # never 0
    noise = -unary.log(-unary.log(level[:total]))
    sampled = activations.top_k_indices(likely + noise, k=size, dtype=dtypes.int64)
    if size == 1:
        return sampled, Tensor(np.float64(1.0))
    chance = picking.gather(share, sampled, axis=0, batch_dims=0)
    known = running.cumsum(chance, axis=0, exclusive=False, reverse=False)[:-1]
    # What was drawn before has this chance to come up again: less than one, also when rounded.
    known = binary.minimum(known, 1.0 - chance[1:])
    again = unary.floor(unary.log(level[total:]) / unary.log(known))
    return sampled, reducing.sum_(again, axis=(0,), keepdims=False) + float(size)


def checked_classes(op: str, true_classes: Any, num_true: Any, count: int | None = None) -> Tensor:
    """The true classes, which are a matrix of numbers below a count."""
    classes = convert_to_tensor(true_classes, dtype_hint=dtypes.int64)
    columns = positive(op, "num_true", num_true)
    if classes.dtype is not dtypes.int64:
        raise DTypeError(
            None, None, f"{op}: true_classes must be int64, got {classes.dtype.name}. Use tf.cast."
        )
    if classes._array.ndim != 2 or classes._array.shape[1] != columns:
        raise invalid(
            f"{op}: true_classes must be a matrix with num_true = {columns} columns, got shape "
            f"{list(classes.shape)}"
        )
    if count is None:
        return classes
    return checks.check_bounds(
        classes,
        low=0,
        high=count - 1,
        message=f"{op}: true_classes must be numbers of classes, below {count}",
    )


def positive(op: str, argument: str, value: Any) -> int:
    """An integer that is at least one."""
    number = integer(op, argument, value)
    if number < 1:
        raise invalid(f"{op}: {argument} must be at least 1, got {number}")
    return number


def _frequencies(path: str) -> np.ndarray:
    from tapeflow._src.core.system.files import translating_os_errors

    with translating_os_errors(path), open(path, encoding="utf-8") as lines:
        return np.array([float(line.rsplit(",", 1)[-1]) for line in filter(str.strip, lines)])
