"""`python -m tests.libraries`: runs the tests of libraries built on TensorFlow, there and here.

    python -m tests.libraries                      all of them, and the table in docs/libraries.md
    python -m tests.libraries sonnet einops        some of them
    python -m tests.libraries --sides tapeflow     here alone; TensorFlow's last outcomes are taken
    python -m tests.libraries tensorly --failed    what failed here in the last run, again, there and here
    python -m tests.libraries --table              nothing is run, the table is written anew

`make libraries` and `make libraries LIBRARY=sonnet` do it. Environments, libraries and outcomes are kept in
build/libraries; a Python that has TensorFlow already can be named by --tensorflow, one that has tapeflow in its
place by --tapeflow.
"""

from __future__ import annotations

import argparse

from tests.libraries import environments, outcomes
from tests.libraries.catalogue import LIBRARIES


def main() -> None:
    """Runs the command."""
    parser = argparse.ArgumentParser(description="Runs the tests of libraries built on TensorFlow.")
    parser.add_argument("libraries", nargs="*", metavar="library", help=", ".join(LIBRARIES))
    parser.add_argument(
        "--sides", nargs="+", choices=environments.SIDES, default=environments.SIDES
    )
    parser.add_argument("--tensorflow", metavar="PYTHON", help="a Python that has TensorFlow")
    parser.add_argument(
        "--tapeflow", metavar="PYTHON", help="a Python that has tensorflow-tapeflow"
    )
    parser.add_argument("--failed", action="store_true", help="run what failed here the last time")
    parser.add_argument("--table", action="store_true", help="run nothing, write the table")
    options = parser.parse_args()
    unknown = set(options.libraries) - set(LIBRARIES)
    if unknown:
        parser.error(f"{', '.join(unknown)}: not among {', '.join(LIBRARIES)}")
    for name in [] if options.table else options.libraries or LIBRARIES:
        library = LIBRARIES[name]
        before = outcomes.kept().get(name, {"failures": {}}) if options.failed else {}
        failed = tuple(before.get("failures", ()))
        if options.failed and not failed:
            continue
        for side in options.sides:
            python = environments.python_of(side, getattr(options, side))
            environments.run(name, library, side, python, failed)
        found = [outcomes.read(environments.WORK / name / f"{s}.jsonl") for s in environments.SIDES]
        result = outcomes.compared(library, *found)
        if options.failed:
            result = outcomes.renewed(before, result, found[0])
        outcomes.keep(name, result)
        print(f"{library.title}: {result['pass here']:,} of {result['passing']:,} pass here.")
        for test, error in result["failures"].items():
            print(f"  {test}: {outcomes.reason_for(library, test, error)}")
    outcomes.write()


main()
