"""The gradient of a maximum's pooling: bit for bit the kernel's, without a scatter where windows do not overlap."""

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
