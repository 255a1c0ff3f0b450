"""`tf.name_scope`: prefixes for the names of variables."""

from __future__ import annotations

from typing import Any

from tapeflow.core.context import context
from tapeflow.core.errors import shown


class name_scope:
    """Variables created within this context have `name/` before their names.

    >>> with tf.name_scope("encoder"):
    ...     w = tf.Variable(1.0, name="w")
    >>> w.name
    'encoder/w:0'
    """

    def __init__(self, name: str) -> None:
        if not isinstance(name, str):
            raise ValueError(f"name for name_scope must be a string, got {shown(name)}")
        self._name = name

    @property
    def name(self) -> str:
        """The name given."""
        return self._name

    def __enter__(self) -> str:
        context.outer_name_scopes.append(context.name_scopes)
        if self._name.endswith("/"):  # a scope that was entered before: its full name
            context.name_scopes = [self._name.rstrip("/")]
        else:
            context.name_scopes = [*context.name_scopes, self._name] if self._name else []
        return "".join(f"{part}/" for part in context.name_scopes)

    def __exit__(self, *exception: Any) -> None:
        context.name_scopes = context.outer_name_scopes.pop()
