"""Every row of the table of primitives that ONNX has a counterpart of, computed by onnxruntime.

A row is computed in float32, for which onnxruntime has all its kernels. The model is made for its sizes, and in the
exhaustive part for sizes that are not known.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tests.proofs.samples import Sample
from tests.proofs.test_in_function import ROWS, assert_near
from tests.proofs.test_table import run, tensors

import tapeflow as tf
from tapeflow._src.core.errors import TracingError
from tapeflow._src.exporting.onnx.export import SUBJECTS
from tapeflow._src.exporting.onnx.writing import ROWS as WRITTEN
from tapeflow._src.primitives.table import TABLE

pytest.importorskip("onnx", reason="onnx is not installed: pip install 'tapeflow[onnx]'")
ort = pytest.importorskip("onnxruntime", reason="onnxruntime is not installed")

NOT_OF_NOTHING = {
    "cumprod": "a Loop without turns loses the sizes of its rows",
    "cumulative_logsumexp": "the same",
    "recurrence": "the same",
    "sparse_softmax_cross_entropy": "a reduction of no rows loses its axis",
    "attention": "a product over no elements is whatever was in memory",
    "attention_gradient": "the same",
    "biased_attention": "the same",
    "biased_attention_gradient": "the same",
    "diag_part": "a reduction of no rows keeps its axis",
    "conv": "an image that no window fits in is refused",
    "conv_filter_gradient": "a window of no cells never ends",
    "top_k_indices": "with many threads the process ends: it divides by the number of rows",
}
"""What onnxruntime does with arrays without elements, and ONNX's description does not say."""

WANT_NUMBERS = {
    "unstack": "the number of outputs is a size",
    "mirror_fold": "where images end follows from sizes",
    "resample": "the matrix of weights follows from sizes",
    "diag_part": "whether there is such a diagonal follows from sizes",
    "einsum": "a dimension is stretched if its size is 1",
}
"""Primitives that need the numbers of sizes, at least in some rows, and why."""

BEYOND = {
    "gather_nd": "indices of no coordinates",
    "bincount": "without a length that is known",
    "conv": "integers",
    "conv_filter_gradient": "groups of channels",
}
"""Rows that are refused, by what the message says."""


def real(name: str) -> list[Sample]:
    """The rows of a primitive with numbers that are not complex, in float32."""
    found = []
    for sample in ROWS[name]:
        arrays = [np.asarray(x) for x in sample.inputs]
        arrays = [x.astype(np.float32) if x.dtype == np.float64 else x for x in arrays]
        if any(x.dtype.kind in "cO" for x in arrays):
            continue
        if name in NOT_OF_NOTHING and not all(x.size for x in arrays):
            continue
        if any(getattr(each, "is_complex", False) for each in sample.attrs.values()):
            continue
        row = Sample(tuple(arrays), sample.attrs)
        try:
            outputs = run(TABLE[name], row, tensors(row.inputs))
        except tf.errors.OpError:  # a row that is about float64
            continue
        if name in NOT_OF_NOTHING and not all(y.shape.num_elements() for y in outputs):
            continue
        found.append(row)
    return found


assert SUBJECTS  # they have brought their rows
NAMES = [name for name in TABLE if name in WRITTEN]


def computed(model: Any, arrays: list[np.ndarray]) -> list[np.ndarray]:
    """What onnxruntime gives. Inputs that are not used are no inputs to it, if they are constants."""
    session = ort.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    named = dict(zip([info.name for info in model.graph.input], arrays, strict=True))
    return session.run(None, {info.name: named[info.name] for info in session.get_inputs()})


def assert_row(name: str, sample: Sample, specs: list[tf.TensorSpec]) -> None:
    primitive = TABLE[name]
    expected = run(primitive, sample, tensors(sample.inputs))
    function = tf.function(lambda *xs: run(primitive, sample, list(xs)), autograph=False)
    model = tf.export.to_onnx(function.get_concrete_function(*specs))
    found = computed(model, list(sample.inputs))
    for y, value in zip(found, expected, strict=True):
        case = f"{name}({sample.attrs})"
        known = np.asarray(value)
        assert (y.dtype, y.shape) == (known.dtype, known.shape), case
        assert_near(y, known, case)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.sample(5)
def test_a_row_is_computed(name: str):
    rows = real(name)
    assert rows or all(x.dtype.kind == "c" for s in ROWS[name] for x in s.inputs)
    for sample in rows:
        specs = [tf.TensorSpec(x.shape, x.dtype) for x in sample.inputs]
        try:
            assert_row(name, sample, specs)
        except tf.errors.InvalidArgumentError as error:
            assert name in BEYOND and BEYOND[name] in str(error), error


@pytest.mark.exhaustive
@pytest.mark.parametrize("name", NAMES)
def test_a_row_is_computed_for_unknown_sizes(name: str):
    refused = 0
    for sample in real(name):
        specs = [tf.TensorSpec([None] * x.ndim, x.dtype) for x in sample.inputs]
        try:
            assert_row(name, sample, specs)
        except TracingError:  # there is no function of such arguments
            continue
        except tf.errors.InvalidArgumentError as error:
            assert name in (*WANT_NUMBERS, *BEYOND), error
            assert "cannot be exported" in str(error)
            refused += 1
    assert refused or name not in WANT_NUMBERS
