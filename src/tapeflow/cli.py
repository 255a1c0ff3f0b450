"""The `tapeflow` command.

    tapeflow run script.py [arguments]      run a script written for TensorFlow as it stands
    tapeflow run -m module [arguments]
    tapeflow run -c code [arguments]

What runs should not notice us: the arguments, `__main__`, the import path, the exit status and the
traceback are those of `python script.py`.
"""

from __future__ import annotations

import argparse
import builtins
import importlib.util
import io
import os
import runpy
import sys
from importlib.machinery import SourceFileLoader
from types import ModuleType, TracebackType
from typing import Any, NoReturn

from tapeflow import __version__, redirect
from tapeflow.core import missing


def main(arguments: list[str] | None = None) -> None:
    """Runs the command with `arguments`, by default those of the process."""
    options = _parser().parse_args(arguments)
    options.command(options)


def _parser() -> argparse.ArgumentParser:
    # The program's name is given, because `python -m tapeflow` would call itself __main__.py.
    parser = argparse.ArgumentParser(
        "tapeflow",
        description="TensorFlow's GradientTape as a small, readable, fast library on NumPy.",
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="version", version=f"tapeflow {__version__}")
    commands = parser.add_subparsers(title="commands", metavar="command", required=True)

    run = commands.add_parser(
        "run",
        usage="tapeflow run [-h] (script.py | -m module | -c code) [arguments ...]",
        help="run a script written for TensorFlow as it stands",
        description="Runs a script in which `import tensorflow` gives tapeflow.",
        allow_abbrev=False,
    )
    kind = run.add_mutually_exclusive_group()
    kind.add_argument("-m", dest="module", action="store_true", help="run a module by its name")
    kind.add_argument("-c", dest="code", action="store_true", help="run Python code")
    run.add_argument(
        "what",
        nargs=argparse.REMAINDER,
        metavar="script.py [arguments ...]",
        help="what to run, and the arguments it gets",
    )
    run.set_defaults(command=_run, error=run.error)
    return parser


def _run(options: argparse.Namespace) -> None:
    if not options.what:
        options.error("name a script, or give -m module or -c code")
    try:
        redirect.install()
    except ImportError as error:
        _stop(str(error), 2)
    run = _run_module if options.module else _run_code if options.code else _run_script
    what, *arguments = options.what
    try:
        run(what, arguments)
    except BaseException as error:
        _hide_our_frames(error)
        raise


def _run_script(path: str, arguments: list[str]) -> None:
    try:
        with io.open_code(os.path.abspath(path)) as file:
            source = file.read()
    except OSError as error:
        _stop(f"can't open {path!r}: {error.strerror}", 2)
    _set_up([path, *arguments], os.path.dirname(os.path.realpath(path)))
    file = os.path.abspath(path)
    _run_as_main(source, file, __file__=file, __loader__=SourceFileLoader("__main__", file))


def _run_code(code: str, arguments: list[str]) -> None:
    _set_up(["-c", *arguments], "")
    _run_as_main(code, "<string>")


def _run_module(name: str, arguments: list[str]) -> None:
    _set_up(["-m", *arguments], os.getcwd())
    try:
        found = importlib.util.find_spec(name)
    except ModuleNotFoundError as error:
        # A package on the way may be missing; or it is there, and misses something itself.
        if not f"{name}.".startswith(f"{error.name}."):
            raise
        found = None
    if found is None:
        _stop(f"no module named {name!r}", 1)
    runpy.run_module(name, run_name="__main__", alter_sys=True)


def _set_up(argv: list[str], path0: str) -> None:
    sys.argv = argv
    if not sys.flags.safe_path:  # else Python puts nothing of its own first
        sys.path[0] = path0


def _run_as_main(source: str | bytes, file: str, **attributes: Any) -> None:
    # The module stays in place when the script ends: what runs at exit still uses its names.
    module = ModuleType("__main__")
    vars(module).update(attributes, __builtins__=builtins)
    sys.modules["__main__"] = module
    exec(compile(source, file, "exec", dont_inherit=True), vars(module))


def _stop(message: str, status: int) -> NoReturn:
    print(f"tapeflow: {message}", file=sys.stderr)
    raise SystemExit(status)


def _hide_our_frames(error: BaseException) -> None:
    """Lets the traceback that Python is about to print begin, and end, in the user's code."""
    ours = {function.__code__.co_filename for function in _OURS}
    frames: list[TracebackType] = []
    step = error.__traceback__
    while step is not None:
        if step.tb_frame.f_code.co_filename not in ours:
            frames.append(step)
        step = step.tb_next
    theirs = None
    for step in reversed(frames):
        theirs = TracebackType(theirs, step.tb_frame, step.tb_lasti, step.tb_lineno)
    hook = sys.excepthook  # the script may have put its own there

    def show(kind: type[BaseException], error: BaseException, _: TracebackType | None) -> None:
        # By now the way out through our frames has been added once more, so it is set only here.
        hook(kind, error.with_traceback(theirs), theirs)

    sys.excepthook = show


_OURS = (main, missing.Missing.__call__, redirect.install, runpy.run_module)
"""A function of each file whose frames tell the user nothing."""
