"""Small traced functions, and what becomes of them."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np

import tapeflow as tf
from tapeflow._src.engines.numpy.program import NumpyProgram
from tapeflow._src.graph.graph import Graph


def traced(function: Callable[..., Any], *specs: Any) -> Graph:
    """The graph of a function of tensors: shapes stand for float32 tensors."""
    given = [tf.TensorSpec(s, tf.float32) if isinstance(s, (list, tuple)) else s for s in specs]
    return tf.function(function, autograph=False).get_concrete_function(*given).graph


def body(graph: Graph) -> list[str]:
    """What a graph computes, without the lines of the user's code."""
    text = re.sub(r"    #.*", "", str(graph))
    return [line.strip() for line in text.splitlines()[1:-1]]


def names(graph: Graph) -> list[str]:
    """The primitives of a graph."""
    return [node.primitive.name for node in graph.nodes]


def run(graph: Graph, *arrays: Any) -> tuple[Any, ...]:
    """The outputs for these inputs."""
    results = NumpyProgram(graph).run([tf.convert_to_tensor(a) for a in arrays])
    return tuple(x.numpy() for x in results)


def check_same(before: Graph, after: Graph, *arrays: Any) -> None:
    """Both graphs give the same bits; of NaN there is one."""
    for x, y in zip(run(before, *arrays), run(after, *arrays), strict=True):
        x, y = np.asarray(x), np.asarray(y)
        assert x.dtype == y.dtype
        assert x.shape == y.shape
        np.testing.assert_array_equal(bits(x), bits(y), f"{before}\n{after}")


def bits(x: np.ndarray) -> np.ndarray:
    """What to compare: numbers, and their signs, so that there are two zeros; of NaN there is one."""
    if x.dtype.kind == "V":  # bfloat16 and smaller
        x = x.astype(np.float32)
    if x.dtype.kind in "fc":
        flat = np.ascontiguousarray(x).reshape(-1)
        flat = flat.view(np.real(flat).dtype)
        return np.stack(
            [np.where(np.isnan(flat), np.nan, flat), np.signbit(flat) & ~np.isnan(flat)]
        )
    return x


AWKWARD = np.array([0.0, -0.0, 1.0, -1.5, np.nan, np.inf, -np.inf, 1e-42], np.float32)
"""Numbers for which careless rules do not hold."""
