"""A default `tf.function` means the same on every executor: it refuses what eager mode refuses, and answers the same.

Only `jit_compile=True` does as XLA does: see `test_as_xla_does.py`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tests.function.executors.hostile import ANSWERED, REFUSED

import tapeflow as tf
from tapeflow.function.executors import choice

pytest.importorskip("jax")

from tapeflow.engines.xla.lowerings import CHECKS


@pytest.fixture(params=["numpy", "xla", "hybrid"])
def executor(request: Any, monkeypatch: Any) -> str:
    """Makes every function run on one executor from the beginning."""
    makers = {"numpy": choice.NumpyProgram, "xla": choice._xla, "hybrid": choice._hybrid}

    def begin(self: choice.Executor) -> None:
        graph = self.graph
        only = choice.Candidate(request.param, lambda: makers[request.param](graph))
        self._candidates = [only]
        self._current = only

    monkeypatch.setattr(choice.Executor, "_begin", begin)
    return request.param


def tensors(arguments: tuple[Any, ...]) -> list[tf.Tensor]:
    return [tf.constant(x) for x in arguments]


def arrays(result: Any) -> list[np.ndarray]:
    return [x.numpy() for x in tf.nest.flatten(result)]


def assert_same(found: Any, expected: Any) -> None:
    for a, b in zip(arrays(found), arrays(expected), strict=True):
        assert (a.dtype, a.shape) == (b.dtype, b.shape)
        if b.dtype.kind in "fc":
            np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-6)
        else:
            np.testing.assert_array_equal(a, b)


def refusal(function: Any, arguments: tuple[Any, ...]) -> Exception:
    with pytest.raises(Exception) as caught:
        function(*tensors(arguments))
    return caught.value


def first_line(error: Exception) -> str:
    return str(getattr(error, "message", error)).splitlines()[0]


# What eager mode refuses.


@pytest.mark.parametrize("name", list(REFUSED))
def test_what_eager_mode_refuses_is_refused(name: str, executor: str):
    row = REFUSED[name]
    variable = tf.Variable(tf.zeros([3]))
    eager = (
        tf.autograph.to_graph(row.function) if name.startswith("division in a") else row.function
    )
    wanted = refusal(eager, row.bad)

    @tf.function
    def step(*arguments: Any) -> Any:
        result = row.function(*arguments)
        variable.assign_add(tf.ones([3]))
        return result

    expected = eager(*tensors(row.good))
    assert_same(step(*tensors(row.good)), expected)
    for _ in range(2):
        error = refusal(step, row.bad)
        assert type(error) is type(wanted)
        assert first_line(error) == first_line(wanted)
        assert "hostile.py" in str(error) or "test_same_answer.py" in str(error), "no line"
        np.testing.assert_array_equal(variable.numpy(), [1, 1, 1])
    assert_same(step(*tensors(row.good)), expected)
    np.testing.assert_array_equal(variable.numpy(), [2, 2, 2])


@pytest.mark.parametrize("name", list(ANSWERED))
def test_what_eager_mode_answers_is_answered_alike(name: str, executor: str):
    row = ANSWERED[name]
    function = tf.function(row.function)
    for arguments in (row.good, row.bad, row.good):
        assert_same(function(*tensors(arguments)), row.function(*tensors(arguments)))


def primitives_in(graph: Any) -> set[str]:
    from tapeflow.function.graph import subgraphs

    inner = [g for node in graph.nodes for g in subgraphs(node)]
    return {node.primitive.name for node in graph.nodes}.union(*map(primitives_in, inner))


NEEDS_NO_ROW = {
    "counted": "the gradient of a count, which refuses first",
    "perturbed_tridiagonal_solve": "a step of eigh_tridiagonal",
    "irfft": "see rfft",
    "fft": "see rfft",
}


def test_every_check_has_a_row():
    found: set[str] = set()
    for row in (*REFUSED.values(), *ANSWERED.values()):
        found |= primitives_in(
            tf.function(row.function).get_concrete_function(*tensors(row.good)).graph
        )
    assert CHECKS.keys() - found == NEEDS_NO_ROW.keys()
