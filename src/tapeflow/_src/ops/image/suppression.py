"""Non-maximum suppression: of boxes that overlap, the ones that score best.

How many boxes are left depends on the numbers, so Python chooses them when the function runs. Gradients do not go
through a choice; they go through `tf.gather` of what was chosen.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from tapeflow._src.core import dtypes
from tapeflow._src.core.convert import convert_to_tensor
from tapeflow._src.core.errors import DTypeError, invalid
from tapeflow._src.core.export import export
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.ops.arguments import integer
from tapeflow._src.ops.effects.host import on_host
from tapeflow._src.primitives.specs import ArraySpec

Overlap = Callable[[np.ndarray, int], np.ndarray]
"""How much each of some candidates overlaps with the one of that number."""


@export("image.non_max_suppression")
def non_max_suppression(
    boxes: Any,
    scores: Any,
    max_output_size: Any,
    iou_threshold: Any = 0.5,
    score_threshold: Any = float("-inf"),
    name: str | None = None,
) -> Tensor:
    """The numbers of the best boxes, none of which overlaps too much with a better one.

    >>> boxes = [[0.0, 0.0, 1.0, 1.0], [0.0, 0.1, 1.0, 1.1], [0.0, 2.0, 1.0, 3.0]]
    >>> tf.image.non_max_suppression(boxes, [0.6, 0.9, 0.7], max_output_size=3).numpy()
    array([1, 2], dtype=int32)

    Args:
      boxes: `[n, 4]`: two opposite corners of each, `y1, x1, y2, x2`.
      scores: `[n]`.
      max_output_size: how many boxes there may be in the result.
      iou_threshold: a box is dropped if the area it shares with a better one, as a part of the area of both, is larger.
      score_threshold: boxes that do not score more are dropped.
      name: accepted for compatibility.
    """
    op = "non_max_suppression"
    boxes, scores = _inputs(op, boxes, scores)
    limits = _limits(op, max_output_size, iou_threshold, score_threshold, scores.dtype)

    def chosen(boxes: Any, scores: Any, size: Any, iou: Any, least: Any) -> list[Any]:
        _check(op, size, iou)
        return [_suppressed(_overlap_of(boxes), scores, int(size), iou, least)]

    spec = ArraySpec((None,), dtypes.int32)
    return on_host(op, chosen, [boxes, scores, *limits], [spec])[0]


@export("image.non_max_suppression_with_scores")
def non_max_suppression_with_scores(
    boxes: Any,
    scores: Any,
    max_output_size: Any,
    iou_threshold: Any = 0.5,
    score_threshold: Any = float("-inf"),
    soft_nms_sigma: Any = 0.0,
    name: str | None = None,
) -> tuple[Tensor, Tensor]:
    """The same as `tf.image.non_max_suppression`, with scores, which overlaps may lower instead of dropping a box.

    >>> boxes = [[0.0, 0.0, 1.0, 1.0], [0.0, 0.1, 1.0, 1.1], [0.0, 2.0, 1.0, 3.0]]
    >>> found, scores = tf.image.non_max_suppression_with_scores(boxes, [0.6, 0.9, 0.7], 3, soft_nms_sigma=0.5)
    >>> found.numpy(), scores.numpy().round(2)
    (array([1, 2, 0], dtype=int32), array([0.9 , 0.7 , 0.31], dtype=float32))

    Args:
      boxes: as in `tf.image.non_max_suppression`, and so the next four.
      scores: one for each box.
      max_output_size: how many boxes there may be in the result.
      iou_threshold: the largest overlap.
      score_threshold: what a score must exceed.
      soft_nms_sigma: if it is positive, no box is dropped for an overlap: its score is multiplied by
        `exp(-overlap ** 2 / (2 sigma))` for each better one ("Soft-NMS", Bodla et al., 2017).
      name: accepted for compatibility.
    """
    op = "non_max_suppression_with_scores"
    boxes, scores = _inputs(op, boxes, scores)
    limits = _limits(op, max_output_size, iou_threshold, score_threshold, scores.dtype)
    sigma = _scalar(op, "soft_nms_sigma", soft_nms_sigma, scores.dtype)

    def chosen(
        boxes: Any, scores: Any, size: Any, iou: Any, least: Any, sigma: Any
    ) -> tuple[Any, Any]:
        _check(op, size, iou)
        if sigma < 0:
            raise invalid(f"{op}: soft_nms_sigma must not be negative, got {sigma}")
        overlap = _overlap_of(boxes)
        if sigma > 0:
            return _softly(overlap, scores, int(size), least, sigma)
        found = _suppressed(overlap, scores, int(size), iou, least)
        return found, scores[found]

    specs = [ArraySpec((None,), dtypes.int32), ArraySpec((None,), scores.dtype)]
    found, best = on_host(op, chosen, [boxes, scores, *limits, sigma], specs)
    return found, best


@export("image.non_max_suppression_overlaps")
def non_max_suppression_overlaps(
    overlaps: Any,
    scores: Any,
    max_output_size: Any,
    overlap_threshold: Any = 0.5,
    score_threshold: Any = float("-inf"),
    name: str | None = None,
) -> Tensor:
    """The same as `tf.image.non_max_suppression`, for overlaps that are known: a number for each pair.

    >>> overlaps = [[1.0, 0.9], [0.9, 1.0]]
    >>> tf.image.non_max_suppression_overlaps(overlaps, [0.5, 0.6], 2).numpy()
    array([1], dtype=int32)
    """
    op = "non_max_suppression_overlaps"
    table = convert_to_tensor(overlaps, dtype_hint=dtypes.float32)
    scores = convert_to_tensor(scores, dtype_hint=dtypes.float32)
    shape = table._array.shape
    if len(shape) != 2 or len(scores._array.shape) != 1:
        raise invalid(
            f"{op}: overlaps must be a matrix and scores a vector, got shapes {table.shape} and {scores.shape}"
        )
    limits = _limits(op, max_output_size, overlap_threshold, score_threshold, dtypes.float32)

    def chosen(overlaps: Any, scores: Any, size: Any, most: Any, least: Any) -> list[Any]:
        if overlaps.shape != (len(scores), len(scores)):
            raise invalid(
                f"{op}: {len(scores)} scores need overlaps of shape {[len(scores)] * 2}, got {list(overlaps.shape)}"
            )
        if size < 0:
            raise invalid(f"{op}: max_output_size must not be negative, got {size}")
        return [_suppressed(lambda i, j: overlaps[i, j], scores, int(size), most, least)]

    spec = ArraySpec((None,), dtypes.int32)
    return on_host(op, chosen, [table, scores, *limits], [spec])[0]


@export("image.non_max_suppression_padded")
def non_max_suppression_padded(
    boxes: Any,
    scores: Any,
    max_output_size: Any,
    iou_threshold: Any = 0.5,
    score_threshold: Any = float("-inf"),
    pad_to_max_output_size: bool = False,
    name: str | None = None,
    sorted_input: bool = False,
    canonicalized_coordinates: bool = False,
    tile_size: int = 512,
) -> tuple[Tensor, Tensor]:
    """The same as `tf.image.non_max_suppression`, also for batches, filled up with zeros.

    >>> boxes = [[0.0, 0.0, 1.0, 1.0], [0.0, 0.1, 1.0, 1.1], [0.0, 2.0, 1.0, 3.0]]
    >>> found, count = tf.image.non_max_suppression_padded(boxes, [0.6, 0.9, 0.7], 3, pad_to_max_output_size=True)
    >>> found.numpy(), int(count)
    (array([1, 2, 0], dtype=int32), 2)

    Args:
      boxes: `[..., n, 4]`.
      scores: `[..., n]`.
      max_output_size: how many boxes there may be in the result.
      iou_threshold: a box is dropped if it overlaps as much with a better one, or more.
      score_threshold: what a score must exceed.
      pad_to_max_output_size: whether zeros are added; it must be so for batches.
      name: accepted for compatibility.
      sorted_input: accepted for compatibility: the boxes are sorted in any case.
      canonicalized_coordinates: whether it is known that `y1 <= y2` and `x1 <= x2`.
      tile_size: accepted for compatibility.

    Returns:
      The numbers of the boxes, and how many of them there are.
    """
    op = "non_max_suppression_padded"
    boxes = convert_to_tensor(boxes, dtype_hint=dtypes.float32)
    scores = convert_to_tensor(scores, dtype_hint=dtypes.float32)
    shape = boxes._array.shape
    if len(shape) < 2 or shape[-1] != 4 or len(scores._array.shape) != len(shape) - 1:
        raise invalid(
            f"{op}: boxes must have the shape [..., n, 4] and scores [..., n], got {boxes.shape} and {scores.shape}"
        )
    if not pad_to_max_output_size and len(shape) > 2:
        raise ValueError(
            f"{op}: pad_to_max_output_size must be True for batches, got boxes of shape {boxes.shape}"
        )
    most = integer(op, "max_output_size", max_output_size)
    limits = _limits(op, max_output_size, iou_threshold, score_threshold, scores.dtype)

    def chosen(boxes: Any, scores: Any, size: Any, iou: Any, least: Any) -> tuple[Any, Any]:
        rows = [
            # A box of zeros stands for none.
            _suppressed(
                _overlap_in_order(b),
                np.where((b > 0).any(axis=1), s, -np.inf),
                *(int(size), iou, least, _as_much),
            )
            for b, s in zip(_in_order(boxes, canonicalized_coordinates), _rows(scores), strict=True)
        ]
        counts = np.array([len(row) for row in rows], np.int32).reshape(boxes.shape[:-2])
        if not pad_to_max_output_size:
            return rows[0], counts
        padded = [np.pad(row, (0, int(size) - len(row))) for row in rows]
        return np.array(padded, np.int32).reshape(*boxes.shape[:-2], int(size)), counts

    specs = [
        ArraySpec((*shape[:-2], most if pad_to_max_output_size else None), dtypes.int32),
        ArraySpec(shape[:-2], dtypes.int32),
    ]
    found, counts = on_host(op, chosen, [boxes, scores, *limits], specs)
    return found, counts


class CombinedNonMaxSuppression(NamedTuple):
    """What `tf.image.combined_non_max_suppression` gives."""

    nmsed_boxes: Tensor
    nmsed_scores: Tensor
    nmsed_classes: Tensor
    valid_detections: Tensor


@export("image.combined_non_max_suppression")
def combined_non_max_suppression(
    boxes: Any,
    scores: Any,
    max_output_size_per_class: Any,
    max_total_size: Any,
    iou_threshold: Any = 0.5,
    score_threshold: Any = float("-inf"),
    pad_per_class: bool = False,
    clip_boxes: bool = True,
    name: str | None = None,
) -> CombinedNonMaxSuppression:
    """The best boxes of all classes for each image, after suppression within each class.

    >>> boxes = tf.constant([[[[0.0, 0.0, 1.0, 1.0]], [[0.0, 0.0, 0.5, 0.5]]]])
    >>> found = tf.image.combined_non_max_suppression(boxes, tf.constant([[[0.2], [0.9]]]), 2, 3)
    >>> found.nmsed_scores.numpy(), found.valid_detections.numpy()
    (array([[0.9, 0.2, 0. ]], dtype=float32), array([2], dtype=int32))

    Args:
      boxes: `[images, n, q, 4]`, where `q` is the number of classes, or 1 if all have the same boxes.
      scores: `[images, n, classes]`.
      max_output_size_per_class: how many boxes of a class there may be.
      max_total_size: how many boxes of an image there may be.
      iou_threshold: the largest overlap.
      score_threshold: what a score must exceed.
      pad_per_class: whether the result has no more rows than there can be boxes.
      clip_boxes: whether coordinates are brought into the range from 0 to 1.
      name: accepted for compatibility.
    """
    op = "combined_non_max_suppression"
    boxes = convert_to_tensor(boxes, dtypes.float32)
    scores = convert_to_tensor(scores, dtypes.float32)
    shape, rated = boxes._array.shape, scores._array.shape
    if len(shape) != 4 or len(rated) != 3 or shape[3] != 4 or shape[2] not in (1, rated[2]):
        raise invalid(
            f"{op}: boxes must have the shape [images, n, q, 4], scores [images, n, classes], and q be 1 or the "
            f"number of classes; got {boxes.shape} and {scores.shape}"
        )
    each = integer(op, "max_output_size_per_class", max_output_size_per_class)
    total = integer(op, "max_total_size", max_total_size)
    if each <= 0 or total <= 0:
        raise invalid(
            f"{op}: max_output_size_per_class and max_total_size must be positive, got {each} and {total}"
        )
    count = min(total, each * rated[2]) if pad_per_class else total
    limits = _limits(op, each, iou_threshold, score_threshold, scores.dtype)

    def chosen(boxes: Any, scores: Any, each: Any, iou: Any, least: Any) -> tuple[Any, ...]:
        _check(op, each, iou)
        images = len(boxes)
        out = np.zeros((images, count, 4), np.float32)
        best, classes = np.zeros((2, images, count), np.float32)
        valid = np.zeros(images, np.int32)
        for i in range(images):
            picked = []
            for c in range(scores.shape[2]):
                own = boxes[i, :, c if boxes.shape[2] > 1 else 0]
                found = _suppressed(_overlap_of(own), scores[i, :, c], int(each), iou, least)
                picked += [(-scores[i, n, c], c, own[n]) for n in found]
            picked.sort(key=lambda each: each[0])
            valid[i] = n = min(len(picked), count)
            for row, (score, c, box) in enumerate(picked[:n]):
                out[i, row] = np.clip(box, 0, 1) if clip_boxes else box
                best[i, row], classes[i, row] = -score, c
        return out, best, classes, valid

    lead = shape[0]
    specs = [
        ArraySpec((lead, count, 4), dtypes.float32),
        ArraySpec((lead, count), dtypes.float32),
        ArraySpec((lead, count), dtypes.float32),
        ArraySpec((lead,), dtypes.int32),
    ]
    return CombinedNonMaxSuppression(*on_host(op, chosen, [boxes, scores, *limits], specs))


# Arguments.


def _inputs(op: str, boxes: Any, scores: Any) -> tuple[Tensor, Tensor]:
    boxes = convert_to_tensor(boxes, dtype_hint=dtypes.float32)
    scores = convert_to_tensor(scores, dtype_hint=dtypes.float32)
    if boxes.dtype is not scores.dtype or boxes.dtype not in (dtypes.float32, dtypes.float16):
        raise DTypeError(
            None,
            None,
            f"{op}: boxes and scores must both be float32 or both float16, got {boxes.dtype.name} and "
            f"{scores.dtype.name}. Use tf.cast.",
        )
    shape, rated = boxes._array.shape, scores._array.shape
    if len(shape) != 2 or shape[1] != 4 or len(rated) != 1 or shape[0] != rated[0]:
        raise invalid(
            f"{op}: boxes must have the shape [n, 4] and scores [n], got {boxes.shape} and {scores.shape}"
        )
    return boxes, scores


def _limits(op: str, size: Any, overlap: Any, score: Any, dtype: Any) -> list[Tensor]:
    count = convert_to_tensor(size)
    if not count.dtype.is_integer or count._array.ndim:
        raise invalid(
            f"{op}: max_output_size must be an integer, got {count.dtype.name} of shape {count.shape}"
        )
    return [
        count,
        _scalar(op, "iou_threshold", overlap, dtype),
        _scalar(op, "score_threshold", score, dtype),
    ]


def _scalar(op: str, argument: str, value: Any, dtype: Any) -> Tensor:
    found = convert_to_tensor(value, dtype)
    if found._array.ndim:
        raise invalid(f"{op}: {argument} must be a number, got shape {found.shape}")
    return found


def _check(op: str, size: Any, overlap: Any) -> None:
    if size < 0:
        raise invalid(f"{op}: max_output_size must not be negative, got {size}")
    if not 0 <= overlap <= 1:
        raise invalid(f"{op}: iou_threshold must be from 0 to 1, got {overlap}")


def _rows(scores: np.ndarray) -> np.ndarray:
    return scores.reshape(-1, scores.shape[-1])


# Choosing.


def _overlap_of(boxes: np.ndarray) -> Overlap:
    """The intersection over the union."""
    low = np.minimum(boxes[:, :2], boxes[:, 2:])
    high = np.maximum(boxes[:, :2], boxes[:, 2:])
    area = np.prod(high - low, axis=1)

    def overlap(i: np.ndarray, j: int) -> np.ndarray:
        sides = np.maximum(np.minimum(high[i], high[j]) - np.maximum(low[i], low[j]), 0)
        shared = sides[:, 0] * sides[:, 1]
        both = area[i] + area[j] - shared
        there = (area[i] > 0) & (area[j] > 0)
        return np.where(there, shared / np.where(there, both, 1), 0).astype(boxes.dtype)

    return overlap


def _in_order(boxes: np.ndarray, known: bool) -> np.ndarray:
    """Boxes with the smaller coordinates first; that of the first box says, as in TensorFlow, how all of them are."""
    boxes = boxes.reshape(-1, *boxes.shape[-2:])
    if known or not boxes.size:
        return boxes
    first = boxes[0, 0]
    order = [0 if first[0] <= first[2] else 2, 1 if first[1] <= first[3] else 3]
    return boxes[..., [*order, 2 - order[0], 4 - order[1]]]


def _overlap_in_order(boxes: np.ndarray) -> Overlap:
    """The same for boxes in order; where they are not, as TensorFlow computes it."""
    low, high = boxes[:, :2], boxes[:, 2:]
    area = np.prod(high - low, axis=1)

    def overlap(i: np.ndarray, j: int) -> np.ndarray:
        sides = np.maximum(np.minimum(high[i], high[j]) - np.maximum(low[i], low[j]), 0)
        shared = sides[:, 0] * sides[:, 1]
        both = area[i] + area[j] - shared + boxes.dtype.type(1e-8)
        return np.where(both <= 0, 0, shared / np.where(both <= 0, 1, both)).astype(boxes.dtype)

    return overlap


def _more(a: Any, b: Any) -> Any:
    return a > b


def _as_much(a: Any, b: Any) -> Any:
    return a >= b


def _suppressed(
    overlap: Overlap, scores: Any, size: int, most: Any, least: Any, too_much: Any = _more
) -> np.ndarray:
    """The numbers of the best candidates, best first."""
    order = np.argsort(-scores, kind="stable")
    order = order[scores[order] > least]
    found: list[int] = []
    while len(order) and len(found) < size:
        best, order = int(order[0]), order[1:]
        found.append(best)
        order = order[~too_much(overlap(order, best), most)]
    return np.array(found, np.int32)


def _softly(
    overlap: Overlap, scores: Any, size: int, least: Any, sigma: Any
) -> tuple[np.ndarray, np.ndarray]:
    """The same, where an overlap lowers a score, which may then still be the best."""
    waiting = [(-score, i, 0) for i, score in enumerate(scores) if score > least]
    heapq.heapify(waiting)
    found: list[int] = []
    best: list[Any] = []
    while waiting and len(found) < size:
        before, i, begin = heapq.heappop(waiting)
        score = -before
        for j in reversed(found[begin:]):
            shared = overlap(np.array([i]), j)[0]
            score = score * np.exp(shared * shared * (-0.5 / sigma))
            if score <= least:
                break
        if score == -before:
            found.append(i)
            best.append(score)
        elif score > least:
            heapq.heappush(waiting, (-score, i, len(found)))
    return np.array(found, np.int32), np.array(best, scores.dtype)
