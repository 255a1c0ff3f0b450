"""Ragged tensors as sparse ones, and back."""

from __future__ import annotations

import subprocess
import sys

import pytest

import tapeflow as tf


def test_there_and_back():
    x = tf.ragged.constant([[1, 2], [], [3]])
    sparse = x.to_sparse()
    assert sparse.indices.numpy().tolist() == [[0, 0], [0, 1], [2, 0]]
    assert sparse.dense_shape.numpy().tolist() == [3, 2]
    assert tf.RaggedTensor.from_sparse(sparse).to_list() == x.to_list()
    assert tf.function(lambda x: x.to_sparse().values)(x).numpy().tolist() == [1, 2, 3]


def test_rows_of_rows():
    sparse = tf.ragged.constant([[[1, 2], [3]], [[4]]]).to_sparse()
    assert sparse.indices.numpy().tolist() == [[0, 0, 0], [0, 0, 1], [0, 1, 0], [1, 0, 0]]


def test_what_is_not_at_the_beginning_of_a_row():
    with pytest.raises(tf.errors.InvalidArgumentError, match="not right-ragged"):
        tf.RaggedTensor.from_sparse(tf.SparseTensor([[0, 1]], [1], [1, 2]))
    with pytest.raises(ValueError, match="must be 2"):
        tf.RaggedTensor.from_sparse(tf.SparseTensor([[0]], [1], [1]))


def test_sparse_tensors_are_imported_when_they_are_asked_for():
    code = (
        "import sys, tapeflow as tf; x = tf.ragged.constant([[1]]);"
        "assert 'tapeflow._src.sparse' not in sys.modules; x.to_sparse()"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
