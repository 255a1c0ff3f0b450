"""Folders that are written as a whole: beside the old one, and exchanged with it in one step."""

from __future__ import annotations

import contextlib
import errno
import functools
import os
import shutil
import stat
from collections.abc import Collection, Iterator
from typing import Any

from tapeflow._src.core.system.files import (
    bring_to_disk,
    checked_path,
    for_the_time_being,
    forget,
    make_folder,
    remove_leftovers,
    removed,
    translating_os_errors,
)


@contextlib.contextmanager
def replacing_folder(path: Any, parts: Collection[str], last: str) -> Iterator[str]:
    """A folder to write to, which takes the place of `path` when the block ends without an exception.

    Whatever happens to the process, there is the old folder or the new one, where the system can exchange two names in
    one step, as Linux does. Elsewhere the files are put in place one after the other.

    Args:
      path: what it will be called.
      parts: names in it that are replaced, and removed where the new one has none. All else stays.
      last: the one of them without which there is nothing.
    """
    goal = os.path.realpath(checked_path(path))
    folder, name = os.path.split(goal)
    with translating_os_errors(goal):
        make_folder(folder)
        if os.path.exists(goal) and not os.path.isdir(goal):
            raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), goal)
    remove_leftovers(goal)
    new = for_the_time_being(folder, name)
    try:
        if os.path.ismount(goal):
            raise PermissionError
        os.mkdir(new)
    except PermissionError:  # then it is written where it is to be
        forget(new)
        yield goal
        return
    try:
        yield new
        with translating_os_errors(goal):
            _put_in_place(new, goal, parts, last)
    finally:
        shutil.rmtree(new, ignore_errors=True)  # what was not finished, or what was there before
        forget(new)


def _put_in_place(new: str, goal: str, parts: Collection[str], last: str) -> None:
    there = os.listdir(goal) if os.path.isdir(goal) else []
    if there:
        others = [name for name in there if name not in parts]
        if can_exchange() and all(_linked(goal, new, name) for name in others):
            os.chmod(new, stat.S_IMODE(os.stat(goal).st_mode))
            if _exchanged(new, goal):
                bring_to_disk(os.path.dirname(goal))
                return
        for name in others:  # nothing but what is new goes into the old folder
            removed(os.path.join(new, name))
        _move_files(new, goal, last)
        return
    os.replace(new, goal)  # over nothing, or an empty folder
    bring_to_disk(os.path.dirname(goal))


def _linked(old: str, new: str, name: str) -> bool:
    """Gives a file or folder another name in the new folder. Says whether that was possible."""
    source, goal = os.path.join(old, name), os.path.join(new, name)
    try:
        if os.path.isdir(source) and not os.path.islink(source):
            shutil.copytree(source, goal, symlinks=True, copy_function=os.link)
        else:
            os.link(source, goal, follow_symlinks=False)
    except OSError:
        return False
    return True


def _move_files(new: str, goal: str, last: str) -> None:
    paths = [os.path.join(root, name) for root, _, names in os.walk(new) for name in names]
    for source in sorted(paths, key=lambda source: os.path.relpath(source, new) == last):
        target = os.path.join(goal, os.path.relpath(source, new))
        make_folder(os.path.dirname(target))
        os.replace(source, target)
        bring_to_disk(os.path.dirname(target))


@functools.cache
def can_exchange() -> Any:
    """The system's function that exchanges two names, or None."""
    try:
        import ctypes

        return ctypes.CDLL(None, use_errno=True).renameat2
    except (ImportError, OSError, AttributeError, TypeError):
        return None


def _exchanged(a: str, b: str) -> bool:
    """Exchanges two names. Says whether the file system can."""
    rename, here, exchange = can_exchange(), -100, 2
    return rename is not None and not rename(here, os.fsencode(a), here, os.fsencode(b), exchange)
