"""Importing tapeflow changes in the process what docs/reliability.md names, and nothing else."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]

# NumPy, ml_dtypes, optree and the standard library may change what they like: they are imported before the first look.
LOOK = """
import atexit, builtins, copyreg, ctypes, decimal, faulthandler, gc, json, locale, logging, os, random, signal, sys
import threading, warnings
import ml_dtypes, numpy as np, optree

calls = {"os.register_at_fork": [], "atexit.register": [], "mallopt": []}


def overheard(owner, name, key):
    real = getattr(owner, name)

    def heard(*args, **kwargs):
        calls[key].append([module for module in modules(args, kwargs) if module.startswith("tapeflow")])
        return real(*args, **kwargs)

    setattr(owner, name, heard)


def modules(args, kwargs):
    return [getattr(f, "__module__", "") for f in (*args, *kwargs.values())]


overheard(os, "register_at_fork", "os.register_at_fork")
overheard(atexit, "register", "atexit.register")
looked_up = ctypes.CDLL.__getattr__


def symbol(library, name):
    if name == "mallopt":
        calls["mallopt"].append(["tapeflow"])
    return looked_up(library, name)


ctypes.CDLL.__getattr__ = symbol


def state():
    return {
        "os.environ": dict(os.environ),
        "os.getcwd": os.getcwd(),
        "sys.path": list(sys.path),
        "sys.path_hooks": list(map(repr, sys.path_hooks)),
        "sys.meta_path": [getattr(f, "__name__", type(f).__name__) for f in sys.meta_path],
        "sys.excepthook": repr((sys.excepthook, sys.unraisablehook, sys.displayhook)),
        "sys.flags": [sys.getrecursionlimit(), sys.getswitchinterval(), sys.get_int_max_str_digits()],
        "sys.stdout": repr((sys.stdin, sys.stdout, sys.stderr)),
        "sys.settrace": repr((sys.gettrace(), sys.getprofile(), threading.excepthook)),
        "signal": [repr(signal.getsignal(s)) for s in sorted(signal.valid_signals())],
        "warnings": [repr(f) for f in warnings.filters],
        "np.geterr": [np.geterr(), repr(np.geterrcall())],
        "np.printoptions": repr(np.get_printoptions()),
        "np.random": repr(np.random.get_state()[1][:8]),
        "random": repr(hash(random.getstate())),
        "threads": [t.name for t in threading.enumerate()],
        "native threads": len(os.listdir("/proc/self/task")) if os.path.isdir("/proc/self/task") else 0,
        "locale": locale.setlocale(locale.LC_ALL),
        "logging": [repr(logging.root.handlers), logging.root.level, logging.root.manager.disable],
        "gc": [gc.isenabled(), gc.get_threshold(), len(gc.callbacks), gc.get_freeze_count()],
        "builtins": sorted(vars(builtins)),
        "copyreg": sorted(map(repr, copyreg.dispatch_table)),
        "decimal": repr(decimal.getcontext()),
        "faulthandler": faulthandler.is_enabled(),
        **{key: [words for words in found if words] for key, found in calls.items()},
    }
"""

IMPORTED = """
before = state()
import tapeflow as tf
after = state()
print(json.dumps({key: [before[key], after[key]] for key in before if before[key] != after[key]}))
"""


def printed(code: str) -> str:
    environment = {k: v for k, v in os.environ.items() if not k.startswith("MALLOC_")}
    environment = environment | {"PYTHONPATH": str(ROOT / "src")}
    found = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=False
    )
    assert found.returncode == 0, found.stderr
    return found.stdout


def test_importing_changes_what_the_page_names():
    page = (ROOT / "docs" / "reliability.md").read_text()
    section = page.split("## What importing changes")[1].split("\n## ")[0]
    named = set(re.findall(r"^- `([^`]+)`", section, re.MULTILINE))
    changed = json.loads(printed(LOOK + IMPORTED))
    assert changed.keys() == named
    before, after = changed["sys.meta_path"]
    assert after == ["_Finder", *before]
    assert changed["os.register_at_fork"][1] == [["tapeflow._src.core.variables.steps"]]


@pytest.mark.skipif(sys.platform != "linux", reason="only there the C library is told anything")
@pytest.mark.parametrize(
    "first",
    [
        "tf.Variable(1.0)",
        "tf.zeros([128, 128])",
        "tf.constant(np.zeros([128, 128], np.float32))",
        "tf.function(lambda x: x + 1.0)(tf.constant(1.0))",
    ],
)
def test_the_c_library_is_told_to_keep_memory_when_there_is_some_to_keep(first: str):
    code = f"{LOOK}\nimport tapeflow as tf\ntf.constant([1.0]) * 2.0\nprint(len(calls['mallopt']))\n{first}\n"
    before, after = map(int, printed(f"{code}print(len(calls['mallopt']))").split())
    assert before == 0
    assert after > 0
