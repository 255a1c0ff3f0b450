"""`tf.gradients` and `tf.hessians`: derivatives inside a traced function, without a tape of one's own.

A function that is traced is watched by a tape from its beginning to its end (see `function.tracing`), and that tape is
asked here. A branch or a loop body has a tape of its own: what it finds for tensors from outside is carried on by the
tape around it.
"""

from __future__ import annotations

from typing import Any

from tapeflow._src.autodiff import backprop, jacobians
from tapeflow._src.autodiff.targets_and_sources import UnconnectedGradients, variable_of
from tapeflow._src.core import nest
from tapeflow._src.core.composites.composite import one_tensor
from tapeflow._src.core.context import context, identify
from tapeflow._src.core.convert import convert_to_tensor
from tapeflow._src.core.errors import UnimplementedError
from tapeflow._src.core.export import export
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.primitives.array import moving


@export("gradients")
def gradients(
    ys: Any,
    xs: Any,
    grad_ys: Any = None,
    name: str | None = "gradients",
    gate_gradients: bool = False,
    aggregation_method: Any = None,
    stop_gradients: Any = None,
    unconnected_gradients: Any = UnconnectedGradients.NONE,
) -> list[Any]:
    """The derivatives of the sum of `ys` with respect to each of `xs`, inside `tf.function`.

    >>> @tf.function
    ... def slope(x):
    ...     return tf.gradients(x**3, x)[0]
    >>> slope(tf.constant(2.0)).numpy()
    np.float32(12.0)

    Args:
      ys: a tensor, or a list of them.
      xs: a tensor or variable, or a list of them. They must depend on an argument of the function or on a variable:
        what Python computes while the function is traced is a constant.
      grad_ys: for each of `ys` the gradient to begin with, or None for ones.
      name: accepted for compatibility.
      gate_gradients: accepted for compatibility.
      aggregation_method: accepted for compatibility.
      stop_gradients: tensors that are taken to be constants: gradients do not flow through them.
      unconnected_gradients: `tf.UnconnectedGradients.NONE` or `ZERO`: what to return for those of `xs` that `ys` do
        not depend on.

    Returns:
      A list with a tensor, `tf.IndexedSlices` or None for each of `xs`.
    """
    _check_traced()
    zero = UnconnectedGradients(unconnected_gradients) is UnconnectedGradients.ZERO
    targets = [convert_to_tensor(y) for y in nest.flatten(ys)]
    given = [None] * len(targets) if grad_ys is None else _listed(grad_ys)
    if len(given) != len(targets):
        raise ValueError(
            f"tf.gradients: {len(given)} grad_ys were given for {len(targets)} ys: there must be one for each"
        )
    sources = list(map(one_tensor, nest.flatten(xs)))
    seeds: backprop.Gradients = {}
    for y, g in zip(targets, given, strict=True):
        if not y.dtype.is_differentiable:
            continue
        g = moving.ones_like(y) if g is None else convert_to_tensor(g, dtype_hint=y.dtype)
        identity = identify(y)
        seeds[identity] = backprop.accumulate(seeds[identity], g) if identity in seeds else g
    stops = {
        x._id
        for x in map(one_tensor, nest.flatten(stop_gradients or []))
        if isinstance(x, Tensor) and x._id
    }
    found = _carried_back(seeds, [_identities(x) for x in sources], stops)
    if zero:
        pairs = zip(found, sources, strict=True)
        return [moving.zeros_like(convert_to_tensor(x)) if g is None else g for g, x in pairs]
    return found


@export("hessians")
def hessians(
    ys: Any,
    xs: Any,
    gate_gradients: bool = False,
    aggregation_method: Any = None,
    name: str | None = "hessians",
) -> list[Tensor]:
    """The second derivatives of the sum of `ys` with respect to each of `xs`, inside `tf.function`.

    >>> @tf.function
    ... def curvature(x):
    ...     return tf.hessians(tf.reduce_sum(x**3), x)[0]
    >>> curvature(tf.constant([1.0, 2.0])).numpy()
    array([[ 6.,  0.],
           [ 0., 12.]], dtype=float32)

    Args:
      ys: a tensor, or a list of them.
      xs: a tensor or variable, or a list of them.
      gate_gradients: accepted for compatibility.
      aggregation_method: accepted for compatibility.
      name: accepted for compatibility.

    Returns:
      A list with a tensor of shape `x.shape + x.shape` for each of `xs`.
    """
    _check_traced()
    sources = list(map(one_tensor, nest.flatten(xs)))
    results = []
    for x, g in zip(sources, gradients(ys, sources), strict=True):
        if g is None:
            raise ValueError(f"tf.hessians: ys do not depend on {x!r}, so there is no gradient")
        g = backprop.dense(g)
        tape = context.tracer.tape
        try:
            found = jacobians.jacobian(tape, g, [_source(x)], zero=True)
        except (NotImplementedError, UnimplementedError):  # not for all rows at once
            found = jacobians.jacobian(tape, g, [_source(x)], zero=True, loop=True)
        results.append(found[0])
    return results


def _check_traced() -> None:
    if context.tracer is None:
        raise RuntimeError(
            "tf.gradients is not supported when eager execution is enabled. Use tf.GradientTape instead, or call it "
            "inside a tf.function."
        )


def _listed(grad_ys: Any) -> list[Any]:
    return list(grad_ys) if isinstance(grad_ys, (list, tuple)) else [grad_ys]


def _source(x: Any) -> Tensor:
    variable = variable_of(x)
    return x if variable is None else variable._read()


def _identities(x: Any) -> list[int]:
    """Under which identities a source may be known. A variable has one for its first value and one for its last."""
    variable = variable_of(x)
    if variable is None:
        if not isinstance(x, Tensor):
            raise TypeError(f"tf.gradients: xs must be tensors or variables, got {x!r}")
        return [x._id] if x._id else []
    found = [variable._read()._id]
    tracer = context.tracer
    while tracer is not None:
        captured = tracer.variables.get(id(variable))
        if captured is not None:
            found.append(captured.symbol._id)
        tracer = tracer.outer
    return [i for i in dict.fromkeys(found) if i]


def _carried_back(
    seeds: backprop.Gradients, sources: list[list[int]], stops: set[int]
) -> list[Any]:
    """The gradients of the sources, by the tapes of the trace and of those around it."""
    results: list[Any] = [None] * len(sources)
    tracer = context.tracer
    while tracer is not None:
        records = [_stopped(record, stops) for record in tracer.tape._records or []]
        outside = {identify(x) for x, _ in tracer.captures.values()} if tracer.inline else set()
        wanted = {i for group in sources for i in group} | outside
        needed = backprop.reachable(records, wanted)
        found = backprop.backward(records, dict(seeds), wanted, needed, release=True)
        for k, group in enumerate(sources):
            for i in group:
                # What comes from outside is counted there.
                if i in found and i not in outside:
                    there = results[k]
                    results[k] = found[i] if there is None else backprop.accumulate(there, found[i])
        if not tracer.inline:
            break
        seeds = {i: g for i, g in found.items() if i in outside}
        tracer = tracer.outer
    return results


def _stopped(record: backprop.Record, stops: set[int]) -> backprop.Record:
    """A record that does not carry back the gradients of some outputs."""
    output, operation, edges = record
    if type(output) is int:
        return (0, operation, edges) if output in stops else record
    if stops.isdisjoint(output):
        return record
    return tuple(0 if i in stops else i for i in output), operation, edges
