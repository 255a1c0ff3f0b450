"""What a raw op is: a function that takes all of its arguments by name."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any

OPS: dict[str, RawOp] = {}
"""All raw ops by name."""


class RawOp:
    """An op of `tf.raw_ops`.

    >>> tf.raw_ops.AddV2(x=1.0, y=2.0).numpy()
    np.float32(3.0)
    """

    def __init__(self, name: str, function: Callable[..., Any]) -> None:
        self.__name__ = self.__qualname__ = name
        self._function = function
        self._parameters = inspect.signature(function).parameters
        OPS[name] = self
        named = ", ".join(self._parameters) or "nothing"
        self.__doc__ = (
            f"TensorFlow's op {name}. It takes {named}, and a name, which makes no difference."
        )

    @property
    def parameters(self) -> Mapping[str, inspect.Parameter]:
        """The arguments it takes."""
        return self._parameters

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Runs the op."""
        if args:
            raise TypeError(
                f"{self.__name__} only takes keyword args (possible keys: {[*self._parameters, 'name']}). Please pass "
                "these args as kwargs instead."
            )
        kwargs.pop("name", None)
        wrong = [key for key in kwargs if key not in self._parameters]
        if wrong:
            raise TypeError(
                f"{self.__name__} got an unexpected keyword argument {wrong[0]!r}. It takes {[*self._parameters]}."
            )
        missing = [
            key
            for key, parameter in self._parameters.items()
            if parameter.default is parameter.empty and key not in kwargs
        ]
        if missing:
            raise TypeError(f"{self.__name__} needs the argument {missing[0]!r}.")
        return self._function(**kwargs)

    def __repr__(self) -> str:
        return f"<raw op {self.__name__}>"
