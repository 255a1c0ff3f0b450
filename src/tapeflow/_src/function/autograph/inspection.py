"""Looking at converted code."""

from __future__ import annotations

import inspect
from typing import Any

from tapeflow._src.core.export import export
from tapeflow._src.function.autograph import rules
from tapeflow._src.function.autograph.calls import convert, is_artifact, transpiler
from tapeflow._src.function.autograph.errors import ConversionError, described
from tapeflow._src.function.autograph.options import options


@export("autograph.to_graph")
def to_graph(
    entity: Any, recursive: bool = True, experimental_optional_features: Any = None
) -> Any:
    """The function with its control flow converted: what `tf.function` traces.

    >>> def absolute(x):
    ...     if x < 0.0:
    ...         x = -x
    ...     return x
    >>> tf.autograph.to_graph(absolute)(tf.constant(-2.0)).numpy()
    np.float32(2.0)

    Args:
      entity: a function or a method.
      recursive: whether to convert the functions it calls.
      experimental_optional_features: None, a `tf.autograph.experimental.Feature`, or several.

    Raises:
      ValueError: if the code cannot be converted.
    """
    _transpiled("code_of", entity, recursive, experimental_optional_features)
    return convert(entity, experimental_optional_features, recursive)


@export("autograph.to_code")
def to_code(entity: Any, recursive: bool = True, experimental_optional_features: Any = None) -> str:
    """The converted code, to read.

    >>> def absolute(x):
    ...     if x < 0.0:
    ...         x = -x
    ...     return x
    >>> "ag__.if_stmt" in tf.autograph.to_code(absolute)
    True

    Args:
      entity: a function or a method.
      recursive: whether to convert the functions it calls.
      experimental_optional_features: None, a `tf.autograph.experimental.Feature`, or several.
    """
    return _transpiled("text_of", entity, recursive, experimental_optional_features)


def _transpiled(what: str, entity: Any, recursive: bool, features: Any) -> Any:
    entity = inspect.unwrap(entity, stop=lambda f: not is_artifact(f))
    function = rules.python_function(entity)
    if function is None:
        raise ValueError(f"{described(entity)} has no Python code that AutoGraph could convert.")
    try:
        return getattr(transpiler(), what)(function, options(features, recursive))
    except ConversionError as why:
        raise ValueError(f"AutoGraph cannot convert {described(entity)}: {why}") from None


@export("autograph.set_verbosity")
def set_verbosity(level: int, alsologtostdout: bool = False) -> None:
    """Accepted for compatibility: AutoGraph keeps no log. `to_code` shows what it does.

    >>> tf.autograph.set_verbosity(0)

    Args:
      level: a number.
      alsologtostdout: whether to log to the standard output too.
    """


@export("autograph.trace")
def trace(*args: Any) -> None:
    """Prints when a function is traced, and not when it runs.

    >>> tf.autograph.trace("tracing", 1)
    tracing 1

    Args:
      *args: what to print.
    """
    print(*args)
