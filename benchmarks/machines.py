"""What was measured on each kind of machine: one file a kind in `benchmarks/measured`, and what to say of a machine.

A run adds to the file what it measured, row by row, each with its date; the rows that it did not measure stay.
"""

from __future__ import annotations

import json
import os
import platform
import subprocess
from collections.abc import Iterable
from datetime import date
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).resolve().parent / "measured"


def path() -> Path:
    """The file of this kind of machine."""
    return FOLDER / f"{platform.machine()}.json"


def stored() -> list[dict[str, Any]]:
    """What was measured on all kinds of machines, by their names."""
    found = sorted(p for p in FOLDER.glob("*.json") if not p.stem.endswith("-growth"))
    return [json.loads(p.read_text()) for p in found]


def here() -> dict[str, Any]:
    """What was measured on this kind of machine before."""
    if path().exists():
        return json.loads(path().read_text())
    return {"machine": {}, "versions": {}, "rows": {}, "busy": {}, "reports": {}}


def store(document: dict[str, Any]) -> None:
    """Writes the file of this kind of machine."""
    path().parent.mkdir(exist_ok=True)
    path().write_text(json.dumps(document, indent=1, sort_keys=True) + "\n")


def today() -> str:
    return date.today().isoformat()


def this_machine() -> dict[str, Any]:
    return {
        "processor": processor(),
        "cores": os.cpu_count(),
        "clock": clock(),
        "memory": memory(),
        "system": f"{platform.system()}, {platform.machine()}",
    }


def heading(machine: dict[str, Any], dates: Iterable[str]) -> str:
    """A machine in a line: core, number of cores, clock, and when it was measured on."""
    days = sorted(set(dates))
    when = [f"{date.fromisoformat(day):%d %B %Y}" for day in dict.fromkeys((days[0], days[-1]))]
    parts = [machine["processor"], f"{machine['cores']} cores", machine.get("clock")]
    return f"{', '.join(filter(None, parts))} ({' to '.join(when)})"


def processor() -> str:
    """The CPU's name as its maker gives it, where the system tells."""
    if platform.system() == "Darwin":
        return _told(["sysctl", "machdep.cpu.brand_string"], "machdep.cpu.brand_string") or "Apple"
    return _told(["lscpu"], "Model name") or platform.processor() or platform.machine()


def clock() -> str:
    """The clock of a core, where the system tells: the highest, or the one now."""
    most = _told(["lscpu"], "CPU max MHz")
    if most:
        return f"{float(most) / 1e3:.1f} GHz"
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return ""
    now = [float(line.split(":")[1]) for line in lines if line.startswith("cpu MHz")]
    return f"{max(now) / 1e3:.1f} GHz" if now else ""


def _told(command: list[str], label: str) -> str:
    """The value that a command prints after a label and a colon."""
    try:
        lines = subprocess.run(command, capture_output=True, text=True).stdout.splitlines()
    except OSError:
        return ""
    found = [
        line.split(":", 1)[1].strip() for line in lines if line.strip().startswith(f"{label}:")
    ]
    return found[0] if found else ""


def memory() -> str:
    size = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return f"{size / 2**30:.0f} GiB of memory"
