"""Every primitive is proven from the table of samples: shape rule, first and second derivatives."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.primitives.samples import Sample

SAMPLES: dict[str, list[Sample]] = {}
for path in sorted(Path(__file__).parent.glob("samples*.py")):
    rows = importlib.import_module(f"tests.primitives.{path.stem}").SAMPLES
    assert not rows.keys() & SAMPLES.keys(), f"{path.name} repeats rows"
    SAMPLES |= rows

import tapeflow as tf
from tapeflow.primitives.table import TABLE, ArraySpec, Primitive

CASES = [
    pytest.param(TABLE[name], sample, id=f"{name}-{i}")
    for name, samples in SAMPLES.items()
    if name in TABLE
    for i, sample in enumerate(samples)
]


def has_gradient(primitive: Primitive, sample: Sample) -> bool:
    return primitive.differentiable and any(
        edge is not None and x.dtype.kind in "fc"
        for edge, x in zip(
            primitive.gradients * (len(sample.inputs) if primitive.variadic else 1),
            sample.inputs,
            strict=False,
        )
    )


DIFFERENTIABLE = [c for c in CASES if has_gradient(*c.values)]  # type: ignore[arg-type]


def test_every_primitive_has_samples():
    assert set(TABLE) - set(SAMPLES) == set(), "primitives without a row in samples.py"
    assert set(SAMPLES) - set(TABLE) == set(), "rows for primitives that do not exist"


def run(primitive: Primitive, sample: Sample, inputs: list[Any]) -> list[Any]:
    output = primitive.call(*inputs, **sample.attrs)
    return list(output) if primitive.outputs != 1 else [output]


def tensors(sample: Sample) -> list[tf.Tensor]:
    return [tf.convert_to_tensor(x) for x in sample.inputs]


@pytest.mark.parametrize(("primitive", "sample"), CASES)
def test_shape_rule_tells_the_result(primitive: Primitive, sample: Sample):
    inputs = tensors(sample)
    outputs = run(primitive, sample, inputs)
    specs = [ArraySpec(tuple(x.shape), x.dtype) for x in inputs]
    told = primitive.result(*specs, **sample.attrs)
    told = list(told) if primitive.outputs != 1 else [told]
    assert [(tuple(o.shape), o.dtype) for o in outputs] == [(t.shape, t.dtype) for t in told]


def objective(primitive: Primitive, sample: Sample, weights: list[np.ndarray]):
    """A scalar function of the inputs that has a slope in every output element."""

    def f(inputs: list[Any]) -> Any:
        total = tf.constant(0.0, tf.float64)
        for output, weight in zip(run(primitive, sample, inputs), weights, strict=True):
            if output.dtype.is_complex:
                output = tf.math.real(output) + 2.0 * tf.math.imag(output)
            total += tf.reduce_sum(output * weight)
        return total

    return f


def prepared(primitive: Primitive, sample: Sample):
    """The objective, and the positions of the inputs that have gradients."""
    inputs = tensors(sample)
    rng = np.random.default_rng(7)
    weights = [rng.uniform(0.5, 1.5, tuple(o.shape)) for o in run(primitive, sample, inputs)]
    positions = [
        i
        for i, x in enumerate(inputs)
        if primitive.gradients[i if not primitive.variadic else 0] is not None
        and x.dtype.is_differentiable
    ]
    return inputs, objective(primitive, sample, weights), positions


def gradients(f: Any, inputs: list[Any], positions: list[int]) -> list[np.ndarray]:
    sources = [inputs[i] for i in positions]
    with tf.GradientTape() as tape:
        tape.watch(sources)
        y = f(inputs)
    found = tape.gradient(y, sources, unconnected_gradients="zero")
    return [np.asarray(tf.convert_to_tensor(g)) for g in found]


def moved(inputs: list[Any], position: int, by: np.ndarray) -> list[Any]:
    changed = list(inputs)
    changed[position] = tf.constant(inputs[position].numpy() + by)
    return changed


@pytest.mark.parametrize(("primitive", "sample"), DIFFERENTIABLE)
def test_first_derivative(primitive: Primitive, sample: Sample):
    inputs, f, positions = prepared(primitive, sample)
    found = gradients(f, inputs, positions)
    step = 1e-6
    for g, position in zip(found, positions, strict=True):
        x = np.asarray(inputs[position])
        assert g.shape == x.shape
        expected = np.zeros(x.shape)
        for index in np.ndindex(x.shape):
            by = np.zeros(x.shape)
            by[index] = step
            above, below = f(moved(inputs, position, by)), f(moved(inputs, position, -by))
            expected[index] = (float(above) - float(below)) / (2 * step)
        np.testing.assert_allclose(g, expected, rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize(
    ("primitive", "sample"),
    [c for c in DIFFERENTIABLE if c.values[1].second_order],  # type: ignore[union-attr]
)
def test_second_derivative(primitive: Primitive, sample: Sample):
    """The slope of the gradient along a random direction, by a tape in a tape and by differences."""
    inputs, f, positions = prepared(primitive, sample)
    rng = np.random.default_rng(11)
    along = [rng.normal(size=tuple(inputs[i].shape)) for i in positions]

    def slope(inputs: list[Any]) -> Any:
        sources = [inputs[i] for i in positions]
        with tf.GradientTape() as tape:
            tape.watch(sources)
            y = f(inputs)
        found = tape.gradient(y, sources, unconnected_gradients="zero")
        total = tf.constant(0.0, tf.float64)
        for g, d in zip(found, along, strict=True):
            total += tf.reduce_sum(tf.convert_to_tensor(g) * d)
        return total

    found = gradients(slope, inputs, positions)
    step = 1e-5
    for g, position in zip(found, positions, strict=True):
        direction = rng.normal(size=g.shape)
        above = slope(moved(inputs, position, step * direction))
        below = slope(moved(inputs, position, -step * direction))
        expected = (float(above) - float(below)) / (2 * step)
        np.testing.assert_allclose(np.sum(g * direction), expected, rtol=1e-5, atol=1e-6)
