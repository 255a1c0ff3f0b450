"""Composite tensors in rows: taken apart for files, and put together; batches of tensors as sparse tensors."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tapeflow._src.core import nest
from tapeflow._src.core.errors import DataLossError, invalid
from tapeflow._src.core.shapes import TensorShape
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.data.nodes.batching import Batch
from tapeflow._src.data.runtime.node import Node, Run
from tapeflow._src.data.runtime.rows import Row, Rows
from tapeflow._src.data.specs import batched, box, contractor, expander, tensor_leaves


def expanded(rows: Rows, spec: Any) -> Rows:
    """Rows with the components of composite tensors in their place."""
    expand = expander(spec)
    return rows if expand is None else _Changed(rows, expand)


def contracted(rows: Rows, spec: Any) -> Rows:
    """Rows in which components have become composite tensors again."""
    contract = contractor(spec)
    return rows if contract is None else _Changed(rows, contract)


class _Changed(Rows):
    def __init__(self, source: Rows, change: Callable[[Sequence[Any]], Sequence[Any]]) -> None:
        self._source, self._change = source, change

    def __next__(self) -> Row:
        return tuple(self._change(next(self._source)))

    def skip(self, n: int) -> int:
        """In the input."""
        return self._source.skip(n)


class SparseBatch(Batch):
    """Batches of elements of different shapes, as sparse tensors."""

    name = "_DenseToSparseBatchDataset"
    op = "sparse_batch"

    def __init__(self, source: Node, batch_size: Any, row_shape: Any) -> None:
        sizes = [None if n is None or int(n) == -1 else int(n) for n in row_shape]
        leaf = None if nest.is_nested(source.spec) else tensor_leaves(self.op, source.spec)[0]
        if leaf is None or leaf.shape.rank not in (None, len(sizes)):
            raise invalid(
                f"Dataset.sparse_batch: the elements must be single tensors of the rank of row_shape = {sizes}, got "
                f"{source.spec}"
            )
        self._leaf, self._row_shape = leaf, TensorShape(sizes)
        super().__init__(source, batch_size, drop_remainder=False)

    def _spec(self, size: int | None) -> Any:
        from tapeflow._src.sparse.tensor import SparseTensorSpec  # which few programs use

        return batched(SparseTensorSpec(self._row_shape, self._leaf.dtype), size)

    def rows(self, run: Run) -> Rows:
        """Chunks of the input, of rows that have not the same shape."""
        return _SparseRows(self.inputs[0].rows(run), self.known(0), self._row_shape.as_list())


class _SparseRows(Rows):
    def __init__(self, source: Rows, size: int, row_shape: Sequence[int | None]) -> None:
        self._source, self._size, self._row_shape = source, size, row_shape

    def __next__(self) -> Row:
        from tapeflow._src.sparse.tensor import SparseTensor

        rows = [np.asarray(next(self._source)[0])]
        while len(rows) < self._size:
            row = next(self._source, None)
            if row is None:
                break
            rows.append(np.asarray(row[0]))
        sizes = self._sizes(rows)
        places = [
            np.column_stack([np.full(row.size, i), *(x.ravel() for x in np.indices(row.shape))])
            for i, row in enumerate(rows)
        ]
        values = np.concatenate([row.ravel() for row in rows])
        indices = np.concatenate(places).astype(np.int64)
        return (box(SparseTensor(indices, Tensor(values), [len(rows), *sizes])),)

    def _sizes(self, rows: Sequence[np.ndarray]) -> list[int]:
        """The shape of a row of the batch: what was said, or the largest size."""
        largest = np.max([row.shape for row in rows], axis=0, initial=0).tolist()
        for row in rows:
            fits = len(row.shape) == len(self._row_shape) and all(
                most is None or n <= most
                for n, most in zip(row.shape, self._row_shape, strict=True)
            )
            if not fits:
                raise DataLossError(
                    None,
                    None,
                    f"Dataset.sparse_batch: an element of shape {list(row.shape)} is larger than row_shape = "
                    f"{self._row_shape}",
                )
        return [
            n if most is None else most for n, most in zip(largest, self._row_shape, strict=True)
        ]
