"""`tf.linalg.experimental.conjugate_gradient`: systems solved by products alone."""

from __future__ import annotations

from typing import Any, NamedTuple

from tapeflow._src.core import dtypes
from tapeflow._src.core.convert import convert_to_tensor
from tapeflow._src.core.errors import wrong_object
from tapeflow._src.core.export import export
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.linear_operators.base import LinearOperator
from tapeflow._src.ops.array.creation import zeros_like
from tapeflow._src.ops.array.shaping import expand_dims
from tapeflow._src.ops.control.control_flow import while_loop
from tapeflow._src.ops.elementwise.arithmetic import conj
from tapeflow._src.ops.elementwise.logic import logical_and
from tapeflow._src.ops.linalg.norm import norm
from tapeflow._src.ops.reduction.reducing import reduce_any, reduce_sum


class CGState(NamedTuple):
    """How far a solution is."""

    i: Tensor
    x: Tensor
    r: Tensor
    p: Tensor
    gamma: Tensor


@export("linalg.experimental.conjugate_gradient")
def conjugate_gradient(
    operator: Any,
    rhs: Any,
    preconditioner: Any = None,
    x: Any = None,
    tol: Any = 1e-5,
    max_iter: Any = 20,
    name: str | None = "conjugate_gradient",
) -> CGState:
    """Solves a system with an operator that is self-adjoint and positive definite, step by step.

    >>> operator = tf.linalg.LinearOperatorFullMatrix(
    ...     [[2.0, 1.0], [1.0, 3.0]], is_self_adjoint=True, is_positive_definite=True
    ... )
    >>> tf.linalg.experimental.conjugate_gradient(operator, [1.0, 2.0]).x.numpy().round(4)
    array([0.2, 0.6], dtype=float32)

    Args:
      operator: the operator, with both hints.
      rhs: a vector, or a batch of them.
      preconditioner: an operator near the inverse.
      x: where to begin; zeros by default.
      tol: how small the rest must be, as a part of `rhs`.
      max_iter: how many steps there may be.
      name: accepted for compatibility.

    Returns:
      The number of steps, the solution `x`, the rest `r`, the last direction `p`, and the size `gamma` of the rest.
    """
    if not isinstance(operator, LinearOperator):
        raise wrong_object("conjugate_gradient", "operator", "a LinearOperator", operator)
    if not (operator.is_self_adjoint and operator.is_positive_definite):
        raise ValueError("Expected a self-adjoint, positive definite operator.")
    rhs = convert_to_tensor(rhs, operator.dtype)
    limit = tol * norm(rhs, axis=-1)

    def inner(a: Any, b: Any) -> Any:
        return reduce_sum(conj(a) * b, axis=-1)

    def going(i: Any, x: Any, r: Any, p: Any, gamma: Any) -> Any:
        return logical_and(i < max_iter, reduce_any(norm(r, axis=-1) > limit))

    def step(i: Any, x: Any, r: Any, p: Any, gamma: Any) -> tuple[Any, ...]:
        z = operator.matvec(p)
        alpha = expand_dims(gamma / inner(p, z), -1)
        x, r = x + alpha * p, r - alpha * z
        q = r if preconditioner is None else preconditioner.matvec(r)
        after = inner(r, q)
        return i + 1, x, r, q + expand_dims(after / gamma, -1) * p, after

    x = zeros_like(rhs) if x is None else convert_to_tensor(x, operator.dtype)
    r = rhs - operator.matvec(x)
    p = r if preconditioner is None else preconditioner.matvec(r)
    first = (convert_to_tensor(0, dtypes.int32), x, r, p, inner(r, p))
    return CGState(*while_loop(going, step, first))
