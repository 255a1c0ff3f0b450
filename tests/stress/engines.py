"""The ways to run a step: eagerly, or as a function on each executor.

Which executor a default function takes, and how, depends on sizes and times. Here it must not, so a few things are
set: for `hybrid` there is no other candidate and every product is large enough for it; for `default` all candidates are
measured in the first calls; for `one_pass` every update is large enough for XLA's loop over several variables.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any
from unittest import mock

from tests.engines.only import named

import tapeflow as tf
from tapeflow._src.engines import choice
from tapeflow._src.engines.hybrid import shared_work
from tapeflow._src.engines.xla import engine as xla_engine

DECORATORS = {
    "eager": "",
    "numpy": "@tf.function(jit_compile=False)",
    "xla": "@tf.function(jit_compile=True)",
    "hybrid": "@tf.function",
    "default": "@tf.function",
    "one_pass": "@tf.function(jit_compile=True)",
}
ENGINES = tuple(DECORATORS)


def compiled(engine: str, function: Callable[..., Any], **options: Any) -> Callable[..., Any]:
    """The function as this engine runs it. Inside `running` only, for `hybrid` and `default`."""
    if engine == "eager":
        return function
    jit = {"numpy": False, "xla": True, "one_pass": True}.get(engine)
    return tf.function(function, jit_compile=jit, **options)


@contextlib.contextmanager
def running(engine: str) -> Iterator[None]:
    """Within this context functions that are not told otherwise run on the engine."""
    with contextlib.ExitStack() as stack:
        if engine == "hybrid":
            stack.enter_context(mock.patch.object(shared_work, "_WORTH_IT", 1))
            stack.enter_context(mock.patch.object(choice, "engines_for", _only_hybrid))
        elif engine == "default":
            stack.enter_context(mock.patch.object(shared_work, "_WORTH_IT", 1))
            for name in ("_IMPORT_SECONDS", "_COMPILE_SECONDS", "_COMPILE_SECONDS_A_NODE"):
                stack.enter_context(mock.patch.object(xla_engine, name, 0.0))
            stack.enter_context(mock.patch.object(choice, "_CALLS", 2))
            stack.enter_context(mock.patch.object(choice, "_FEW", 2))
        elif engine == "one_pass":
            from tapeflow._src.engines.xla import one_pass

            stack.enter_context(mock.patch.object(one_pass, "_WORTH_IT", 1))
            stack.enter_context(mock.patch.object(one_pass, "_WORTH_LEAVING", 0))
        yield


_engines_for = choice.engines_for


def _only_hybrid(graph: Any, jit_compile: bool | None) -> list[Any]:
    return _engines_for(graph, jit_compile) if jit_compile is not None else [named("hybrid")]
