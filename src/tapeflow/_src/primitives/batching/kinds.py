"""Batching rules by kind: most primitives are one of a few."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tapeflow._src.core.tensor import Tensor
from tapeflow._src.primitives.batching.batch import Batch, Rule, each

Call = Callable[..., Any]


def broadcasting(call: Call) -> Rule:
    """The inputs broadcast, as in elementwise primitives."""

    def rule(batch: Batch, *xs: Tensor, **attrs: Any) -> Any:
        return call(*batch.aligned(*xs), **attrs)

    return rule


def leading(call: Call) -> Rule:
    """Works on the last dimensions and takes any number before them, the same in all inputs."""

    def rule(batch: Batch, *xs: Tensor, **attrs: Any) -> Any:
        return call(*[batch.full(x) for x in xs], **attrs)

    return rule


def along_axis(call: Call) -> Rule:
    """Works along `axis`, a number, in inputs of one rank."""

    def rule(batch: Batch, *xs: Tensor, axis: int, **attrs: Any) -> Any:
        return call(*[batch.full(x) for x in xs], axis=axis + 1, **attrs)

    return rule


def along_axes(call: Call) -> Rule:
    """Works along `axis`, a tuple of numbers."""

    def rule(batch: Batch, x: Tensor, *, axis: tuple[int, ...], **attrs: Any) -> Any:
        return call(batch.full(x), axis=tuple([i + 1 for i in axis]), **attrs)

    return rule


def along_several(call: Call) -> Rule:
    """Works along `axes`, as Fourier transforms call them."""

    def rule(batch: Batch, x: Tensor, *, axes: tuple[int, ...], **attrs: Any) -> Any:
        return call(batch.full(x), axes=tuple([i + 1 for i in axes]), **attrs)

    return rule


each(
    broadcasting,
    *("abs", "real", "imag", "complex", "angle", "is_nan", "is_inf", "is_finite", "polygamma"),
    *("identity", "stop_gradient", "cast", "cast_to_discrete", "leaky_relu", "dropout", "select"),
    *("igamma", "igammac", "betainc", "check_numerics", "check_bounds", "barrier"),
)
each(
    leading,
    *("add_n", "bitcast", "diag", "diag_part", "cross", "top_k_indices"),
    *("sigmoid_cross_entropy", "sparse_softmax_cross_entropy"),
    *(
        "inverse",
        "determinant",
        "log_determinant",
        "tridiagonal_solve",
        "perturbed_tridiagonal_solve",
        "counted",
    ),
    *("cholesky", "qr", "lu", "svd", "singular_values", "eigh", "eigvalsh", "eig", "eigvals"),
    *("expm", "sqrtm", "logm"),
)
each(
    along_axis,
    *("argmax", "argmin", "cumsum", "cumprod", "recurrence", "concat", "stack", "unstack", "split"),
    *("repeat", "sort", "argsort", "take_along", "put_along", "cumulative_logsumexp"),
    "resample",
    *("softmax", "softmax_gradient", "log_softmax", "softmax_cross_entropy"),
)
each(
    along_axes,
    *("sum", "mean", "prod", "max", "min", "any", "all", "logsumexp", "euclidean_norm"),
    *("count_nonzero", "reverse", "roll"),
)
each(along_several, "fft", "rfft", "irfft")
