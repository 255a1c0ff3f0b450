"""The places of a program where an interruption may arrive.

Python runs a signal's handler between two instructions, and not between any two: only after a call, at the beginning of
a function, and when a loop turns. A trace function is asked before every instruction (and line), also where no signal
can arrive. One such place is the way out of a `with` block: the line of the `with` statement is traced once more before
`__exit__` is called, outside of what the block protects; an exception raised there would leave any lock of any program
locked, and says nothing about it. Another is the first line of a `finally`. So places are looked up in the bytecode:

- an instruction that follows one after which Python looks for signals, if the same handler of exceptions is in charge
  of both (where it is not, the exception would belong to the instruction before);
- the return of a function to an instruction of its caller that is a call: there Python looks for signals, too.
"""

from __future__ import annotations

import contextlib
import dis
import functools
import os
import sys
import threading
from collections.abc import Callable
from types import CodeType, FrameType
from typing import Any

import tapeflow as tf

_PACKAGE = os.path.dirname(os.path.abspath(tf.__file__)) + os.sep
_HELPERS = (contextlib.__file__, threading.__file__, functools.__file__)
_LOOKS = ("CALL", "CALL_FUNCTION_EX", "CALL_KW", "JUMP_BACKWARD", "RESUME")
_RETURNS = ("RETURN_VALUE", "RETURN_CONST")


class Places:
    """Counts places in this thread, and interrupts at one of them, while it is open as a context.

    Args:
      at: the number of the place, from 1; 0 for none.
      handler: what happens there, in place of an interruption.

    Attributes:
      passed: for each instruction the numbers of the places at which it was passed.
      where: the place of the interruption, in words.
    """

    def __init__(self, at: int = 0, handler: Callable[[], Any] | None = None) -> None:
        self.at = at
        self.handler = handler
        self.count = 0
        self.passed: dict[tuple[CodeType, int, str], list[int]] = {}
        self.where = "nowhere"
        self._thread = threading.get_ident()
        self._before: dict[int, int] = {}  # by the frame: the instruction that it is at

    def __enter__(self) -> None:
        _listen(self)

    def __exit__(self, *exception: Any) -> None:
        _listen(None)

    # What is heard of a function.

    def begin(self, frame: FrameType) -> None:
        """A function begins, or goes on."""
        self._before[id(frame)] = frame.f_lasti

    def instruction(self, frame: FrameType) -> None:
        """An instruction is about to run."""
        names, handlers = _instructions(frame.f_code)
        before, now = self._before.get(id(frame), -1), frame.f_lasti
        self._before[id(frame)] = now
        if names.get(before) in _LOOKS and handlers.get(before) == handlers.get(now):
            self._pass(frame, "instruction")

    def end(self, frame: FrameType) -> None:
        """A function ends, or is left by an exception or a `yield`."""
        names, _ = _instructions(frame.f_code)
        before = self._before.pop(id(frame), -1)
        caller = frame.f_back
        if names.get(before) not in _RETURNS or caller is None:
            return
        if _instructions(caller.f_code)[0].get(caller.f_lasti) in _LOOKS:
            self._pass(frame, "return")

    def _pass(self, frame: FrameType, event: str) -> None:
        self.count += 1
        if not self.at:
            self.passed.setdefault((frame.f_code, frame.f_lasti, event), []).append(self.count)
        if self.count == self.at:
            _listen(None)
            self.where = f"{frame.f_code.co_filename}:{frame.f_lineno} in {frame.f_code.co_name}"
            if self.handler is None:
                raise KeyboardInterrupt(self.where)
            self.handler()


def places_of(action: Callable[[], Any]) -> list[list[int]]:
    """The numbers of the places that an action passes, those of the same instruction together."""
    places = Places()
    with places:
        action()
    return list(places.passed.values())


def _is_ours(code: CodeType) -> bool:
    return code.co_filename.startswith((_PACKAGE, "<tapeflow "))


def _is_heard(frame: FrameType) -> bool:
    """Whether a function is ours, or the standard library's on our behalf: its context managers, and the like."""
    if _is_ours(frame.f_code):
        return True
    caller = frame.f_back
    return frame.f_code.co_filename in _HELPERS and caller is not None and _is_ours(caller.f_code)


@functools.cache
def _instructions(code: CodeType) -> tuple[dict[int, str], dict[int, int]]:
    """The names of the instructions of a function by their offsets, and the exception handlers in charge of them."""
    bytecode: Any = dis.Bytecode(code)
    names = {instruction.offset: instruction.opname for instruction in bytecode}
    handlers = {
        offset: entry.target
        for entry in reversed(bytecode.exception_entries)
        for offset in names
        if entry.start <= offset < entry.end
    }
    return names, handlers


# How Python tells.

if sys.version_info < (3, 12):
    # Python does not hold the trace function that it is about to call. If its garbage collector comes in between, and
    # calls a destructor that has the place, the function is not the trace function any more, and would be gone.
    _last: Any = None

    def _listen(places: Places | None) -> None:
        global _last
        if places is None:
            sys.settrace(None)
            return

        def local(frame: FrameType, event: str, arg: Any) -> Any:
            if event == "opcode":
                places.instruction(frame)
            elif event == "return":
                places.end(frame)
            return local

        def trace(frame: FrameType, event: str, arg: Any) -> Any:
            if not _is_heard(frame):
                return None
            frame.f_trace_opcodes, frame.f_trace_lines = True, False
            places.begin(frame)
            return local

        _last = trace
        sys.settrace(trace)

else:  # from then on a trace function is not told of the instructions of a function that is called for the first time
    _monitoring = sys.monitoring
    _TOOL = 4  # one that has no meaning to others
    _EVENTS = _monitoring.events
    _listener: Places | None = None
    _heard_of: set[CodeType] = set()

    def _listen(places: Places | None) -> None:
        global _listener
        _listener = places
        if places is None:
            _monitoring.set_events(_TOOL, 0)
            # Else a real signal could arrive in a callback, and so before any instruction.
            while _heard_of:
                _monitoring.set_local_events(_TOOL, _heard_of.pop(), 0)
            return
        if _monitoring.get_tool(_TOOL) is None:
            _monitoring.use_tool_id(_TOOL, "stress")
            _monitoring.register_callback(_TOOL, _EVENTS.PY_START, _begun)
            _monitoring.register_callback(_TOOL, _EVENTS.PY_RESUME, _begun)
            _monitoring.register_callback(_TOOL, _EVENTS.INSTRUCTION, _at_instruction)
            _monitoring.register_callback(_TOOL, _EVENTS.PY_RETURN, _ended)
        _monitoring.set_events(_TOOL, _EVENTS.PY_START | _EVENTS.PY_RESUME | _EVENTS.PY_RETURN)

    def _heard() -> tuple[Places, FrameType] | None:
        places, frame = _listener, sys._getframe(2)
        if places is None or places._thread != threading.get_ident() or not _is_heard(frame):
            return None
        return places, frame

    def _begun(code: CodeType, offset: int) -> None:
        heard = _heard()
        if heard is not None:
            _heard_of.add(code)
            _monitoring.set_local_events(_TOOL, code, _EVENTS.INSTRUCTION)
            heard[0].begin(heard[1])

    def _at_instruction(code: CodeType, offset: int) -> None:
        heard = _heard()
        if heard is not None:
            heard[0].instruction(heard[1])

    def _ended(code: CodeType, offset: int, value: Any) -> None:
        heard = _heard()
        if heard is not None:
            heard[0].end(heard[1])
