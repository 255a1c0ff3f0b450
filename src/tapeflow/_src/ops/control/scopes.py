"""The scopes around ops: `tf.control_dependencies` and `tf.init_scope`.

They need nothing but the core, so that a signal handler may ask for them while other ops are being imported.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable
from contextlib import AbstractContextManager
from typing import Any

from tapeflow._src.core.context import context, no_recorders
from tapeflow._src.core.export import export


@export("control_dependencies")
def control_dependencies(control_inputs: Iterable[Any] | None) -> AbstractContextManager[None]:
    """A scope whose ops run after `control_inputs`: eagerly they always do, in the order of the program.

    >>> v = tf.Variable(1.0)
    >>> with tf.control_dependencies([v.assign(2.0)]):
    ...     y = v * 3.0
    >>> y.numpy()
    np.float32(6.0)

    Args:
      control_inputs: tensors, or functions, which are called. `None` is allowed.
    """
    for item in () if control_inputs is None else control_inputs:
        if callable(item) and not hasattr(item, "__tf_tensor__"):
            item()
    return contextlib.nullcontext()


@export("init_scope")
def init_scope() -> AbstractContextManager[None]:
    """A scope outside of all tapes and traced functions, for making variables and their first values.

    >>> x = tf.Variable(2.0)
    >>> with tf.GradientTape() as tape:
    ...     with tf.init_scope():
    ...         y = x * 3.0
    >>> print(tape.gradient(y, x))
    None
    """
    return no_recorders() if context.tracer is None else context.tracer.suspended()
