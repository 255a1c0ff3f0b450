"""`tf.name_scope`: prefixes for the names of variables."""

from __future__ import annotations

from typing import Any

from tapeflow._src.core.context import context
from tapeflow._src.core.errors import shown
from tapeflow._src.core.export import export
from tapeflow._src.core.scopes import Scope


@export("name_scope")
class name_scope(Scope):
    """Variables created within this context have `name/` before their names.

    >>> with tf.name_scope("encoder"):
    ...     w = tf.Variable(1.0, name="w")
    >>> w.name
    'encoder/w:0'

    In a `tf.Graph` a scope of a name that another one has gets a number.

    >>> with tf.Graph().as_default():
    ...     with tf.name_scope("encoder") as first, tf.name_scope("layer"):
    ...         pass
    ...     with tf.name_scope("encoder") as second:
    ...         pass
    >>> first, second
    ('encoder/', 'encoder_1/')
    """

    def __init__(self, name: str) -> None:
        if not isinstance(name, str):
            raise ValueError(f"name for name_scope must be a string, got {shown(name)}")
        self._name = name
        self._outside: list[tuple[str, ...]] = []  # of each block it is open in

    @property
    def name(self) -> str:
        """The name given."""
        return self._name

    def __enter__(self) -> str:
        self._outside.append(context.name_scopes)
        self._guard = self._latest
        tracer = context.tracer  # of a `tf.Graph`, or of a function
        if self._name.endswith("/"):  # a scope that was entered before: its full name
            context.name_scopes = (self._name.rstrip("/"),)
        elif self._name and tracer is not None and tracer.graph.tracer is tracer:
            context.name_scopes = (tracer.graph.unique_name(self._name),)
        else:
            context.name_scopes = (*context.name_scopes, self._name) if self._name else ()
        return "".join(f"{part}/" for part in context.name_scopes)

    def _leave(self, *exception: Any) -> None:
        context.name_scopes = self._outside[-1]
        self._guard = None
        self._outside.pop()


@export("get_current_name_scope")
def get_current_name_scope() -> str:
    """The names of the scopes that are open, with `/` between them.

    >>> with tf.name_scope("encoder"), tf.name_scope("first"):
    ...     tf.get_current_name_scope()
    'encoder/first'
    """
    return "/".join(context.name_scopes)
