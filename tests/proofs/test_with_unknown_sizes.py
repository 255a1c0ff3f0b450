"""Every row of the table of primitives in a function traced for unknown sizes.

A function is traced once for arguments whose sizes are all `None`, or whose first one is, and then called with the
arguments of the row and with larger ones. Values and gradients must be those of the same Python run eagerly, and the
function must not be traced again, but for the primitives that need numbers.
"""

from __future__ import annotations

import importlib.util
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from tests.proofs.samples import Sample
from tests.proofs.test_in_function import NEVER_THE_SAME, ROWS, assert_near
from tests.proofs.test_table import run, sources, tensors, weights_of

import tapeflow as tf
from tapeflow._src.primitives.all_rows import TABLE
from tapeflow._src.primitives.table import Primitive

EXPECTED_RETRACES: dict[str, str] = {
    "lu": "its gradient has another formula for tall, for square and for wide matrices",
    "segment_prod": "the number of steps of its gradient grows with the number of rows",
}
"""Primitives that need the number of a size while tracing, and why."""


ONLY_AS_THEY_ARE = {"scatter_rows", "recurrence"}
"""Primitives that only gradients call, and that do not check that what they are given fits."""


OF_FULL_RANK = {"qr", "singular_values", "svd"}
"""A matrix of repeated columns has singular values of 0, and the vectors that belong to them are not unique. The
gradient of its `qr` divides by 0, and whether that is infinite or NaN is a matter of rounding."""


# Larger arguments.


def doubled(x: np.ndarray, axes: set[int]) -> np.ndarray:
    """Twice as long along some axes; square matrices become block-diagonal ones, and keep their properties."""
    if {x.ndim - 2, x.ndim - 1} <= axes and x.shape[-1] == x.shape[-2] and x.dtype.kind in "fc":
        x = np.kron(np.eye(2, dtype=x.dtype), x)
        axes = axes - {x.ndim - 2, x.ndim - 1}
    for axis in sorted(axes):
        x = np.concatenate([x, x], axis)
    return x


def candidates(sample: Sample, first_only: bool) -> list[tuple[np.ndarray, ...]]:
    """The inputs with some of their sizes doubled: all that are equal, or a single one."""
    places = [(i, a) for i, x in enumerate(sample.inputs) for a in range(x.ndim) if x.shape[a] > 1]
    sizes = sorted({sample.inputs[i].shape[a] for i, a in places})
    groups = [[(i, a) for i, a in places if sample.inputs[i].shape[a] == size] for size in sizes]
    groups += [[(i, 0) for i, a in places if a == 0], *([place] for place in places)]
    found = []
    for group in groups:
        if group and not (first_only and any(a for _, a in group)):
            found.append(
                tuple(
                    doubled(x, {a for j, a in group if j == i}) for i, x in enumerate(sample.inputs)
                )
            )
    return found


@dataclass
class Call:
    """What a function is called with, and what it must give."""

    inputs: list[Any]
    weights: list[Any]
    expected: list[Any]


def with_gradients(
    primitive: Primitive, sample: Sample, inputs: list[Any], weights: list[Any]
) -> list[Any]:
    """The outputs, and the gradients of their weighted sum."""
    watched = [inputs[i] for i in sources(primitive, sample)]
    with tf.GradientTape() as tape:
        tape.watch(watched)
        outputs = run(primitive, sample, inputs)
    targets = [o for o in outputs if o.dtype.is_differentiable]
    slopes = tape.gradient(targets, watched, output_gradients=weights, unconnected_gradients="zero")
    return [*outputs, *[tf.convert_to_tensor(g) for g in slopes]]


def call(primitive: Primitive, sample: Sample, arrays: tuple[np.ndarray, ...]) -> Call | None:
    """The eager results, or None if the primitive does not take such inputs."""
    try:
        inputs = tensors(arrays)
        outputs = run(primitive, sample, inputs)
        weights = [
            tf.constant(w, o.dtype)
            for o, w in zip(outputs, weights_of(outputs), strict=True)
            if w is not None
        ]
        return Call(inputs, weights, with_gradients(primitive, sample, inputs, weights))
    except (tf.errors.OpError, ValueError, TypeError, NotImplementedError):
        return None


def calls(name: str, sample: Sample, first_only: bool) -> list[Call]:
    """With the row as it is, and then with all larger ones that the primitive takes."""
    found = [call(TABLE[name], sample, sample.inputs)]
    assert found[0] is not None
    larger = [] if name in ONLY_AS_THEY_ARE else candidates(sample, first_only)
    if name in OF_FULL_RANK:
        noise = np.random.default_rng(0)
        larger = [tuple(x + 0.1 * noise.normal(size=x.shape) for x in each) for each in larger]
    found += [call(TABLE[name], sample, arrays) for arrays in larger]
    count = len(found[0].expected)
    return [c for c in found if c is not None and len(c.expected) == count]


def spec(x: Any, first_only: bool) -> tf.TensorSpec:
    shape = list(x.shape)
    unknown = shape[:1] if first_only else shape
    return tf.TensorSpec([*[None] * len(unknown), *shape[len(unknown) :]], x.dtype)


def assert_results(name: str, sample: Sample, results: list[Any], expected: list[Any]) -> None:
    inputs = ", ".join(f"{x.dtype}{list(x.shape)}" for x in sample.inputs)
    for i, (y, value) in enumerate(zip(results, expected, strict=True)):
        case = f"result {i} of {name}({inputs}, {sample.attrs})"
        assert (y.dtype, y.shape) == (value.dtype, value.shape), case
        if name not in NEVER_THE_SAME:
            assert_near(np.asarray(y), np.asarray(value), case)


def is_complex(sample: Sample) -> bool:
    return any(x.dtype.kind == "c" for x in sample.inputs)


def has_sizes(sample: Sample) -> bool:
    return any(x.ndim for x in sample.inputs)


def function(primitive: Primitive, sample: Sample, first: Call, **options: Any) -> tf.Function:
    """The primitive with its gradients, as a function of inputs and weights of unknown sizes."""

    def compiled(inputs: list[Any], weights: list[Any]) -> list[Any]:
        return with_gradients(primitive, sample, inputs, weights)

    first_only = options.pop("first_only")
    signature = [
        [spec(x, first_only) for x in first.inputs],
        [spec(x, False) for x in first.weights],
    ]
    return tf.function(compiled, input_signature=signature, autograph=False, **options)


def traced_again(name: str, first_only: bool) -> list[Any]:
    """Calls each row with all sizes, and tells which rows were traced more than once."""
    found = []
    for sample in filter(has_sizes, ROWS[name]):
        several = calls(name, sample, first_only)
        compiled = function(
            TABLE[name], sample, several[0], jit_compile=False, first_only=first_only
        )
        for each in several:
            results = compiled(each.inputs, each.weights)
            assert_results(name, sample, results, each.expected)
        if compiled.experimental_get_tracing_count() > 1:
            found.append((sample.attrs, [x.shape for x in several[0].inputs]))
    return found


SIZED = [name for name in TABLE if any(map(has_sizes, ROWS[name]))]


@pytest.mark.parametrize("first_only", [False, True], ids=["all", "first"])
@pytest.mark.parametrize("name", SIZED)
@pytest.mark.sample(6)
def test_one_trace_for_all_sizes(name: str, first_only: bool):
    found = traced_again(name, first_only)
    assert not found or name in EXPECTED_RETRACES, f"{name} was traced again"


@pytest.mark.parametrize("name", EXPECTED_RETRACES)
def test_expected_retraces(name: str):
    """What is excused is also so."""
    assert traced_again(name, True) + traced_again(name, False)


# To XLA sizes are always numbers, so those matter that are in attributes: few elementwise primitives are enough.
ON_XLA = [name for name in SIZED if not TABLE[name].elementwise or name in ("add", "exp", "power")]
SAMPLE = {*ON_XLA[2::72], "add"}


@pytest.mark.skipif(importlib.util.find_spec("jax") is None, reason="jax is not installed")
@pytest.mark.parametrize(
    "name",
    [pytest.param(n, marks=[] if n in SAMPLE else pytest.mark.exhaustive) for n in ON_XLA],
)
def test_unknown_sizes_on_xla(name: str):
    """Traced for the sizes of the rows, and called with larger ones."""
    rows = [s for s in ROWS[name] if has_sizes(s) and not is_complex(s)]  # sizes have no dtype
    rows = rows or [s for s in ROWS[name] if has_sizes(s)]
    several = [calls(name, s, first_only=False) for s in rows]

    def compiled(inputs: list[Any], weights: list[Any]) -> list[Any]:
        arguments = zip(rows, inputs, weights, strict=True)
        return [with_gradients(TABLE[name], s, x, w) for s, x, w in arguments]

    def arguments(each: list[Call]) -> list[Any]:
        return [[c.inputs for c in each], [c.weights for c in each]]

    first, last = [each[0] for each in several], [each[-1] for each in several]
    signature = [[[spec(x, False) for x in row] for row in part] for part in arguments(first)]
    function = tf.function(compiled, input_signature=signature, autograph=False, jit_compile=True)
    function.get_concrete_function(*arguments(first))
    results = function(*arguments(last))
    for sample, result, call in zip(rows, results, last, strict=True):
        assert_results(name, sample, result, call.expected)
    if name not in EXPECTED_RETRACES:
        assert function.experimental_get_tracing_count() == 1
