"""Loops inside of `with` and `try`: what Python forgets there since 3.13.

Where a loop goes back to its beginning on a condition (`while`, an `if` at the end of a `for`, a comprehension that
filters; since 3.14 also `all` and `any`), it looks for signals outside of the blocks around it: Ctrl-C there, and a
lock is never released. So such a loop is in a function of its own, which is called inside of the block.
"""

from __future__ import annotations

import ast
import dis
import signal
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from types import CodeType

import pytest

SOURCE = Path(__file__).parent.parent / "src" / "tapeflow"

LEAVE_NOTHING = {"suppress", "translating_os_errors", "catch_stop_iteration"}
"""Contexts that look at exceptions, and have nothing to undo."""


def codes(code: CodeType) -> Iterator[CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from codes(constant)


def forgotten_blocks(code: CodeType) -> Iterator[tuple[int, int]]:
    """The lines of loops, and of the blocks with something to undo that are forgotten where they go back."""
    if not code.co_exceptiontable:
        return
    table = dis._parse_exception_table(code)
    instructions = {i.offset: i for i in dis.get_instructions(code)}
    following = dict(zip(instructions, [*instructions.values()][1:], strict=False))

    def around(offset: int) -> list[int]:
        found: list[int] = []
        while True:
            handler = next((e.target for e in table if e.start <= offset < e.end), None)
            if handler is None or handler in found:
                return found
            found.append(handler)
            offset = handler

    for instruction in instructions.values():
        if instruction.opname != "JUMP_BACKWARD":
            continue
        here = around(instruction.offset)
        for handler in around(instruction.argval):
            is_block = instructions[handler].opname == "PUSH_EXC_INFO"
            # `except`, for a kind of errors, has nothing to undo. `with` and `finally` begin otherwise.
            undoes = is_block and not any(
                i.opname == "CHECK_EXC_MATCH" for i in _until_raised(instructions, handler)
            )
            if undoes and handler not in here:
                yield instruction.positions.lineno, following[handler].positions.lineno


def _until_raised(
    instructions: dict[int, dis.Instruction], begin: int
) -> Iterator[dis.Instruction]:
    for offset, instruction in instructions.items():
        if offset >= begin:
            yield instruction
            if instruction.opname in ("RERAISE", "WITH_EXCEPT_START"):
                return


def contexts(tree: ast.AST) -> dict[int, set[str]]:
    """What is called in `with` statements, by their lines."""
    found: dict[int, set[str]] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.With):
            for item in node.items:
                expression = item.context_expr
                called = expression.func if isinstance(expression, ast.Call) else expression
                found.setdefault(expression.lineno, set()).add(ast.unparse(called).split(".")[-1])
    return found


@pytest.mark.skipif(
    sys.version_info < (3, 13), reason="before 3.13 Python does not forget the blocks around a loop"
)
def test_no_loop_goes_back_inside_of_a_block():
    places = []
    for path in sorted(SOURCE.rglob("*.py")):
        text = path.read_text()
        named = contexts(ast.parse(text))
        for code in codes(compile(text, str(path), "exec")):
            for loop, block in forgotten_blocks(code):
                if not named.get(block, {"finally"}) <= LEAVE_NOTHING:
                    places.append(f"{path}:{loop}, in the block of line {block}")
    assert places == [], "move such a loop into a function that is called there"


EXAMPLE = """
def counts():
    with lock:
        i = 0
        while i < 100_000:
            i += 1
"""


@pytest.mark.skipif(
    not hasattr(signal, "setitimer"), reason="needs signals from a timer, which Windows has not"
)
def test_what_is_said_of_python_is_true():
    """Where it forgets, that is what we find in its code."""
    lock = threading.Lock()
    names = {"lock": lock}
    exec(EXAMPLE, names)
    counts = names["counts"]
    found = list(forgotten_blocks(counts.__code__))

    def interrupt(signum, frame):
        raise KeyboardInterrupt

    left = 0
    previous = signal.signal(signal.SIGALRM, interrupt)
    try:
        for _ in range(20):
            try:
                signal.setitimer(signal.ITIMER_REAL, 1e-3)
                while_it_lasts(counts)
            except KeyboardInterrupt:
                pass
            if lock.locked():
                left += 1
                lock.release()
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, previous)
    assert found or not left  # a version that is mended may leave none although something is found


def while_it_lasts(action) -> None:
    for _ in range(1_000):  # not without end: an interruption that hits a destructor is lost
        action()
