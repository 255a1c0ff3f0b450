"""Kernels for the cross entropy of many classes: the logits are read once for the loss, and once for the gradient.

Logits of half precision stay that in memory; what is computed of them is float32.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax import lax

from tapeflow._src.core.sizes.dims import is_dynamic
from tapeflow._src.engines.xla.kernels.able import is_interpreted, is_worth_it, on_nvidia
from tapeflow._src.engines.xla.nn import softmax
from tapeflow._src.engines.xla.remembered import remembered
from tapeflow._src.graph.graph import Node, Value
from tapeflow._src.graph.repeats.loops import Loop
from tapeflow._src.graph.sizes import needs

# Of the sizes that were tried on an H200, those that took the least time.
_BLOCK = 1024  # logits that a warp of four takes at once
_BLOCKS = 4  # for which there is one new maximum
_BLOCK_OF_GRADIENT = 2048
_WARPS = 4
_FEWEST_ROWS = 256  # for which a row that is read once is worth a kernel


class Loss(NamedTuple):
    """A node for the cross entropy of logits, or for its gradient, whose logits are in memory.

    Attributes:
      node: the node.
      logits: what it takes, or that of half precision which was cast to it.
      dtype: of what it gives: of a gradient that is only to be cast to half precision, that.
    """

    node: Node
    logits: Value
    dtype: Any


_LOGITS = {"sparse_softmax_cross_entropy": 0, "sparse_softmax_cross_entropy_gradient": 1}


def with_losses(items: Sequence[Any], wanted: Iterable[Value]) -> Sequence[Any]:
    """The items of a program, with losses in the place of the nodes that a kernel is to compute.

    Logits to which something is added are left to XLA, which adds it where it reads them. For a kernel they would have
    to be written first.
    """
    if not any(type(item) is Node and item.primitive.name in _LOGITS for item in items):
        return items
    made = {v: item for item in items if type(item) is Node for v in item.outputs}
    users: dict[Value, list[Any]] = {}
    for item in items:
        for v in _taken(item):
            users.setdefault(v, []).append(item)
    kept = set(wanted)

    def loss(node: Node) -> Node | Loss:
        value = logits = node.inputs[_LOGITS[node.primitive.name]]
        while (maker := made.get(logits)) is not None and _only_widens(maker):
            logits = maker.inputs[0]
        added = maker is not None and (
            maker.primitive.elementwise or maker.primitive.name == "cast"
        )
        if added or not _suits(logits):
            return node
        (out,) = node.outputs
        dtypes = {
            user.outputs[0].dtype
            if type(user) is Node and user.primitive.name == "cast"
            else out.dtype
            for user in users.get(out, ())
        }
        half = out not in kept and dtypes == {logits.dtype} and value.shape == out.shape
        return Loss(node, logits, (logits if half else out).dtype.np_dtype)

    return [
        loss(item) if type(item) is Node and item.primitive.name in _LOGITS else item
        for item in items
    ]


def _taken(item: Any) -> Iterable[Value]:
    """What an item takes: a node, a region, or a loop with the nodes of all its turns."""
    if type(item) is Loop:
        return [v for node in item.nodes for v in needs(node)]
    return needs(item) if type(item) is Node else item.inputs


def _only_widens(node: Node) -> bool:
    """Whether a node casts floats to others, and rounds none."""
    if node.primitive.name != "cast":
        return False
    given, made = node.inputs[0].dtype, node.outputs[0].dtype
    return given.is_floating and given.size < made.size


def _suits(logits: Value) -> bool:
    shape = logits.shape
    return (
        logits.dtype.name in ("float32", "bfloat16", "float16")
        and not is_dynamic(shape)
        and is_worth_it(shape[-1] * _FEWEST_ROWS)
        and math.prod(shape) > 0
        and is_worth_it(math.prod(shape))
    )


def run_loss(loss: Loss, values: Any) -> None:
    """Adds what the node of a loss makes to the values."""
    node, x = loss.node, values[loss.logits]
    labels, classes = values[node.inputs[-1]], x.shape[-1]

    def statistics(x: Any) -> tuple[Any, Any]:
        with jax.enable_x64(is_interpreted()):
            return on_nvidia(_largest_and_total, softmax.largest_and_total, x)

    def found(x: Any) -> tuple[Any, Any]:
        return remembered("largest and total", [x], lambda: statistics(x))

    if node.primitive.name == "sparse_softmax_cross_entropy":
        values[node.outputs[0]] = softmax.cross_entropy(x, labels, loss.dtype, found)
        return
    u = softmax.scale_of_gradient(values[node.inputs[0]], labels, classes)
    # Which number it is that is no class does not matter: `u` is NaN there.
    labels = jnp.clip(labels.astype(jnp.int64), -1, classes).astype(jnp.int32)
    kernel = functools.partial(_gradient, dtype=loss.dtype)
    composed = functools.partial(softmax.cross_entropy_gradient, dtype=loss.dtype)
    with jax.enable_x64(is_interpreted()):
        y = on_nvidia(kernel, composed, x, *found(x), u, labels)
    values[node.outputs[0]] = y


def _exp(x: Any) -> Any:
    """The exponential by the one power for which a GPU has an instruction."""
    return jnp.exp2(x * math.log2(math.e))


def _largest_and_total(x: Any) -> tuple[Any, Any]:
    from jax.experimental import pallas as pl
    from jax.experimental.pallas import triton

    classes = x.shape[-1]
    step = _BLOCK * _BLOCKS
    whole, rest = divmod(classes, step)

    def kernel(x_ref: Any, largest_ref: Any, total_ref: Any) -> None:
        places = jnp.arange(_BLOCK, dtype=jnp.int32)

        def logits(start: Any, masked: bool) -> Any:
            at = x_ref.at[pl.ds(start, _BLOCK)]
            if not masked:
                return triton.load(at).astype(jnp.float32)
            found = triton.load(at, mask=start + places < classes, other=-jnp.inf)
            return found.astype(jnp.float32)

        def turn(i: Any, found: Any, masked: bool = False) -> Any:
            # Each place has a maximum and a sum of its own, so that threads need not wait for each other.
            largest, total = found
            zs = [logits(i * step + k * _BLOCK, masked) for k in range(_BLOCKS)]
            new = largest
            for z in zs:
                new = jnp.maximum(new, z)
            shift = jnp.where(new == -jnp.inf, 0.0, new)  # nothing was there yet
            total = total * _exp(largest - shift)
            for z in zs:
                total = total + _exp(z - shift)
            return new, total

        found = (jnp.full(_BLOCK, -jnp.inf, jnp.float32), jnp.zeros(_BLOCK, jnp.float32))
        found = lax.fori_loop(0, whole, turn, found)
        if rest:
            found = turn(whole, found, masked=True)
        largest = found[0].max()
        largest_ref[0] = largest
        total_ref[0] = (found[1] * _exp(found[0] - largest)).sum()

    rows = x.size // classes
    one = pl.BlockSpec((1,), lambda i: (i,))
    found = pl.pallas_call(
        kernel,
        grid=(rows,),
        in_specs=[pl.BlockSpec((None, (whole + bool(rest)) * step), lambda i: (i, 0))],
        out_specs=[one, one],
        out_shape=[jax.ShapeDtypeStruct((rows,), jnp.float32)] * 2,
        compiler_params=triton.CompilerParams(num_warps=_WARPS, num_stages=1),
        interpret=is_interpreted(),
        name="largest_and_total",
    )(x.reshape(rows, classes))
    return found[0].reshape(x.shape[:-1]), found[1].reshape(x.shape[:-1])


def _gradient(x: Any, largest: Any, total: Any, u: Any, labels: Any, dtype: Any) -> Any:
    from jax.experimental import pallas as pl
    from jax.experimental.pallas import triton

    classes = x.shape[-1]
    rows = x.size // classes

    def kernel(x_ref: Any, largest_ref: Any, total_ref: Any, u_ref: Any, label_ref: Any, out: Any):
        at = pl.program_id(1) * _BLOCK_OF_GRADIENT
        at = at + jnp.arange(_BLOCK_OF_GRADIENT, dtype=jnp.int32)
        block = pl.ds(0, _BLOCK_OF_GRADIENT)
        z = triton.load(x_ref.at[block], mask=at < classes, other=0).astype(jnp.float32)
        p = _exp(z - largest_ref[0]) * (u_ref[0] / total_ref[0])
        p = p - jnp.where(at == label_ref[0], u_ref[0], 0.0)
        triton.store(out.at[block], p.astype(dtype), mask=at < classes)

    block = pl.BlockSpec((None, _BLOCK_OF_GRADIENT), lambda i, j: (i, j))
    one = pl.BlockSpec((1,), lambda i, j: (i,))
    found = pl.pallas_call(
        kernel,
        grid=(rows, pl.cdiv(classes, _BLOCK_OF_GRADIENT)),
        in_specs=[block, one, one, one, one],
        out_specs=block,
        out_shape=jax.ShapeDtypeStruct((rows, classes), dtype),
        compiler_params=triton.CompilerParams(num_warps=_WARPS),
        interpret=is_interpreted(),
        name="cross_entropy_gradient",
    )(x.reshape(rows, classes), *[a.reshape(rows) for a in (largest, total, u, labels)])
    return found.reshape(x.shape)
