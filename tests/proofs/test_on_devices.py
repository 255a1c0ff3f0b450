"""Every row of the table of primitives on another device: on a GPU, or a second logical CPU in its place.

Values and derivatives are those of the host, everything stays on the device, and nothing is copied on the way. The
ordinary part has one row of a part of the primitives: each op of each row is a program to compile.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tests.proofs.rows import for_each_row
from tests.proofs.samples import Mistake, Sample
from tests.proofs.test_in_function import assert_near
from tests.proofs.test_table import (
    CASES,
    MISTAKES,
    SAMPLES,
    run,
    sources,
    specs,
    tensors,
    weights_of,
)

import tapeflow as tf
from tapeflow._src.primitives.all_rows import TABLE
from tapeflow._src.primitives.table import Primitive

pytest.importorskip("jax")

from tests.engines.xla.test_lowerings import assert_same, fits_xla

from tapeflow._src.engines.xla.lowerings import ON_HOST

pytestmark = pytest.mark.usefixtures("three_devices")

NAME = "GPU:0" if tf.config.list_physical_devices("GPU") else "CPU:1"
DEVICE = f"/job:localhost/replica:0/task:0/device:{NAME}"

NEVER_THE_SAME = {"random_next_state"}
# Whose vectors may as well point the other way: cuSOLVER's do.
UNSIGNED = {"svd", "eigh"} if NAME == "GPU:0" else set[str]()
# Of 52 bits: a derivative of a decomposition loses digits, in another order on each engine.
ROUNDINGS = 2**22


def on_device(inputs: Any) -> list[tf.Tensor]:
    with tf.device(NAME):
        return tensors(inputs)


def run_there(primitive: Primitive, sample: Sample, inputs: list[Any]) -> list[Any]:
    """The outputs. Where no input is on the device, only the scope tells."""
    told = any(x.device == DEVICE for x in inputs)
    with tf.device(None if told else NAME):
        return run(primitive, sample, inputs)


def assert_there(outputs: list[Any], told: str) -> None:
    """All are on the device. Strings can only be on the host, and the states that are drawn from stay there."""
    if told == "random_next_state":
        return
    places = {y.device for y in outputs if y.dtype != tf.string}
    assert places <= {DEVICE}, told


def check_values(name: str, rows: list[Sample]) -> None:
    primitive = TABLE[name]
    for sample in rows:
        inputs = on_device(sample.inputs)
        with tf.transfers() as copies:
            outputs = run_there(primitive, sample, inputs)
        assert_there(outputs, name)
        if name not in ON_HOST and fits_xla(name, sample):
            there = "has it a lowering in engines/xla, or is it in ON_HOST?"
            assert not copies.count, f"{name} was computed on the host ({there}): {copies}"
        if name not in NEVER_THE_SAME:
            found = [np.asarray(y) for y in outputs]
            known = [np.asarray(y) for y in run(primitive, sample, tensors(sample.inputs))]
            if name in UNSIGNED:
                found, known = list(map(np.abs, found)), list(map(np.abs, known))
            assert_same(name, sample, found, known)


@pytest.mark.sample(12)
@pytest.mark.parametrize("name", list(TABLE))
def test_values(name: str):
    check_values(name, SAMPLES[name][:1])


@pytest.mark.exhaustive
@pytest.mark.parametrize("name", list(TABLE))
def test_values_of_all_rows(name: str):
    check_values(name, SAMPLES[name][1:])


@for_each_row(
    pytest.param(TABLE[name], mistake, id=f"{name}-{i}")
    for name, mistakes in MISTAKES.items()
    for i, mistake in enumerate(mistakes)
)
def test_mistakes_have_the_words_of_the_host(primitive: Primitive, mistake: Mistake):
    """Those that the shape rule finds. What depends on values is not looked at on a device."""
    try:
        primitive.result(*specs(mistake.inputs), **mistake.attrs)
    except (tf.errors.OpError, ValueError, TypeError):
        pass
    else:
        return
    with pytest.raises(mistake.error) as host:
        primitive.call(*tensors(mistake.inputs), **mistake.attrs)
    inputs = on_device(mistake.inputs)
    with pytest.raises(mistake.error) as there, tf.device(None if inputs else NAME):
        primitive.call(*inputs, **mistake.attrs)
    assert str(there.value) == str(host.value)


# Derivatives.


def random_like(arrays: list[Any]) -> list[np.ndarray]:
    rng = np.random.default_rng(11)
    found = []
    for x in arrays:
        numbers = rng.normal(size=x.shape)
        is_complex = np.dtype(x.dtype).kind == "c"
        found.append(numbers + 1j * rng.normal(size=x.shape) if is_complex else numbers)
    return found


def derivatives(primitive: Primitive, sample: Sample, place: Any) -> tuple[list[Any], int]:
    """The gradients of a weighted sum, those of their weighted sum, and how many copies were made for them.

    Args:
      primitive: what is differentiated.
      sample: at which inputs.
      place: what makes tensors, on the host or on a device.
    """
    inputs = place(sample.inputs)
    watched = [inputs[i] for i in sources(primitive, sample)]
    with tf.GradientTape() as outer:
        outer.watch(watched)
        with tf.GradientTape() as tape:
            tape.watch(watched)
            outputs = run(primitive, sample, inputs)
        weights = weights_of(outputs)
        outputs = [y for y, w in zip(outputs, weights, strict=True) if w is not None]
        seeds = [w for w in weights if w is not None]
        seeds = place(w.astype(y._array.dtype) for y, w in zip(outputs, seeds, strict=True))
        with tf.transfers() as copies:
            first = tape.gradient(
                outputs, watched, output_gradients=seeds, unconnected_gradients="zero"
            )
            first = tensors(first)
    if not sample.second_order:
        return first, copies.count
    seeds = place(random_like([sample.inputs[i] for i in sources(primitive, sample)]))
    with tf.transfers() as more_copies:
        second = outer.gradient(
            first, watched, output_gradients=seeds, unconnected_gradients="zero"
        )
        second = tensors(second)
    return [*first, *second], copies.count + more_copies.count


DIFFERENTIABLE: dict[str, Sample] = {}
for case in CASES:
    if case.values[1].first_order and sources(*case.values):
        DIFFERENTIABLE.setdefault(case.values[0].name, case.values[1])


@pytest.mark.sample(80)
@pytest.mark.parametrize("name", [name for name in DIFFERENTIABLE if name not in UNSIGNED])
def test_derivatives(name: str):
    primitive, sample = TABLE[name], DIFFERENTIABLE[name]
    found, copies = derivatives(primitive, sample, on_device)
    known, _ = derivatives(primitive, sample, tensors)
    assert_there(found, name)
    assert not copies or name in ON_HOST
    for y, value in zip(found, known, strict=True):
        assert (y.dtype, y.shape) == (value.dtype, value.shape)
        assert_near(np.asarray(y), np.asarray(value), name, ROUNDINGS)
