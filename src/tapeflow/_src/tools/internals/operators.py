"""`tensorflow.python.ops.linalg.linear_operator_addition`: sums of operators."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tapeflow._src.linear_operators.base import LinearOperator
from tapeflow._src.linear_operators.matrices import LinearOperatorFullMatrix
from tapeflow._src.linear_operators.simple import LinearOperatorDiag, LinearOperatorScaledIdentity


def add_operators(
    operators: Sequence[LinearOperator], operator_name: str | None = None, **_: Any
) -> Sequence[LinearOperator]:
    """A list of one operator that is the sum: by its diagonal if all have no more, else by all elements."""
    if len(operators) == 1:
        return list(operators)
    known: dict[str, Any] = {
        hint: True if all(getattr(each, hint) for each in operators) else None
        for hint in ("is_self_adjoint", "is_positive_definite")
    }
    if all(isinstance(x, (LinearOperatorDiag, LinearOperatorScaledIdentity)) for x in operators):
        diagonal = sum([x.diag_part() for x in operators[1:]], operators[0].diag_part())
        return [LinearOperatorDiag(diagonal, **known)]
    total = operators[0].to_dense()
    for each in operators[1:]:
        total = each.add_to_tensor(total)
    return [LinearOperatorFullMatrix(total, is_square=operators[0].is_square, **known)]
