"""Every primitive can be run on many examples at once, and gives for each what it gives for it alone."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tests.proofs.rows import for_each_row
from tests.proofs.samples import Sample
from tests.proofs.test_table import CASES, run, sources, tensors

import tapeflow as tf
from tapeflow._src.primitives.all_rows import TABLE
from tapeflow._src.primitives.batching import RULES, Batch
from tapeflow._src.primitives.table import UNLISTED, Primitive

EXAMPLES = 3
# They have another result every time: see tests/ops/control/test_vectorized_map.py.
DRAWS = {"random_next_state"}


def test_every_primitive_has_a_batching_rule():
    assert {name for name, row in TABLE.items() if not row.elementwise} - RULES.keys() == set()
    stacks = {name for name in UNLISTED if name.startswith("stack_")}
    assert stacks - RULES.keys() == set()
    known = {*TABLE, *UNLISTED, "shape_check", "size_check"}
    assert RULES.keys() - known == set(), "rules for primitives that do not exist"


def refuses(name: str, attrs: dict[str, Any], batched: tuple[int, ...]) -> bool:
    """Whether the shape of the result would differ between examples."""
    if name in ("distinct", "nonzero", "unique"):
        return True
    if name.startswith("segment_") and attrs.get("size", 0) is None:
        return 1 in batched
    if name == "bincount":
        return 0 in batched and attrs["minlength"] != attrs["maxlength"]
    return name == "unravel_index" and 1 in batched


def example(x: np.ndarray, number: int) -> np.ndarray:
    """The same array with other values, which are valid wherever those of `x` are."""
    if x.dtype.kind in "fc":
        return (x * (1 + number / 64)).astype(x.dtype)
    return np.roll(x, number, 0) if x.ndim else x


def batches() -> list[Any]:
    cases = []
    for case in CASES:
        primitive, sample = case.values
        count = len(sample.inputs)
        subsets = [(i,) for i in range(count)]
        if count > 1:
            subsets.append(tuple(range(count)))
        cases += [
            pytest.param(primitive, sample, subset, id=f"{case.id}-{''.join(map(str, subset))}")
            for subset in subsets
            if primitive.name not in DRAWS
        ]
    return cases


@for_each_row(batches())
def test_batch_agrees_with_a_loop(primitive: Primitive, sample: Sample, batched: tuple[int, ...]):
    examples = [
        [example(x, n) if i in batched else x for i, x in enumerate(sample.inputs)]
        for n in range(EXAMPLES)
    ]
    full = [
        np.stack([e[i] for e in examples]) if i in batched else x
        for i, x in enumerate(sample.inputs)
    ]
    batch = Batch(EXAMPLES)
    inputs = [batch.wrap(x) if i in batched else x for i, x in enumerate(tensors(full))]
    with batch.entered():
        if refuses(primitive.name, sample.attrs, batched):
            with pytest.raises(tf.errors.UnimplementedError, match="vectorized_map"):
                run(primitive, sample, inputs)
            return
        outputs = run(primitive, sample, inputs)
        kinds = [(tuple(y.shape), y.dtype) for y in outputs]
        found = [batch.full(y) for y in outputs]
    expected = [run(primitive, sample, tensors(e)) for e in examples]
    assert kinds == [(tuple(y.shape), y.dtype) for y in expected[0]]
    for y, rows in zip(found, zip(*expected, strict=True), strict=True):
        rows = np.stack([np.asarray(r) for r in rows])
        if y.dtype.is_differentiable:
            np.testing.assert_allclose(y, rows, rtol=1e-9, atol=1e-12)
        else:
            np.testing.assert_array_equal(y, rows)


@for_each_row(c for c in CASES if sources(*c.values))
@pytest.mark.sample(4)
def test_vectorised_jacobian_agrees_with_a_loop(primitive: Primitive, sample: Sample):
    inputs = tensors(sample.inputs)
    watched = [inputs[i] for i in sources(primitive, sample)]
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(watched)
        outputs = [y for y in run(primitive, sample, inputs) if y.dtype.is_differentiable]
    for y in outputs:
        vectorised = tape.jacobian(y, watched)
        looped = tape.jacobian(y, watched, experimental_use_pfor=False)
        for v, w, x in zip(vectorised, looped, watched, strict=True):
            assert (v is None) == (w is None)
            if v is not None:
                assert v.shape == (*y.shape, *x.shape)
                np.testing.assert_allclose(v, w, rtol=1e-9, atol=1e-11)


@for_each_row(
    c
    for c in CASES
    if sources(*c.values) and c.values[0].name not in ("distinct", "nonzero", "unique")
)
@pytest.mark.sample(4)
def test_gradients_of_a_batch_agree_with_those_of_a_loop(primitive: Primitive, sample: Sample):
    """A tape inside the batch follows examples, and one outside follows full tensors."""
    positions = sources(primitive, sample)
    examples = [
        [example(x, n) if i in positions else x for i, x in enumerate(sample.inputs)]
        for n in range(EXAMPLES)
    ]

    def gradients(inputs: list[Any]) -> list[Any]:
        watched = [inputs[i] for i in positions]
        with tf.GradientTape() as tape:
            tape.watch(watched)
            outputs = [y for y in run(primitive, sample, inputs) if y.dtype.is_differentiable]
        found = tape.gradient(outputs, watched, unconnected_gradients="zero")
        return [tf.convert_to_tensor(g) for g in found]

    batch = Batch(EXAMPLES)
    full = [
        tf.convert_to_tensor(np.stack([e[i] for e in examples]))
        if i in positions
        else tf.convert_to_tensor(x)
        for i, x in enumerate(sample.inputs)
    ]
    watched = [full[i] for i in positions]
    with tf.GradientTape() as outside:
        outside.watch(watched)
        with batch.entered():
            inputs = [batch.wrap(x) if i in positions else x for i, x in enumerate(full)]
            inside = [batch.outer(g) for g in gradients(inputs)]
            outputs = [
                batch.outer(y) for y in run(primitive, sample, inputs) if y.dtype.is_differentiable
            ]
    through = outside.gradient(outputs, watched, unconnected_gradients="zero")
    expected = [gradients(tensors(e)) for e in examples]
    for a, b, rows in zip(inside, through, zip(*expected, strict=True), strict=True):
        rows = np.stack([np.asarray(r) for r in rows])
        np.testing.assert_allclose(a, rows, rtol=1e-9, atol=1e-11)
        np.testing.assert_allclose(tf.convert_to_tensor(b), rows, rtol=1e-9, atol=1e-11)
