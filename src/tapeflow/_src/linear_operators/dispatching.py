"""Which functions of `tf.linalg` take operators in the place of matrices."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tapeflow._src.core.composites import dispatch
from tapeflow._src.core.composites.dispatch import NOT_HANDLED, bound
from tapeflow._src.linear_operators.base import LinearOperator
from tapeflow._src.ops.linalg import decompositions, diagonals, products, solvers
from tapeflow._src.ops.linalg.products import adjoint as adjoint_of

Arguments = dict[str, Any]


def _matmul(given: Arguments) -> Any:
    a, b = given["a"], given["b"]
    adjoint_a = bool(given.get("adjoint_a") or given.get("transpose_a"))
    adjoint_b = bool(given.get("adjoint_b") or given.get("transpose_b"))
    if isinstance(a, LinearOperator):
        return a.matmul(b, adjoint=adjoint_a, adjoint_arg=adjoint_b)
    # (B^H A^H)^H, with the operator at the left.
    return adjoint_of(b.matmul(a, adjoint=not adjoint_b, adjoint_arg=not adjoint_a))


def _first(name: str, act: Callable[[Any, Arguments], Any]) -> Callable[[Arguments], Any]:
    """An answer where the argument of that name is an operator."""

    def answer(given: Arguments) -> Any:
        operator = given.get(name)
        return act(operator, given) if isinstance(operator, LinearOperator) else NOT_HANDLED

    return answer


ANSWERS: dict[Callable[..., Any], Callable[[Arguments], Any]] = {
    products.matmul: _matmul,
    products.matvec: _first(
        "a", lambda o, given: o.matvec(given["b"], adjoint=bool(given.get("adjoint_a")))
    ),
    products.adjoint: _first("matrix", lambda o, given: o.adjoint()),
    diagonals.diag_part: _first("input", lambda o, given: o.diag_part()),
    diagonals.trace: _first("x", lambda o, given: o.trace()),
    decompositions.cholesky: _first("input", lambda o, given: o.cholesky()),
    solvers.logdet: _first("matrix", lambda o, given: o.log_abs_determinant()),
    solvers.det: _first("input", lambda o, given: o.determinant()),
    solvers.inv: _first("input", lambda o, given: o.inverse()),
    solvers.solve: _first(
        "matrix", lambda o, given: o.solve(given["rhs"], adjoint=bool(given.get("adjoint")))
    ),
}


def _handler(function: Any, args: tuple[Any, ...], kwargs: Arguments) -> Any:
    given = bound(function, args, kwargs)
    holds = given is not None and any(isinstance(x, LinearOperator) for x in given.values())
    return ANSWERS[function](given) if given is not None and holds else NOT_HANDLED


for _function in ANSWERS:
    dispatch.register(_function, _handler, first=False)
