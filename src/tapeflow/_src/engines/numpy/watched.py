"""A NumPy program whose kernels say how long they take, for profiles."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import FunctionType
from typing import Any

from tapeflow._src.core.system.timeline import now
from tapeflow._src.graph.graph import Node

Note = Callable[[Node, int, int, Sequence[Any], Any], None]
"""Is told of a node when it began and ended, the arrays that it took, and what it gave."""


def is_program(function: Any) -> bool:
    """Whether a function is a program that was made of a graph."""
    return hasattr(function, "nodes") and hasattr(function, "__globals__")


def scopes_of(program: Any) -> dict[int, str]:
    """The name scopes of the ops that it was made of, by the identity of what they made, as gradients name them."""
    return program.scopes


def watched(program: Any, note: Note) -> Callable[..., Any]:
    """The same program with other kernels: each tells `note`, and is otherwise what it was.

    The code is a line for each node, in order, with one call of a kernel in it: the number of a call is that of a node.
    """
    nodes: Sequence[Node] = program.nodes
    count = 0

    def noting(kernel: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: Any, **kwargs: Any) -> Any:
            nonlocal count
            node = nodes[count]
            count += 1
            begin = now()
            found = kernel(*args, **kwargs)
            note(node, begin, now(), args, found)
            return found

        return call

    namespace = {
        name: noting(value) if name.startswith("f_") else value
        for name, value in program.__globals__.items()
    }
    new = FunctionType(program.__code__, namespace, "program", program.__defaults__)

    def run(*arrays: Any) -> Any:
        nonlocal count
        count = 0
        return new(*arrays)

    return run
