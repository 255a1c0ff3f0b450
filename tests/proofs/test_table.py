"""Every primitive is proven from the table of samples.

From each row are made checks of the shape rule, of the value against a reference, of first and second derivatives
against differences, and of both in lower precision against float64. Rows of float64 are repeated with complex
numbers where the shape rule takes them; the gradient of a real L by z = x + iy is dL/dx + i dL/dy.
"""

from __future__ import annotations

import importlib
import pkgutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from tests.proofs.rows import for_each_row
from tests.proofs.samples import Mistake, Reference, Sample

import tapeflow as tf
from tapeflow._src import ops, primitives
from tapeflow._src.core import dtypes
from tapeflow._src.primitives.all_rows import TABLE, UNLISTED
from tapeflow._src.primitives.specs import ArraySpec
from tapeflow._src.primitives.table import Primitive

SAMPLES: dict[str, list[Sample]] = {}
REFERENCES: dict[str, Reference] = {}
MISTAKES: dict[str, list[Mistake]] = {}
for path in sorted(Path(__file__).parent.glob("samples_*.py")):
    module = importlib.import_module(f"tests.proofs.{path.stem}")
    assert not module.SAMPLES.keys() & SAMPLES.keys(), f"{path.name} repeats rows"
    SAMPLES |= module.SAMPLES
    REFERENCES |= getattr(module, "REFERENCES", {})
    MISTAKES |= getattr(module, "MISTAKES", {})

NO_REFERENCE = {"random_next_state": "gives another state every time"}

_ANYTHING = "takes anything"
_OUR_OWN = "is called by gradients alone, which give it what fits"
NO_MISTAKES = {
    **dict.fromkeys(("identity", "barrier", "stop_gradient", "zeros_like", "ones_like"), _ANYTHING),
    **dict.fromkeys(
        ("laid_out", "shape", "size", "count_nonzero", "nonzero", "unstack"), _ANYTHING
    ),
    **dict.fromkeys(("reverse", "roll", "random_shuffle", "random_any_integers"), _ANYTHING),
    **dict.fromkeys(("random_next_state", "random_keep"), "is called by ops that check"),
    **dict.fromkeys(
        ("put", "scatter_rows", "recurrence", "mirror_fold", "relu_gradient"), _OUR_OWN
    ),
    **dict.fromkeys(("take_along", "put_along", "softmax_gradient"), _OUR_OWN),
    **dict.fromkeys(("segment_pick", "counted"), _OUR_OWN),
    "sparse_softmax_cross_entropy_gradient": _OUR_OWN,
    "softmax_cross_entropy_gradient": _OUR_OWN,
    "gelu_tanh_gradient": _OUR_OWN,
    "attention_gradient": _OUR_OWN,
    "biased_attention_gradient": _OUR_OWN,
}


def test_all_rows_are_all_there_are():
    before = {*TABLE, *UNLISTED}
    for folder in (primitives, ops):
        for module in pkgutil.walk_packages(folder.__path__, f"{folder.__name__}."):
            importlib.import_module(module.name)
    assert {*TABLE, *UNLISTED} == before


def test_every_primitive_has_samples():
    assert TABLE.keys() - SAMPLES.keys() == set(), "primitives without samples"
    assert SAMPLES.keys() - TABLE.keys() == set(), "samples of primitives that do not exist"


def test_every_primitive_has_a_reference():
    assert TABLE.keys() - REFERENCES.keys() == NO_REFERENCE.keys()
    assert REFERENCES.keys() - TABLE.keys() == set(), "references of what does not exist"


def test_every_primitive_has_mistakes():
    assert TABLE.keys() - MISTAKES.keys() == NO_MISTAKES.keys()
    assert MISTAKES.keys() - TABLE.keys() == set(), "mistakes with what does not exist"


# Rows, and what is made of them.


def specs(inputs: tuple[np.ndarray, ...]) -> list[ArraySpec]:
    return [ArraySpec(x.shape, dtypes.from_numpy(x.dtype)) for x in inputs]


def takes(primitive: Primitive, sample: Sample) -> bool:
    """Whether the shape rule lets the call pass."""
    try:
        primitive.result(*specs(sample.inputs), **sample.attrs)
    except (tf.errors.OpError, ValueError, TypeError):
        return False
    return True


def made_complex(sample: Sample) -> Sample | None:
    """The same row with complex numbers for those of float64, if there are any."""
    if not sample.also_complex or not any(x.dtype == np.float64 for x in sample.inputs):
        return None
    rng = np.random.default_rng(5)
    inputs = tuple(
        x + 1j * rng.uniform(0.2, 1.4, x.shape) if x.dtype == np.float64 else x
        for x in sample.inputs
    )
    return replace(sample, inputs=inputs)


def row_cases() -> list[Any]:
    cases = []
    for name, rows in SAMPLES.items():
        primitive = TABLE.get(name)
        for i, sample in enumerate(rows if primitive is not None else ()):
            cases.append(pytest.param(primitive, sample, id=f"{name}-{i}"))
            other = made_complex(sample)
            if other is not None and takes(primitive, other):  # type: ignore[arg-type]
                cases.append(pytest.param(primitive, other, id=f"{name}-{i}-complex"))
    return cases


def sources(primitive: Primitive, sample: Sample) -> list[int]:
    """The positions of the inputs that have gradients."""
    return [
        i
        for i, x in enumerate(sample.inputs)
        if primitive.gradients[i] is not None and dtypes.from_numpy(x.dtype).is_differentiable
    ]


CASES = row_cases()


def run(primitive: Primitive, sample: Sample, inputs: list[Any]) -> list[Any]:
    output = primitive.call(*inputs, **sample.attrs)
    return list(output) if primitive.outputs != 1 else [output]


def tensors(inputs: Any) -> list[tf.Tensor]:
    return [tf.convert_to_tensor(x) for x in inputs]


# Shapes, values and mistakes.


@for_each_row(CASES)
def test_shape_rule_tells_the_result(primitive: Primitive, sample: Sample):
    outputs = run(primitive, sample, tensors(sample.inputs))
    specified = primitive.result(*specs(sample.inputs), **sample.attrs)
    specified = list(specified) if primitive.outputs != 1 else [specified]
    assert [o.dtype for o in outputs] == [t.dtype for t in specified]
    for output, spec in zip(outputs, specified, strict=True):
        assert len(output.shape) == len(spec.shape)
        assert all(d in (None, n) for d, n in zip(spec.shape, output.shape, strict=True))


@for_each_row(c for c in CASES if c.values[0].name in REFERENCES)
def test_value_agrees_with_the_reference(primitive: Primitive, sample: Sample):
    outputs = run(primitive, sample, tensors(sample.inputs))
    with np.errstate(all="ignore"):
        expected = REFERENCES[primitive.name](*sample.inputs, **sample.attrs)
    for output, value in zip(
        outputs, expected if primitive.outputs != 1 else [expected], strict=True
    ):
        value = np.asarray(value)
        assert output.shape == value.shape
        if output.dtype.is_differentiable:
            largest = np.max(np.abs(value), initial=0.0, where=np.isfinite(value))
            np.testing.assert_allclose(output, value, sample.rtol, sample.rtol * 0.1 * largest)
        else:
            np.testing.assert_array_equal(output, value)


@for_each_row(
    pytest.param(TABLE[name], mistake, id=f"{name}-{i}")
    for name, rows in MISTAKES.items()
    if name in TABLE
    for i, mistake in enumerate(rows)
)
def test_mistake_is_named(primitive: Primitive, mistake: Mistake):
    with pytest.raises(mistake.error) as caught:
        primitive.call(*tensors(mistake.inputs), **mistake.attrs)
    message = str(caught.value)
    assert (mistake.op or primitive.name) in message
    for words in mistake.says:
        assert words in message
    # A shape is written as a list, as a tuple, or behind a dtype.
    plain = message.replace(" ", "").replace("(", "[").replace(",)", "]").replace(")", "]")
    positions = range(len(mistake.inputs)) if mistake.shapes is None else mistake.shapes
    for i in positions:
        assert str(list(mistake.inputs[i].shape)).replace(" ", "") in plain


# Derivatives. The objective weights every element of every output: its slope in a complex output is
# the weight times 1 + 2i, so it is the sum of weight * (real + 2 imag).


def weights_of(outputs: list[Any]) -> list[np.ndarray | None]:
    rng = np.random.default_rng(7)
    found: list[np.ndarray | None] = []
    for output in outputs:
        weight = rng.uniform(0.5, 1.5, tuple(output.shape))
        if not output.dtype.is_differentiable:
            found.append(None)
        else:
            found.append(weight * (1 + 2j) if output.dtype.is_complex else weight)
    return found


def objective(primitive: Primitive, sample: Sample, inputs: list[Any], weights: list[Any]) -> float:
    outputs = run(primitive, sample, inputs)
    pairs = zip(outputs, weights, strict=True)
    return sum(inner(np.asarray(o), w) for o, w in pairs if w is not None)


def inner(a: np.ndarray, b: np.ndarray) -> float:
    return float(np.sum(a.real * b.real + a.imag * b.imag))


def gradients(
    primitive: Primitive, sample: Sample, inputs: list[Any], weights: list[Any]
) -> list[tf.Tensor]:
    """The gradient of the objective by each input that has one."""
    watched = [inputs[i] for i in sources(primitive, sample)]
    with tf.GradientTape() as tape:
        tape.watch(watched)
        outputs = run(primitive, sample, inputs)
    targets = [(o, w) for o, w in zip(outputs, weights, strict=True) if w is not None]
    found = tape.gradient(
        [o for o, _ in targets],
        watched,
        output_gradients=[tf.constant(w, o.dtype) for o, w in targets],
        unconnected_gradients="zero",
    )
    return [tf.convert_to_tensor(g) for g in found]


def moved(inputs: list[Any], position: int, by: Any) -> list[Any]:
    changed = list(inputs)
    changed[position] = tf.constant(np.asarray(inputs[position]) + by)
    return changed


DIFFERENTIABLE = [c for c in CASES if c.values[1].first_order and sources(*c.values)]


@for_each_row(DIFFERENTIABLE)
def test_first_derivative(primitive: Primitive, sample: Sample):
    inputs = tensors(sample.inputs)
    weights = weights_of(run(primitive, sample, inputs))
    found = gradients(primitive, sample, inputs, weights)
    step = 1e-6

    def slope(position: int, index: Any, direction: complex) -> float:
        by = np.zeros(sample.inputs[position].shape, type(direction))
        by[index] = step * direction
        above = objective(primitive, sample, moved(inputs, position, by), weights)
        below = objective(primitive, sample, moved(inputs, position, -by), weights)
        return (above - below) / (2 * step)

    for g, position in zip(found, sources(primitive, sample), strict=True):
        x = sample.inputs[position]
        assert (g.shape, g.dtype) == (x.shape, inputs[position].dtype)
        expected = np.zeros_like(x)
        for index in np.ndindex(x.shape):
            expected[index] = slope(position, index, 1.0)
            if x.dtype.kind == "c":
                expected[index] += 1j * slope(position, index, 1j)
        np.testing.assert_allclose(g, expected, rtol=1e-6, atol=1e-7)


@for_each_row(c for c in DIFFERENTIABLE if c.values[0].together)
def test_what_is_not_wanted_changes_no_gradient(primitive: Primitive, sample: Sample):
    """One rule gives the gradients of all inputs: the same where a part of them is wanted, as where all are."""
    inputs = tensors(sample.inputs)
    weights = weights_of(run(primitive, sample, inputs))
    together = gradients(primitive, sample, inputs, weights)
    for expected, position in zip(together, sources(primitive, sample), strict=True):
        with tf.GradientTape() as tape:
            tape.watch(inputs[position])
            outputs = run(primitive, sample, inputs)
        seeds = [tf.constant(w, o.dtype) for o, w in zip(outputs, weights, strict=True)]
        found = tape.gradient(outputs, inputs[position], output_gradients=seeds)
        np.testing.assert_array_equal(found, expected)


@for_each_row(c for c in DIFFERENTIABLE if c.values[1].second_order)
def test_second_derivative(primitive: Primitive, sample: Sample):
    """The slope of the gradient along a random direction, by a tape in a tape and by differences."""
    inputs = tensors(sample.inputs)
    positions = sources(primitive, sample)
    weights = weights_of(run(primitive, sample, inputs))
    rng = np.random.default_rng(11)

    def direction(x: np.ndarray) -> np.ndarray:
        d = rng.normal(size=x.shape)
        return d + 1j * rng.normal(size=x.shape) if x.dtype.kind == "c" else d

    along = [direction(sample.inputs[i]) for i in positions]
    with tf.GradientTape() as tape:
        tape.watch([inputs[i] for i in positions])
        first = gradients(primitive, sample, inputs, weights)
    found = tape.gradient(
        first,
        [inputs[i] for i in positions],
        output_gradients=tensors(along),
        unconnected_gradients="zero",
    )

    def slope(inputs: list[Any]) -> float:
        first = gradients(primitive, sample, inputs, weights)
        return sum(inner(np.asarray(g), d) for g, d in zip(first, along, strict=True))

    step = 1e-5
    for g, position in zip(found, positions, strict=True):
        by = direction(sample.inputs[position])
        above, below = (
            slope(moved(inputs, position, step * by)),
            slope(moved(inputs, position, -step * by)),
        )
        expected = (above - below) / (2 * step)
        g = np.asarray(tf.convert_to_tensor(g))
        np.testing.assert_allclose(inner(g, by), expected, rtol=1e-5, atol=1e-6)


# Lower precision: inputs that it can hold, and the results of float64 for the same.

ROUNDINGS = 16  # as many as a value or a gradient may be off, of the largest element
LOW = {
    np.dtype(np.float64): (np.float32, np.float16, ml_dtypes.bfloat16),
    np.dtype(np.complex128): (np.complex64,),
}


def rounded(sample: Sample, low: Any) -> Sample:
    kind = np.dtype(np.complex128 if low is np.complex64 else np.float64)
    inputs = tuple(x.astype(low) if x.dtype == kind else x for x in sample.inputs)
    return replace(sample, inputs=inputs)


def low_dtypes(primitive: Primitive, sample: Sample) -> list[Any]:
    """The lower precisions that a row can be repeated in."""
    kinds = {x.dtype for x in sample.inputs} & LOW.keys()
    if not sample.low_precision or len(kinds) != 1 or not any(x.size for x in sample.inputs):
        return []
    return [low for low in LOW[kinds.pop()] if takes(primitive, rounded(sample, low))]


def assert_near(found: Any, expected: Any, low: Any) -> None:
    found, expected = np.asarray(found), np.asarray(expected)
    assert found.shape == expected.shape
    if expected.dtype.kind not in "fc":
        np.testing.assert_array_equal(found, expected, err_msg=f"in {low.__name__}")
        return
    eps = float(ml_dtypes.finfo(np.float32 if low is np.complex64 else low).eps)
    largest = np.max(np.abs(expected), initial=0.0, where=np.isfinite(expected))
    np.testing.assert_allclose(
        found.astype(expected.dtype),
        expected,
        rtol=ROUNDINGS * eps,
        atol=(ROUNDINGS * largest + 1) * eps,  # small differences of large terms lose digits
        err_msg=f"in {low.__name__}",
    )


@for_each_row(c for c in CASES if low_dtypes(*c.values))
def test_lower_precision_agrees_with_float64(primitive: Primitive, sample: Sample):
    for low in low_dtypes(primitive, sample):
        narrow = rounded(sample, low)
        inputs = tensors(narrow.inputs)
        outputs = run(primitive, narrow, inputs)
        wide = tensors(x.astype(y.dtype) for x, y in zip(narrow.inputs, sample.inputs, strict=True))
        expected = run(primitive, sample, wide)
        for output, value in zip(outputs, expected, strict=True):
            assert_near(output, value, low)
        positions = sources(primitive, sample) if sample.first_order else []
        if not positions:
            continue
        weights = [
            None if w is None else w.astype(np.asarray(o).dtype)
            for w, o in zip(weights_of(outputs), outputs, strict=True)
        ]
        found = gradients(primitive, narrow, inputs, weights)
        known = gradients(primitive, sample, wide, weights)
        for i, g, value in zip(positions, found, known, strict=True):
            assert g.dtype == inputs[i].dtype
            assert_near(g, value, low)
