"""`tf.autodiff.check_gradients`: compares gradients with finite differences."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tapeflow._src.autodiff.tape import GradientTape
from tapeflow._src.core import nest
from tapeflow._src.core.context import no_recorders
from tapeflow._src.core.convert import convert_to_tensor
from tapeflow._src.core.export import export
from tapeflow._src.core.tensor import Tensor


@export("autodiff.GradientMismatch")
class GradientMismatch(AssertionError):
    """A gradient that is not the derivative."""


_TOLERANCE = {"float64": 1e-6, "float32": 2e-2, "float16": 0.2, "bfloat16": 0.5}


@export("autodiff.check_gradients")
def check_gradients(
    f: Callable[..., Any],
    inputs: Any,
    *,
    step: float | None = None,
    rtol: float | None = None,
    atol: float | None = None,
) -> None:
    """Raises unless the gradients of a function are its derivatives.

    Every element of every input is moved up and down by a small step, and the change of every element of every output
    is compared with what a tape says. It is meant for functions with gradients of your own, on small inputs. Use
    float64: with float32 only coarse mistakes can be told from rounding.

    >>> @tf.custom_gradient
    ... def cube(x):
    ...     return x**3, lambda g: g * 2.0 * x**2
    >>> tf.autodiff.check_gradients(cube, [tf.constant([1.0, 2.0], tf.float64)])
    Traceback (most recent call last):
    tapeflow._src.autodiff.check.GradientMismatch: the gradient of cube is not its derivative: output 0, ...

    Args:
      f: takes the inputs as arguments and returns a tensor or a structure of tensors. It must give the same result
        whenever it gets the same inputs.
      inputs: a tensor, or a list of them: one for each argument. Those that are not of a floating dtype stay as they
        are.
      step: by how much to move an element; by default what suits the dtype.
      rtol: how much of the derivative the gradient may be off.
      atol: how much it may be off beside that.

    Raises:
      GradientMismatch: an `AssertionError`, which says which element of which output and input, what was expected and
        what was found.
    """
    given = inputs if isinstance(inputs, (list, tuple)) else [inputs]
    tensors = [copy.copy(convert_to_tensor(x)) for x in given]  # the same one twice is two inputs
    moving = [i for i, x in enumerate(tensors) if x.dtype.is_floating]
    if not moving:
        raise ValueError("check_gradients: none of the inputs has a floating dtype")
    with GradientTape(persistent=True) as tape:
        tape.watch([tensors[i] for i in moving])
        outputs = _outputs(f, tensors)
    worst: tuple[float, str] | None = None
    for i in moving:
        x = tensors[i]
        tolerance = _TOLERANCE[x.dtype.name]
        h = np.finfo(np.float64).eps ** (1 / 3) if x.dtype.name == "float64" else 0.01
        expected = _differences(f, tensors, i, h if step is None else step)
        for number, y in enumerate(outputs):
            if not y.dtype.is_floating:
                continue
            found = tape.jacobian(y, x, unconnected_gradients="zero", experimental_use_pfor=False)
            found = np.asarray(found, np.float64).reshape(y._array.size, x._array.size)
            excess = np.abs(found - expected[number]) - (
                (tolerance if atol is None else atol)
                + (tolerance if rtol is None else rtol) * np.abs(expected[number])
            )
            excess = np.where(np.isnan(excess), np.inf, excess)
            if not excess.size or excess.max() <= (worst[0] if worst else 0):
                continue
            row, column = np.unravel_index(int(excess.argmax()), excess.shape)
            text = (
                f"output {number}, element {_place(row, y)}, with respect to input {i}, element {_place(column, x)}: "
                f"expected {expected[number][row, column]:.6g} (by differences), found {found[row, column]:.6g} "
                f"({int((excess > 0).sum())} of {excess.size} elements differ)"
            )
            worst = (float(excess.max()), text)
    if worst is not None:
        name = getattr(f, "__name__", type(f).__name__)
        raise GradientMismatch(f"the gradient of {name} is not its derivative: {worst[1]}")


def _outputs(f: Callable[..., Any], tensors: Sequence[Tensor]) -> list[Tensor]:
    return [convert_to_tensor(y) for y in nest.flatten(f(*tensors))]


def _place(number: Any, x: Tensor) -> list[int]:
    """Where the element with this number is."""
    shape = x._array.shape
    return [int(i) for i in np.unravel_index(int(number), shape)] if shape else []


def _differences(
    f: Callable[..., Any], tensors: list[Tensor], position: int, step: float
) -> list[np.ndarray]:
    """For each output, the change of its elements (rows) with those of an input (columns)."""
    x = tensors[position]._array
    columns: list[list[np.ndarray]] = []
    for index in np.ndindex(x.shape):
        size = step * max(1.0, abs(float(x[index])))
        sides = []
        for by in (size, -size):
            moved = np.array(x)
            moved[index] = x[index] + x.dtype.type(by)
            there = [*tensors[:position], Tensor(moved), *tensors[position + 1 :]]
            with no_recorders():
                values = [np.asarray(y._array).astype(np.float64) for y in _outputs(f, there)]
            sides.append((float(moved[index]), values))
        (above, high), (below, low) = sides
        columns.append(
            [(a - b).reshape(-1) / (above - below) for a, b in zip(high, low, strict=True)]
        )
    if not columns:
        return [np.zeros((y._array.size, 0)) for y in _outputs(f, tensors)]
    return [np.stack(column, axis=1) for column in zip(*columns, strict=True)]
