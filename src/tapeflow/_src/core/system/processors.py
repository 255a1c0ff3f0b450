"""How many processors this process may use."""

from __future__ import annotations

import functools
import os

_CONTROL_GROUPS = "/sys/fs/cgroup"


@functools.cache
def processors() -> int:
    """How many processors this process may keep busy: those it may run on, and no more than its container is given."""
    if hasattr(os, "sched_getaffinity"):
        allowed = len(os.sched_getaffinity(0))
    else:
        allowed = os.cpu_count() or 1
    return max(1, min(allowed, _quota(_CONTROL_GROUPS) or allowed))


def _quota(root: str) -> int | None:
    """How many processors' time the control group of the process is given, rounded up; None without a limit."""
    # Of version 2, where both numbers are in one file, and of version 1.
    for files in (["cpu.max"], ["cpu/cpu.cfs_quota_us", "cpu/cpu.cfs_period_us"]):
        words: list[str] = []
        try:
            for name in files:
                with open(os.path.join(root, name)) as file:
                    words += file.read().split()
            quota, per = map(int, words[:2])
        except (OSError, ValueError):  # there is no such file, or it says "max"
            continue
        if quota > 0 and per > 0:
            return -(-quota // per)
    return None
