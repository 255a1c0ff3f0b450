"""`tf.nn.ctc_loss` of sparse labels."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tapeflow._src.core.composites import dispatch
from tapeflow._src.core.composites.dispatch import NOT_HANDLED
from tapeflow._src.ops.nn.ctc import ctc_loss
from tapeflow._src.ragged.tensor import RaggedTensor
from tapeflow._src.sparse.conversion import reorder
from tapeflow._src.sparse.tensor import SparseTensor


def _ctc_loss(function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """The labels of a row are its elements, one after the other, wherever they stand."""
    given = dispatch.bound(function, args, kwargs)
    labels = None if given is None else given["labels"]
    if given is None or not isinstance(labels, SparseTensor):
        return NOT_HANDLED
    if given.get("blank_index") is None:
        raise ValueError(
            "ctc_loss: blank_index must be given where labels are a tf.SparseTensor, as in TensorFlow: -1 for the last "
            "class, 0 for the first, as for dense labels"
        )
    labels = reorder(labels)
    rows = RaggedTensor.from_value_rowids(
        labels.values, labels.indices[:, 0], labels.dense_shape[0], validate=False
    )
    return ctc_loss(**{**given, "labels": rows.to_tensor(), "label_length": rows.row_lengths()})


dispatch.register(ctc_loss, _ctc_loss)
