"""`ag__`: what converted code calls."""

from __future__ import annotations

import functools
from types import SimpleNamespace

from tapeflow._src.function.autograph import branches, builtins, calls, logic, loops, variables
from tapeflow._src.function.autograph.options import Options


@functools.cache
def operators(options: Options) -> SimpleNamespace:
    """The operators, with the options of the conversion among them."""
    return SimpleNamespace(
        options=options,
        # Functions and names.
        FunctionScope=calls.FunctionScope,
        with_function_scope=calls.with_function_scope,
        autograph_artifact=calls.autograph_artifact,
        converted_call=calls.converted_call,
        iterated_call=calls.iterated_call,
        Undefined=variables.Undefined,
        UndefinedReturnValue=variables.UndefinedReturnValue,
        ld=variables.ld,
        ldu=variables.ldu,
        # Statements.
        if_stmt=branches.if_stmt,
        for_stmt=loops.for_stmt,
        while_stmt=loops.while_stmt,
        assert_stmt=logic.assert_stmt,
        caught=builtins.caught,
        matched=builtins.matched,
        # Expressions.
        if_exp=branches.if_exp,
        and_=logic.and_,
        or_=logic.or_,
        not_=logic.not_,
        eq=logic.eq,
        not_eq=logic.not_eq,
        chain=logic.chain,
    )
