"""Forward mode agrees with reverse mode, for every row of the table of samples.

For weights w of the outputs and directions t of the inputs, <w, J t> is one number, and so is <J^T w, t>.
"""

from __future__ import annotations

import numpy as np
from tests.proofs.rows import for_each_row
from tests.proofs.samples import Sample
from tests.proofs.test_table import (
    CASES,
    gradients,
    inner,
    moved,
    run,
    sources,
    tensors,
    weights_of,
)

import tapeflow as tf
from tapeflow._src.autodiff import tangents
from tapeflow._src.primitives.all_rows import TABLE
from tapeflow._src.primitives.table import Primitive

WITH_SOURCES = [c for c in CASES if sources(*c.values)]


def directions(arrays: list[np.ndarray]) -> list[np.ndarray]:
    rng = np.random.default_rng(13)
    found = []
    for x in arrays:
        d = rng.normal(size=x.shape)
        found.append(
            (d + 1j * rng.normal(size=x.shape) if x.dtype.kind == "c" else d).astype(x.dtype)
        )
    return found


def test_shortcuts_are_for_primitives_that_exist():
    assert {*tangents._LINEAR, *tangents._PRODUCTS} - TABLE.keys() == set()
    for name, inputs in tangents._LINEAR.items():
        assert set(inputs) <= set(TABLE[name].inputs)


@for_each_row(WITH_SOURCES)
def test_forward_mode_agrees_with_reverse_mode(primitive: Primitive, sample: Sample):
    inputs = tensors(sample.inputs)
    positions = sources(primitive, sample)
    along = directions([sample.inputs[i] for i in positions])
    with tf.autodiff.ForwardAccumulator([inputs[i] for i in positions], tensors(along)) as acc:
        outputs = run(primitive, sample, inputs)
    weights = weights_of(outputs)
    forward = 0.0
    for y, w in zip(outputs, weights, strict=True):
        tangent = acc.jvp(y)
        if w is None:
            assert tangent is None
        elif tangent is not None:
            assert (tangent.shape, tangent.dtype) == (y.shape, y.dtype)
            forward += inner(np.asarray(tangent), w)
    found = gradients(primitive, sample, inputs, weights)
    reverse = sum(inner(np.asarray(g), t) for g, t in zip(found, along, strict=True))
    np.testing.assert_allclose(forward, reverse, rtol=1e-9, atol=1e-10)


@for_each_row(c for c in WITH_SOURCES if c.values[1].first_order and c.values[1].second_order)
def test_forward_over_reverse_agrees_with_differences(primitive: Primitive, sample: Sample):
    """The derivative of the gradient along a direction: a Hessian times a vector."""
    inputs = tensors(sample.inputs)
    positions = sources(primitive, sample)
    along = directions([sample.inputs[i] for i in positions])
    weights = weights_of(run(primitive, sample, inputs))
    with tf.autodiff.ForwardAccumulator([inputs[i] for i in positions], tensors(along)) as acc:
        first = gradients(primitive, sample, inputs, weights)
    step = 1e-5

    def gradients_at(sign: float) -> list[tf.Tensor]:
        there = inputs
        for i, t in zip(positions, along, strict=True):
            there = moved(there, i, sign * step * t)
        return gradients(primitive, sample, there, weights)

    for g, above, below in zip(first, gradients_at(1.0), gradients_at(-1.0), strict=True):
        expected = (np.asarray(above) - np.asarray(below)) / (2 * step)
        found = acc.jvp(g, unconnected_gradients="zero")
        np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-5)
