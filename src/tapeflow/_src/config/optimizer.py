"""`tf.config.optimizer`: how `tf.function` makes programs of graphs."""

from __future__ import annotations

from typing import Any

from tapeflow._src.core.export import export

_jit = ""
_options: dict[str, Any] = {"disable_model_pruning": False, "disable_meta_optimizer": False}


@export("config.optimizer.get_jit")
def get_jit() -> str:
    """`"autoclustering"` if `set_jit` asked for it, and else an empty text.

    >>> tf.config.optimizer.get_jit()
    ''
    """
    return _jit


@export("config.optimizer.set_jit")
def set_jit(enabled: bool | str) -> None:
    """Accepted for compatibility: `tf.function` compiles with XLA where it has measured that this is faster.

    >>> tf.config.optimizer.set_jit(True)
    >>> tf.config.optimizer.set_jit(False)

    Args:
      enabled: `True` or `"autoclustering"`, or `False`. `tf.function(jit_compile=...)` decides for one function.
    """
    global _jit
    if enabled not in (True, False, "", "autoclustering"):
        raise ValueError(
            f'tf.config.optimizer.set_jit: enabled must be a bool or "autoclustering", got {enabled!r}'
        )
    _jit = "autoclustering" if enabled else ""


@export("config.optimizer.get_experimental_options")
def get_experimental_options() -> dict[str, Any]:
    """What `set_experimental_options` was given.

    >>> tf.config.optimizer.get_experimental_options()["disable_model_pruning"]
    False
    """
    return dict(_options)


@export("config.optimizer.set_experimental_options")
def set_experimental_options(options: dict[str, Any]) -> None:
    """Accepted for compatibility: TensorFlow's passes over graphs are not those of `tf.function` here.

    >>> tf.config.optimizer.set_experimental_options({"constant_folding": True})

    Args:
      options: by name.
    """
    _options.update(options)
