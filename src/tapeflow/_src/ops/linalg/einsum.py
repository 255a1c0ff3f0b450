"""`tf.einsum`: reading the equation and spelling out its ellipses."""

from __future__ import annotations

import re
import string
from typing import Any

from tapeflow._src.core.convert import convert_to_tensor
from tapeflow._src.core.errors import wrong_object
from tapeflow._src.core.export import export
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.primitives.linalg import einsum as primitives
from tapeflow._src.primitives.rules import invalid

_TERM = re.compile(r"[A-Za-z]*(\.\.\.)?[A-Za-z]*")


@export("einsum", "linalg.einsum")
def einsum(equation: str, *inputs: Any, **kwargs: Any) -> Tensor:
    """Sums products of tensors over the labels of their dimensions, by Einstein's convention.

    >>> m = tf.constant([[1, 2], [3, 4]])
    >>> tf.einsum("ij,jk->ik", m, m).numpy()  # a matrix product
    array([[ 7, 10],
           [15, 22]], dtype=int32)
    >>> tf.einsum("ii->", m).numpy()  # a trace
    np.int32(5)

    Args:
      equation: a letter for each dimension of each input, the inputs apart by commas, and after
        `->` the dimensions of the result. Without `->`, those are the labels that appear once, in
        alphabetical order. `...` stands for any further dimensions, which broadcast.
      *inputs: the tensors, all of one dtype.
      **kwargs: `name` and `optimize` are accepted for compatibility: the order of the products is
        always optimised.
    """
    unknown = kwargs.keys() - {"name", "optimize", "greedy"}
    if unknown:
        raise TypeError(
            f"einsum: invalid keyword arguments: {', '.join(sorted(unknown))}. Valid "
            "arguments: name, optimize."
        )
    tensors = _converted(inputs)
    terms, output = _parsed(equation)
    if len(terms) != len(tensors):
        raise ValueError(
            f'einsum: got {len(tensors)} inputs for equation "{equation}", expecting {len(terms)}.'
        )
    subscripts, output, stretch = _spelled_out(equation, terms, output, tensors)
    return primitives.einsum(*tensors, subscripts=subscripts, output=output, stretch=stretch)


def _converted(inputs: tuple[Any, ...]) -> list[Tensor]:
    """The inputs as tensors: the first one that is a tensor decides the dtype for what is not."""
    dtype = next((x.dtype for x in inputs if isinstance(x, Tensor)), None)
    return [x if type(x) is Tensor else convert_to_tensor(x, dtype_hint=dtype) for x in inputs]


def _parsed(equation: str) -> tuple[list[str], str]:
    if not isinstance(equation, str):
        raise wrong_object("einsum", "equation", "a str", equation)
    text = equation.replace(" ", "")
    left, arrow, output = text.partition("->")
    terms = left.split(",")
    if not all(_TERM.fullmatch(term) for term in [*terms, output]):
        raise ValueError(
            f'einsum: subscripts have incorrect format: "{equation}". Use letters, commas, '
            '"..." and one "->".'
        )
    labels = left.replace(",", "").replace("...", "")
    if not arrow:
        output = "..." if "..." in left else ""
        output += "".join(sorted(label for label in set(labels) if labels.count(label) == 1))
    for label in output.replace("...", ""):
        if label not in labels:
            raise ValueError(
                f'einsum: the output of "{equation}" has the label {label!r}, which no input has.'
            )
        if output.count(label) > 1:
            raise ValueError(f'einsum: the output of "{equation}" has the label {label!r} twice.')
    return terms, output


def _spelled_out(
    equation: str, terms: list[str], output: str, tensors: list[Tensor]
) -> tuple[tuple[str, ...], str, str]:
    """Gives the dimensions that `...` stands for letters of their own, counted from the right."""
    if not any("..." in term for term in terms):
        return tuple(terms), output.replace("...", ""), ""
    ranks = [
        max(x._array.ndim - len(term) + 3, 0) if "..." in term else 0
        for term, x in zip(terms, tensors, strict=True)
    ]
    most = max(ranks)
    if most and "..." not in output:
        raise invalid(
            f'einsum: "..." in "{equation}" stands for {most} dimensions, and the output has '
            'no "..." for them.'
        )
    unused = [label for label in string.ascii_letters if label not in equation]
    extra = "".join(unused[:most])
    subscripts = [
        term.replace("...", extra[most - n :]) for term, n in zip(terms, ranks, strict=True)
    ]
    return tuple(subscripts), output.replace("...", extra), extra
