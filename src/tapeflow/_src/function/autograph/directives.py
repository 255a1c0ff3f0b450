"""What the user says to AutoGraph in the code itself."""

from __future__ import annotations

from typing import Any

from tapeflow._src.core.export import export


@export("autograph.experimental.set_loop_options")
def set_loop_options(
    parallel_iterations: Any = None,
    swap_memory: Any = None,
    maximum_iterations: Any = None,
    shape_invariants: Any = None,
) -> None:
    """Options for the loop whose first statement this is, if it becomes a `tf.while_loop`.

    >>> @tf.autograph.to_graph
    ... def count():
    ...     n = 0
    ...     for _ in range(5):
    ...         tf.autograph.experimental.set_loop_options(maximum_iterations=3)
    ...         n += 1
    ...     return n
    >>> count()  # a loop that Python runs has no options
    5

    Args:
      parallel_iterations: accepted for compatibility.
      swap_memory: accepted for compatibility.
      maximum_iterations: stops the loop after this many turns.
      shape_invariants: a list of pairs of a loop variable and a shape that it keeps, with None for sizes that change.
    """
