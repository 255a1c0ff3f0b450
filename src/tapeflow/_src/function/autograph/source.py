"""The syntax tree of a function that is given as an object.

The whole file is parsed once, and the function found in it by its line, or for a lambda by its column. So the tree
has the lines and columns of the file, several lambdas may share a line, and decorators that copy `__wrapped__` do not
lead to the wrong function.
"""

from __future__ import annotations

import ast
import copy
import functools
import inspect
import linecache
import tokenize
from collections.abc import Iterator
from types import CodeType, FunctionType
from typing import NamedTuple

from tapeflow._src.function.autograph.errors import ConversionError

Definition = ast.FunctionDef | ast.Lambda


class Source(NamedTuple):
    """Where a function comes from."""

    node: Definition
    filename: str
    enclosing_class: str | None


def find(function: FunctionType) -> Source:
    """The definition of a function, as a tree of its own that may be changed."""
    code = function.__code__
    module, classes = _parsed(code.co_filename, _text(function))
    node = _lambda(module, code) if code.co_name == "<lambda>" else _definition(module, code)
    return Source(copy.deepcopy(node), code.co_filename, classes.get(node))


def _text(function: FunctionType) -> str:
    code = function.__code__
    linecache.checkcache(code.co_filename)
    lines = linecache.getlines(code.co_filename, function.__globals__)
    if not lines:
        try:
            lines, _ = inspect.findsource(code)
        except (OSError, TypeError):
            raise ConversionError(
                f"its source is not available: the file {code.co_filename!r} cannot be read. Code that is typed at a "
                "prompt or made with exec() has none; put it in a file or a notebook."
            ) from None
    return "".join(lines)


@functools.lru_cache(maxsize=16)
def _parsed(filename: str, text: str) -> tuple[ast.Module, dict[ast.AST, str]]:
    """The tree of a file, and for each function that stands in a class the name of the class."""
    try:
        module = ast.parse(text, filename)
    except (SyntaxError, tokenize.TokenError) as error:
        raise ConversionError(f"the source of {filename!r} cannot be parsed: {error}") from error
    classes: dict[ast.AST, str] = {}
    _note_classes(module, None, classes)
    return module, classes


def _note_classes(node: ast.AST, name: str | None, classes: dict[ast.AST, str]) -> None:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, (ast.FunctionDef, ast.Lambda)) and name is not None:
            classes[child] = name
        _note_classes(child, child.name if isinstance(child, ast.ClassDef) else name, classes)


def _definition(module: ast.Module, code: CodeType) -> ast.FunctionDef:
    for node in ast.walk(module):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and node.name == code.co_name:
            first = node.decorator_list[0] if node.decorator_list else node
            if first.lineno == code.co_firstlineno:
                if isinstance(node, ast.AsyncFunctionDef):
                    raise ConversionError("it is an `async def`")
                return node
    raise ConversionError(
        f"there is no function {code.co_name!r} at line {code.co_firstlineno} of {code.co_filename!r}; "
        "the file has changed since it was imported"
    )


def _lambda(module: ast.Module, code: CodeType) -> ast.Lambda:
    """The lambda whose body holds all that the code does, and the smallest if several do."""
    names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    candidates = [
        node
        for node in ast.walk(module)
        if isinstance(node, ast.Lambda)
        and node.lineno == code.co_firstlineno
        and tuple(a.arg for a in _plain_arguments(node)) == names
    ]
    places = list(_places(code))
    if places and len(candidates) > 1:
        candidates = [c for c in candidates if all(_within(p, c.body) for p in places)]
        candidates.sort(key=lambda c: (_span(c.body)[1][0] - c.body.lineno, _width(c.body)))
        candidates = candidates[:1]
    if len(candidates) != 1:
        raise ConversionError(
            f"{len(candidates) or 'no'} lambdas at line {code.co_firstlineno} of {code.co_filename!r} look like it; "
            "write it as a `def`, or on a line of its own"
        )
    return candidates[0]


def _plain_arguments(node: ast.Lambda) -> list[ast.arg]:
    a = node.args
    return [*a.posonlyargs, *a.args, *a.kwonlyargs]


Place = tuple[tuple[int, int], tuple[int, int]]


def _places(code: CodeType) -> Iterator[Place]:
    for line, end_line, column, end_column in code.co_positions():
        if line is None or end_line is None or column is None or end_column is None:
            continue
        if (line, column) != (end_line, end_column):  # what stands nowhere begins and ends the code
            yield (line, column), (end_line, end_column)


def _span(node: ast.expr) -> Place:
    return (node.lineno, node.col_offset), (node.end_lineno or 0, node.end_col_offset or 0)


def _within(place: Place, node: ast.expr) -> bool:
    start, end = _span(node)
    return start <= place[0] and place[1] <= end


def _width(node: ast.expr) -> int:
    return (node.end_col_offset or 0) - node.col_offset
