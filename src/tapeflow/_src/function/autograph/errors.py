"""Where things went wrong, in terms of the user's own lines.

Converted code is compiled under the name and the line numbers of the file it came from, so tracebacks, debuggers and
coverage show the user's lines. What is left to do is to take our own frames out of between them.
"""

from __future__ import annotations

import os
import sys
import warnings
from types import CodeType, FrameType, TracebackType
from typing import Any

from tapeflow._src.core.errors import shown
from tapeflow._src.core.system.package import FOLDER

_MACHINERY = os.path.dirname(os.path.abspath(__file__)) + os.sep

_warned: set[Any] = set()


class ConversionError(Exception):
    """The code of a function cannot be converted. The message says why, and at which line."""


def user_frame() -> FrameType | None:
    """The innermost frame that is not in this library."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and frame.f_code.co_filename.startswith(FOLDER):
        frame = frame.f_back
    return frame


def here() -> str:
    """The user's line that is being run, to end a message with."""
    frame = user_frame()
    if frame is None:
        return ""
    code = frame.f_code
    return f'\n  File "{code.co_filename}", line {frame.f_lineno}, in {code.co_name}'


def without_machinery(traceback: TracebackType | None) -> TracebackType | None:
    """The traceback without our frames between the user's; those that follow the last of them stay."""
    frames = []
    while traceback is not None:
        frames.append(traceback)
        traceback = traceback.tb_next
    result: TracebackType | None = None
    ended = False
    for each in reversed(frames):
        filename = each.tb_frame.f_code.co_filename
        ours = filename.startswith(FOLDER)
        ended = ended or not ours
        if ours and (ended or filename.startswith(_MACHINERY)):
            continue
        result = TracebackType(result, each.tb_frame, each.tb_lasti, each.tb_lineno)
    return result


def warn_unconverted(function: Any, why: BaseException) -> None:
    """Says once for each function that it runs as it is."""
    code = getattr(function, "__code__", None)
    key = code if isinstance(code, CodeType) else id(function)
    if key in _warned:
        return
    _warned.add(key)
    text = (
        f"AutoGraph could not convert {described(function)}, which will run as it is: Python decides its branches "
        f"and loops while it is traced.\nCause: {why}\nIf that is what you want, decorate it with "
        "@tf.autograph.experimental.do_not_convert, and this warning goes away."
    )
    frame = user_frame()
    if frame is None:
        warnings.warn(text, stacklevel=2)
    else:
        warnings.warn_explicit(text, UserWarning, frame.f_code.co_filename, frame.f_lineno)


def described(function: Any) -> str:
    """A function by its name and place."""
    name = getattr(function, "__qualname__", None) or shown(function)
    code = getattr(function, "__code__", None)
    if not isinstance(code, CodeType):
        return str(name)
    return f"{name} ({code.co_filename}:{code.co_firstlineno})"
