"""Proofs of attention."""

from __future__ import annotations

import numpy as np
import scipy.special
from tests.proofs.samples import Mistake, Reference, Sample, ints, real

# Batches, queries, keys, width, width of the values: without a batch, a query, a key, a width, and with nothing at all.
EMPTY = [
    (0, 3, 3, 2, 2),
    (2, 0, 3, 2, 4),
    (2, 3, 0, 2, 4),
    (2, 3, 4, 0, 2),
    (2, 3, 4, 2, 0),
    (0,) * 5,
]


def empty(more: str, causal: bool) -> list[Sample]:
    """Samples of empty arrays: q, k and v, and what else the operation takes, u before them or b after them."""
    found = []
    for batch, queries, keys, width, out in EMPTY:
        operands = [real(batch, queries, width), real(batch, keys, width), real(batch, keys, out)]
        if "u" in more:
            operands.insert(0, real(batch, queries, out))
        if "b" in more:
            operands.append(real(queries, keys))
        found.append(Sample(tuple(operands), attributes(causal)))
    return found


def attributes(causal: bool, scale: float = 0.5) -> dict[str, object]:
    return {"scale": scale, "causal": causal}


SAMPLES: dict[str, list[Sample]] = {
    "attention": [
        Sample((real(2, 3, 4), real(2, 5, 4), real(2, 5, 3)), attributes(False)),
        Sample((real(2, 4, 3), real(2, 4, 3), real(2, 4, 3)), attributes(True)),
        Sample((real(3, 2), real(3, 2), real(3, 2)), attributes(True, 1.0)),
        Sample((real(2, 1, 3, 4), real(2, 1, 3, 4), real(2, 1, 3, 4)), attributes(False)),
        *empty("", False),
        *empty("", True),
    ],
    "attention_gradient": [
        Sample((real(2, 3, 3), real(2, 3, 4), real(2, 5, 4), real(2, 5, 3)), attributes(False)),
        Sample((real(4, 3), real(4, 3), real(4, 3), real(4, 3)), attributes(True)),
        *empty("u", True),
    ],
    "biased_attention": [
        Sample((real(2, 3, 4), real(2, 5, 4), real(2, 5, 3), real(2, 3, 5)), attributes(False)),
        Sample((real(2, 4, 3), real(2, 4, 3), real(2, 4, 3), real(2, 1, 4)), attributes(True)),
        Sample((real(2, 2, 3, 2), real(2, 2, 3, 2), real(2, 2, 3, 2), real(3)), attributes(False)),
        Sample((real(3, 2), real(3, 2), real(3, 2), real(1, 3)), attributes(False, 1.0)),
        *empty("b", False),
    ],
    "biased_attention_gradient": [
        Sample(
            (real(2, 3, 3), real(2, 3, 4), real(2, 5, 4), real(2, 5, 3), real(3, 5)),
            attributes(False),
        ),
        Sample((real(4, 3), real(4, 3), real(4, 3), real(4, 3), real(1, 4)), attributes(True)),
        *empty("ub", True),
    ],
}


def weights(
    q: np.ndarray, k: np.ndarray, scale: float, causal: bool, bias: np.ndarray | float = 0.0
) -> np.ndarray:
    scores = scale * np.einsum("...qd,...kd->...qk", q, k) + bias
    if causal:
        scores = np.where(np.tri(*scores.shape[-2:], dtype=bool), scores, -np.inf)
    return scipy.special.softmax(scores, axis=-1) if scores.shape[-1] else scores


def attention(q, k, v, bias=0.0, *, scale, causal):
    return np.einsum("...qk,...kd->...qd", weights(q, k, scale, causal, bias), v)


def attention_gradient(u, q, k, v, bias=0.0, *, scale, causal):
    p = weights(q, k, scale, causal, bias)
    by_p = np.einsum("...qd,...kd->...qk", u, v)
    jacobian = np.einsum("...k,kl->...kl", p, np.eye(p.shape[-1])) - p[..., None] * p[..., None, :]
    by_scores = scale * np.einsum("...kl,...l->...k", jacobian, by_p)
    return (
        np.einsum("...qk,...kd->...qd", by_scores, k),
        np.einsum("...qk,...qd->...kd", by_scores, q),
        np.einsum("...qk,...qd->...kd", p, u),
    )


REFERENCES: dict[str, Reference] = {
    "attention": attention,
    "attention_gradient": attention_gradient,
    "biased_attention": attention,
    "biased_attention_gradient": attention_gradient,
}

_OP = "scaled_dot_product_attention"
MISTAKES: dict[str, list[Mistake]] = {
    "attention": [
        Mistake((real(3, 2), real(3, 4), real(3, 2)), attributes(False), op=_OP),
        Mistake((real(3, 2), real(4, 2), real(3, 2)), attributes(False), op=_OP),
        Mistake((real(2, 3, 2), real(3, 2), real(3, 2)), attributes(False), op=_OP),
        Mistake((ints(3, 2), ints(3, 2), ints(3, 2)), attributes(False), op=_OP, shapes=(0,)),
    ],
    "biased_attention": [
        Mistake(
            (real(3, 2), real(3, 4), real(3, 2), real(3, 3)),
            attributes(False),
            op=_OP,
            shapes=(0, 1, 2),
        ),
        Mistake((real(3, 2), real(3, 2), real(3, 2), real(2, 3)), attributes(False), op=_OP),
        Mistake((real(3, 2), real(3, 2), real(3, 2), real(1, 3, 3)), attributes(False), op=_OP),
    ],
}
