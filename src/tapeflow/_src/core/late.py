"""What core needs of the layers above it.

`ops/methods.py`, the one place that binds late, puts these functions here: nothing in core imports what is built on it.
What is loaded only when somebody needs it is named here.
"""

from __future__ import annotations

import importlib
from typing import Any


class Late:
    """Functions of upper layers. One that is missing means that tapeflow is still being imported."""

    packed: Any
    """A nested list with tensors in it, the kinds of its leaves, and a dtype: one tensor."""
    dense: Any
    """`tf.IndexedSlices` as a tensor."""
    size: Any
    """A size that is known only when a function runs, and a dtype: a scalar tensor."""
    scattered: Any
    """The value of a variable after an update of rows or elements, by ops: op, value, indices, updates."""
    batch_coordinates: Any
    """For numbers along the last dimension, the coordinates of what they name in each batch."""
    gather: Any
    """`tf.gather`."""
    gather_nd: Any
    """`tf.gather_nd`."""


late = Late()


def of_examples() -> Any:
    """The branches and loops of the layer of functions, where examples of a batch part: `switch` and `while_loop`."""
    return importlib.import_module("tapeflow._src.function.of_examples")
