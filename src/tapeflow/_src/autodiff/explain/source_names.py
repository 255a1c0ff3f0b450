"""What the user calls things: names found in the program's text, for messages only.

Everything here may come back empty-handed (the source may not be at hand), and nothing depends on
it but words.
"""

from __future__ import annotations

import ast
import functools
import itertools
import linecache
import math
from collections.abc import Iterator, Mapping
from types import FrameType
from typing import Any

from tapeflow._src.autodiff.explain.journal import Place
from tapeflow._src.core import nest

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


def derived_names(
    place: Place, seeds: set[str], first: int = 1, last: float = math.inf
) -> dict[str, int]:
    """The names that get a value computed from `seeds`, each with the line where it does.

    It reads the assignments in the function around `place` from line `first` to line `last`, one
    after the other, as if all of them ran.
    """
    found: dict[str, int] = {}
    if not seeds:
        return found
    for line, assigned, used in _assignments("".join(linecache.getlines(place.file)), place.line):
        if first <= line <= last and not used.isdisjoint(seeds | found.keys()):
            found.update(dict.fromkeys(assigned - seeds, line))
    return found


@functools.lru_cache(maxsize=1024)
def names_used(code: str) -> frozenset[str]:
    """The names, attributes and elements that a line reads: `w`, `model.w`, `params['w']`."""
    for attempt in (code, f"{code}\n    pass"):  # the second for the first line of a block
        try:
            return _names_in(ast.parse(attempt), ast.Load)
        except SyntaxError:
            pass
    return frozenset()


@functools.lru_cache(maxsize=1024)
def names_assigned(code: str) -> frozenset[str]:
    """The names that a line of code assigns to."""
    try:
        return _names_in(ast.parse(code), ast.Store)
    except SyntaxError:
        return frozenset()


def _names_in(code: ast.AST, context: type[ast.expr_context]) -> frozenset[str]:
    return frozenset(
        ast.unparse(node)
        for node in ast.walk(code)
        if isinstance(node, ast.Name | ast.Attribute | ast.Subscript)
        and isinstance(node.ctx, context)
    )


@functools.lru_cache(maxsize=256)
def _assignments(text: str, line: int) -> list[tuple[int, frozenset[str], frozenset[str]]]:
    """The assignments in the function around a line: where, to which names, and from which."""
    try:
        scope = _scope(_tree(text), line)
    except (SyntaxError, ValueError):
        return []
    return [
        (s.lineno, _names_in(s, ast.Store), _names_in(s, ast.Load))
        for s in _statements(scope)
        if isinstance(s, ast.Assign | ast.AnnAssign | ast.AugAssign)
    ]


@functools.lru_cache(maxsize=8)
def _tree(text: str) -> ast.Module:
    return ast.parse(text)


def _scope(tree: ast.Module, line: int) -> ast.AST:
    """The innermost function around a line, or the module."""
    scope: ast.AST = tree
    for node in ast.walk(tree):  # goes from the outside in
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.lineno <= line <= (
            node.end_lineno or 0
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
