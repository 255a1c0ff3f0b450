"""Where the tests run: TensorFlow's environment, tapeflow's, and a folder with each library for both of them.

A library is installed once, from its wheel, and both find it through PYTHONPATH, so nothing but TensorFlow differs.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tarfile
from pathlib import Path

from tests.libraries.catalogue import Library

ROOT = Path(__file__).resolve().parents[2]
HERE = Path(__file__).resolve().parent
WORK = ROOT / "build" / "libraries"
SIDES = ("tensorflow", "tapeflow")
_BOTH = ("keras==3.15.1", "numpy==2.4.6", "pytest==9.2.0")
_INSTALLED = {
    "tensorflow": (("tensorflow==2.21.0",),),
    "tapeflow": (  # one after the other: older versions of pip look for the first in an index, if asked for both
        ("--editable", f"{ROOT}[keras,xla]"),
        (str(ROOT / "packages" / "tensorflow-tapeflow"),),
    ),
}


def python_of(side: str, given: str | None) -> str:
    """The Python that has TensorFlow, or tapeflow in its place: the one given, or one made here."""
    if given:
        return given
    folder = WORK / "environments" / side
    python = folder / "bin" / "python"
    stamp = folder / ".installed"
    if not stamp.exists():
        subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
        for wanted in _INSTALLED[side]:
            _pip("install", *_BOTH, *wanted, python=str(python))
        stamp.touch()
    return str(python)


def _pip(*arguments: str, python: str = sys.executable) -> None:
    subprocess.run([python, "-m", "pip", "--quiet", *arguments], check=True)


def installed(name: str, library: Library) -> Path:
    """The folder with a library and what it needs, as its wheels have it."""
    # By this name, dill knows that modules are not the user's own, whose contents it would write down.
    folder = WORK / name / "site-packages"
    wanted = "\n".join((library.package, *library.needs))
    stamp = WORK / name / "installed.txt"
    if not stamp.exists() or stamp.read_text(encoding="utf-8") != wanted:
        _pip("install", "--upgrade", "--no-deps", "--target", str(folder), *wanted.split())
        stamp.write_text(wanted, encoding="utf-8")
    return folder


def tests_of(name: str, library: Library, site: Path) -> Path:
    """The folder that a library's tests are in."""
    if library.where == "wheel":
        return site
    return sources_of(name, library) if library.where == "sdist" else HERE


def sources_of(name: str, library: Library) -> Path:
    """The archive of a library's sources, unpacked."""
    folder = WORK / name / "sources"
    wanted = library.sources or library.package
    found = list(folder.glob("*/PKG-INFO"))
    if not found or wanted.partition("==")[2] not in found[0].parent.name:
        folder.mkdir(parents=True, exist_ok=True)
        # pip reads the archive's metadata by running its build, in an environment that it makes.
        package = wanted.partition("==")[0]
        _pip("download", "--no-deps", "--no-binary", package, "--dest", str(folder), wanted)
        with tarfile.open(next(folder.glob(f"*{wanted.partition('==')[2]}.tar.gz"))) as archive:
            archive.extractall(folder, filter="data")
        found = list(folder.glob("*/PKG-INFO"))
    return (
        _apart(found[0].parent, WORK / name / "apart", library)
        if apart(library)
        else found[0].parent
    )


def apart(library: Library) -> bool:
    """Whether tests are taken out of their folders: these are named as the library's modules, or words are replaced."""
    return bool(library.edits) or "--import-mode=importlib" in library.options


def _apart(sources: Path, folder: Path, library: Library) -> Path:
    """A folder with the tests alone, in no package, in which words are replaced."""
    files = {*sources.rglob("conftest.py")}
    for test in (sources / test for test in library.tests):
        files |= {test} if test.is_file() else {*test.rglob("test_*.py"), *test.rglob("*_test.py")}
    for file in files:
        text = file.read_text(encoding="utf-8")
        for before, after in library.edits.items():
            text = text.replace(before, after)
        copy = folder / file.relative_to(sources)
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_text(text, encoding="utf-8")
    return folder


def run(name: str, library: Library, side: str, python: str, only: tuple[str, ...] = ()) -> Path:
    """Runs a library's tests, or only some, and gives the file with what became of each."""
    site = installed(name, library)
    tests = tests_of(name, library, site)
    outcomes = WORK / name / f"{side}.jsonl"
    outcomes.unlink(missing_ok=True)
    here = WORK / name / "run"
    here.mkdir(exist_ok=True)
    paths = [str(site), str(HERE)]
    if side == "tapeflow":
        paths.append(str(ROOT / "src"))
    environment = os.environ | {
        "PYTHONPATH": os.pathsep.join(paths),
        "LIBRARIES_OUTCOMES": str(outcomes),
        "LIBRARIES_SOURCES": str(sources_of(name, library)) if library.sources else "",
        "LIBRARIES_EXAMPLES": " ".join(library.tests),
        "TF_CPP_MIN_LOG_LEVEL": "3",
        "CUDA_VISIBLE_DEVICES": "",
        "MPLBACKEND": "Agg",
        **library.environment,
    }
    files = ["examples.py"] if library.where == "examples" else library.tests
    # Tests are named from the root on: from one above, none has the name of a module of the library.
    root = tests.parent if apart(library) else tests
    command = [
        *(python, "-m", "pytest", "-c", str(HERE / "pytest.ini"), "--rootdir", str(root)),
        *("-p", "plugin", "-p", "no:cacheprovider", "-q", "--no-header", "--tb=short"),
        *library.options,
        *(f"--ignore={tests / file}" for file in library.leave_out),
        *(str(root / test) for test in only),
        *(str(tests / file) for file in (() if only else files)),
    ]
    with open(WORK / name / f"{side}.log", "w", encoding="utf-8") as log:
        subprocess.run(
            command, env=environment, cwd=here, stdout=log, stderr=subprocess.STDOUT, check=False
        )
    return outcomes
