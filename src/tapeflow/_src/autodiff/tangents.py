"""Forward mode for one operation: the tangent of the output from the tangents of the inputs.

There are no rules for it in the table. A primitive that is linear is its own derivative, an elementwise one multiplies
by the same number in both modes, and for all others the gradient is transposed: it is a linear function of `g`, and the
gradient of that function, with the tangent in the place of its output gradient, is what forward mode wants.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from tapeflow._src.autodiff.backprop import Call, accumulate, dense, zeros_like
from tapeflow._src.autodiff.tape import GradientTape
from tapeflow._src.core.context import identify
from tapeflow._src.core.sizes.dims import is_dynamic, same_sizes
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.primitives.array import moving as array
from tapeflow._src.primitives.table import Primitive

Tangents = list[Tensor | None]

# Linear in these inputs taken together: apply the primitive to the tangents.
_LINEAR = {
    **dict.fromkeys(
        [
            *(
                "identity",
                "reshape",
                "transpose",
                "broadcast_to",
                "getitem",
                "put",
                "reverse",
                "roll",
            ),
            *(
                "tile",
                "repeat",
                "mirror_pad",
                "mirror_fold",
                "sum",
                "sum_like",
                "mean",
                "cumsum",
                "diag",
            ),
            *("diag_part", "cast", "real", "imag", "unstack", "split", "gather", "scatter_rows"),
            *(
                "gather_nd",
                "take_along",
                "put_along",
                "reverse_sequence",
                "segment_sum",
                "segment_pick",
            ),
            *("dropout", "fft", "rfft", "irfft", "resample", "sum_pool", "sum_pool_spread"),
        ],
        ("x",),
    ),
    **dict.fromkeys(["concat", "stack", "add_n"], ("xs",)),
    "complex": ("a", "b"),
    "select": ("a", "b"),
    "pad": ("x", "value"),
    "scatter_nd": ("updates",),
    "scatter_update": ("x", "updates"),
}

# Linear in each of its inputs while the others stay: the product rule.
_PRODUCTS = {
    *("matmul", "einsum", "cross", "conv", "conv_input_gradient", "conv_filter_gradient"),
}


def tangent_of(
    primitive: Primitive,
    inputs: Sequence[Tensor],
    tangents: Tangents,
    output: Any,
    attrs: dict[str, Any] | None,
) -> Any:
    """The tangent of the output of an operation (a list, if it has several), or None if there is none."""
    moved = [
        i for i, t in enumerate(tangents) if t is not None and primitive.gradients[i] is not None
    ]
    if not moved:
        return None
    attrs = attrs or {}
    if primitive.name in _LINEAR:
        result = _linear(primitive, inputs, tangents, attrs)
        return list(result) if primitive.outputs != 1 else result
    if primitive.name in _PRODUCTS:
        parts = [primitive.call(*_with(inputs, i, tangents[i]), **attrs) for i in moved]
        return _added(parts)
    if primitive.elementwise and output._array.dtype.kind != "c":
        return _elementwise(primitive, inputs, tangents, moved, output)
    return _transposed(primitive, inputs, tangents, moved, output, attrs)


def _with(inputs: Sequence[Tensor], position: int, tangent: Any) -> list[Tensor]:
    changed = list(inputs)
    changed[position] = tangent
    return changed


def _added(parts: list[Tensor]) -> Tensor:
    total = parts[0]
    for part in parts[1:]:
        total = total + part
    return total


def _linear(primitive: Primitive, inputs: Any, tangents: Tangents, attrs: dict[str, Any]) -> Any:
    names = primitive.inputs * len(inputs) if primitive.variadic else primitive.inputs
    moving = _LINEAR[primitive.name]
    arguments = []
    for name, x, t in zip(names, inputs, tangents, strict=True):
        if name not in moving:
            arguments.append(x)
        else:
            arguments.append(array.zeros_like(x) if t is None else t)
    return primitive.call(*arguments, **attrs)


def _elementwise(
    primitive: Primitive, inputs: Any, tangents: Tangents, moved: list[int], output: Tensor
) -> Tensor:
    """The derivative is a diagonal matrix, which is its own transpose."""
    shape = output._array.shape
    parts = []
    for i in moved:
        t = tangents[i]
        assert t is not None
        if not same_sizes(t._array.shape, shape):
            # Of an input with the shape of the output the gradient is not summed.
            t = array.broadcast_to(t, shape=shape)
            inputs = _with(inputs, i, array.broadcast_to(inputs[i], shape=shape))
        edge: Any = primitive.gradients[i]
        _, rule, kept = edge(0, i, tuple(inputs), output, None)
        parts.append(rule(t, *kept))
    return _added(parts)


def _transposed(
    primitive: Primitive,
    inputs: Any,
    tangents: Tangents,
    moved: list[int],
    output: Any,
    attrs: dict[str, Any],
) -> Any:
    several = primitive.outputs != 1
    outputs = tuple(output) if several else (output,)
    followed = [i in moved for i in range(len(inputs))]
    pullback = partial(primitive.pullback(followed, inputs, output, attrs), followed)
    found = _pushed(Call(primitive.name, inputs, outputs, pullback), tangents)
    return found if several else found[0]


def tangents_of_call(
    call: Call, tangents: Tangents, transposing: bool
) -> list[Tensor | None] | None:
    """The tangents of the outputs of a computation that brings its own pullback.

    None if it has no pushforward for them, and transposing the pullback is not allowed.
    """
    found: Any = NotImplemented
    if call.pushforward is not None:
        found = call.pushforward(tangents)
    if found is not NotImplemented:
        return found
    return _pushed(call, tangents) if transposing else None


def _pushed(call: Call, tangents: Tangents) -> list[Tensor | None]:
    """Transposes a pullback, and applies it to tangents.

    It does not matter where a linear function is differentiated, except that some rules treat the value 0 apart.
    """
    outputs = call.outputs
    dummies = [_ones(y) if y.dtype.is_differentiable else None for y in outputs]
    watched = [d for d in dummies if d is not None]
    given = (
        dummies
        if call.partial
        else [_ones(y) if d is None else d for y, d in zip(outputs, dummies, strict=True)]
    )
    with GradientTape(watch_accessed_variables=False, debug=False) as tape:
        tape.watch(watched)
        parts = call.pullback(*given)
    pairs = [
        (dense(part), t)
        for part, t in zip(parts, tangents, strict=True)
        if part is not None and t is not None
    ]
    if not pairs or not watched:
        return [None] * len(outputs)
    if all(_is_empty(t) for _, t in pairs):  # a rule may divide by what is not there
        return [zeros_like(y) for y in outputs]
    seeds: dict[int, Any] = {}
    for part, t in pairs:
        there = seeds.get(identify(part))
        seeds[part._id] = t if there is None else accumulate(there, t)
    found = iter(tape._backward(seeds, watched, release=True))
    results = [None if d is None else next(found) for d in dummies]
    return [None if t is None else dense(t) for t in results]


def _ones(y: Tensor) -> Tensor:
    """A gradient of the form of a tensor."""
    if type(y._array.shape) is not tuple:
        return y._array.shape.ones_like(y)  # stacks of tensors, inside of `tf.function`
    return array.ones_like(y)


def _is_empty(t: Tensor) -> bool:
    size = t._array.size
    return not is_dynamic(size) and size == 0
