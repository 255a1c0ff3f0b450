"""Sequences of labels: runs of the same one as one, and which there are."""

from __future__ import annotations

from typing import Any

import numpy as np

from tapeflow._src.core import dtypes
from tapeflow._src.core.convert import convert_to_tensor
from tapeflow._src.core.errors import invalid
from tapeflow._src.core.export import export
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.ops.effects.host import on_host
from tapeflow._src.primitives.specs import ArraySpec


@export("nn.collapse_repeated")
def collapse_repeated(
    labels: Any, seq_length: Any, name: str | None = None
) -> tuple[Tensor, Tensor]:
    """Sequences in which a label that follows itself is there once.

    >>> labels, lengths = tf.nn.collapse_repeated([[1, 1, 2, 2, 1], [3, 3, 3, 0, 0]], [5, 3])
    >>> labels.numpy(), lengths.numpy()
    (array([[1, 2, 1],
           [3, 0, 0]], dtype=int32), array([3, 1], dtype=int32))

    Args:
      labels: `[batch, time]`.
      seq_length: how many labels of each row count.
      name: accepted for compatibility.
    """
    op = "collapse_repeated"
    labels, lengths = convert_to_tensor(labels), convert_to_tensor(seq_length)
    shape = labels._array.shape
    if len(shape) != 2 or lengths._array.shape != (shape[0],):
        raise invalid(
            f"{op}: labels must have the shape [batch, time] and seq_length [batch], got {labels.shape} and "
            f"{lengths.shape}"
        )

    def run(labels: np.ndarray, lengths: np.ndarray) -> tuple[Any, Any]:
        rows = []
        for row, length in zip(labels, lengths, strict=True):
            part = row[:length]
            rows.append(part[np.append(True, part[1:] != part[:-1])[: len(part)]])
        counts = np.array([len(row) for row in rows], lengths.dtype)
        out = np.zeros((len(rows), int(counts.max(initial=0))), labels.dtype)
        for row, found in zip(out, rows, strict=True):
            row[: len(found)] = found
        return out, counts

    specs = [ArraySpec((shape[0], None), labels.dtype), ArraySpec((shape[0],), lengths.dtype)]
    found, counts = on_host(op, run, [labels, lengths], specs)
    return found, counts


@export("nn.ctc_unique_labels")
def ctc_unique_labels(labels: Any, name: str | None = None) -> list[Tensor]:
    """The labels that there are in each sequence, and the number of each among them: for `tf.nn.ctc_loss`.

    >>> unique, numbers = tf.nn.ctc_unique_labels([[3, 3, 2, 3]])
    >>> unique.numpy(), numbers.numpy()
    (array([[3, 2, 0, 0]]), array([[0, 0, 1, 0]], dtype=int32))
    """
    op = "ctc_unique_labels"
    labels = convert_to_tensor(labels)
    shape = labels._array.shape
    if len(shape) != 2:
        raise invalid(f"{op}: labels must have the shape [batch, time], got {labels.shape}")

    def run(labels: np.ndarray) -> tuple[Any, Any]:
        unique = np.zeros(labels.shape, np.int64)
        numbers = np.zeros(labels.shape, np.int32)
        for i, row in enumerate(labels):
            wide = row.astype(np.int64).tolist()
            known = list(dict.fromkeys(wide))
            unique[i, : len(known)] = known
            numbers[i] = [known.index(label) for label in wide]
        return unique, numbers

    return on_host(
        op, run, [labels], [ArraySpec(shape, dtypes.int64), ArraySpec(shape, dtypes.int32)]
    )
