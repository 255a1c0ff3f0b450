"""What the user calls things: names found in the program's text, for messages only.

Everything here may come back empty-handed (the source may not be at hand), and nothing depends on it but words.
"""

from __future__ import annotations

import ast
import itertools
import linecache
from collections.abc import Iterator, Mapping
from types import FrameType
from typing import Any

from tapeflow.core import nest

LONGEST = 40


def call_arguments(frame: FrameType, names: tuple[str, ...]) -> dict[str, ast.expr]:
    """The expressions that the call running in `frame` passes for the parameters `names`."""
    try:
        positions = itertools.islice(frame.f_code.co_positions(), frame.f_lasti // 2, None)
        first, last, start, end = next(positions)
        if first is None or last is None or start is None or end is None:
            return {}
        lines = [
            linecache.getline(frame.f_code.co_filename, n).encode() for n in range(first, last + 1)
        ]
        lines[-1] = lines[-1][:end]
        lines[0] = lines[0][start:]
        call = ast.parse(b"(" + b"".join(lines) + b")", mode="eval").body
    except (StopIteration, SyntaxError, ValueError):
        return {}
    if not isinstance(call, ast.Call) or any(isinstance(a, ast.Starred) for a in call.args):
        return {}
    found = dict(zip(names, call.args, strict=False))
    found.update({k.arg: k.value for k in call.keywords if k.arg is not None})
    return found


def leaf_names(structure: Any, expression: ast.expr | None, otherwise: str) -> list[str]:
    """A name for each leaf of a structure, in the order of `nest.flatten`.

    `[w, b]` names its leaves `w` and `b`; `params` names them `params[0]`, `params[1]`.
    """
    return list(_names(structure, expression, _text(expression) or otherwise))


def _names(structure: Any, expression: ast.expr | None, name: str) -> Iterator[str]:
    if not nest.is_nested(structure):
        yield name
        return
    if isinstance(structure, Mapping):
        keys = nest._sorted_keys(structure)
    else:
        keys = list(range(len(structure)))
    fields = getattr(structure, "_fields", None)
    for key in keys:
        child = structure[key]
        part = _element(expression, key)
        place = f".{fields[key]}" if fields else f"[{key!r}]"
        yield from _names(child, part, _text(part) or f"{name}{place}")


def _element(expression: ast.expr | None, key: Any) -> ast.expr | None:
    if isinstance(expression, ast.List | ast.Tuple):
        if any(isinstance(e, ast.Starred) for e in expression.elts):
            return None
        return expression.elts[key]
    if isinstance(expression, ast.Dict):
        for k, value in zip(expression.keys, expression.values, strict=True):
            if isinstance(k, ast.Constant) and k.value == key:
                return value
    return None


def _text(expression: ast.expr | None) -> str:
    if expression is None or isinstance(expression, ast.List | ast.Tuple | ast.Dict | ast.ListComp):
        return ""
    text = ast.unparse(expression)
    return text if len(text) <= LONGEST else ""


def derived_names(file: str, seeds: set[str], first: int, last: int) -> dict[str, int]:
    """The names that get a value computed from `seeds` in the lines from `first` to `last`, and where.

    It reads assignments in the function around `last`, one after the other, as if all of them ran.
    """
    try:
        tree = ast.parse("".join(linecache.getlines(file)))
    except (SyntaxError, ValueError):
        return {}
    found: dict[str, int] = {}
    for node in _statements(_scope(tree, last)):
        value = getattr(node, "value", None)
        if not isinstance(node, ast.Assign | ast.AnnAssign | ast.AugAssign) or value is None:
            continue
        if first <= node.lineno <= last and mentions(value, seeds | found.keys()):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            for target in targets:
                for name in ast.walk(target):
                    if isinstance(name, ast.Name) and name.id not in seeds:
                        found[name.id] = node.lineno
    return found


def mentions(code: ast.AST | str, names: set[str]) -> bool:
    """Whether an expression, or a line of code, uses one of `names` (`w`, or `model.w`)."""
    if isinstance(code, str):
        try:
            code = ast.parse(code)
        except SyntaxError:  # the first line of `with ...:`, or a line of a longer expression
            try:
                code = ast.parse(code.rstrip("\\") + "\n    pass")
            except SyntaxError:
                return False
    return any(
        isinstance(node, ast.Name | ast.Attribute | ast.Subscript) and ast.unparse(node) in names
        for node in ast.walk(code)
    )


def assigned_names(code: str) -> set[str]:
    """The names a line of code assigns to."""
    try:
        tree = ast.parse(code)
    except SyntaxError:
        return set()
    return {
        node.id
        for node in ast.walk(tree)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    }


def _scope(tree: ast.Module, line: int) -> ast.AST:
    """The innermost function around a line, or the module."""
    scope: ast.AST = tree
    for node in ast.walk(tree):  # goes from the outside in
        if (
            isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
            and node.lineno <= line <= (node.end_lineno or 0)
        ):
            scope = node
    return scope


def _statements(scope: ast.AST) -> Iterator[ast.stmt]:
    """The statements of a scope in the order of the text, without those of functions inside it."""
    for child in ast.iter_child_nodes(scope):
        if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            continue
        if isinstance(child, ast.stmt):
            yield child
        yield from _statements(child)
