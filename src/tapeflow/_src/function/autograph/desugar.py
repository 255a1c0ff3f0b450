"""Rewrites syntax that malt does not know into syntax that it does, before it sees a function.

`for ... else`, `match`, `:=`, chains of comparisons, `except ... as`, private names of classes, and calls of
`set_loop_options`. Each keeps Python's meaning.
"""

from __future__ import annotations

import ast
from typing import Any, NamedTuple

from malt.pyct import anno

from tapeflow._src.function.autograph.errors import ConversionError

Statements = list[ast.stmt]


class Place(NamedTuple):
    """Where a node stands in the user's file."""

    line: int
    column: int
    end_line: int
    end_column: int


def desugar(node: ast.AST, enclosing_class: str | None) -> Statements:
    """Rewrites a function in place; returns functions that its code calls and that must not be converted."""
    for each in ast.walk(node):
        if isinstance(
            each, (ast.stmt, ast.expr, ast.pattern, ast.excepthandler, ast.arg, ast.keyword)
        ):
            anno.setanno(each, anno.Basic.ORIGIN, _own_place(each))
    if enclosing_class is not None:
        _Mangle(enclosing_class).visit(node)
    statements = _Statements(_assigned_names(node))
    statements.visit(node)
    for each in (node, *statements.helpers):
        _refuse(each)
    return statements.helpers


def _own_place(node: Any) -> Place:
    """Where a node stands; of a statement with blocks, its header."""
    header = getattr(node, "test", None) or getattr(node, "iter", None)
    end: Any
    if not isinstance(node, ast.stmt) or not hasattr(node, "body"):
        end = node
    elif header is None:
        return Place(node.lineno, node.col_offset, node.lineno, node.col_offset)
    else:
        end = header
    return Place(node.lineno, node.col_offset, end.end_lineno, end.end_col_offset)


def _assigned_names(function: ast.AST) -> set[str]:
    names = set()
    for node in ast.walk(function):
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            names.add(node.id)
        elif isinstance(node, ast.arg):
            names.add(node.arg)
        elif isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            names.add(node.name)
        elif isinstance(node, ast.alias):
            names.add((node.asname or node.name).partition(".")[0])
        elif isinstance(node, ast.pattern):
            names.update(_bound(node))
    return names


def _refuse(function: ast.AST) -> None:
    for node in ast.walk(function):
        if isinstance(node, ast.NamedExpr):
            raise ConversionError(
                f"`:=` at line {node.lineno} is evaluated only sometimes, or in a scope of its own; assign before "
                "the statement instead"
            )
        if isinstance(node, (ast.AsyncFor, ast.AsyncWith, ast.AsyncFunctionDef, ast.Await)):
            raise ConversionError(f"line {node.lineno} is asynchronous")
        if isinstance(node, ast.TryStar):
            raise ConversionError(f"line {node.lineno} has `except*`")


class _Mangle(ast.NodeTransformer):
    """`self.__x` in a class `C` means `self._C__x`."""

    def __init__(self, class_name: str) -> None:
        self.prefix = "_" + class_name.lstrip("_")

    def _mangled(self, name: str) -> str:
        private = name.startswith("__") and not name.endswith("__") and "." not in name
        return self.prefix + name if private and self.prefix != "_" else name

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        node.attr = self._mangled(node.attr)
        return self.generic_visit(node)

    def visit_Name(self, node: ast.Name) -> ast.AST:
        node.id = self._mangled(node.id)
        return node

    def visit_arg(self, node: ast.arg) -> ast.AST:
        node.arg = self._mangled(node.arg)
        return self.generic_visit(node)

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        return node  # it has private names of its own


class _Statements(ast.NodeTransformer):
    """Rewrites statements into lists of simpler ones."""

    def __init__(self, local: set[str]) -> None:
        self.local = local
        self.helpers: Statements = []
        self.count = 0

    def fresh(self, stem: str) -> str:
        """A name that the user does not have."""
        self.count += 1
        return f"ag_{stem}_{self.count}"

    def visit_ExceptHandler(self, node: ast.ExceptHandler) -> ast.AST:
        self.generic_visit(node)
        if node.name is not None:
            node.body.insert(0, _assign(node.name, "ag__.caught()", node))
            node.name = None
        return node

    def visit_If(self, node: ast.If) -> Any:
        before = self._hoisted(node, "test")
        self.generic_visit(node)
        return [*before, node]

    def visit_Return(self, node: ast.Return) -> Any:
        return self._with_hoisted(node)

    def visit_Assign(self, node: ast.Assign) -> Any:
        return self._with_hoisted(node)

    def visit_Expr(self, node: ast.Expr) -> Any:
        return self._with_hoisted(node)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> Any:
        """Annotations of local variables say nothing, and Python refuses them where malt's blocks assign."""
        if node.value is None:
            return _placed(ast.Pass(), node)
        return self._with_hoisted(_placed(ast.Assign([node.target], node.value), node))

    def _with_hoisted(self, node: ast.stmt) -> Any:
        before = self._hoisted(node, "value") if getattr(node, "value", None) is not None else []
        self.generic_visit(node)
        return [*before, node]

    def _hoisted(self, node: Any, field: str) -> Statements:
        """The assignments that an expression makes with `:=`, in front of the statement."""
        hoist = _Hoist()
        setattr(node, field, hoist.visit(getattr(node, field)))
        return hoist.assignments

    def visit_For(self, node: ast.For) -> Any:
        return self._loop(node)

    def visit_While(self, node: ast.While) -> Any:
        hoist = _Hoist()
        test = hoist.visit(node.test)
        if hoist.assignments:  # while (y := f()) > 0  ->  while True: y = f(); if not y > 0: break
            stop = ast.If(ast.UnaryOp(ast.Not(), test), [ast.Break()], [])
            node.body = [*hoist.assignments, _placed(stop, node), *node.body]
            node.test = _placed(ast.Constant(True), node)
            if node.orelse:
                raise ConversionError(f"`while` at line {node.lineno} has both `:=` and `else`")
        return self._loop(node)

    def _loop(self, node: Any) -> Any:
        """`else` of a loop runs unless it ended with `break`."""
        orelse, node.orelse = node.orelse, []
        if orelse:
            ended = self.fresh("broke")
            node.body = _MarkBreaks(ended).block(node.body)
            before = _assign(ended, "False", node)
            test = ast.UnaryOp(ast.Not(), ast.Name(ended, ast.Load()))
            after = _placed(ast.If(test, orelse, []), orelse[0])
            self.generic_visit(node)
            self.generic_visit(after)
            return [before, node, after]
        self.generic_visit(node)
        return node

    def visit_Match(self, node: ast.Match) -> Any:
        """A function decides which case it is and what the pattern binds, and `if`s run the case.

        The function holds the patterns as they were written and is not converted. It gets the local names it reads.
        """
        self.generic_visit(node)
        which, bound, decide = self.fresh("case"), self.fresh("bound"), self.fresh("decide")
        patterns = [part for case in node.cases for part in (case.pattern, case.guard) if part]
        read = {n.id for p in patterns for n in ast.walk(p) if isinstance(n, ast.Name)}
        outer = sorted(read & self.local - {n for case in node.cases for n in _bound(case.pattern)})
        helper: Any = ast.parse(
            f"def {decide}({', '.join(['ag_subject', *outer])}):\n"
            "  match ag_subject:\n    case _: pass\n"
            "  return -1, ()"
        ).body[0]
        helper.body[0].cases = [_case(i, case) for i, case in enumerate(node.cases)]
        self.helpers.append(_placed(helper, node))
        arguments = ", ".join([decide, "None", *outer])
        call: Any = ast.parse(f"{which}, {bound} = ag__.matched({arguments})").body[0]
        call.value.args[1] = node.subject
        branches: Statements = []
        for i, case in reversed(list(enumerate(node.cases))):
            names = _bound(case.pattern)
            bind = [_assign(f"({', '.join(names)},)", bound, case.pattern)] if names else []
            test = ast.parse(f"{which} == {i}", mode="eval").body
            branches = [_placed(ast.If(test, [*bind, *case.body], branches), case.pattern)]
        return [_placed(call, node), *branches]


def _case(number: int, case: ast.match_case) -> ast.match_case:
    names = _bound(case.pattern)
    result = ast.parse(f"return {number}, ({', '.join(names)}{',' if names else ''})").body
    return ast.match_case(case.pattern, case.guard, result)


def _bound(pattern: ast.pattern) -> list[str]:
    names = []
    for node in ast.walk(pattern):
        name = (
            getattr(node, "name", None) if isinstance(node, (ast.MatchAs, ast.MatchStar)) else None
        )
        name = node.rest if isinstance(node, ast.MatchMapping) else name
        if name is not None and name not in names:
            names.append(name)
    return names


class _Hoist(ast.NodeTransformer):
    """Takes `:=` out of what an expression always evaluates."""

    def __init__(self) -> None:
        self.assignments: Statements = []

    def visit_NamedExpr(self, node: ast.NamedExpr) -> ast.AST:
        self.generic_visit(node)
        target = ast.Name(node.target.id, ast.Store())
        self.assignments.append(_placed(ast.Assign([target], node.value), node))
        return ast.copy_location(ast.Name(node.target.id, ast.Load()), node)

    def visit_BoolOp(self, node: ast.BoolOp) -> ast.AST:
        node.values[0] = self.visit(node.values[0])  # the others are evaluated only sometimes
        return node

    def visit_IfExp(self, node: ast.IfExp) -> ast.AST:
        node.test = self.visit(node.test)
        return node

    def visit_Compare(self, node: ast.Compare) -> ast.AST:
        node.left = self.visit(node.left)
        node.comparators[0] = self.visit(node.comparators[0])
        return node

    def _own_scope(self, node: ast.AST) -> ast.AST:
        return node

    visit_Lambda = visit_ListComp = visit_SetComp = visit_DictComp = visit_GeneratorExp = _own_scope


class _MarkBreaks(ast.NodeTransformer):
    """Before each `break` of one loop, notes that it was taken."""

    def __init__(self, name: str) -> None:
        self.name = name

    def block(self, statements: Statements) -> Statements:
        return self.visit(ast.Module(statements, [])).body

    def visit_Break(self, node: ast.Break) -> Any:
        return [_assign(self.name, "True", node), node]

    def _inner(self, node: ast.AST) -> ast.AST:
        return node

    visit_For = visit_While = visit_FunctionDef = visit_Lambda = visit_ClassDef = _inner


class Generators(ast.NodeTransformer):
    """Keeps the bodies of inner generators away from malt, which would take the `yield`s out of them.

    In their place stands a statement that reads the same names.
    """

    def __init__(self) -> None:
        self.bodies: dict[tuple[str, Any], Statements] = {}

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        """Takes the body of a generator away."""
        if not _yields(node):
            return self.generic_visit(node)
        if any(isinstance(n, ast.Nonlocal) for n in ast.walk(node)):
            raise ConversionError(f"the generator {node.name!r} inside it has `nonlocal` names")
        self.bodies[_key(node)] = node.body
        read = {n.id for s in node.body for n in ast.walk(s) if isinstance(n, ast.Name)}
        names = sorted(read - {n for s in node.body for n in _assigned_names(s)})
        node.body = [_placed(ast.parse(f"return [{', '.join(names)}]").body[0], node)]
        return node

    def restored(self, node: Any) -> Any:
        """Puts the bodies back."""
        for each in ast.walk(node):
            if isinstance(each, ast.FunctionDef) and _key(each) in self.bodies:
                each.body = self.bodies[_key(each)]
        return node


def _yields(function: ast.FunctionDef) -> bool:
    waiting: list[ast.AST] = list(function.body)
    while waiting:
        node = waiting.pop()
        if isinstance(node, (ast.Yield, ast.YieldFrom)):
            return True
        if not isinstance(node, (ast.FunctionDef, ast.Lambda, ast.ClassDef)):
            waiting += ast.iter_child_nodes(node)
    return False


def _key(function: ast.FunctionDef) -> tuple[str, Any]:
    return function.name, anno.getanno(function, anno.Basic.ORIGIN, default=None)


class Expressions(ast.NodeTransformer):
    """Expressions that malt does not rewrite as Python evaluates them: at the end of its passes."""

    def visit_IfExp(self, node: ast.IfExp) -> ast.AST:
        """`a if test else b`, also inside another one."""
        name = ast.unparse(node.test)
        self.generic_visit(node)
        call: Any = ast.parse("ag__.if_exp(None, lambda: None, lambda: None, '')", mode="eval").body
        call.args[0], call.args[3].value = node.test, name
        call.args[1].body, call.args[2].body = node.body, node.orelse
        return _placed(call, node)

    def visit_Compare(self, node: ast.Compare) -> ast.AST:
        """`a < b < c` evaluates `b` once: `ag__.chain(a, (lambda a, b: a < b, lambda: b), ...)`."""
        self.generic_visit(node)
        if len(node.ops) < 2:
            return node
        links = []
        for op, right in zip(node.ops, node.comparators, strict=True):
            compare: Any = ast.parse("(lambda a, b: a < b, lambda: 0)", mode="eval").body
            compare.elts[0].body.ops = [op]
            compare.elts[1].body = right
            links.append(compare)
        call: Any = ast.parse("ag__.chain(0)", mode="eval").body
        call.args = [node.left, *links]
        return _placed(call, node)


def _assign(target: str, value: str, like: ast.AST) -> ast.stmt:
    return _placed(ast.parse(f"{target} = {value}").body[0], like)


def _placed(node: Any, like: ast.AST) -> Any:
    """Gives the new nodes in a tree the place of what they come from."""
    place = anno.getanno(like, anno.Basic.ORIGIN, default=None)
    for each in ast.walk(node):
        if place is not None and not anno.hasanno(each, anno.Basic.ORIGIN):
            anno.setanno(each, anno.Basic.ORIGIN, place)
    return node
