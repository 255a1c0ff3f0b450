"""Where the user is: the line of the program that is running."""

from __future__ import annotations

import sys
from typing import NamedTuple

from tapeflow._src.core.system.package import FOLDER


class Line(NamedTuple):
    """A place in the user's code."""

    file: str
    number: int
    function: str

    def __str__(self) -> str:
        return f"{self.file}:{self.number}"


def user_line(*but: str) -> Line | None:
    """The line of the user's code that is running, which is in no file whose path has one of these parts."""
    frame = sys._getframe(1)
    while frame is not None:
        code = frame.f_code
        name = code.co_filename
        if not name.startswith(FOLDER) and not any(part in name for part in ("/malt/", *but)):
            return Line(name, frame.f_lineno, code.co_name)
        frame = frame.f_back
    return None
