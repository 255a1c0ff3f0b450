"""`tf.xla.experimental`: computations that XLA compiles."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from tapeflow._src.core.context import context
from tapeflow._src.core.export import export
from tapeflow._src.function.decorator import function


@export("xla.experimental.compile")
def compile(computation: Callable[..., Any], inputs: Any = None) -> Any:
    """Runs a computation that XLA compiles: `tf.function(computation, jit_compile=True)`.

    >>> tf.xla.experimental.compile(lambda x: x * 2.0, [tf.constant(3.0)])[0].numpy()
    np.float32(6.0)

    Args:
      computation: takes tensors and returns one, or several.
      inputs: what to call it with.

    Returns:
      A list of results.
    """
    found = function(computation, jit_compile=True, autograph=False)(*(inputs or ()))
    return list(found) if isinstance(found, (list, tuple)) else [found]


@export("xla.experimental.jit_scope")
@contextmanager
def jit_scope(
    compile_ops: bool = True, separate_compiled_gradients: bool = False
) -> Iterator[None]:
    """A hint inside of a function, which makes no difference: functions are measured, or compiled as a whole.

    >>> @tf.function(autograph=False)
    ... def f(x):
    ...     with tf.xla.experimental.jit_scope():
    ...         return x + 1.0
    >>> f(tf.constant(1.0)).numpy()
    np.float32(2.0)
    """
    if context.tracer is None:
        raise RuntimeError(
            "xla.experimental.jit_scope is not supported when eager execution is enabled. Use it inside tf.function."
        )
    yield
