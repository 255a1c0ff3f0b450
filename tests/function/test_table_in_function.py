"""Every row of the table of primitives, inside `tf.function`: values and gradients are those of the same Python run
eagerly, on the NumPy executor and on XLA.

All rows of a primitive are traced as one function, with its gradients: compiling is what takes the time here.
"""

from __future__ import annotations

import importlib.util
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from tests.primitives.samples import Sample
from tests.primitives.test_table import CASES, gradients, run, sources, tensors, weights_of

import tapeflow as tf
from tapeflow.primitives.table import TABLE

EXECUTORS = [
    pytest.param(False, id="numpy"),
    pytest.param(
        True,
        id="xla",
        marks=pytest.mark.skipif(
            importlib.util.find_spec("jax") is None, reason="jax is not installed"
        ),
    ),
]

ROWS: dict[str, list[Sample]] = {name: [] for name in TABLE}
for case in CASES:
    ROWS[case.values[0].name].append(case.values[1])

NEVER_THE_SAME = {"random_next_state"}


def with_gradients(name: str, inputs: list[list[Any]], weights: list[Any]) -> list[Any]:
    """For each row of a primitive its outputs, and the gradients of their weighted sum."""
    primitive = TABLE[name]
    results = []
    for sample, row, weight in zip(ROWS[name], inputs, weights, strict=True):
        outputs = run(primitive, sample, row)
        slopes = gradients(primitive, sample, row, weight) if sources(primitive, sample) else []
        results.append((outputs, slopes))
    return results


def weights(name: str) -> list[Any]:
    return [weights_of(run(TABLE[name], s, tensors(s.inputs))) for s in ROWS[name]]


def assert_same(name: str, results: list[Any], expected: list[Any]) -> None:
    """Equal, up to the rounding of sums in another order."""
    for sample, found, known in zip(ROWS[name], results, expected, strict=True):
        inputs = ", ".join(f"{x.dtype}{list(x.shape)}" for x in sample.inputs)
        for what, a, b in zip(("outputs", "gradients"), found, known, strict=True):
            told = f"{what} of {name}({inputs}, {sample.attrs})"
            assert [(y.dtype, y.shape) for y in a] == [(y.dtype, y.shape) for y in b], told
            for y, value in zip(a, b, strict=True):
                if name not in NEVER_THE_SAME:
                    assert_near(np.asarray(y), np.asarray(value), told)


def assert_near(y: np.ndarray, value: np.ndarray, told: str, roundings: int = 1024) -> None:
    if value.dtype.kind not in "fc":
        np.testing.assert_array_equal(y, value, told)
        return
    near = roundings * float(ml_dtypes.finfo(np.zeros((), value.dtype).real.dtype).eps)
    largest = np.max(np.abs(value), initial=0.0, where=np.isfinite(value))
    np.testing.assert_allclose(y, value, near, near * largest, err_msg=told)


@pytest.mark.parametrize("jit_compile", EXECUTORS)
@pytest.mark.parametrize("name", list(TABLE))
def test_inside(name: str, jit_compile: bool):
    """A tape inside of the function."""
    inputs = [tensors(s.inputs) for s in ROWS[name]]
    expected = with_gradients(name, inputs, weights(name))
    known = weights(name)

    @tf.function(jit_compile=jit_compile, autograph=False)
    def compiled(inputs: Any) -> Any:
        return with_gradients(name, inputs, known)

    assert_same(name, compiled(inputs), expected)


DIFFERENTIABLE = [n for n in TABLE if any(sources(TABLE[n], s) for s in ROWS[n])]
NUMPY, XLA = EXECUTORS
# Both executors run the same backward graphs, and XLA has compiled those above: a part of them is enough.
AROUND = [(n, NUMPY) for n in DIFFERENTIABLE] + [(n, XLA) for n in DIFFERENTIABLE[::5]]
if ("identity", XLA) not in AROUND:  # an output that is an argument
    AROUND.append(("identity", XLA))


@pytest.mark.parametrize(
    ("name", "jit_compile"),
    [pytest.param(n, *e.values, id=f"{n}-{e.id}", marks=e.marks) for n, e in AROUND],
)
def test_tape_around(name: str, jit_compile: bool):
    """A tape around the call, which differentiates it by a backward pass of its own."""
    primitive = TABLE[name]
    inputs = [tensors(s.inputs) for s in ROWS[name]]
    known = weights(name)
    expected = with_gradients(name, inputs, known)

    @tf.function(jit_compile=jit_compile, autograph=False)
    def compiled(inputs: Any) -> Any:
        return [run(primitive, s, row) for s, row in zip(ROWS[name], inputs, strict=True)]

    watched = [
        [row[i] for i in sources(primitive, s)] for s, row in zip(ROWS[name], inputs, strict=True)
    ]
    with tf.GradientTape() as tape:
        tape.watch(watched)
        outputs = compiled(inputs)
    pairs = [
        (o, tf.constant(w, o.dtype))
        for row, row_weights in zip(outputs, known, strict=True)
        for o, w in zip(row, row_weights, strict=True)
        if w is not None
    ]
    slopes = tape.gradient(
        [o for o, _ in pairs],
        watched,
        output_gradients=[w for _, w in pairs],
        unconnected_gradients="zero",
    )
    found = [
        (row, [tf.convert_to_tensor(g) for g in part])
        for row, part in zip(outputs, slopes, strict=True)
    ]
    assert_same(name, found, expected)
