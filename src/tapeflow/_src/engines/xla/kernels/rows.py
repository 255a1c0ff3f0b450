"""Regions of a graph as kernels: each reads and writes every row once, and keeps it in registers in between.

A program of the kernel goes through some rows, a tile at a time. If the region reduces rows, a tile has all their
columns, else as many as are handy. Nodes compute on tiles by their own lowerings, in float32, and where they give half
precision it is rounded after each. A sum over all rows is one sum for each program, and XLA adds these up.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from tapeflow._src.engines.xla.kernels.able import is_interpreted, on_nvidia
from tapeflow._src.engines.xla.kernels.regions import Kind, Region, adds_rows, reduces_rows
from tapeflow._src.engines.xla.lowerings import LOWERINGS
from tapeflow._src.engines.xla.nn.activations import gelu_by_sigmoid, gelu_gradient_by_sigmoid
from tapeflow._src.graph.graph import Node, Value

# Of the sizes that were tried on an H200, those that took the least time.
_TILE = 1024  # elements that a program computes with at once, if the rows are not longer
_ROWS = 16  # that a program goes through where it adds them up
_MOST_ROWS = 64  # the same where it does nothing else with whole rows
_FOR_EACH_WARP = 1024  # elements of a tile
_FEWEST_FOR_EACH_WARP = 128

_OWN: dict[str, Callable[..., Any]] = {
    "cast": lambda x, *, dtype: x,
    "gelu_tanh": gelu_by_sigmoid,
    "gelu_tanh_gradient": gelu_gradient_by_sigmoid,
    # Triton's own prefer a number to NaN.
    "maximum": lambda a, b: jnp.where((a >= b) | jnp.isnan(a), a, b),
    "minimum": lambda a, b: jnp.where((a <= b) | jnp.isnan(a), a, b),
    "relu": lambda x: jnp.where(x <= 0, 0, x),
}


def run_region(region: Region, values: Any, constants: Mapping[Value, Any]) -> None:
    """Adds what a region makes to the values."""
    numbers = {
        v: np.asarray(constants[v], v.dtype.np_dtype).reshape(())
        for v, kind in region.inputs.items()
        if kind is Kind.NUMBER and v in constants
    }
    taken = {v: kind for v, kind in region.inputs.items() if v not in numbers}

    def kernel(*arrays: Any) -> tuple[Any, ...]:
        return _by_kernel(region, taken, numbers, arrays)

    def composed(*arrays: Any) -> tuple[Any, ...]:
        found: dict[Value, Any] = dict(zip(taken, arrays, strict=True))
        found.update((v, jnp.asarray(x).reshape(v.shape)) for v, x in numbers.items())
        for node in region.nodes:
            given = [found[v] for v in node.inputs]
            found[node.outputs[0]] = LOWERINGS[node.primitive.name](*given, **node.attrs)
        return tuple([found[v] for v in region.outputs])

    with jax.enable_x64(
        is_interpreted()
    ):  # where kernels are compiled, numbers of rows have 32 bits
        found = on_nvidia(kernel, composed, *[values[v] for v in taken])
    values.update(zip(region.outputs, found, strict=True))


class _Sizes(NamedTuple):
    """Of a kernel: all rows and columns, those of a tile, how many rows a program goes through, and with what."""

    rows: int
    columns: int
    height: int
    width: int
    each: int
    warps: int


def _sizes(region: Region) -> _Sizes:
    rows, columns = math.prod(region.shape[:-1]), region.shape[-1]
    width = 1 << (columns - 1).bit_length()  # tiles have no other sizes
    reduces = any(reduces_rows(node, region.shape) for node in region.nodes)
    if not reduces:
        fitting = min(columns & -columns, _TILE)
        width = fitting if fitting >= 128 else min(width, _TILE)
    height = max(1, min(_TILE // width, _ROWS))
    each, for_each_warp = height, _FOR_EACH_WARP
    if Kind.COLUMN in region.outputs.values():
        each = _ROWS
        if not reduces:  # then it waits for memory, unless many warps do
            each = math.gcd(rows, _MOST_ROWS)
            for_each_warp = _FEWEST_FOR_EACH_WARP
    return _Sizes(rows, columns, height, width, each, max(1, height * width // for_each_warp))


def _by_kernel(
    region: Region,
    taken: Mapping[Value, Kind],
    numbers: Mapping[Value, Any],
    arrays: Sequence[Any],
) -> tuple[Any, ...]:
    from jax.experimental import pallas as pl
    from jax.experimental.pallas import triton

    rows, columns, height, width, each, warps = _sizes(region)
    flat = {
        Kind.ALL: (rows, columns),
        Kind.ROW: (rows,),
        Kind.COLUMN: (columns,),
        Kind.NUMBER: (1,),
    }
    blocks = {
        Kind.ALL: pl.BlockSpec((each, width), lambda i, j: (i, j)),
        Kind.ROW: pl.BlockSpec((each,), lambda i, j: (i,)),
        Kind.COLUMN: pl.BlockSpec((width,), lambda i, j: (j,)),
        Kind.NUMBER: pl.BlockSpec((1,), lambda i, j: (0,)),
    }
    tiled = {v: kind for v, kind in region.outputs.items() if kind is not Kind.COLUMN}
    added = [v for v, kind in region.outputs.items() if kind is Kind.COLUMN]
    results = [(blocks[kind], flat[kind], v.dtype.np_dtype) for v, kind in tiled.items()]
    if added:
        sums = pl.BlockSpec((None, len(added), width), lambda i, j: (i, 0, j))
        results.append((sums, (rows // each, len(added), columns), jnp.float32))

    def kernel(*refs: Any) -> None:
        into, out = refs[: len(taken)], refs[len(taken) :]
        here = None
        if columns % width:
            first = pl.program_id(1) * width
            here = first + jnp.arange(width, dtype=jnp.int32) < columns
        tile = None if here is None else jnp.broadcast_to(here[None], (height, width))

        def load(ref: Any, kind: Kind, row: Any) -> Any:
            if kind is Kind.NUMBER:
                return ref[0]
            if kind is Kind.ROW:
                return triton.load(ref.at[pl.ds(row, height)])[:, None]
            if kind is Kind.COLUMN:
                other = None if here is None else 0
                return triton.load(ref.at[pl.ds(0, width)], mask=here, other=other)[None]
            at = ref.at[pl.ds(row, height), pl.ds(0, width)]
            return triton.load(at, mask=tile, other=None if tile is None else 0)

        given = list(zip(taken.items(), into, strict=True))
        fixed: dict[Value, Any] = dict(numbers)
        fixed.update((v, load(ref, kind, 0)) for (v, kind), ref in given if kind in _FIXED)

        def turn(number: Any, sums: Sequence[Any]) -> list[Any]:
            row = number * height
            found = dict(fixed)
            found.update((v, load(ref, kind, row)) for (v, kind), ref in given if v not in found)
            for node in region.nodes:
                found[node.outputs[0]] = _on_tile(node, found, region.shape, tile)
            for (v, kind), ref in zip(tiled.items(), out, strict=False):
                if kind is Kind.ROW:
                    triton.store(ref.at[pl.ds(row, height)], found[v][:, 0])
                else:
                    at = ref.at[pl.ds(row, height), pl.ds(0, width)]
                    triton.store(at, found[v], mask=tile)
            return [x + found[v] for x, v in zip(sums, added, strict=True)]

        sums = [jnp.zeros((height, width), jnp.float32) for _ in added]
        sums = lax.fori_loop(0, each // height, turn, sums) if each > height else turn(0, sums)
        for i, total in enumerate(sums):
            at = out[-1].at[pl.ds(i, 1), pl.ds(0, width)]
            triton.store(at, total.sum(0)[None], mask=None if here is None else here[None])

    found = pl.pallas_call(
        kernel,
        grid=(rows // each, pl.cdiv(columns, width)),
        in_specs=[blocks[kind] for kind in taken.values()],
        out_specs=[block for block, _, _ in results],
        out_shape=[jax.ShapeDtypeStruct(shape, dtype) for _, shape, dtype in results],
        compiler_params=triton.CompilerParams(num_warps=warps, num_stages=1),
        interpret=is_interpreted(),
        name="rows",
    )(*[x.reshape(flat[kind]) for x, kind in zip(arrays, taken.values(), strict=True)])
    made: dict[Value, Any] = dict(zip(tiled, found, strict=False))
    if added:
        made.update(zip(added, found[-1].sum(0), strict=True))
    return tuple([made[v].astype(v.dtype.np_dtype).reshape(v.shape) for v in region.outputs])


_FIXED = (Kind.COLUMN, Kind.NUMBER)  # what is the same for all rows


def _on_tile(node: Node, found: Mapping[Value, Any], shape: Any, tile: Any) -> Any:
    """What a node computes of the tiles that it takes; of one that adds all rows up, what it would add."""
    name, dtype = node.primitive.name, node.outputs[0].dtype.np_dtype
    given = [found[v].astype(jnp.float32) for v in node.inputs]
    if adds_rows(node, shape):
        return given[0]
    if name == "reshape":  # of one number for each row
        return given[0].astype(dtype)
    if reduces_rows(node, shape):
        x = jnp.square(given[0] - given[1]) if name == "variance_about_mean" else given[0]
        total = (x if tile is None else jnp.where(tile, x, 0)).sum(1, keepdims=True)
        return (total if name == "sum" else total / shape[-1]).astype(dtype)
    lowered = _OWN.get(name, LOWERINGS[name])
    return lowered(*given, **node.attrs).astype(dtype)
