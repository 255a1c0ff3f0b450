"""Functions of matrices as wholes: exponential, square root, logarithm."""

from __future__ import annotations

from typing import Any

from tapeflow._src.core.convert import convert_to_tensor
from tapeflow._src.core.export import export
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.primitives.linalg import matrix_functions
from tapeflow._src.primitives.rules import DTypeError


@export("linalg.expm")
def expm(input: Any, name: str | None = None) -> Tensor:
    """The exponential of square matrices: the sum of `x @ x @ ... / n!`, not that of each element.

    >>> tf.linalg.expm([[0.0, 1.0], [0.0, 0.0]]).numpy()
    array([[1., 1.],
           [0., 1.]], dtype=float32)
    """
    return matrix_functions.expm(input)


@export("linalg.sqrtm")
def sqrtm(input: Any, name: str | None = None) -> Tensor:
    """The principal square root of square matrices: `y @ y` is the input.

    >>> tf.linalg.sqrtm([[4.0, 0.0], [0.0, 9.0]]).numpy()
    array([[2., 0.],
           [0., 3.]], dtype=float32)

    A real matrix whose root is not real gives nan: use a complex one.
    """
    return matrix_functions.sqrtm(input)


@export("linalg.logm")
def logm(input: Any, name: str | None = None) -> Tensor:
    """The principal logarithm of complex square matrices, the inverse of `expm`.

    >>> tf.linalg.logm(tf.constant([[1, 1], [0, 1]], tf.complex64)).numpy().real.round(4) + 0.0
    array([[0., 1.],
           [0., 0.]], dtype=float32)
    """
    x = convert_to_tensor(input)
    if not x.dtype.is_complex:
        raise DTypeError(
            None,
            None,
            f"logm: input has dtype {x.dtype.name}, and logm takes complex tensors: the logarithm "
            "of a real matrix need not be real. Use tf.cast to change the dtype.",
        )
    return matrix_functions.logm(x)
