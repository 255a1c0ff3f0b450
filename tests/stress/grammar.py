"""What random programs are made of: each row has the line for tapeflow, and what it means, in the plainest NumPy.

Nothing here imports tapeflow: the meaning is what its results are compared with. Floats are computed in float64 and
rounded to their dtype after each line; integers wrap.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from tests.stress.dice import Dice
from tests.stress.layouts import DTYPES


class Unclear(Exception):
    """The meaning depends on a rounding error, or the numbers grow too large to be compared."""


class Op(NamedTuple):
    """A row.

    Attributes:
      text: the line for tapeflow, with {0}, {1}, ... for the operands and {name} for attributes.
      meaning: a function of arrays and attributes.
      arity: the number of operands.
      kinds: the kinds of dtypes it takes: f for floats, i for integers, c for complex numbers.
      attrs: draws attributes for given operands, or None if it is not for them.
      weight: how often it is drawn.
    """

    text: str
    meaning: Callable[..., Any]
    arity: int = 1
    kinds: str = "fic"
    attrs: Callable[..., dict[str, Any] | None] = lambda dice, *arrays: {}
    weight: float = 1.0


def kind_of(array: np.ndarray) -> str:
    """f, i or c."""
    return {"i": "i", "u": "i", "c": "c"}.get(array.dtype.kind, "f")


# Attributes.


def _factor(dice: Dice, *arrays: np.ndarray) -> dict[str, Any]:
    if kind_of(arrays[0]) == "i":
        return {"factor": dice.choice([1, 2, 3])}
    return {"factor": dice.choice([0.5, 0.25, -0.5, 1.0, 0.125])}


def _ways(a: np.ndarray, b: np.ndarray) -> list[dict[str, Any]]:
    """Which of two matrices to transpose, in all the ways that lead to a product."""
    if a.ndim != 2 or b.ndim != 2 or a.dtype.itemsize == 1:
        return []
    ways = [(ta, tb) for ta in (False, True) for tb in (False, True)]
    return [{"ta": ta, "tb": tb} for ta, tb in ways if a.shape[not ta] == b.shape[tb]]


def _matrices(dice: Dice, a: np.ndarray, b: np.ndarray) -> dict[str, Any] | None:
    ways = _ways(a, b)
    return dice.choice(ways) if ways else None


def _product(a: np.ndarray, b: np.ndarray, ta: bool, tb: bool) -> np.ndarray:
    return np.matmul(a.T if ta else a, b.T if tb else b)


def _axis(dice: Dice, a: np.ndarray) -> dict[str, Any] | None:
    if not a.ndim:
        return None
    return {"axis": dice.randrange(a.ndim), "keep": dice.chance(0.5)}


def _shape(dice: Dice, a: np.ndarray) -> dict[str, Any]:
    size = a.size
    choices = [[size], [1, size], list(reversed(a.shape)), list(a.shape)]
    choices += [[d, size // d] for d in range(2, 9) if size % d == 0 and size]
    return {"shape": dice.choice([c for c in choices if math.prod(c) == size])}


def _slice(dice: Dice, a: np.ndarray) -> dict[str, Any] | None:
    if not a.ndim:
        return None
    parts = [dice.choice([":", "::-1", "1:", ":-1", "::2", "1::2"]) for _ in range(a.ndim)]
    return {"parts": ", ".join(parts)}


def _sliced(a: np.ndarray, parts: str) -> np.ndarray:
    def one(part: str) -> slice:
        return slice(*[int(p) if p else None for p in part.split(":")])

    return a[tuple(one(p) for p in parts.split(", "))]


def _rows(dice: Dice, a: np.ndarray) -> dict[str, Any] | None:
    if not a.ndim or not a.shape[0]:
        return None
    return {"rows": [dice.randrange(a.shape[0]) for _ in range(dice.randint(1, 4))]}


def _dtype(dice: Dice, a: np.ndarray) -> dict[str, Any]:
    wider = {
        "f": ["float32", "float64", "float16", "bfloat16", "complex64"],
        "i": ["int32", "int64", "float32", "float64", "int8"],
        "c": ["complex64", "complex128"],
    }
    return {"dtype": dice.choice(wider[kind_of(a)])}


def _axis_in_matrix(dice: Dice, a: np.ndarray, b: np.ndarray) -> dict[str, Any] | None:
    if a.ndim != b.ndim or not a.ndim:
        return None
    axes = [
        i for i in range(a.ndim) if a.shape[:i] + a.shape[i + 1 :] == b.shape[:i] + b.shape[i + 1 :]
    ]
    return {"axis": dice.choice(axes)} if axes else None


def _alike(dice: Dice, *arrays: np.ndarray) -> dict[str, Any] | None:
    return {} if len({a.shape for a in arrays}) == 1 else None


def _softmax(a: np.ndarray) -> np.ndarray:
    e = np.exp(a - a.max(axis=-1, keepdims=True, initial=-1e3))
    return e / e.sum(axis=-1, keepdims=True)


def _last_axis(dice: Dice, a: np.ndarray) -> dict[str, Any] | None:
    return {} if a.ndim and a.size else None


VALUES: dict[str, Op] = {
    "alias": Op("tf.convert_to_tensor({0})", lambda a: a, weight=0.5),
    "identity": Op("tf.identity({0})", lambda a: a),
    "stop": Op("tf.stop_gradient({0})", lambda a: a, weight=0.3),
    "negative": Op("-{0}", lambda a: -a),
    "abs": Op("tf.abs({0})", np.abs, kinds="fi"),
    "relu": Op("tf.nn.relu({0})", lambda a: np.maximum(a, 0), kinds="fi"),
    "tanh": Op("tf.tanh({0})", np.tanh, kinds="f"),
    "sigmoid": Op("tf.sigmoid({0})", lambda a: 1 / (1 + np.exp(-a)), kinds="f"),
    "scale": Op("{0} * {factor}", lambda a, factor: a * factor, attrs=_factor, weight=2),
    "scale_left": Op("{factor} * {0}", lambda a, factor: a * factor, attrs=_factor),
    "shift": Op("{0} + 1", lambda a: a + 1),
    "softmax": Op("tf.nn.softmax({0})", _softmax, kinds="f", attrs=_last_axis),
    "leaky": Op(
        "tf.where({0} > 0, {0}, {0} * 0.5)", lambda a: np.where(a > 0, a, a * 0.5), kinds="f"
    ),
    "transpose": Op("tf.transpose({0})", lambda a: a.T, weight=2),
    "reshape": Op(
        "tf.reshape({0}, {shape})", lambda a, shape: a.reshape(shape), attrs=_shape, weight=1
    ),
    "slice": Op("{0}[{parts}]", _sliced, attrs=_slice, weight=2),
    "newaxis": Op("tf.squeeze({0}[None], 0)", lambda a: a, weight=0.5),
    "reverse": Op(
        "tf.reverse({0}, [{axis}])", lambda a, axis, keep: np.flip(a, axis), attrs=_axis
    ),
    "sum": Op(
        "tf.reduce_sum({0}, axis={axis}, keepdims={keep})",
        lambda a, axis, keep: a.sum(axis=axis, keepdims=keep, dtype=a.dtype),
        attrs=_axis,
    ),
    "cumsum": Op(
        "tf.cumsum({0}, axis={axis})",
        lambda a, axis, keep: np.cumsum(a, axis, dtype=a.dtype),
        attrs=_axis,
        kinds="fc",
        weight=0.5,
    ),
    "gather": Op("tf.gather({0}, {rows})", lambda a, rows: a[rows], attrs=_rows),
    "cast": Op("tf.cast({0}, tf.{dtype})", lambda a, dtype: a.astype(DTYPES[dtype]), attrs=_dtype),
    "add": Op("{0} + {1}", lambda a, b: a + b, 2, weight=2),
    "subtract": Op("{0} - {1}", lambda a, b: a - b, 2, weight=2),
    "multiply": Op("{0} * {1}", lambda a, b: a * b, 2),
    "maximum": Op("tf.maximum({0}, {1})", np.maximum, 2, kinds="fi"),
    "minimum": Op("tf.minimum({0}, {1})", np.minimum, 2, kinds="fi"),
    "matmul": Op(
        "tf.matmul({0}, {1}, transpose_a={ta}, transpose_b={tb})", _product, 2, attrs=_matrices,
        weight=3,
    ),
    "matmul_sum": Op(
        "tf.matmul({0}, {1}, transpose_a={ta}, transpose_b={tb}) * 0.125 + 1",
        lambda a, b, ta, tb: _product(a, b, ta, tb) * 0.125 + 1,
        2,
        "fc",
        _matrices,
    ),
    "concat": Op(
        "tf.concat([{0}, {1}], {axis})",
        lambda a, b, axis: np.concatenate([a, b], axis),
        2,
        attrs=_axis_in_matrix,
    ),
    "stack": Op("tf.stack([{0}, {1}])[0]", lambda a, b: a, 2, attrs=_alike, weight=0.5),
}  # fmt: skip
"""Lines that make a value."""


# Assignments. The first operand is the variable.


def _same_shape(dice: Dice, v: np.ndarray, a: np.ndarray) -> dict[str, Any] | None:
    return {} if v.shape == a.shape else None


def _rate(dice: Dice, *arrays: np.ndarray) -> dict[str, Any]:
    return {"rate": dice.choice([0.125, 0.25, 0.5, -0.25, 1.0])}


def _update(dice: Dice, v: np.ndarray, a: np.ndarray, b: np.ndarray) -> dict[str, Any] | None:
    ways = [way for way in _ways(a, b) if _product(a, b, **way).shape == v.shape]
    return {**dice.choice(ways), **_rate(dice)} if ways else None


def _model(dice: Dice, v: np.ndarray, x: np.ndarray, y: np.ndarray) -> dict[str, Any] | None:
    if not v.ndim == x.ndim == y.ndim == 2:
        return None
    return (
        _rate(dice)
        if (x.shape[0], v.shape[0], v.shape[1]) == (*y.shape[:1], x.shape[1], y.shape[1])
        else None
    )


def _gradient(v: np.ndarray, x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Of 0.125 * sum((x @ v - y) ** 2)."""
    return 0.25 * x.T @ (x @ v - y)


_TAPE = """\
with tf.GradientTape() as tape:
    x, y = tf.stop_gradient({1}), tf.stop_gradient({2})
    loss = 0.125 * tf.reduce_sum(tf.square(tf.matmul(x, {0}) - y))
"""


def _row_updates(dice: Dice, v: np.ndarray, a: np.ndarray) -> dict[str, Any] | None:
    if not v.ndim or v.ndim != a.ndim or not v.shape[0] or v.shape[1:] != a.shape[1:]:
        return None
    if not a.shape[0] or a.shape[0] > v.shape[0]:
        return None
    return {"rows": [int(i) for i in dice.sample(range(v.shape[0]), a.shape[0])]}


def _add_rows(v: np.ndarray, a: np.ndarray, rows: list[int]) -> np.ndarray:
    if len(rows) != len(a):
        raise Unclear("another number of rows")
    v = v.copy()
    for i, row in enumerate(rows):
        v[row] = v[row] + a[i]
    return v


def _set_rows(v: np.ndarray, a: np.ndarray, rows: list[int]) -> np.ndarray:
    if len(rows) != len(a):
        raise Unclear("another number of rows")
    v = v.copy()
    for i, row in enumerate(rows):
        v[row] = a[i]
    return v


def _decided(a: np.ndarray) -> bool:
    total = a.sum(dtype=a.dtype)
    if kind_of(a) == "f" and abs(total) < 0.05 * (1 + np.abs(a).sum()):
        raise Unclear("the sign of a sum is a matter of rounding")
    return bool(total > 0)


def _chosen(dice: Dice, v: np.ndarray, a: np.ndarray) -> dict[str, Any] | None:
    return {} if v.shape == a.shape else None


def _turns(dice: Dice, v: np.ndarray, a: np.ndarray) -> dict[str, Any] | None:
    return {"turns": dice.randint(0, 3)} if v.shape == a.shape else None


def _repeated(v: np.ndarray, a: np.ndarray, turns: int) -> np.ndarray:
    for _ in range(turns):
        v = v * 0.5 + a
    return v


ASSIGNMENTS: dict[str, Op] = {
    "assign": Op("{0}.assign({1})", lambda v, a: a, 2, attrs=_same_shape, weight=2),
    "assign_add": Op("{0}.assign_add({1})", lambda v, a: v + a, 2, attrs=_same_shape, weight=2),
    "assign_sub": Op("{0}.assign_sub({1})", lambda v, a: v - a, 2, attrs=_same_shape, weight=2),
    "update": Op(
        "{0}.assign({0} - {rate} * tf.matmul({1}, {2}, transpose_a={ta}, transpose_b={tb}))",
        lambda v, a, b, ta, tb, rate: v - rate * _product(a, b, ta, tb),
        3,
        "fc",
        _update,
        3,
    ),
    "update_sub": Op(
        "{0}.assign_sub({rate} * tf.matmul({1}, {2}, transpose_a={ta}, transpose_b={tb}))",
        lambda v, a, b, ta, tb, rate: v - rate * _product(a, b, ta, tb),
        3,
        "fc",
        _update,
        3,
    ),
    "update_add": Op(
        "{0}.assign_add(tf.matmul({1}, {2}, transpose_a={ta}, transpose_b={tb}) * {rate})",
        lambda v, a, b, ta, tb, rate: v + rate * _product(a, b, ta, tb),
        3,
        "fc",
        _update,
        2,
    ),
    "sgd": Op(
        _TAPE + "{0}.assign_sub({rate} * tape.gradient(loss, {0}))",
        lambda v, x, y, rate: v - rate * _gradient(v, x, y),
        3,
        "f",
        _model,
        3,
    ),
    "sgd_assign": Op(
        _TAPE + "{0}.assign({0} - {rate} * tape.gradient(loss, {0}))",
        lambda v, x, y, rate: v - rate * _gradient(v, x, y),
        3,
        "f",
        _model,
        3,
    ),
    "decay": Op("{0}.assign({0} * 0.5 + {1})", lambda v, a: v * 0.5 + a, 2, "fc", _same_shape),
    "scatter_add": Op(
        "{0}.scatter_add(tf.IndexedSlices({1}, {rows}))", _add_rows, 2, attrs=_row_updates
    ),
    "scatter_update": Op(
        "{0}.scatter_update(tf.IndexedSlices({1}, {rows}))", _set_rows, 2, attrs=_row_updates
    ),
    "scatter_nd_add": Op(
        "{0}.scatter_nd_add([[i] for i in {rows}], {1})", _add_rows, 2, attrs=_row_updates
    ),
    "cond": Op(
        "tf.cond(tf.reduce_sum({1}) > 0, lambda: {0}.assign_add({1}).value(), lambda: {0}.assign({1}).value())",
        lambda v, a: v + a if _decided(a) else a,
        2,
        "fi",
        _chosen,
    ),
    "loop": Op(
        "x = tf.convert_to_tensor({1})\nfor _ in tf.range({turns}):\n    {0}.assign({0} * 0.5 + x)",
        _repeated,
        2,
        "fc",
        _turns,
    ),
}
"""Lines that change a variable."""


# What is done with the world around the function.

TAKEN: dict[str, Op] = {
    "value": Op("{0}.value()", lambda a: a, weight=3),
    "read_value": Op("{0}.read_value()", lambda a: a),
    "numpy": Op("{0}.numpy()", lambda a: a, weight=2),
    "asarray": Op("np.asarray({0})", lambda a: a, weight=2),
    "identity": Op("tf.identity({0})", lambda a: a),
    "convert": Op("tf.convert_to_tensor({0})", lambda a: a, weight=2),
    "transpose": Op("tf.transpose({0})", lambda a: a.T),
    "array_transpose": Op("np.asarray({0}).T", lambda a: a.T),
    "reshape": Op("tf.reshape({0}, [-1])", lambda a: a.reshape(-1)),
    "slice": Op("{0}[{parts}]", _sliced, attrs=_slice),
    "plus_zero": Op("{0} + 0", lambda a: a + 0),
    "variable": Op("tf.Variable({0})", lambda a: a),
    "deepcopy": Op("copy.deepcopy({0})", lambda a: a),
    "stop": Op("tf.stop_gradient({0})", lambda a: a),
    "ensure": Op("tf.ensure_shape({0}, {0}.shape)", lambda a: a),
}
"""What is kept of a variable or of a result, and must stay as it was."""

GIVEN: dict[str, Op] = {
    "itself": Op("{0}", lambda a: a, weight=4),
    "transpose": Op("tf.transpose({0})", lambda a: a.T, weight=2),
    "array": Op("np.asarray({0})", lambda a: a),
    "array_transpose": Op("np.asarray({0}).T", lambda a: a.T, weight=2),
    "slice": Op("{0}[{parts}]", _sliced, attrs=_slice, weight=2),
    "fortran": Op("np.array({0}, order='F')", lambda a: a, weight=2),
    "constant": Op("tf.constant(np.asarray({0}))", lambda a: a),
}
"""How a value is handed over, to a function or an assignment."""


_PROBE = Dice("probe", 0, 0)


def meaning(
    op: Op, operands: list[np.ndarray], attrs: dict[str, Any], rounded: bool = True
) -> np.ndarray:
    """What a row gives, in the dtype it has in tapeflow: that of the first operand, but for casts.

    Without rounding all floats are float64, for differences.
    """
    # Operands may have been drawn for other shapes, and NumPy takes more than TensorFlow.
    if op.attrs(_PROBE, *operands) is None:
        raise Unclear("not for these operands")
    wide = [_wide(a) for a in operands]
    with np.errstate(all="ignore"):
        result = np.asarray(op.meaning(*wide, **attrs))
    to = np.dtype(DTYPES[attrs["dtype"]]) if "dtype" in attrs else operands[0].dtype
    if not rounded and to.kind == "f":
        to = np.dtype(np.float64)
    result = np.array(result.astype(to), order="C")
    if kind_of(result) != "i" and result.size:
        largest = np.abs(result.astype(np.complex128)).max()
        if not largest <= 1e3:
            raise Unclear("the numbers have become too large")
    return result


def _wide(a: np.ndarray) -> np.ndarray:
    wider = {"f": np.float64, "c": np.complex128}.get(kind_of(a))
    return a.copy() if wider is None else a.astype(wider)
