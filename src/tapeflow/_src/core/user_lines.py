"""Where the user is: the line of the program that is running."""

from __future__ import annotations

import functools
import os
import sys
from typing import Any, NamedTuple

from tapeflow._src.core.context import context
from tapeflow._src.core.system.package import FOLDER

_BACKPROP = os.path.join(FOLDER, "_src", "autodiff", "backprop.py")


class Line(NamedTuple):
    """A place in the user's code.

    Attributes:
      file: its path.
      number: of the line.
      function: the name of the function that it is in.
      backward: whether it has asked for gradients, and they are being computed.
      scope: the name scopes that are open, with `/` between them.
      of: in the backward pass, the identity of the tensor at which it is.
      gradient: there, what stands for the gradient by this tensor in the graph.
      made: the identity of what the op made that was written there.
    """

    file: str
    number: int
    function: str
    backward: bool = False
    scope: str = ""
    of: int = 0
    gradient: Any = None
    made: int = 0

    def __str__(self) -> str:
        return f"{self.file}:{self.number}"


def user_line(*but: str) -> Line | None:
    """The line of the user's code that is running, which is in no file whose path has one of these parts."""
    frame = sys._getframe(1)
    backward = False
    of = 0
    gradient = None
    while frame is not None:
        code = frame.f_code
        name = code.co_filename
        if code.co_name == "backward" and name == _BACKPROP and not backward:
            backward = True
            held = frame.f_locals
            output = held.get("output", 0)
            if isinstance(output, int):
                g = held.get("g")
                of, gradient = output, getattr(getattr(g, "values", g), "value", None)
            else:
                of = output[0]
            if type(held) is dict:  # a copy, which would hold tensors until somebody asks again
                held.clear()
        if _is_users(name, but):
            scope = "/".join(context.name_scopes)
            return Line(name, frame.f_lineno, code.co_name, backward, scope, of, gradient)
        frame = frame.f_back
    return None


@functools.lru_cache(maxsize=4096)  # it is asked for each frame below each op that is traced
def _is_users(file: str, but: tuple[str, ...]) -> bool:
    """Whether the code in a file is the user's."""
    return not file.startswith(FOLDER) and not any(part in file for part in ("/malt/", *but))
