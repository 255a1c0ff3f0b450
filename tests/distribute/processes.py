"""Programs in several processes, which find one another at a port of this computer."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def start(script, count, *args, **environment):
    """The processes of a program: each gets the address, their number and its own, and then `args`."""
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{found.getsockname()[1]}"
    path = os.pathsep.join([str(ROOT / "src"), str(ROOT), os.environ.get("PYTHONPATH", "")])
    inherited = {k: v for k, v in os.environ.items() if k != "JAX_NUM_CPU_DEVICES"}
    return [
        subprocess.Popen(
            [sys.executable, str(script), address, str(count), str(number), *map(str, args)],
            env={**inherited, "PYTHONPATH": path, **environment},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for number in range(count)
    ]


def outputs(processes, seconds=900):
    """What the processes print, when all of them have ended well."""
    told = []
    try:
        for process in processes:
            told.append(process.communicate(timeout=seconds))
            assert process.returncode == 0, f"{process.args}:\n{told[-1][1][-4000:]}"
    finally:
        for process in processes[len(told) :]:
            process.kill()
            process.communicate()
    return [out for out, _ in told]


def run(script, count, *args, **environment):
    """The last line that each process prints."""
    printed = outputs(start(script, count, *args, **environment))
    return [text.strip().splitlines()[-1] for text in printed]
