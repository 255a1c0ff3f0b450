"""`Dataset.rejection_resample`: elements are left out by chance, so that classes come as often as is wanted.

Some elements are taken as they come, the others from those that pass a trial. With the ratio r = wanted / had for each
class, the share of the first is the smallest ratio m, and the chance to pass is (r - m) / (max r - m): so no more are
left out than must be.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from tapeflow._src.core import dtypes
from tapeflow._src.core.convert import convert_to_tensor
from tapeflow._src.core.errors import invalid
from tapeflow._src.ops.array.moving import stack
from tapeflow._src.ops.array.shaping import cast
from tapeflow._src.ops.indexing.gathering import gather, one_hot
from tapeflow._src.ops.random.numbers import uniform
from tapeflow._src.ops.reduction.reducing import reduce_max, reduce_min, reduce_sum

if TYPE_CHECKING:
    from tapeflow._src.data.dataset import Dataset

_AT_ONCE = 32  # elements, after which the frequencies of classes are estimated anew
_BEFORE = 10  # elements of each class that count as seen at the beginning


def _chances(had: Any, wanted: Any) -> tuple[Any, Any]:
    """The chances of classes to pass, and the share of elements that need not."""
    ratio = wanted / (had + np.finfo(np.float32).tiny)
    least = reduce_min(ratio)
    return (ratio - least) / (reduce_max(ratio) - least), least


def resampled(
    dataset: Dataset, class_func: Callable[..., Any], target: Any, initial: Any, seed: Any
) -> Dataset:
    """Pairs of a class and an element, with classes as often as `target` says."""
    wanted = convert_to_tensor(target, dtypes.float32)
    share: Any = None
    if wanted.shape.rank != 1 or wanted.symbolic:
        raise invalid(
            f"Dataset.rejection_resample: target_dist must be a vector of known numbers, got shape {wanted.shape}"
        )
    classes = dataset.map(class_func)
    spec = classes.element_spec
    if spec.dtype is not dtypes.int32 or spec.shape.rank not in (0, None):
        raise TypeError(
            f"Dataset.rejection_resample: class_func must return a scalar of dtype int32, got {spec}"
        )
    pairs = type(dataset).zip(classes, dataset)
    if initial is None:
        chances = _estimated(classes, wanted)
    else:
        had = convert_to_tensor(initial, dtypes.float32)
        passing, share = _chances(had, wanted)
        if float(share) >= 1:  # they are as wanted already
            return pairs
        chances = type(dataset).from_tensors((passing, share)).repeat()
    trial = type(dataset).zip(chances.map(lambda passing, _: passing), pairs)

    def passes(passing: Any, pair: Any) -> Any:
        return uniform([], seed=seed) < gather(passing, pair[0])

    accepted = trial.filter(passes).map(lambda _, pair: pair)
    if share is not None and float(share) == 0:
        return accepted
    weights = chances.map(lambda _, share: stack([share, 1.0 - share]))
    return type(dataset).sample_from_datasets(
        [pairs, accepted], weights, seed, stop_on_empty_dataset=True
    )


def _estimated(classes: Dataset, wanted: Any) -> Dataset:
    """Chances for each element, from how often classes came up to there."""
    count = wanted.shape[0]
    seen = convert_to_tensor(np.full(count, _BEFORE, np.int64))

    def estimate(seen: Any, some: Any) -> Any:
        seen = seen + reduce_sum(one_hot(some, count, dtype=dtypes.int64), 0)
        return seen, cast(seen / reduce_sum(seen), dtypes.float32)

    estimates = classes.batch(_AT_ONCE).scan(seen, estimate)
    again = estimates.flat_map(lambda had: type(classes).from_tensors(had).repeat(_AT_ONCE))
    return again.map(lambda had: _chances(had, wanted))
