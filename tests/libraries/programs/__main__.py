"""`python -m tests.libraries.programs`: runs programs that others wrote, on TensorFlow and on tapeflow.

    python -m tests.libraries.programs --tensorflow PYTHON --tapeflow PYTHON         all of them
    python -m tests.libraries.programs vqvae glue --tapeflow PYTHON                  some of them, here alone
    python -m tests.libraries.programs                                               the table alone

Only the sides whose Python is named are run, then the table in docs/libraries.md is written from the last numbers of
both. One Python has TensorFlow 2.21 and tf_keras, the other tapeflow and tensorflow-tapeflow; beside it, both have
`gpflow==2.11.2 tensorflow-probability==0.25.0 DeepXDE==1.15.0 dm-sonnet==2.0.2 keras-hub==0.32.0 tabulate six`.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess

from tests.libraries import environments
from tests.libraries.programs.comparison import compared, keep, write
from tests.libraries.programs.sources import PROGRAMS, WORK, fetched


def run(name: str, side: str, python: str) -> None:
    """Runs a program on one side, in a process of its own."""
    folder = fetched(name)
    paths = [str(environments.ROOT / "src")] if side == "tapeflow" else []
    environment = os.environ | {
        "PYTHONPATH": os.pathsep.join(paths),
        "CUDA_VISIBLE_DEVICES": "",
        "DDE_BACKEND": "tensorflow",
        "MPLBACKEND": "Agg",
        "TF_CPP_MIN_LOG_LEVEL": "3",
    }
    driver = environments.HERE / "programs" / "drivers.py"
    command = [python, str(driver), name, str(folder), str(folder / f"{side}.json")]
    (WORK / "run").mkdir(exist_ok=True)
    with open(folder / f"{side}.log", "w", encoding="utf-8") as log:
        subprocess.run(
            command, env=environment, cwd=WORK / "run", stdout=log, stderr=log, check=True
        )


def main() -> None:
    """Runs the command."""
    parser = argparse.ArgumentParser(description="Runs programs that others wrote.")
    parser.add_argument("programs", nargs="*", metavar="program", help=", ".join(PROGRAMS))
    parser.add_argument("--tensorflow", metavar="PYTHON", help="a Python that has TensorFlow")
    parser.add_argument("--tapeflow", metavar="PYTHON", help="a Python that has tapeflow instead")
    options = parser.parse_args()
    unknown = set(options.programs) - set(PROGRAMS)
    if unknown:
        parser.error(f"{', '.join(unknown)}: not among {', '.join(PROGRAMS)}")
    for name in options.programs or PROGRAMS:
        for side in environments.SIDES:
            if python := getattr(options, side):
                run(name, side, shutil.which(os.path.abspath(python)) or python)
        files = [WORK / name / f"{side}.json" for side in environments.SIDES]
        if not all(file.exists() for file in files):
            continue
        result = compared(*(json.loads(file.read_text(encoding="utf-8")) for file in files))
        keep(name, result)
        print(f"{PROGRAMS[name].title}: {result}")
    write()


main()
