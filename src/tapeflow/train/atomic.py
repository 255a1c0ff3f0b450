"""Files that are there whole or not at all, whatever happens to the process that writes them.

A file is written under another name in the same folder, brought to the disk, and only then renamed, which the
operating system does in one step. A process that is killed before that leaves a file with the other name behind, which
the next one that writes there removes.
"""

from __future__ import annotations

import contextlib
import glob
import itertools
import os
import time
from collections.abc import Iterator
from typing import BinaryIO

_numbers = itertools.count()
_ours: set[str] = set()  # what this process is writing now
_FORGOTTEN = 3600.0  # after as many seconds nobody writes to a file any more
_HOST = os.uname().nodename if hasattr(os, "uname") else "host"


@contextlib.contextmanager
def replacing(path: str) -> Iterator[BinaryIO]:
    """A file to write to, which takes the place of `path` when the block ends without an exception."""
    folder = os.path.dirname(path) or "."
    os.makedirs(folder, exist_ok=True)
    temporary = f"{path}.{_HOST}.{os.getpid()}.{next(_numbers)}.tmp"
    _ours.add(temporary)
    try:
        with open(temporary, "xb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except BaseException:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(temporary)
        raise
    finally:
        _ours.discard(temporary)
    _bring_to_disk(folder)


def _bring_to_disk(folder: str) -> None:
    """Makes the new name last, too, where the system lets a folder be opened."""
    with contextlib.suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def remove_leftovers(prefix: str) -> None:
    """Removes what killed processes have left of files whose names begin with `prefix`."""
    for path in glob.glob(f"{glob.escape(prefix)}*.tmp"):
        if path not in _ours and _is_forgotten(path):
            with contextlib.suppress(OSError):
                os.unlink(path)


def _is_forgotten(path: str) -> bool:
    parts = path.removesuffix(".tmp").rsplit(".", 2)
    if len(parts) < 3 or not (parts[1].isdigit() and parts[2].isdigit()):
        return False  # not one of ours
    if parts[0].endswith(f".{_HOST}") and not _lives(int(parts[1])):
        return True
    try:
        return time.time() - os.path.getmtime(path) > _FORGOTTEN
    except OSError:
        return False


def _lives(process: int) -> bool:
    if process == os.getpid():
        return False  # what it writes now is in `_ours`: this is from an earlier process of that number
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:  # it belongs to somebody else
        return True
    return True
