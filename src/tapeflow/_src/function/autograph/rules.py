"""Whose code is converted: the user's, and not that of libraries."""

from __future__ import annotations

import functools
import inspect
import os
import sysconfig
from types import FunctionType, MethodType, ModuleType
from typing import Any

from tapeflow._src.core.system.package import FOLDER

# They never see a symbolic tensor, or handle it themselves.
_LIBRARIES = {
    *(
        "absl",
        "IPython",
        "PIL",
        "jax",
        "jaxlib",
        "keras",
        "malt",
        "matplotlib",
        "ml_dtypes",
        "numpy",
    ),
    *(
        "optree",
        "pandas",
        "pluggy",
        "pytest",
        "_pytest",
        "scipy",
        "sklearn",
        "tensorboard",
        "tensorflow_probability",
        "torch",
    ),
}

# Functions of ours that call the functions they are given, once for each branch, turn or element.
_CALLERS = {
    "tapeflow._src.ops.control.control_flow",
    "tapeflow._src.ops.control.functional",
    "tapeflow._src.ops.control.vectorized_map",
}


def python_function(f: Any) -> FunctionType | None:
    """The Python function that a call of `f` runs, if there is one to convert."""
    if isinstance(f, FunctionType):
        return f
    if isinstance(f, MethodType):
        return python_function(f.__func__)
    if isinstance(f, type):
        return None
    call = getattr(type(f), "__call__", None)  # noqa: B004  # the function itself is wanted
    return call if isinstance(call, FunctionType) else None


def is_users(function: FunctionType) -> bool:
    """Whether AutoGraph converts a function that converted code calls."""
    code = function.__code__
    if code.co_flags & (inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR):
        return False
    if code.co_filename == "<string>":  # what dataclasses and named tuples are made of
        return False
    module = function.__globals__.get("__name__", "")
    if not _is_users_file(code.co_filename, module.partition(".")[0]):
        return False
    return not _is_installed(code.co_filename) or _uses_tapeflow(function.__globals__)


def calls_its_arguments(function: Any) -> bool:
    """Whether `function` is one of ours that runs the functions it is given."""
    return getattr(function, "__module__", None) in _CALLERS


@functools.lru_cache(maxsize=1024)
def _is_users_file(filename: str, root: str) -> bool:
    if filename.startswith("<"):  # a notebook, a prompt or a doctest
        return not filename.startswith("<frozen")
    if root in _LIBRARIES or filename.startswith(FOLDER):
        return False
    return _is_installed(filename) or not filename.startswith(sysconfig.get_path("stdlib") + os.sep)


@functools.cache
def _installation() -> tuple[str, ...]:
    paths = {sysconfig.get_path("purelib"), sysconfig.get_path("platlib")}
    return tuple(p + os.sep for p in paths)


def _is_installed(filename: str) -> bool:
    return filename.startswith(_installation())


def _uses_tapeflow(names: dict[str, Any]) -> bool:
    """Whether a module was written for us: an installed library that was not has no symbolic conditions."""
    for value in tuple(names.values()):
        module = (
            value.__name__ if isinstance(value, ModuleType) else getattr(value, "__module__", None)
        )
        if isinstance(module, str) and module.partition(".")[0] in ("tapeflow", "tensorflow"):
            return True
    return False
