"""A profile as a trace file, which chrome://tracing and ui.perfetto.dev open."""

from __future__ import annotations

import gzip
import json
import os
from typing import Any

from tapeflow._src.core.system.files import replacing
from tapeflow._src.profiler.profile import Profile

_CATEGORIES = {"op": "op", "line": "NumPy program"}


def trace(profile: Profile) -> dict[str, Any]:
    """The events in the format of Chrome's traces: one row for each thread, and a curve of memory."""
    process = os.getpid()
    numbers = {thread: i for i, thread in enumerate(profile.threads, 1)}
    found: list[dict[str, Any]] = [_named("process_name", process, 0, "tapeflow")]
    found += [
        _named("thread_name", process, numbers[thread], name)
        for thread, name in profile.threads.items()
    ]
    for event in profile.events:
        args: dict[str, Any] = {k: _plain(v) for k, v in event.details.items() if k != "bytes"}
        if event.bytes:
            args["bytes"] = event.bytes
        if event.places:
            args["line"] = str(event.places[0])
        if event.scope:
            args["scope"] = event.scope
        kind = _CATEGORIES.get(event.kind, event.kind)
        found.append(
            {
                "ph": "X",
                "name": event.name,
                "cat": f"{kind},{event.phase}" if event.phase else kind,
                "ts": (event.begin - profile.begin) / 1e3,
                "dur": (event.end - event.begin) / 1e3,
                "pid": process,
                "tid": numbers[event.thread],
                "args": args,
            }
        )
    total = 0
    for change in profile.memory.changes:
        total += change.bytes
        found.append(
            {
                "ph": "C",
                "name": "bytes in arrays",
                "ts": (change.time - profile.begin) / 1e3,
                "pid": process,
                "args": {"bytes": total},
            }
        )
    return {"displayTimeUnit": "ms", "traceEvents": found}


def write(profile: Profile, path: str) -> None:
    """Writes the file, compressed if its name ends with `.gz`."""
    text = json.dumps(trace(profile), separators=(",", ":")).encode()
    with replacing(path) as file:
        file.write(gzip.compress(text, mtime=0) if path.endswith(".gz") else text)


def _named(what: str, process: int, thread: int, name: str) -> dict[str, Any]:
    return {"ph": "M", "name": what, "pid": process, "tid": thread, "args": {"name": name}}


def _plain(value: Any) -> Any:
    return value if isinstance(value, (int, float, str, bool, type(None))) else str(value)
