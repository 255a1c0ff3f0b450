"""Every row of the table of primitives, inside `tf.function`: values and gradients are those of the same Python run
eagerly, on the NumPy executor and on XLA.

All rows of a primitive are traced as one function, with its gradients: compiling is what takes the time here. XLA has
one row of every 16th primitive to compile, and all others in the exhaustive part.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Iterable
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from tests.proofs.samples import Sample
from tests.proofs.test_table import CASES, gradients, run, sources, tensors, weights_of

import tapeflow as tf
from tapeflow._src.primitives.all_rows import TABLE

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


def typical(name: str) -> list[Sample]:
    """One row of a primitive: of those that have gradients, the one that most elements take part in."""

    def elements(sample: Sample) -> tuple[int, int]:
        return len(sources(TABLE[name], sample)), sum(x.size for x in sample.inputs)

    return [max(ROWS[name], key=elements)]


def with_gradients(
    name: str, rows: list[Sample], inputs: list[list[Any]], weights: list[Any]
) -> list[Any]:
    """For each row of a primitive its outputs, and the gradients of their weighted sum."""
    primitive = TABLE[name]
    results = []
    for sample, row, weight in zip(rows, inputs, weights, strict=True):
        outputs = run(primitive, sample, row)
        slopes = gradients(primitive, sample, row, weight) if sources(primitive, sample) else []
        results.append((outputs, slopes))
    return results


def weights(name: str, rows: list[Sample]) -> list[Any]:
    return [weights_of(run(TABLE[name], s, tensors(s.inputs))) for s in rows]


def assert_same(name: str, rows: list[Sample], results: list[Any], expected: list[Any]) -> None:
    """Equal, up to the rounding of sums in another order."""
    for sample, found, known in zip(rows, results, expected, strict=True):
        inputs = ", ".join(f"{x.dtype}{list(x.shape)}" for x in sample.inputs)
        for what, a, b in zip(("outputs", "gradients"), found, known, strict=True):
            case = f"{what} of {name}({inputs}, {sample.attrs})"
            assert [(y.dtype, y.shape) for y in a] == [(y.dtype, y.shape) for y in b], case
            for y, value in zip(a, b, strict=True):
                if name not in NEVER_THE_SAME:
                    assert_near(np.asarray(y), np.asarray(value), case)


def assert_near(y: np.ndarray, value: np.ndarray, case: str, roundings: int = 1024) -> None:
    if value.dtype.kind not in "fc":
        np.testing.assert_array_equal(y, value, case)
        return
    near = roundings * float(ml_dtypes.finfo(np.zeros((), value.dtype).real.dtype).eps)
    largest = np.max(np.abs(value), initial=0.0, where=np.isfinite(value))
    np.testing.assert_allclose(y, value, near, near * largest, err_msg=case)


NUMPY, XLA = EXECUTORS
EXHAUSTIVE = pytest.mark.exhaustive


def on(executor: Any, names: Iterable[str], choose: Callable[[str], list[Sample]]) -> list[Any]:
    """For each primitive the rows of it that are chosen, on an executor."""
    return [
        pytest.param(n, choose(n), *executor.values, id=f"{n}-{executor.id}", marks=executor.marks)
        for n in names
    ]


def beside_the_typical(name: str) -> list[Sample]:
    (one,) = typical(name)
    return [row for row in ROWS[name] if row is not one]


def more_on_xla(names: Iterable[str], choose: Callable[[str], list[Sample]]) -> list[Any]:
    """The same in the exhaustive part."""
    return [
        pytest.param(n, rows, *XLA.values, id=f"{n}-xla-all", marks=[*XLA.marks, EXHAUSTIVE])
        for n in names
        if (rows := choose(n))
    ]


NAMES = list(TABLE)


@pytest.mark.parametrize(
    ("name", "rows", "jit_compile"),
    [
        *on(NUMPY, TABLE, ROWS.__getitem__),
        *on(XLA, NAMES[::16], typical),
        *more_on_xla(NAMES[::16], beside_the_typical),
        *more_on_xla([n for i, n in enumerate(NAMES) if i % 16], ROWS.__getitem__),
    ],
)
def test_inside(name: str, rows: list[Sample], jit_compile: bool):
    """A tape inside of the function."""
    inputs = [tensors(s.inputs) for s in rows]
    known = weights(name, rows)
    expected = with_gradients(name, rows, inputs, known)

    @tf.function(jit_compile=jit_compile, autograph=False)
    def compiled(inputs: Any) -> Any:
        return with_gradients(name, rows, inputs, known)

    assert_same(name, rows, compiled(inputs), expected)


DIFFERENTIABLE = [n for n in TABLE if any(sources(TABLE[n], s) for s in ROWS[n])]
# Both executors run the same backward graphs, and XLA has compiled those above: a part of them is enough.
PART = {*DIFFERENTIABLE[::5], "identity"}  # of which an output is an argument
SMALL_PART = {*DIFFERENTIABLE[::50], "identity"}


@pytest.mark.parametrize(
    ("name", "rows", "jit_compile"),
    [
        *on(NUMPY, DIFFERENTIABLE, ROWS.__getitem__),
        *on(XLA, sorted(SMALL_PART), typical),
        *more_on_xla(sorted(PART), ROWS.__getitem__),
    ],
)
def test_tape_around(name: str, rows: list[Sample], jit_compile: bool):
    """A tape around the call, which differentiates it by a backward pass of its own."""
    primitive = TABLE[name]
    inputs = [tensors(s.inputs) for s in rows]
    known = weights(name, rows)
    expected = with_gradients(name, rows, inputs, known)

    @tf.function(jit_compile=jit_compile, autograph=False)
    def compiled(inputs: Any) -> Any:
        return [run(primitive, s, row) for s, row in zip(rows, inputs, strict=True)]

    watched = [[row[i] for i in sources(primitive, s)] for s, row in zip(rows, inputs, strict=True)]
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
    assert_same(name, rows, found, expected)
