"""The `tapeflow` command.

    tapeflow run script.py [arguments]      run a script written for TensorFlow as it stands
    tapeflow run -m module [arguments]
    tapeflow run -c code [arguments]
    tapeflow profile script.py [arguments]  run it, and show where the time went
    tapeflow inspect script.py [arguments]  run it, and write a page about one of its steps
    tapeflow launch -n 2 script.py [arguments]    the same in several processes, as workers of one job
    tapeflow doctor                         show what is installed, and what `import tensorflow` gives
    tapeflow demo                           list the examples
    tapeflow demo name|all [--quick] [--output folder]

What runs should not notice us: the arguments, `__main__`, the import path, the exit status and the
traceback are those of `python script.py`.
"""

from __future__ import annotations

import argparse
import ast
import builtins
import difflib
import importlib.util
import io
import os
import runpy
import sys
import textwrap
import time
import traceback
from collections.abc import Callable
from functools import partial
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import ModuleType, TracebackType
from typing import Any, NoReturn

from tapeflow._src.core import missing
from tapeflow._src.core.versions import __version__
from tapeflow._src.tools import launch, redirect


def main(arguments: list[str] | None = None) -> None:
    """Runs the command with `arguments`, by default those of the process."""
    parser = _parser()
    options = parser.parse_args(arguments)
    if options.command is None:
        parser.print_help(sys.stderr)
        raise SystemExit(2)
    options.command(options)


def _parser() -> argparse.ArgumentParser:
    # The program's name is given, because `python -m tapeflow` would call itself __main__.py.
    parser = argparse.ArgumentParser(
        "tapeflow",
        description="TensorFlow's GradientTape as a readable, fast library on NumPy.",
        epilog="`tapeflow COMMAND --help` explains a command.",
        allow_abbrev=False,
    )
    parser.set_defaults(command=None)
    parser.add_argument("--version", action="version", version=f"tapeflow {__version__}")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND")

    run = commands.add_parser(
        "run",
        usage="tapeflow run [-h] (script.py | -m module | -c code) [arguments ...]",
        help="run a script written for TensorFlow as it stands",
        description="Runs a script in which `import tensorflow` gives tapeflow.",
        allow_abbrev=False,
    )
    _add_what(run)
    run.set_defaults(command=lambda options: _run(_prepared(options)), error=run.error)
    launch.add_parser(commands)

    profile = commands.add_parser(
        "profile",
        usage="tapeflow profile [-h] [--by {op,line}] [--rows n] [--trace file] (script.py | -m module | -c code) "
        "[arguments ...]",
        help="run a script, and show where the time went",
        description="Runs a script as `tapeflow run` does. Then it prints the ops and lines that took the most time, "
        "and writes a trace that ui.perfetto.dev opens.",
        allow_abbrev=False,
    )
    profile.add_argument("--by", choices=("op", "line"), help="one table only")
    profile.add_argument(
        "--rows", type=int, default=15, help="how many rows of each table to show (15 by default)"
    )
    profile.add_argument(
        "--trace", default="tapeflow.trace.json.gz", help="the trace file; '' for none"
    )
    _add_what(profile)
    profile.set_defaults(command=_profile, error=profile.error)

    inspect = commands.add_parser(
        "inspect",
        usage="tapeflow inspect [-h] [--step n] [--page file] (script.py | -m module | -c code) [arguments ...]",
        help="run a script, and write a page about one of its steps",
        description="Runs a script as `tapeflow run` does, and writes a page about one step: from the opening of a "
        "tape, or the call of a tf.function, to the next.",
        allow_abbrev=False,
    )
    inspect.add_argument(
        "--step", type=int, default=3, help="the number of the step (3 by default)"
    )
    inspect.add_argument("--page", default="tapeflow.html", help="the file to write")
    _add_what(inspect)
    inspect.set_defaults(command=_inspect, error=inspect.error)

    doctor = commands.add_parser(
        "doctor",
        help="show what is installed, and what `import tensorflow` gives",
        description="Shows which libraries tapeflow has found here, and what `import tensorflow` gives.",
        allow_abbrev=False,
    )
    doctor.set_defaults(command=_doctor)

    demo = commands.add_parser(
        "demo",
        help="list the examples, or run one and look at its picture",
        description="Lists the examples, or runs one of them, or all.",
        allow_abbrev=False,
    )
    demo.add_argument("name", nargs="?", help="an example, or `all`")
    demo.add_argument("--quick", action="store_true", help="a small version, of a few seconds")
    demo.add_argument(
        "--output", type=Path, default=Path("demo-output"), help="the folder for pictures"
    )
    demo.set_defaults(command=_demo, error=demo.error)
    return parser


def _add_what(command: argparse.ArgumentParser) -> None:
    kind = command.add_mutually_exclusive_group()
    kind.add_argument("-m", dest="module", action="store_true", help="run a module by its name")
    kind.add_argument("-c", dest="code", action="store_true", help="run Python code")
    command.add_argument(
        "what",
        nargs=argparse.REMAINDER,
        metavar="script.py [arguments ...]",
        help="what to run, and the arguments it gets",
    )


def _doctor(options: argparse.Namespace) -> None:
    from tapeflow._src.tools import doctor

    print("\n".join(doctor.lines()))


def _profile(options: argparse.Namespace) -> None:
    from tapeflow._src.profiler import chrome, tables
    from tapeflow._src.profiler.profile import Profile

    # What the command itself is started by.
    starter = getattr(sys.modules["__main__"], "__file__", None) or ""
    what, profile = _prepared(options), Profile(not_the_users=starter)
    profile.open()
    try:
        _run(what)
    finally:  # what has run until it failed, or left, is worth knowing
        profile.close()
        print(f"\n{tables.text(profile, options.by or ('op', 'line'), options.rows)}", flush=True)
        if options.trace:
            chrome.write(profile, options.trace)
            print(f"\ntrace: {options.trace} (open it in https://ui.perfetto.dev)", flush=True)
        _warn_of(options, "--by", "--rows", "--trace")


def _inspect(options: argparse.Namespace) -> None:
    from tapeflow._src.core.placement.transfers import transfers
    from tapeflow._src.inspector.advice import advice
    from tapeflow._src.inspector.page import Page
    from tapeflow._src.inspector.rounds import Rounds

    what, rounds = _prepared(options), Rounds(options.step)
    copies = transfers()
    try:
        with copies, rounds:
            _run(what)
    finally:
        found = rounds.collected(os.path.basename(options.what[0]))
        if found is None:
            print("tapeflow: no tape was opened, and no tf.function called", file=sys.stderr)
        else:
            functions = rounds.functions()
            said = advice(found, functions, rounds.traces, copies.repeated(), rounds.elapsed)
            path = Page(found, functions, said).save(options.page)
            print(f"\n{len(found.steps)} ops: open {path} in a browser", flush=True)
        _warn_of(options, "--step", "--page")


def _warn_of(options: argparse.Namespace, *ours: str) -> None:
    """Says which of our options have come so late that the script has got them."""
    late = [
        name for name in ours if any(f"{each}=".startswith(f"{name}=") for each in options.what)
    ]
    if late:
        names = " and ".join(late)
        print(
            f"tapeflow: {names} went to the script. For tapeflow, name it before the script.",
            file=sys.stderr,
        )


def _prepared(options: argparse.Namespace) -> Callable[[], None]:
    """What is to run. Where there is nothing to run, that is said at once."""
    if not options.what:
        options.error("name a script, or give -m module or -c code")
    what, *arguments = options.what
    if options.module:
        return partial(_run_module, what, arguments)
    if options.code:
        return partial(_run_code, what, arguments)
    try:
        with io.open_code(os.path.abspath(what)) as file:
            return partial(_run_script, what, arguments, file.read())
    except OSError as error:
        _stop(f"can't open {what!r}: {error.strerror}", 2)


def _run(what: Callable[[], None]) -> None:
    try:
        redirect.install()
    except ImportError as error:
        _stop(str(error), 2)
    try:
        what()
    except BaseException as error:
        _hide_our_frames(error)
        raise


def _run_script(path: str, arguments: list[str], source: bytes) -> None:
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


def _demo(options: argparse.Namespace) -> None:
    examples = _examples()
    if not examples:
        _stop("the examples are missing; they come with the package and with its repository", 2)
    if options.name is None:
        _list_examples(examples)
        return
    if options.name != "all" and options.name not in examples:
        near = difflib.get_close_matches(options.name, [*examples, "all"], n=1, cutoff=0.4)
        advice = f"did you mean {near[0]!r}?" if near else "`tapeflow demo` lists them"
        options.error(f"there is no example {options.name!r}; {advice}")
    names = list(examples) if options.name == "all" else [options.name]
    failed: list[str] = []
    for number, name in enumerate(names, 1):
        print(f"{name} ({number} of {len(names)})" if len(names) > 1 else name, flush=True)
        began = time.monotonic()
        try:
            _run_example(examples[name], options.output, options.quick)
        except Exception:
            if len(names) == 1:
                raise
            traceback.print_exc()
            failed.append(name)
        else:
            print(f"picture: {options.output / f'{name}.png'}", end=" ")
            print(f"({time.monotonic() - began:.0f} s)\n", flush=True)
    if failed:
        _stop(f"{len(failed)} of {len(names)} failed: {', '.join(failed)}", 1)


def _examples() -> dict[str, Path]:
    """The examples by name: those of the package, or of the repository that it is run from."""
    here = Path(__file__).resolve()
    for folder in (here.parents[2] / "_examples", here.parents[4] / "examples"):
        found = {path.stem: path for path in sorted(folder.glob("*.py")) if _has_main(path)}
        if found:
            return found
    return {}


def _has_main(path: Path) -> bool:
    """Whether a file has the `main(output, quick)` of an example. Nothing of it is run."""
    functions = (node for node in _tree(path).body if isinstance(node, ast.FunctionDef))
    return any(
        function.name == "main" and [a.arg for a in function.args.args] == ["output", "quick"]
        for function in functions
    )


def _tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def _list_examples(examples: dict[str, Path]) -> None:
    width = max(map(len, examples)) + 2
    room = max(40, os.get_terminal_size().columns if sys.stdout.isatty() else 120) - width
    for name, path in examples.items():
        first = (ast.get_docstring(_tree(path)) or "").partition("\n")[0]
        lines = textwrap.wrap(first, room) or [""]
        print(f"{name:<{width}}" + f"\n{'':<{width}}".join(lines))
    print("\nRun one with `tapeflow demo NAME`, or all with `tapeflow demo all`.")


def _run_example(path: Path, output: Path, quick: bool) -> None:
    name = f"tapeflow._examples.{path.stem}"
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except ModuleNotFoundError as error:
        if error.name != "matplotlib":
            raise
        _stop("the examples draw with matplotlib: pip install 'tapeflow[plot]'", 1)
    module.main(output, quick)


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
