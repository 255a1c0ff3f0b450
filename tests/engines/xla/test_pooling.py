"""Pooling cell by cell, and the gradient of a maximum without a scatter where windows do not overlap: bit for bit."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tapeflow._src.primitives.all_rows import TABLE

jax = pytest.importorskip("jax")

import tapeflow._src.engines.xla.subjects  # noqa: E402, F401
from tapeflow._src.engines.xla.lowerings import LOWERINGS  # noqa: E402
from tapeflow._src.insides.jax_state import x64_enabled  # noqa: E402


def where(
    window: tuple[int, ...], strides: tuple[int, ...], dilations: Any = None, padding: Any = None
) -> dict[str, Any]:
    return {
        "window": window,
        "strides": strides,
        "dilations": dilations or (1,) * len(window),
        "padding": padding or ((0, 0),) * len(window),
    }


APART = {
    "2x2": ((2, 8, 6, 3), where((2, 2), (2, 2))),
    "places are left at the ends": ((2, 9, 7, 3), where((2, 2), (2, 2))),
    "padding": ((2, 9, 7, 3), where((2, 3), (2, 3), padding=((0, 1), (1, 1)))),
    "places between windows": ((2, 11, 10, 2), where((2, 1), (5, 3))),
    "dilation": ((1, 12, 9, 2), where((2, 2), (4, 3), (3, 2))),
    "one dimension": ((3, 10, 4), where((3,), (3,), padding=((1, 2),))),
    "three dimensions": ((1, 4, 5, 6, 2), where((2, 2, 2), (2, 2, 3))),
    "one window for all": ((2, 4, 4, 3), where((4, 4), (4, 4))),
}
OVERLAPPING = {
    "3x3": ((2, 9, 7, 3), where((3, 3), (2, 2))),
    "along one dimension": ((2, 8, 6, 3), where((2, 3), (2, 2))),
    "dilation": ((1, 9, 9, 2), where((2, 2), (2, 2), (2, 1))),
}
CASES = [
    *(pytest.param(*case, False, id=name) for name, case in APART.items()),
    *(pytest.param(*case, True, id=f"overlapping: {name}") for name, case in OVERLAPPING.items()),
]


def samples(shape: tuple[int, ...], at: dict[str, Any]) -> list[Any]:
    """Gradients, images and maxima: different numbers, many equal ones, and what is no number."""
    rng = np.random.default_rng(0)
    images = [
        rng.normal(size=shape),
        rng.integers(0, 2, size=shape),
        rng.choice([-np.inf, np.nan, 0.0, 1.0], size=shape),
    ]
    found = []
    for x in images:
        x = x.astype(np.float32)
        maxima = np.asarray(TABLE["max_pool"].kernel(x, **at))
        g = rng.choice([-0.0, 0.0, -1.5, 2.0, np.inf], size=maxima.shape).astype(np.float32)
        found.append((g, x, maxima))
    return found


@pytest.mark.parametrize(("shape", "at", "overlapping"), CASES)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_the_gradient_of_a_maximum(
    shape: tuple[int, ...], at: dict[str, Any], overlapping: bool
) -> None:
    def spread(g: Any, x: Any, maxima: Any) -> Any:
        return LOWERINGS["max_pool_spread"](g, x, maxima, **at)

    compiled = jax.jit(spread)
    for g, x, maxima in samples(shape, at):
        with x64_enabled():
            found = np.asarray(compiled(g, x, maxima))
            traced = str(jax.make_jaxpr(spread)(g, x, maxima))
        expected = np.asarray(TABLE["max_pool_spread"].kernel(g, x, maxima, **at))
        np.testing.assert_array_equal(found, expected)
        if (
            not overlapping
        ):  # sums of several begin elsewhere, and zeros of both signs may meet in them
            np.testing.assert_array_equal(np.signbit(found), np.signbit(expected))
        assert ("scatter" in traced) is overlapping


SMALL = [*APART.values(), *OVERLAPPING.values()]
LARGE = (1, 20, 20, 2), where((9, 9), (3, 3), padding=((1, 4), (0, 2)))


@pytest.mark.parametrize(("shape", "at"), [*SMALL, LARGE])
@pytest.mark.parametrize(
    ("name", "dtype"),
    [
        *(("max_pool", dtype) for dtype in (np.float32, np.float16, np.int32)),
        *(("sum_pool", dtype) for dtype in (np.float32, np.float16)),
    ],
)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_windows_are_taken_cell_by_cell(
    name: str, shape: tuple[int, ...], at: dict[str, Any], dtype: Any
) -> None:
    if name == "sum_pool":
        at = at | {"mean": False}

    def pool(x: Any) -> Any:
        return LOWERINGS[name](x, **at)

    x = np.random.default_rng(0).normal(0, 5, size=shape).astype(dtype)
    if dtype is not np.int32:
        x.flat[::7], x.flat[::11], x.flat[5] = -np.inf, -0.0, np.nan
    with x64_enabled():
        found = np.asarray(jax.jit(pool)(x))
        traced = str(jax.make_jaxpr(pool)(x))
    expected = np.asarray(TABLE[name].kernel(x, **at))
    assert found.dtype == expected.dtype
    np.testing.assert_array_equal(found, expected)
    assert ("reduce_window" in traced) is (at["window"] == (9, 9))


def test_windows_of_what_is_empty() -> None:
    for shape in [(0, 4, 4, 2), (2, 4, 4, 0), (2, 1, 4, 2)]:
        x = np.zeros(shape, np.float32)
        expected = TABLE["max_pool"].kernel(x, **where((2, 2), (2, 2)))
        found = LOWERINGS["max_pool"](x, **where((2, 2), (2, 2)))
        assert found.shape == expected.shape
