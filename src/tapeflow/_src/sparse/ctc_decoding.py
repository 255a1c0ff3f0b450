"""`tf.nn.ctc_greedy_decoder` and `tf.nn.ctc_beam_search_decoder`: the labels that sequences of scores stand for."""

from __future__ import annotations

import heapq
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from tapeflow._src.core import dtypes
from tapeflow._src.core.convert import convert_to_tensor
from tapeflow._src.core.dtypes import int32, int64
from tapeflow._src.core.errors import FailedPreconditionError, invalid
from tapeflow._src.core.export import export
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.ops.arguments import integer
from tapeflow._src.ops.array.shaping import cast
from tapeflow._src.primitives.specs import ArraySpec
from tapeflow._src.primitives.table import unlisted
from tapeflow._src.sparse.tensor import SparseTensor


def _unfit(message: str) -> FailedPreconditionError:
    return FailedPreconditionError(None, None, message)


def _check(op: str, inputs: np.ndarray, lengths: np.ndarray) -> None:
    steps, batch, _ = inputs.shape
    if len(lengths) != batch:
        raise _unfit(f"{op}: sequence_length has {len(lengths)} elements for a batch of {batch}")
    if (lengths > steps).any() or (lengths < 0).any():
        raise _unfit(
            f"{op}: sequence_length must be from 0 to {steps}, the number of steps, got {lengths.tolist()}"
        )


def _sparse(rows: Sequence[Sequence[int]]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    lengths = np.array([len(row) for row in rows], np.int64)
    places = [(i, j) for i, row in enumerate(rows) for j in range(len(row))]
    indices = np.array(places, np.int64).reshape(-1, 2)
    values = np.array([label for row in rows for label in row], np.int64)
    return indices, values, np.array([len(rows), lengths.max(initial=0)], np.int64)


def _greedy_kernel(
    inputs: Any, lengths: Any, merge_repeated: bool, blank: int | None
) -> tuple[np.ndarray, ...]:
    op = "ctc_greedy_decoder"
    inputs, lengths = np.asarray(inputs), np.asarray(lengths)
    _check(op, inputs, lengths)
    classes = inputs.shape[2]
    none = classes - 1 if blank is None else blank + classes * (blank < 0)
    if not 0 <= none < classes:
        raise invalid(f"{op}: blank_index must be a class, from 0 to {classes - 1}, got {blank}")
    best = inputs.argmax(2)
    counts = np.arange(len(inputs))[:, None] < lengths
    kept = counts & (best != none)
    if merge_repeated:
        kept[1:] &= best[1:] != best[:-1]
    rows = [best[kept[:, i], i].tolist() for i in range(inputs.shape[1])]
    sums = np.where(counts, inputs.max(2, initial=-np.inf), 0).sum(0, dtype=inputs.dtype)
    return *_sparse(rows), -sums[:, None]


def _greedy_result(inputs: ArraySpec, lengths: ArraySpec, **attrs: Any) -> tuple[ArraySpec, ...]:
    batch = inputs.shape[1] if inputs.shape is not None else None
    return *_decoded(), ArraySpec((batch, 1), inputs.dtype)  # pyright: ignore[reportArgumentType]


def _decoded() -> tuple[ArraySpec, ArraySpec, ArraySpec]:
    size: Any = None
    return ArraySpec((size, 2), int64), ArraySpec((size,), int64), ArraySpec((2,), int64)


_NEVER = (-math.inf, -math.inf)  # of a blank, of anything


class _Beam:
    """A sequence of labels, as the last label and the beam before it.

    The probabilities (their logarithms) are those of ending with a blank, of ending with the label, and of both:
    now, and before the step.
    """

    __slots__ = ("before", "blank", "children", "label", "labelled", "parent", "total")

    def __init__(self, parent: _Beam | None, label: int) -> None:
        self.parent, self.label = parent, label
        self.children: dict[int, _Beam] = {}
        self.before = _NEVER
        self.forget()

    def forget(self) -> None:
        self.blank = self.labelled = self.total = -math.inf

    def labels(self) -> list[int]:
        found, beam = [], self
        while beam.parent is not None:
            found.append(beam.label)
            beam = beam.parent
        return found[::-1]


def _either(a: float, b: float) -> float:
    """The logarithm of a sum, from the logarithms of its terms."""
    if a < b:
        a, b = b, a
    return a if b == -math.inf else a + math.log1p(math.exp(b - a))


class _Best:
    """The best beams so far, at most `width` of them."""

    def __init__(self, width: int) -> None:
        self.width = width
        self.heap: list[tuple[float, int, _Beam]] = []
        self.count = 0

    def takes(self, total: float) -> bool:
        return total > -math.inf and (len(self.heap) < self.width or total > self.heap[0][0])

    def add(self, beam: _Beam) -> None:
        self.count += 1
        entry = beam.total, -self.count, beam
        if len(self.heap) < self.width:
            heapq.heappush(self.heap, entry)
        else:
            _, _, worst = heapq.heappushpop(self.heap, entry)
            worst.forget()

    def in_order(self) -> list[_Beam]:
        return [beam for _, _, beam in sorted(self.heap, key=lambda entry: entry[:2], reverse=True)]


def _search(scores: np.ndarray, width: int) -> list[_Beam]:
    """The best sequences of labels for the scores of one example, `[time, classes]`; the last class is the blank."""
    root = _Beam(None, -1)
    root.blank = root.total = 0.0
    best = _Best(width)
    best.add(root)
    for step in scores:
        # How likely each class is.
        logs = step.astype(np.float64)
        logs = (logs - (logs.max() + math.log(np.exp(logs - logs.max()).sum()))).tolist()
        blank = logs.pop()
        beams, best = best.in_order(), _Best(width)
        for beam in beams:
            beam.before = beam.blank, beam.total
        for beam in beams:
            parent = beam.parent
            if parent is not None:
                if parent.total > -math.inf:
                    # A label that comes twice needs a blank between.
                    beam.labelled = _either(
                        beam.labelled, parent.before[beam.label != parent.label]
                    )
                beam.labelled += logs[beam.label]
            beam.blank = beam.before[1] + blank
            beam.total = _either(beam.blank, beam.labelled)
            best.add(beam)
        for beam in beams:
            if not best.takes(beam.before[1]):
                continue
            for label, log in enumerate(logs):
                child = beam.children.get(label)
                if child is not None and child.total > -math.inf:
                    continue
                labelled = log + beam.before[label != beam.label]
                if best.takes(labelled):
                    if child is None:
                        child = beam.children[label] = _Beam(beam, label)
                    child.blank = -math.inf
                    child.labelled = child.total = labelled
                    best.add(child)
                elif child is not None:  # one that was among the best before does not grow any more
                    child.before = _NEVER
    return best.in_order()


def _beam_kernel(
    inputs: Any, lengths: Any, beam_width: int, top_paths: int
) -> tuple[np.ndarray, ...]:
    op = "ctc_beam_search_decoder"
    inputs, lengths = np.asarray(inputs), np.asarray(lengths)
    _check(op, inputs, lengths)
    batch = inputs.shape[1]
    paths: list[list[list[int]]] = [[] for _ in range(top_paths)]
    logs = np.empty((batch, top_paths), inputs.dtype)
    for i in range(batch):
        found = _search(inputs[: lengths[i], i], beam_width)
        if len(found) < top_paths:
            raise invalid(
                f"{op}: top_paths is {top_paths}, but for example {i} there are only {len(found)} sequences"
            )
        for k in range(top_paths):
            paths[k].append(found[k].labels())
            logs[i, k] = found[k].total
    return *(part for rows in paths for part in _sparse(rows)), logs


def _beam_result(
    inputs: ArraySpec, lengths: ArraySpec, beam_width: int, top_paths: int
) -> tuple[ArraySpec, ...]:
    batch = inputs.shape[1] if inputs.shape is not None else None
    logs = ArraySpec((batch, top_paths), inputs.dtype)  # pyright: ignore[reportArgumentType]
    return *(part for _ in range(top_paths) for part in _decoded()), logs


_greedy = unlisted(
    "sparse.ctc_greedy", "inputs lengths", _greedy_kernel, result=_greedy_result, outputs=4
)
_beam_search = unlisted(
    "sparse.ctc_beam_search", "inputs lengths", _beam_kernel, result=_beam_result, outputs=None
)


def _operands(op: str, inputs: Any, sequence_length: Any) -> tuple[Tensor, Tensor]:
    scores = convert_to_tensor(inputs)
    if not isinstance(inputs, Tensor) and scores.dtype.is_integer:
        scores = cast(scores, dtypes.float32)
    if scores.dtype not in (dtypes.float32, dtypes.float64):
        raise invalid(f"{op}: inputs must be float32 or float64, got {scores.dtype.name}")
    if scores.shape.rank not in (None, 3):
        raise invalid(
            f"{op}: inputs must have the shape [time, batch, classes], got {scores.shape}"
        )
    if scores.shape.rank and scores.shape[2] == 0:
        raise invalid(f"{op}: inputs must have at least one class, got shape {scores.shape}")
    lengths = convert_to_tensor(sequence_length, int32)
    if lengths.shape.rank not in (None, 1):
        raise invalid(f"{op}: sequence_length must have the shape [batch], got {lengths.shape}")
    return scores, lengths


@export("nn.ctc_greedy_decoder")
def ctc_greedy_decoder(
    inputs: Any,
    sequence_length: Any,
    merge_repeated: bool = True,
    blank_index: int | None = None,
) -> tuple[list[SparseTensor], Tensor]:
    """The likeliest class at each step, without blanks and repetitions.

    >>> scores = tf.constant([[[5.0, 0, 0]], [[4.0, 0, 0]], [[0.0, 0, 3]], [[0.0, 2, 0]]])
    >>> (decoded,), cost = tf.nn.ctc_greedy_decoder(scores, [4])
    >>> tf.sparse.to_dense(decoded).numpy(), cost.numpy()
    (array([[0, 1]]), array([[-14.]], dtype=float32))

    Args:
      inputs: logits, `[time, batch, classes]`.
      sequence_length: how many steps of each example count.
      merge_repeated: whether a class that comes again at once is one label.
      blank_index: the class that stands for no label, also counted from the end; the last one by default.

    Returns:
      A list of one sparse tensor with the labels, and for each example the negative sum of the largest logits,
      `[batch, 1]`.
    """
    op = "ctc_greedy_decoder"
    scores, lengths = _operands(op, inputs, sequence_length)
    blank = None if blank_index is None else integer(op, "blank_index", blank_index)
    *parts, sums = _greedy(scores, lengths, merge_repeated=bool(merge_repeated), blank=blank)
    return [SparseTensor(*parts)], sums


@export("nn.ctc_beam_search_decoder")
def ctc_beam_search_decoder(
    inputs: Any, sequence_length: Any, beam_width: int = 100, top_paths: int = 1
) -> tuple[list[SparseTensor], Tensor]:
    """The likeliest sequences of labels, as far as a search with a beam finds them.

    All steps that give the same labels count together. The last class stands for no label.

    >>> scores = tf.math.log([[[0.6, 0.1, 0.3]], [[0.1, 0.6, 0.3]]])
    >>> decoded, logs = tf.nn.ctc_beam_search_decoder(scores, [2], beam_width=4, top_paths=2)
    >>> [tf.sparse.to_dense(path).numpy().tolist() for path in decoded], tf.exp(logs).numpy().round(2)
    ([[[0, 1]], [[0]]], array([[0.36, 0.27]], dtype=float32))

    Args:
      inputs: logits, `[time, batch, classes]`.
      sequence_length: how many steps of each example count.
      beam_width: how many sequences are kept at each step.
      top_paths: how many are given, at most `beam_width`.

    Returns:
      A sparse tensor of labels for each path, and the logarithms of the probabilities, `[batch, top_paths]`.
    """
    op = "ctc_beam_search_decoder"
    scores, lengths = _operands(op, inputs, sequence_length)
    width, count = integer(op, "beam_width", beam_width), integer(op, "top_paths", top_paths)
    if width < 1 or count < 1:
        raise invalid(f"{op}: beam_width and top_paths must be at least 1, got {width} and {count}")
    if count > width:
        raise invalid(f"{op}: top_paths must be at most beam_width, got {count} and {width}")
    *parts, logs = _beam_search(scores, lengths, beam_width=width, top_paths=count)
    return [SparseTensor(*parts[i : i + 3]) for i in range(0, len(parts), 3)], logs
