"""What is reduced along several axes: those beside each other are one to XLA."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tapeflow as tf
from tapeflow._src.primitives.all_rows import TABLE

jax = pytest.importorskip("jax")

import tapeflow._src.engines.xla.subjects  # noqa: E402
from tapeflow._src.engines.xla.lowerings import LOWERINGS  # noqa: E402
from tapeflow._src.engines.xla.reduction import reducing  # noqa: E402
from tapeflow._src.insides.jax_state import x64_enabled  # noqa: E402

NAMES = ["sum", "mean", "prod", "max", "min", "any", "all", "logsumexp", "count_nonzero"]
AXES = [(0,), (0, 1), (1, 2), (0, 1, 2), (0, 2), (0, 1, 3), (0, 1, 2, 3), ()]


def sample(name: str, shape: tuple[int, ...]) -> Any:
    x = np.random.default_rng(0).normal(size=shape).astype(np.float32)
    return x > -1.5 if name in ("any", "all") else x


def how(name: str) -> dict[str, Any]:
    return {"dtype": tf.int64} if name == "count_nonzero" else {}


def reduced_dimensions(name: str, shape: tuple[int, ...], axis: tuple[int, ...]) -> list[int]:
    """Along how many dimensions each of its reductions goes."""

    def function(x: Any) -> Any:
        return LOWERINGS[name](x, axis=axis, keepdims=False, **how(name))

    with x64_enabled():
        traced = jax.make_jaxpr(function)(sample(name, shape))
    found = [e.params["axes"] for e in traced.eqns if e.primitive.name.startswith("reduce_")]
    assert found
    return [len(axes) for axes in found]


@pytest.mark.parametrize("name", NAMES)
def test_neighbouring_axes_are_one(name: str) -> None:
    shape = (4, 3, 2, 5)
    assert set(reduced_dimensions(name, shape, (0, 1, 2))) == {1}
    assert set(reduced_dimensions(name, shape, (0, 1, 2, 3))) == {1}
    assert set(reduced_dimensions(name, shape, (0, 2, 3))) == {2}


@pytest.mark.parametrize("keepdims", [False, True])
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("shape", [(4, 3, 2, 5), (4, 1, 2, 1)])
def test_values_are_those_of_the_kernels(name: str, shape: tuple[int, ...], keepdims: bool) -> None:
    x = sample(name, shape)
    for axis in AXES:
        attrs: dict[str, Any] = {"axis": axis, "keepdims": keepdims, **how(name)}
        expected = np.asarray(TABLE[name].kernel(x, **attrs))
        with x64_enabled():
            found = np.asarray(LOWERINGS[name](x, **attrs))
        assert (found.shape, found.dtype) == (expected.shape, expected.dtype), axis
        np.testing.assert_allclose(found, expected, 1e-5, 1e-5, err_msg=str(axis))


@pytest.mark.parametrize("name", ["sum", "prod", "max"])
def test_empty_axes(name: str) -> None:
    for shape, axis in [((0, 3, 2), (0, 1)), ((3, 0, 2), (0, 1)), ((2, 3, 0), (0, 1))]:
        x = np.zeros(shape, np.float32)
        expected = TABLE[name].kernel(x, axis=axis, keepdims=False)
        np.testing.assert_array_equal(LOWERINGS[name](x, axis=axis, keepdims=False), expected)


def test_on_a_mesh_dimensions_stay_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reducing, "is_on_mesh", lambda: True)
    assert reduced_dimensions("sum", (4, 3, 2), (0, 1)) == [2]
