"""`tf.data.experimental.enable_debug_mode`: pipelines that run as Python, one step after the other."""

from __future__ import annotations

from tapeflow._src.core.context import context
from tapeflow._src.core.export import export
from tapeflow._src.data.runtime import background


@export("data.experimental.enable_debug_mode")
def enable_debug_mode() -> None:
    """Runs the functions of datasets that are made from now on as Python for each element, and without threads.

    Breakpoints and `print` in them work. A function is still traced once, to know what its results are like.

    >>> from tapeflow._src.data.runtime import background
    >>> tf.data.experimental.enable_debug_mode()
    >>> seen = []
    >>> data = tf.data.Dataset.range(3).map(lambda x: seen.append(x) or x, num_parallel_calls=4)
    >>> [int(x) for x in data], [int(x) for x in seen[1:]]
    ([0, 1, 2], [0, 1, 2])
    >>> background.debugging.on = False
    """
    if context.tracer is not None:
        raise ValueError(
            "tf.data.experimental.enable_debug_mode() is only supported outside of tf.function."
        )
    background.debugging.on = True
