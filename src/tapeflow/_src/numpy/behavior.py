"""`experimental_enable_numpy_behavior`: tensors that behave like NumPy's arrays.

Operators and methods are bound anew, once, when it is asked for. So programs that do not ask pay nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from tapeflow._src.core.composites.composite import one_tensor
from tapeflow._src.core.errors import shown
from tapeflow._src.core.export import export
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.core.variables.variable import Variable
from tapeflow._src.numpy import algebra, binary_ops, choosing, modes, reductions, shapes
from tapeflow._src.numpy.dtypes import array_of, kind_of_python, preference, promoted, to
from tapeflow._src.numpy.unary import truth
from tapeflow._src.ops.array.moving import stack
from tapeflow._src.ops.array.shaping import (
    broadcast_dynamic_shape,
    broadcast_to,
    shape as shape_of,
    transpose,
)
from tapeflow._src.ops.indexing import slicing
from tapeflow._src.ops.indexing.gathering import gather_nd, where


@export("experimental.numpy.experimental_enable_numpy_behavior")
def experimental_enable_numpy_behavior(
    prefer_float32: bool = False, dtype_conversion_mode: str = "legacy"
) -> None:
    """Lets operators promote dtypes as NumPy does, and gives tensors NumPy's methods and indices.

    It is for the whole process. The methods and indices stay; the rules for dtypes are those that were chosen last.

    >>> import subprocess, sys
    >>> code = '''
    ... import tapeflow as tf
    ... tf.experimental.numpy.experimental_enable_numpy_behavior()
    ... print(tf.constant([1, 2]) + 1.5, tf.constant([[1, 2, 3]]).T.shape, tf.constant([1, 2, 3])[[0, 2]].numpy())
    ... '''
    >>> print(subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout.strip())
    tf.Tensor([2.5 3.5], shape=(2,), dtype=float64) (3, 1) [1 3]

    Args:
      prefer_float32: whether floats of Python, and what integers become in functions of floats, are float32.
      dtype_conversion_mode: "legacy", NumPy's rules, or "off", no promotion by operators. In "all", operands meet in
        the first dtype of a lattice that both lead to; in "safe", promotions are errors that widen both or may lose
        digits. In these two, what nobody gave a dtype is weak, `tf.constant(5)` too: it takes that of the other
        operand.
    """
    if dtype_conversion_mode not in ("legacy", "off", "safe", "all"):
        raise ValueError(
            "experimental_enable_numpy_behavior: dtype_conversion_mode must be 'legacy', 'off', 'safe' or 'all', got "
            f"{shown(dtype_conversion_mode)}"
        )
    preference.float32 = prefer_float32
    _leave()
    for kind in (Tensor, Variable):
        if dtype_conversion_mode == "legacy":
            _PLAIN[kind] = {}
            for name, function in _legacy_operators():
                _PLAIN[kind][name] = vars(kind)[name]
                setattr(kind, name, function)
        for name, method in _METHODS.items():
            if not isinstance(vars(kind).get(name), property) or name == "T":
                setattr(kind, name, method)
    setattr(Tensor, "__getitem__", getitem)  # noqa: B010
    if dtype_conversion_mode in ("safe", "all"):
        modes.enter(dtype_conversion_mode)
        modes.methods(_METHODS)


_PLAIN: dict[type, dict[str, Any]] = {}  # the operators before "legacy"


def _leave() -> None:
    """Puts back what the mode before replaced."""
    modes.leave()
    for kind, operators in _PLAIN.items():
        for name, function in operators.items():
            setattr(kind, name, function)
    _PLAIN.clear()


def _legacy_operators() -> Iterator[tuple[str, Any]]:
    for name, function in _OPERATORS.items():
        yield f"__{name}__", _operator(function)
        yield f"__r{name}__", _operator(function, reflected=True)
    for name, function in _COMPARISONS.items():
        yield f"__{name}__", _operator(function)


_OPERATORS: dict[str, Callable[[Any, Any], Any]] = {
    "add": binary_ops.add,
    "sub": binary_ops.subtract,
    "mul": binary_ops.multiply,
    "truediv": binary_ops.true_divide,
    "floordiv": binary_ops.floor_divide,
    "mod": binary_ops.mod,
    "pow": binary_ops.power,
    "matmul": algebra.matmul,
    "and": binary_ops.bitwise_and,
    "or": binary_ops.bitwise_or,
    "xor": binary_ops.bitwise_xor,
}
_COMPARISONS: dict[str, Callable[[Any, Any], Any]] = {
    "lt": binary_ops.less,
    "le": binary_ops.less_equal,
    "gt": binary_ops.greater,
    "ge": binary_ops.greater_equal,
}


def _operator(function: Callable[[Any, Any], Any], reflected: bool = False) -> Any:
    def operator(self: Any, other: Any) -> Any:
        if other is None or kind_of_python(other) is None:
            return NotImplemented
        return function(other, self) if reflected else function(self, other)

    return operator


_METHODS: dict[str, Any] = {
    "T": property(shapes.transpose),
    "astype": lambda self, dtype: to(array_of(self), dtype),
    "clip": lambda self, a_min, a_max: choosing.clip(self, a_min, a_max),
    "data": property(lambda self: self),
    "flatten": lambda self, order="C": shapes.flatten(self, order),
    "max": lambda self, axis=None, keepdims=None: reductions.max(self, axis, keepdims),
    "mean": lambda self, axis=None, dtype=None, out=None, keepdims=None: reductions.mean(
        self, axis, dtype, out, keepdims
    ),
    "min": lambda self, axis=None, keepdims=None: reductions.min(self, axis, keepdims),
    "ravel": lambda self: shapes.ravel(self),
    "reshape": lambda self, *shape: shapes.reshape(
        self, shape[0] if len(shape) == 1 and not isinstance(shape[0], int) else shape
    ),
    "size": property(lambda self: shapes.size(self)),
    "tolist": lambda self: self.numpy().tolist(),
    "transpose": lambda self, axes=None: shapes.transpose(self, axes),
}


# Indices.


def getitem(x: Tensor, key: Any) -> Tensor:
    """`x[key]`, where lists and tensors among the indices choose elements as in NumPy."""
    keys = [one_tensor(k) for k in key] if isinstance(key, tuple) else [one_tensor(key)]
    if not any(map(_is_advanced, keys)):
        return slicing.getitem(x, key)
    keys = _without_masks(_spelled_out(x, keys))
    # New dimensions are added, and slices taken, first; then numbers choose along the dimensions that are left.
    plain = tuple(slice(None) if _is_number(k) else k for k in keys)
    found = slicing.getitem(x, plain)
    chosen = [i for i, k in enumerate(keys) if _is_number(k)]
    numbers = [array_of(keys[i]) for i in chosen]
    shape = shape_of(numbers[0])
    for each in numbers[1:]:
        shape = broadcast_dynamic_shape(shape, shape_of(each))
    sizes = [found._array.shape[i] for i in chosen]
    wide = [
        broadcast_to(where(n < 0, n + to(array_of(size), n.dtype), n), shape)
        for n, size in zip(numbers, sizes, strict=True)
    ]
    rest = [i for i in range(len(keys)) if i not in chosen]
    picked = gather_nd(transpose(found, [*chosen, *rest]), stack(promoted(*wide), -1))
    together = chosen == list(range(chosen[0], chosen[0] + len(chosen)))
    if not together or not chosen[0]:
        return picked
    rank, first = len(wide[0]._array.shape), chosen[0]
    order = [
        *range(rank, rank + first),
        *range(rank),
        *range(rank + first, len(picked._array.shape)),
    ]
    return transpose(picked, order)


def _is_advanced(key: Any) -> bool:
    if isinstance(key, (list, tuple, np.ndarray)):
        return True
    return isinstance(key, (Tensor, Variable)) and bool(len(key.shape))


def _is_number(key: Any) -> bool:
    return not isinstance(key, slice) and key is not None


def _spelled_out(x: Tensor, keys: list[Any]) -> list[Any]:
    """The indices of all dimensions."""
    used = 0
    for key in keys:
        if key is Ellipsis or key is None:
            continue
        mask = _is_advanced(key) and array_of(key).dtype.is_bool
        used += len(array_of(key)._array.shape) if mask else 1
    missing = [slice(None)] * (len(x._array.shape) - used)
    if any(key is Ellipsis for key in keys):
        at = next(i for i, key in enumerate(keys) if key is Ellipsis)
        return [*keys[:at], *missing, *keys[at + 1 :]]
    return [*keys, *missing]


def _without_masks(keys: list[Any]) -> list[Any]:
    """Masks as the places where they are true."""
    found = []
    for key in keys:
        if _is_advanced(key) and array_of(key).dtype.is_bool:
            places = where(truth(key))
            found += [places[:, i] for i in range(len(array_of(key)._array.shape))]
        else:
            found.append(key)
    return found
