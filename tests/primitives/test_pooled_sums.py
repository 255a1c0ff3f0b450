"""Sums of windows are those of their cells, one after the other, however the examples are cut into blocks."""

from __future__ import annotations

import numpy as np
import pytest

from tapeflow._src.primitives import sharing
from tapeflow._src.primitives.nn import pooling
from tapeflow._src.primitives.nn.windows import output_space, taps


def summed(x, **where):
    space = output_space("pool", x.shape[1:-1], **where)
    out = np.zeros((x.shape[0], *space, x.shape[-1]), x.dtype)
    for _, seen, belong in taps(x.shape[1:-1], space=space, **where):
        out[belong] += x[seen]
    return out


def spread(g, shape, **where):
    out = np.zeros(shape, g.dtype)
    for _, seen, belong in taps(shape[1:-1], space=g.shape[1:-1], **where):
        out[seen] += g[belong]
    return out


WHERE = [
    ((9,), (5,), (1,), (1,), ((2, 2),)),
    ((9,), (3,), (2,), (2,), ((0, 1),)),
    ((6, 7), (3, 2), (1, 2), (1, 1), ((1, 1), (0, 1))),
    ((4, 3, 5), (2, 2, 2), (1, 1, 1), (1, 1, 1), ((0, 0), (0, 0), (0, 0))),
]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("channels", [0, 1, 3, 20])
@pytest.mark.parametrize("examples", [0, 1, 77])
@pytest.mark.parametrize("block", [1, 300, 2**15])
@pytest.mark.parametrize("space, window, strides, dilations, padding", WHERE)
def test_blocks(
    monkeypatch, space, window, strides, dilations, padding, block, examples, channels, dtype
):
    monkeypatch.setattr(pooling, "_BLOCK", block)
    monkeypatch.setattr(sharing, "_ELEMENTS", 100)
    where = {"window": window, "strides": strides, "dilations": dilations, "padding": padding}
    x = np.random.default_rng(0).normal(size=(2 * examples, *space, channels)).astype(dtype)
    if x.size:
        x.reshape(-1)[:4] = [np.nan, np.inf, -0.0, 1e30]
    for given in (x[:examples], x[::2], x[:examples, ::-1]):
        expected = summed(given, **where)
        np.testing.assert_array_equal(
            pooling._sum_pool_kernel(given, mean=False, **where), expected
        )
        np.testing.assert_array_equal(
            pooling._sum_spread_kernel(expected, shape=given.shape, mean=False, **where),
            spread(expected, given.shape, **where),
        )
