"""Turns the code of a function into code that calls our operators, with malt's passes over the syntax tree.

malt would write the new code to a temporary file. Here it is compiled under the user's own file name and line numbers,
and every function that a pass makes (the body of an `if`, of a loop) under the name of the user's function.
"""

from __future__ import annotations
import __future__

import ast
import functools
import inspect
import threading
import weakref
from types import CodeType, FunctionType
from typing import Any

from malt.converters import (
    break_statements,
    call_trees,
    continue_statements,
    control_flow,
    functions,
    logical_expressions,
    return_statements,
    variables,
)
from malt.core import converter
from malt.lang import directives
from malt.pyct import anno, cfg, inspect_utils, naming, qual_names, transformer
from malt.pyct.static_analysis import activity, liveness, reaching_definitions, reaching_fndefs

from tapeflow._src.function.autograph import namespace, source
from tapeflow._src.function.autograph.desugar import Expressions, Generators, Place, desugar
from tapeflow._src.function.autograph.directives import set_loop_options
from tapeflow._src.function.autograph.errors import ConversionError
from tapeflow._src.function.autograph.options import Options

# Where code objects keep `from __future__ import ...`; the oldest features have flags of another meaning.
_FUTURE_FLAGS = sum(
    getattr(__future__, name).compiler_flag
    for name in __future__.all_feature_names
    if getattr(__future__, name).compiler_flag >= 0x20000
)
_SHARED = (ast.expr_context, ast.operator, ast.boolop, ast.unaryop, ast.cmpop)
_GENERATED = (
    "ag_function",
    "if_body",
    "else_body",
    "loop_body",
    "loop_test",
    "extra_test",
    "get_state",
    "set_state",
)

_lock = threading.RLock()
_cache: weakref.WeakKeyDictionary[CodeType, dict[Options, Any]] = weakref.WeakKeyDictionary()


class Converted:
    """The converted code of a function, to be bound to the globals and closure of each function that has that code."""

    def __init__(self, function: FunctionType, options: Options) -> None:
        tree, helpers, filename = transform(function, options)
        self.free = function.__code__.co_freevars
        flags = function.__code__.co_flags & _FUTURE_FLAGS
        self.factory = _compiled(tree, helpers, filename, self.free, flags, function.__code__)

    def bind(self, function: FunctionType, options: Options) -> FunctionType:
        """The converted code as a function like `function`."""
        cells = dict(zip(self.free, function.__closure__ or (), strict=True))
        factory = FunctionType(
            self.factory,
            function.__globals__,
            closure=tuple(cells[name] for name in self.factory.co_freevars),
        )
        result = factory(namespace.operators(options))
        result.__defaults__ = function.__defaults__
        result.__kwdefaults__ = function.__kwdefaults__
        functools.update_wrapper(result, function, updated=())
        return result


def converted(function: FunctionType, options: Options) -> FunctionType:
    """The function with its code converted. The work is done once for each piece of code."""
    return code_of(function, options).bind(function, options)


def code_of(function: FunctionType, options: Options) -> Converted:
    """The converted code of a function, from the cache if it is there."""
    with _lock:
        found = _cache.setdefault(function.__code__, {})
        if options not in found:
            try:
                found[options] = Converted(function, options)
            except ConversionError as error:
                found[options] = error
            except Exception as error:  # malt met something that neither it nor `desugar` knows
                found[options] = ConversionError(f"{type(error).__name__}: {error}")
        result = found[options]
    if isinstance(result, ConversionError):
        raise result
    return result


def text_of(function: FunctionType, options: Options) -> str:
    """The converted code, to read."""
    code_of(function, options)  # raises if it cannot be converted
    tree, helpers, _ = transform(function, options)
    for each in (*helpers, tree):
        _locate(each, Place(1, 0, 1, 0))
    return "\n\n".join(ast.unparse(each) for each in (*helpers, tree))


def transform(function: FunctionType, options: Options) -> tuple[ast.FunctionDef, Any, str]:
    """The tree of the converted function, its helpers, and the file it comes from."""
    node, filename, enclosing_class = source.find(function)
    helpers = desugar(node, enclosing_class)
    names = inspect_utils.getnamespace(function)
    namer = naming.Namer(names)
    info = transformer.EntityInfo(
        name=function.__name__,
        source_code="",
        source_file=filename,
        future_features=(),
        namespace=names,
    )
    context = transformer.Context(info, namer, converter.ProgramContext(options=options))
    _without_defaults(node)
    generators = Generators()
    tree: Any = generators.restored(_passes(generators.visit(node), context))
    if isinstance(tree, ast.Lambda):
        tree = ast.Assign([ast.Name("ag_lambda", ast.Store())], tree)
    else:
        tree.returns = None  # annotations have been evaluated already, where the user wrote them
        for argument in ast.walk(tree.args):
            if isinstance(argument, ast.arg):
                argument.annotation = None
    return tree, helpers, filename


def _without_defaults(node: Any) -> None:
    """Default values are taken from the function: their expressions may not be evaluated again."""
    arguments = node.args
    arguments.defaults = [ast.Constant(None) for _ in arguments.defaults]
    arguments.kw_defaults = [d and ast.Constant(None) for d in arguments.kw_defaults]


def _passes(node: Any, context: Any) -> Any:
    graphs = cfg.build(node)
    node = qual_names.resolve(node)
    node = activity.resolve(node, context, None)
    node = reaching_definitions.resolve(node, context, graphs)
    anno.dup(node, {anno.Static.DEFINITIONS: anno.Static.ORIG_DEFINITIONS})
    node = functions.transform(node, context)
    node = _LoopOptions(context.info.namespace).visit(node)
    node = break_statements.transform(node, context)
    node = _Asserts().visit(node)
    node = continue_statements.transform(node, context)
    node = return_statements.transform(node, context)
    node = call_trees.transform(node, context)
    node = _Iterated().visit(node)
    node = _blocks(node, context)
    node = Expressions().visit(node)
    node = logical_expressions.transform(node, context)
    return variables.transform(node, context)


def _blocks(node: Any, context: Any) -> Any:
    """`control_flow.transform`, with our correction of its pass."""
    graphs = cfg.build(node)
    node = qual_names.resolve(node)
    node = activity.resolve(node, context, None)
    node = reaching_definitions.resolve(node, context, graphs)
    node = reaching_fndefs.resolve(node, context, graphs)
    node = liveness.resolve(node, context, graphs)
    return _Blocks(context).visit(node)


class _Blocks(control_flow.ControlFlowTransformer):
    """Makes functions of blocks. Names that are not local may be read later by whoever has them."""

    def _get_block_vars(self, node: Any, modified: Any) -> Any:
        names, undefined, count = super()._get_block_vars(node, modified)
        scope = self.state[control_flow._Function].scope
        elsewhere = scope.nonlocals | scope.globals
        results = [*names[:count], *(n for n in names[count:] if n in elsewhere)]
        inputs = [n for n in names[count:] if n not in elsewhere]
        return [*results, *inputs], undefined, len(results)


class _LoopOptions(ast.NodeTransformer):
    """Takes `set_loop_options(...)` out of loops, and notes it for `control_flow`."""

    def __init__(self, names: dict[str, Any]) -> None:
        self.names = names

    def visit_While(self, node: ast.While) -> ast.AST:
        return self._loop(node)

    def visit_For(self, node: ast.For) -> ast.AST:
        return self._loop(node)

    def _loop(self, node: Any) -> ast.AST:
        call = node.body[0].value if isinstance(node.body[0], ast.Expr) else None
        if isinstance(call, ast.Call) and self._value(call.func) is set_loop_options:
            names = list(inspect.signature(set_loop_options).parameters)
            given = dict(zip(names, call.args, strict=False)) | {
                k.arg: k.value for k in call.keywords
            }
            if len(call.args) > len(names) or not set(given) <= set(names):
                raise ConversionError(
                    f"set_loop_options at line {_place(node).line} takes only the keywords "
                    f"{', '.join(names)}"
                )
            anno.setanno(node, anno.Basic.DIRECTIVES, {directives.set_loop_options: given})
            node.body = node.body[1:] or [ast.Pass()]
        return self.generic_visit(node)

    def _value(self, node: ast.AST) -> Any:
        if isinstance(node, ast.Name):
            return self.names.get(node.id)
        if isinstance(node, ast.Attribute):
            return getattr(self._value(node.value), node.attr, None)
        return None

    def visit_Expr(self, node: ast.Expr) -> ast.AST:
        if isinstance(node.value, ast.Call) and self._value(node.value.func) is set_loop_options:
            raise ConversionError(
                f"set_loop_options at line {_place(node).line} must be the first statement of a loop"
            )
        return self.generic_visit(node)


class _Asserts(ast.NodeTransformer):
    """`assert test, message` becomes a call; the message is evaluated only if it is needed."""

    def visit_Assert(self, node: ast.Assert) -> ast.AST:
        call: Any = ast.parse("ag__.assert_stmt(None, lambda: None)").body[0]
        call.value.args[0] = node.test
        if node.msg is not None:
            call.value.args[1].body = node.msg
        anno.setanno(call, anno.Basic.ORIGIN, _place(node))
        return call


class _Iterated(ast.NodeTransformer):
    """Tells a call whose result is only iterated over: then a range need not be made."""

    def visit_For(self, node: ast.For) -> ast.AST:
        call = node.iter
        if isinstance(call, ast.Call) and ast.unparse(call.func) == "ag__.converted_call":
            call.func.attr = "iterated_call"  # type: ignore[attr-defined]
        return self.generic_visit(node)


def _place(node: ast.AST, otherwise: Place = Place(1, 0, 1, 0)) -> Place:  # noqa: B008
    found: Any = anno.getanno(node, anno.Basic.ORIGIN, default=otherwise)
    return found


# Compiling.


def _compiled(
    tree: Any, helpers: Any, filename: str, free: tuple[str, ...], flags: int, code: CodeType
) -> CodeType:
    """The code of a function that takes our operators and returns the converted function.

    It stands in another function that defines the free names, so that they are free in it too.
    """
    is_lambda = isinstance(tree, ast.Assign)
    result = "ag_lambda"
    if not is_lambda:  # under another name, so that its own means what it means to the user
        result = tree.name = "ag_function"
    module: Any = ast.parse(
        "def outer():\n"
        + "".join(f"  {name} = None\n" for name in free)
        + f"  def factory(ag__):\n    return {result}\n  return factory\n"
    )
    factory = module.body[0].body[-2]
    factory.body = [*helpers, tree, *factory.body]
    _locate(module, Place(code.co_firstlineno, 0, code.co_firstlineno, 0))
    compiled = compile(module, filename, "exec", flags=flags, dont_inherit=True)
    outer = next(c for c in compiled.co_consts if isinstance(c, CodeType))
    inner = next(c for c in outer.co_consts if isinstance(c, CodeType) and c.co_name == "factory")
    return _renamed(inner, code.co_name, code.co_qualname)


def _locate(node: ast.AST, place: Place) -> None:
    """Gives nodes the place that malt's passes have handed on, and new ones that of what they stand in."""
    if isinstance(node, _SHARED):
        vars(node).clear()  # malt leaves notes on them, and Python has only one of each kind
        return
    place = _place(node, place)
    if "lineno" in node._attributes:
        at: Any = node
        at.lineno, at.col_offset, at.end_lineno, at.end_col_offset = place
        if isinstance(node, ast.Attribute) and getattr(node.value, "id", None) == "ag__":
            # The line of a call is that on which the name of its method ends. Ours is on the first.
            at.end_lineno, at.end_col_offset = place.line, place.column
    for child in ast.iter_child_nodes(node):
        _locate(child, place)


def _renamed(code: CodeType, name: str, qualname: str) -> CodeType:
    """Functions that the passes have made show the name of the function they come from."""
    constants = []
    for each in code.co_consts:
        if isinstance(each, CodeType):
            made = each.co_name.rstrip("_0123456789").startswith(_GENERATED)
            inner = _renamed(each, name, qualname) if made else _named(each)
            constants.append(inner.replace(co_name=name, co_qualname=qualname) if made else inner)
        else:
            constants.append(each)
    return code.replace(co_consts=tuple(constants))


def _named(code: CodeType) -> CodeType:
    qualname = code.co_qualname.partition("factory.<locals>.")[2] or code.co_qualname
    return _renamed(code, code.co_name, qualname).replace(co_qualname=qualname)
