"""Every row is called as `dispatch.run` says: with the same result, told to recorders, or the same error."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tests.proofs.rows import for_each_row
from tests.proofs.test_table import MISTAKES, SAMPLES

import tapeflow as tf
from tapeflow._src.core.context import context
from tapeflow._src.core.interpreter import Interpreter
from tapeflow._src.core.scopes import setting
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.primitives import dispatch
from tapeflow._src.primitives.all_rows import TABLE
from tapeflow._src.primitives.table import Primitive

UNLIKE = {"random_next_state": "gives another state every time"}


class Notes:
    """A recorder that keeps what it is told."""

    substitutes = False

    def __init__(self) -> None:
        self.records: list[Any] = []

    def record(self, primitive: Any, inputs: Any, output: Any, attrs: Any) -> None:
        self.records.append((primitive, inputs, output, attrs or {}))


class Foreign(Interpreter):
    """An interpreter that keeps what it is handed."""

    def interpret(self, primitive: Any, inputs: Any, attrs: Any) -> Any:
        return ("handed", primitive, inputs, attrs)


FOREIGN = Foreign()


class ForeignTensor(Tensor):
    interpreter = FOREIGN


def outcome(function: Any, *args: Any, **kwargs: Any) -> tuple[Any, Notes]:
    notes = Notes()
    run, _ = context.dispatch
    with setting(context, dispatch=(run, (notes,))):
        try:
            return function(*args, **kwargs), notes
        except Exception as error:
            return error, notes


def assert_same(quick: Any, said: Any) -> None:
    found, expected = quick[0], said[0]
    assert type(found) is type(expected), (found, expected)
    if isinstance(expected, Exception):
        assert str(found) == str(expected)
    else:
        for a, b in zip(tf.nest.flatten(found), tf.nest.flatten(expected), strict=True):
            assert a.dtype == b.dtype
            np.testing.assert_array_equal(a._array, b._array)
    quick_records, said_records = quick[1].records, said[1].records
    assert len(quick_records) == len(said_records)
    for one, other in zip(quick_records, said_records, strict=True):
        assert one[0] is other[0] and one[3] == other[3]
        assert one[2] is found and other[2] is expected
        assert len(one[1]) == len(other[1])


def cases(table: dict[str, Any]) -> list[Any]:
    return [
        pytest.param(TABLE[name], sample, id=f"{name}-{i}")
        for name, samples in table.items()
        if name not in UNLIKE
        for i, sample in enumerate(samples)
    ]


@for_each_row([*cases(SAMPLES), *cases(MISTAKES)])
def test_on_tensors(row: Primitive, sample: Any) -> None:
    tensors = [tf.constant(x) for x in sample.inputs]
    said = outcome(dispatch.run, row, tuple(tensors), dict(sample.attrs))
    assert_same(outcome(row.call, *tensors, **sample.attrs), said)


@for_each_row(cases(SAMPLES))
def test_what_is_no_tensor_becomes_one(row: Primitive, sample: Any) -> None:
    variables = [
        tf.Variable(x) if x.dtype.kind not in "OSU" else tf.constant(x) for x in sample.inputs
    ]
    said = outcome(dispatch.run, row, tuple(variables), dict(sample.attrs))
    assert_same(outcome(row.call, *variables, **sample.attrs), said)
    if all(x.dtype.kind != "O" for x in sample.inputs):
        said = outcome(dispatch.run, row, sample.inputs, dict(sample.attrs))
        assert_same(outcome(row.call, *sample.inputs, **sample.attrs), said)


@for_each_row(cases(SAMPLES))
def test_an_interpreter_is_handed_everything(row: Primitive, sample: Any) -> None:
    for position in range(len(sample.inputs)):
        inputs: list[Any] = [tf.constant(x) for x in sample.inputs]
        inputs[position] = ForeignTensor(inputs[position]._array)
        quick, notes = outcome(row.call, *inputs, **sample.attrs)
        said, _ = outcome(dispatch.run, row, tuple(inputs), dict(sample.attrs))
        assert quick[:2] == said[:2] == ("handed", row)
        assert all(a is b for a, b in zip(quick[2], said[2], strict=True))
        assert quick[3] == said[3] == dict(sample.attrs)
        assert not notes.records


@for_each_row(cases(SAMPLES))
def test_in_the_middle_of_another_kernel(row: Primitive, sample: Any) -> None:
    """As in a signal handler, or in a destructor."""
    tensors = [tf.constant(x) for x in sample.inputs]
    run, _ = context.dispatch
    said = outcome(dispatch.run, row, tuple(tensors), dict(sample.attrs))
    assert_same(run(outcome, row.call, *tensors, **sample.attrs), said)
