"""What a kernel refuses, a check finds: no program that XLA runs for the user is of another meaning than the kernels.

The samples of all primitives are given hostile values, one at a time. Whatever makes a kernel raise an error must be
found by a check, and where the check finds nothing the lowering gives what the kernel gives.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import zip_longest
from typing import Any

import numpy as np
import pytest
from tests.proofs.samples import Sample
from tests.proofs.test_table import SAMPLES, run, takes, tensors

import tapeflow as tf
from tapeflow._src.core import dtypes
from tapeflow._src.graph.graph import Node, Value
from tapeflow._src.primitives.all_rows import TABLE

jax = pytest.importorskip("jax")

from tests.engines.xla.test_lowerings import assert_same, fits_xla  # noqa: E402

import tapeflow._src.engines.xla.subjects  # noqa: E402
from tapeflow._src.engines.xla.checks import doubtful, holds  # noqa: E402
from tapeflow._src.engines.xla.lowerings import CHECKS, LOWERINGS, ON_HOST  # noqa: E402
from tapeflow._src.insides.xla_options import exact_options  # noqa: E402

GIVEN_BY_US = {
    "take_along": "its indices come from argsort and top_k",
    "put_along": "its indices come from argsort and top_k",
}
"""Primitives that refuse values which no user can give them."""

ROWS = 2  # samples of a primitive with floats, and as many with integers; what they refuse is the same in all


# Hostile values.


def hostile(dtype: np.dtype) -> list[Any]:
    if dtype.kind in "iu":
        info = np.iinfo(dtype)
        return [v for v in (0, -1, 5, info.max, info.min, 2**32) if info.min <= v <= info.max]
    if dtype.kind == "f":
        return [0.0, np.nan, np.inf, -np.inf, -1.0, 1e30]
    return [np.nan, np.inf, 0.0] if dtype.kind == "c" else []


def spoiled(sample: Sample) -> Iterator[Sample]:
    """The sample with a hostile value in one place of an input, and in all of it."""
    for position, x in enumerate(sample.inputs):
        for value in hostile(x.dtype):
            for where in ((0,), (x.size // 2,), slice(None)):
                if x.size:
                    new = np.array(x)
                    new.reshape(-1)[where] = value
                    yield with_input(sample, position, new)


def with_input(sample: Sample, position: int, x: np.ndarray) -> Sample:
    inputs = list(sample.inputs)
    inputs[position] = x
    return replace(sample, inputs=tuple(inputs))


def rows_of(name: str) -> list[Sample]:
    """Samples, those of floats also with integers: most kernels that refuse integers take floats, too."""
    rows = [s for s in SAMPLES[name] if not any(x.dtype.kind == "O" for x in s.inputs)]
    if name in LOWERINGS:
        rows = [s for s in rows if fits_xla(name, s)]
    whole = [
        replace(s, inputs=tuple(as_integers(x) for x in s.inputs))
        for s in rows
        if any(x.dtype == np.float64 for x in s.inputs)
    ]
    rows = rows[:ROWS] + [s for s in whole if takes(TABLE[name], s) and runs(name, s)][:ROWS]
    return [replace(s, inputs=tuple(map(np.array, s.inputs))) for s in rows]


def as_integers(x: np.ndarray) -> np.ndarray:
    if x.dtype != np.float64:
        return x
    return np.nan_to_num(np.abs(x), posinf=3).astype(np.int32) + np.int32(1)


def on_numpy(name: str, sample: Sample) -> list[np.ndarray] | None:
    """The results, or None if the kernel refuses the values."""
    try:
        return [np.asarray(y) for y in run(TABLE[name], sample, tensors(sample.inputs))]
    except (tf.errors.OpError, ValueError, TypeError, IndexError):
        return None


def runs(name: str, sample: Sample) -> bool:
    return on_numpy(name, sample) is not None


def refuses_values(name: str) -> bool:
    return any(
        on_numpy(name, bad) is None
        for sample in rows_of(name)
        if runs(name, sample)
        for bad in spoiled(sample)
    )


# Every kernel that refuses values has a check.


@pytest.mark.parametrize("name", [name for name in TABLE if name not in ON_HOST])
def test_what_refuses_values_has_a_check(name: str):
    if name not in CHECKS and name not in GIVEN_BY_US:
        assert not refuses_values(name), f"XLA would run {name} on values that its kernel refuses"


def test_checks_are_those_of_lowerings():
    assert CHECKS.keys() - LOWERINGS.keys() == set()
    assert GIVEN_BY_US.keys() & CHECKS.keys() == set()


# And the check finds what the kernel refuses.


def node_of(name: str, sample: Sample) -> Node:
    values = [Value(x.shape, dtypes.from_numpy(x.dtype)) for x in sample.inputs]
    return Node(TABLE[name], values, sample.attrs, [])


def checked(name: str, samples: list[Sample]) -> Any:
    """A function of the inputs of all samples: for each the outputs of the lowering, and whether the check holds.

    They are one program: compiling is what takes the time here.
    """
    nodes = [node_of(name, sample) for sample in samples]
    looked = [bool(doubtful([node], {})) for node in nodes]

    def holds_for(i: int, arrays: Any) -> Any:
        return holds(nodes[i], dict(zip(nodes[i].inputs, arrays, strict=True)), samples[i].attrs)

    def program(rows: Any) -> Any:
        results = []
        for i, arrays in enumerate(rows):
            found = LOWERINGS[name](*arrays, **samples[i].attrs)
            outputs = [found] if TABLE[name].outputs == 1 else list(found)
            results.append((outputs, holds_for(i, arrays) if looked[i] else True))
        return results

    compiled = jax.jit(program, compiler_options=exact_options())

    def on_xla(rows: list[tuple[np.ndarray, ...]]) -> list[tuple[list[np.ndarray], bool]]:
        with jax.enable_x64(True):
            results = [([np.asarray(y) for y in ys], bool(ok)) for ys, ok in compiled(rows)]
        for i, (inputs, (_, ok)) in enumerate(zip(rows, results, strict=True)):
            if looked[i] and CHECKS[name].early:  # it may be made before the program is started
                assert bool(holds_for(i, inputs)) == ok, (name, inputs, samples[i].attrs)
        return results

    return on_xla


@pytest.mark.parametrize("name", list(CHECKS))
@pytest.mark.sample(12)
def test_check_finds_what_the_kernel_refuses(name: str):
    samples = rows_of(name)
    program = checked(name, samples)
    results = program([s.inputs for s in samples])
    assert any(ok for _, ok in results), "the check refuses all that the kernel takes"
    # Each time all samples are spoiled, as long as there are ways to.
    for spoiled_rows in zip_longest(*map(spoiled, samples)):
        rows = [bad or sample for bad, sample in zip(spoiled_rows, samples, strict=True)]
        for bad, (outputs, ok) in zip(rows, program([r.inputs for r in rows]), strict=True):
            expected = on_numpy(name, bad)
            if expected is None:
                assert not ok, f"{name} takes what its kernel refuses: {bad.inputs}, {bad.attrs}"
            elif ok and name not in NOT_UNIQUE:
                assert_same(name, bad, outputs, expected)


NOT_UNIQUE = {"svd", "eigh", "eig", "eigvals", "qr"}
"""Decompositions into vectors with a sign that is nobody's promise, of values without an order."""
