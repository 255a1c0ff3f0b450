"""Small functions of TensorFlow's `framework` and `ops` that libraries call and that are public nowhere."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from tapeflow._src.autodiff.custom_gradient import custom_gradient
from tapeflow._src.core import nest, settings
from tapeflow._src.core.composites.composite import CompositeTensor
from tapeflow._src.core.context import executing_eagerly
from tapeflow._src.core.convert import convert_to_tensor
from tapeflow._src.core.dtypes import float32, int64
from tapeflow._src.core.shapes import TensorShape
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.core.variables.variable import Variable
from tapeflow._src.ops.array import creation
from tapeflow._src.ops.array.shaping import get_static_value
from tapeflow._src.ops.control.control_flow import cond
from tapeflow._src.ops.control.vectorized_map import vectorized_map
from tapeflow._src.ops.random.distributions import stateless_parameterized_truncated_normal
from tapeflow._src.ops.random.numbers import uniform


def constant_value_as_shape(tensor: Any) -> TensorShape:
    """The shape that a vector of sizes says, as far as its values are known."""
    if isinstance(tensor, TensorShape):
        return tensor
    value = get_static_value(tensor)
    if value is None:
        size = convert_to_tensor(tensor).shape[0]
        return TensorShape(None if size is None else [None] * size)
    return TensorShape([None if n < 0 else int(n) for n in value])


def unknown(rank: int | None = None, **_: Any) -> TensorShape:
    """A shape of which no size is known, and the rank only if it is given."""
    return TensorShape(None if rank is None else [None] * rank)


def smart_constant_value(pred: Any) -> bool | None:
    """The value of a condition, if it is known before the program runs."""
    if isinstance(pred, (bool, int)):
        return bool(pred)
    value = get_static_value(pred)
    return None if value is None else bool(value)


def smart_cond(
    pred: Any,
    true_fn: Callable[[], Any],
    false_fn: Callable[[], Any],
    name: str | None = None,
) -> Any:
    """One of two branches; if the condition is known, only that one is traced."""
    known = smart_constant_value(pred)
    if known is None:
        return cond(pred, true_fn, false_fn)
    return true_fn() if known else false_fn()


def case_by(
    cond_fn: Callable[..., Any],
    pred_fn_pairs: Any,
    default: Callable[[], Any] | None,
    exclusive: bool,
    name: str | None,
    allow_python_preds: bool = False,
    **kwargs: Any,
) -> Any:
    """The result of the first branch whose condition holds, each chosen by a function like `tf.cond`."""
    pairs = list(pred_fn_pairs.items() if isinstance(pred_fn_pairs, dict) else pred_fn_pairs)
    chosen: Callable[[], Any] = pairs.pop()[1] if default is None else default
    for pred, branch in reversed(pairs):
        chosen = partial(cond_fn, pred, true_fn=branch, false_fn=chosen, **kwargs)
    return chosen()


def convert_variables_to_tensors(values: Any) -> Any:
    """The structure with the values of its variables in their place."""

    def converted(x: Any) -> Any:
        if isinstance(x, CompositeTensor):
            return x._convert_variables_to_tensors()
        return convert_to_tensor(x) if isinstance(x, Variable) else x

    return nest.map_structure(converted, values)


def convert_to_tensor_or_composite(value: Any, dtype: Any = None, name: str | None = None) -> Any:
    """A tensor, or the composite tensor as it is."""
    if isinstance(value, CompositeTensor):
        return value
    return convert_to_tensor(value, dtype=dtype)


def in_xla_context(graph: Any = None) -> bool:
    """Whether ops are traced for XLA alone, which TensorFlow's control flow must know and ours need not."""
    return False


def inside_function() -> bool:
    """Whether ops are traced."""
    return not executing_eagerly()


def pfor(loop_fn: Callable[[Tensor], Any], iters: Any, **_: Any) -> Any:
    """A loop whose rounds are computed all at once: the results, one above the other."""
    return vectorized_map(loop_fn, creation.range(iters))


def register(name: str) -> Callable[[Any], Any]:
    """Marks a class as known by a name in files; ours knows them by another way."""
    return lambda decorated: decorated


def register_codec(codec: Any) -> None:
    """How values of a type are written in TensorFlow's files: ours are not."""


def parameterized_truncated_normal(
    shape: Any,
    means: Any = 0.0,
    stddevs: Any = 1.0,
    minvals: Any = -2.0,
    maxvals: Any = 2.0,
    dtype: Any = float32,
    seed: int | None = None,
    name: str | None = None,
) -> Tensor:
    """Normal random numbers between bounds, by the global generator."""
    own = uniform([2], 0, 2**62, dtype=int64, seed=seed)
    means, stddevs, minvals, maxvals = (
        convert_to_tensor(each, dtype=dtype) for each in (means, stddevs, minvals, maxvals)
    )
    return stateless_parameterized_truncated_normal(shape, own, means, stddevs, minvals, maxvals)


def prevent_gradient(input: Any, message: str = "", name: str | None = None) -> Tensor:
    """The tensor itself; whoever wants a gradient through it gets an error."""

    @custom_gradient
    def same(x: Tensor) -> tuple[Tensor, Callable[..., Any]]:
        def refuse(*_: Any) -> Any:
            raise LookupError(f"Gradient explicitly disabled. Reason: {message}")

        return convert_to_tensor(x), refuse

    return same(input)


def is_op_determinism_enabled() -> bool:
    """Whether the same program gives the same numbers, bit for bit."""
    return settings.deterministic


def disable_op_determinism() -> None:
    """From now on what is fastest is chosen again."""
    settings.deterministic = False
